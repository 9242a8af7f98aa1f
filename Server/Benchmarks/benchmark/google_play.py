"""Google Play beside the server: its API in a process of its own, hints, and the token that pushes them."""

import base64
import json
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Iterable

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from . import corpus
from .google_api import PACKAGE, purchase_token
from .postgres import free_port
from .servers import ServerFailed

HERE = Path(__file__).resolve().parent.parent
LATENCY = 0.05  # of every answer, in seconds
AUDIENCE = "https://billing.example.com/webhooks/google_play"
EMAIL = "play@benchmark.iam.gserviceaccount.com"
RENEWED, PURCHASED = 2, 4
# A hint is looked at again until it is ten seconds old; when nothing was asked for longer, all is done.
SECOND_LOOK_SECONDS = 10
QUIET_SECONDS = 14


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def hint(customer: int, kind: int, number: int) -> bytes:
    """The body of a push: one change of a customer's plan."""
    now = time.time_ns() // 1_000_000
    notification = {
        "version": "1.0", "packageName": PACKAGE, "eventTimeMillis": str(now),
        "subscriptionNotification": {
            "version": "1.0", "notificationType": kind, "purchaseToken": purchase_token(customer)}}
    data = base64.b64encode(json.dumps(notification).encode()).decode()
    return json.dumps({
        "message": {"data": data, "messageId": str(10_000_000_000 + number), "attributes": {}},
        "subscription": "projects/benchmark/subscriptions/play"}).encode()


def write_hints(path: Path, customers: Iterable[int], kind: int, first: int) -> int:
    return corpus.write(path, (
        corpus.record(hint(customer, kind, first + index)) for index, customer in enumerate(customers)))


class GooglePlay:
    """The process that answers as Google does."""

    def __init__(self, directory: Path, started_ms: int):
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        public = key.public_key().public_numbers()
        keys = directory / "keys.json"
        keys.write_text(json.dumps({"keys": [{
            "kty": "RSA", "kid": "benchmark", "use": "sig", "alg": "RS256",
            "n": encoded(public.n.to_bytes(256, "big")), "e": encoded(b"\x01\x00\x01")}]}))
        self.port = free_port()
        self.base = f"http://127.0.0.1:{self.port}"
        self._account = directory / "service-account.json"
        self._account.write_text(json.dumps({
            "type": "service_account", "project_id": "benchmark", "private_key_id": "benchmark",
            "private_key": key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption()).decode(),
            "client_email": EMAIL, "client_id": "1", "token_uri": f"{self.base}/token"}))
        self.headers = {"Authorization": f"Bearer {self._push_token(key)}"}
        with open(directory / "google.log", "wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "benchmark.google_api", "--port", str(self.port), "--keys", str(keys),
                 "--started", str(started_ms), "--latency", str(LATENCY)],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=HERE)
        self._wait()

    def environment(self) -> dict:
        return {
            "TOLLGATE_GOOGLE_PLAY_PACKAGE_NAME": PACKAGE,
            "TOLLGATE_GOOGLE_PLAY_SERVICE_ACCOUNT_FILE": str(self._account),
            "TOLLGATE_GOOGLE_PLAY_PUSH_AUDIENCE": AUDIENCE,
            "TOLLGATE_GOOGLE_PLAY_PUSH_EMAIL": EMAIL,
            "TOLLGATE_GOOGLE_PLAY_API_BASE": self.base,
            "TOLLGATE_GOOGLE_PLAY_CERTS_URL": f"{self.base}/oauth2/v3/certs",
        }

    def _push_token(self, key) -> str:
        now = int(time.time())
        head = {"alg": "RS256", "kid": "benchmark", "typ": "JWT"}
        claims = {
            "iss": "https://accounts.google.com", "aud": AUDIENCE, "azp": "1", "sub": "1", "email": EMAIL,
            "email_verified": True, "iat": now, "exp": now + 3600}
        signed = ".".join(encoded(json.dumps(part).encode()) for part in (head, claims))
        signature = key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256())
        return f"{signed}.{encoded(signature)}"

    def _wait(self) -> None:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise ServerFailed("the stand-in for Google's API stopped at once")
            try:
                self.counts()
                return
            except OSError:
                time.sleep(0.05)
        raise ServerFailed("the stand-in for Google's API does not answer")

    def counts(self) -> dict:
        with urllib.request.urlopen(f"{self.base}/counts", timeout=10) as answer:
            return json.load(answer)

    def renew(self, period: int) -> None:
        self._post(f"/period/{period}")

    def close(self, is_closed: bool) -> None:
        """Lets the Developer API answer 503, or answer again."""
        self._post(f"/closed/{int(is_closed)}")

    def _post(self, path: str) -> None:
        urllib.request.urlopen(
            urllib.request.Request(f"{self.base}{path}", method="POST"), timeout=10).close()

    def settle(self, purchases: int, before: dict) -> dict:
        """The calls since `before`, once every purchase and its order was read and nothing is asked any
        more."""
        deadline = time.monotonic() + 180
        last, changed = before, time.monotonic()
        while time.monotonic() < deadline:
            counts = self.counts()
            if any(counts[kind] != last[kind] for kind in ("subscriptions", "orders")):
                last, changed = counts, time.monotonic()
            made = {kind: counts[kind] - before[kind] for kind in counts}
            is_read = min(made["subscriptions"], made["orders"]) >= purchases
            if is_read and time.monotonic() - changed > QUIET_SECONDS:
                return made
            time.sleep(0.25)
        raise ServerFailed(f"after three minutes not all purchases were read: {made}")

    def stop(self) -> None:
        if self._process.poll() is None:
            self._process.terminate()
            self._process.wait(10)
