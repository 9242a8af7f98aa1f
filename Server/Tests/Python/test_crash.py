"""SIGKILL in the middle of a thousand notifications: what was answered 200 is there, nothing twice.

The certificate chain and the notifications are made here, with a library that knows nothing of us.
"""

import base64
import concurrent.futures
import contextlib
import datetime
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.x509.oid import NameOID

ROOT = pathlib.Path(__file__).resolve().parents[3]
BINARY = os.environ.get("TOLLGATE_BIN", str(ROOT / "Server/.build/debug/tollgate"))
BUNDLE_ID = "com.example.app"
SECRET = "sk_test_crash"
CUSTOMERS = 50
NOTIFICATIONS = 1_000
COINS = 100


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Apple:
    """Signs as the App Store does, under a root of its own."""

    def __init__(self):
        root, root_key = self._issue("Crash Root", None, None, ec.SECP384R1(), None)
        middle, middle_key = self._issue(
            "Crash Intermediate", root, root_key, ec.SECP384R1(), "1.2.840.113635.100.6.2.1")
        leaf, self._key = self._issue(
            "Crash Leaf", middle, middle_key, ec.SECP256R1(), "1.2.840.113635.100.6.11.1")
        self.root_der = root.public_bytes(serialization.Encoding.DER)
        chain = [
            base64.b64encode(c.public_bytes(serialization.Encoding.DER)).decode()
            for c in (leaf, middle, root)
        ]
        self._header = base64url(json.dumps({"alg": "ES256", "x5c": chain}).encode())

    @staticmethod
    def _issue(name, issuer, issuer_key, curve, marker):
        key = ec.generate_private_key(curve)
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        now = datetime.datetime.now(datetime.timezone.utc)
        is_leaf = isinstance(curve, ec.SECP256R1)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer.subject if issuer else subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=30))
            .not_valid_after(now + datetime.timedelta(days=30))
            .add_extension(
                x509.BasicConstraints(ca=not is_leaf, path_length=None), critical=True)
            .add_extension(
                x509.KeyUsage(
                    digital_signature=is_leaf, content_commitment=False, key_encipherment=False,
                    data_encipherment=False, key_agreement=False, key_cert_sign=not is_leaf,
                    crl_sign=not is_leaf, encipher_only=False, decipher_only=False),
                critical=True)
        )
        if marker:
            builder = builder.add_extension(
                x509.UnrecognizedExtension(x509.ObjectIdentifier(marker), b"\x05\x00"),
                critical=False)
        return builder.sign(issuer_key or key, hashes.SHA384()), key

    def sign(self, payload: dict) -> str:
        signed = f"{self._header}.{base64url(json.dumps(payload).encode())}"
        der = self._key.sign(signed.encode(), ec.ECDSA(hashes.SHA256()))
        r, s = decode_dss_signature(der)
        return f"{signed}.{base64url(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}"

    def coins_bought(self, number: int, token: str) -> bytes:
        """The body of a ONE_TIME_CHARGE for a pack of coins."""
        now = int(time.time() * 1000)
        transaction = self.sign({
            "transactionId": str(9_000_000 + number),
            "originalTransactionId": str(9_000_000 + number),
            "bundleId": BUNDLE_ID, "productId": "com.example.app.coins100",
            "purchaseDate": now, "originalPurchaseDate": now, "quantity": 1,
            "type": "Consumable", "appAccountToken": token, "inAppOwnershipType": "PURCHASED",
            "signedDate": now, "environment": "Sandbox", "transactionReason": "PURCHASE",
            "storefront": "USA", "storefrontId": "143441", "price": 10_000, "currency": "USD",
        })
        notification = self.sign({
            "notificationType": "ONE_TIME_CHARGE", "notificationUUID": str(uuid.uuid4()),
            "version": "2.0", "signedDate": now,
            "data": {
                "bundleId": BUNDLE_ID, "environment": "Sandbox",
                "signedTransactionInfo": transaction,
            },
        })
        return json.dumps({"signedPayload": notification}).encode()


class Server:
    """One life of `tollgate serve`."""

    def __init__(self, database: str, root: pathlib.Path):
        environment = os.environ | {
            "TOLLGATE_DATABASE": database,
            "TOLLGATE_CATALOG": str(ROOT / "catalog.yaml"),
            "TOLLGATE_LISTEN": "127.0.0.1:0",
            "TOLLGATE_SECRET_KEY": SECRET,
            "TOLLGATE_PUBLISHABLE_KEY": "pk_test_crash",
            "TOLLGATE_APP_STORE_ROOTS": str(root),
            "TOLLGATE_APP_STORE_BUNDLE_ID": BUNDLE_ID,
            "TOLLGATE_APP_STORE_ENVIRONMENT": "Sandbox",
        }
        self.process = subprocess.Popen(
            [BINARY, "serve"], env=environment, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        assert "listening on" in line, line
        self.url = line.rsplit(" ", 1)[1].strip()

    def call(self, path: str, body: bytes | None = None, **headers) -> dict:
        request = urllib.request.Request(
            self.url + path, data=body,
            headers={"Authorization": f"Bearer {SECRET}", "Content-Type": "application/json"}
            | headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=30)


@contextlib.contextmanager
def sqlite(folder):
    yield f"sqlite:{folder}/crash.sqlite"


@contextlib.contextmanager
def postgres(folder):
    say = "import os, sys; print(os.environ['TOLLGATE_DATABASE'], flush=True); sys.stdin.read()"
    process = subprocess.Popen(
        ["bash", str(ROOT / "scripts/with-postgres.sh"), sys.executable, "-c", say],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().strip()
    finally:
        process.stdin.close()
        process.wait(timeout=60)


@pytest.mark.parametrize("database", [sqlite, postgres])
def test_what_was_answered_200_survives_a_sigkill_and_nothing_is_credited_twice(
    database, tmp_path
):
    random_source = random.Random(7)
    apple = Apple()
    root = tmp_path / "root.der"
    root.write_bytes(apple.root_der)
    with database(tmp_path) as location:
        server = Server(location, root)
        customers = [
            server.call("/v1/customers", json.dumps({"app_user_id": f"user-{n}"}).encode())
            for n in range(CUSTOMERS)
        ]
        bodies = [
            (n % CUSTOMERS, apple.coins_bought(n, customers[n % CUSTOMERS]["app_account_token"]))
            for n in range(NOTIFICATIONS)
        ]
        # Some are sent twice, as Apple does when an answer was lost.
        schedule = bodies + random_source.sample(bodies, 100)
        random_source.shuffle(schedule)
        threshold = random_source.randrange(300, 700)
        acknowledged: list[bytes] = []

        def send(entry):
            try:
                server.call("/webhooks/app_store", entry[1])
                acknowledged.append(entry[1])
            except (urllib.error.URLError, ConnectionError, TimeoutError, OSError):
                return
            if len(acknowledged) == threshold:
                server.kill()

        with concurrent.futures.ThreadPoolExecutor(32) as senders:
            list(senders.map(send, schedule))
        assert threshold <= len(acknowledged) < len(schedule), "the kill came in the middle"

        owed = [0] * CUSTOMERS
        for body in set(acknowledged):
            owed[next(c for c, b in bodies if b == body)] += COINS
        server = Server(location, root)
        for customer, least in zip(customers, owed):
            balance = server.call(f"/v1/customers/{customer['id']}/coins")["balance"]
            assert balance >= least, "nothing that was answered 200 is lost"
            assert balance <= COINS * NOTIFICATIONS // CUSTOMERS

        # Apple sends again what was not answered; here everything is sent again.
        with concurrent.futures.ThreadPoolExecutor(32) as senders:
            list(senders.map(lambda entry: server.call("/webhooks/app_store", entry[1]), bodies))
        for customer in customers:
            balance = server.call(f"/v1/customers/{customer['id']}/coins")["balance"]
            assert balance == COINS * NOTIFICATIONS // CUSTOMERS, "credited once"
        server.stop()
        proof = subprocess.run(
            [BINARY, "rebuild", "--verify", "--database", location], capture_output=True, text=True)
        assert proof.returncode == 0, proof.stdout + proof.stderr


def test_a_second_server_on_the_same_sqlite_file_is_refused(tmp_path):
    apple = Apple()
    root = tmp_path / "root.der"
    root.write_bytes(apple.root_der)
    location = f"sqlite:{tmp_path}/one.sqlite"
    server = Server(location, root)
    try:
        second = subprocess.run(
            [BINARY, "serve", "--listen", "127.0.0.1:0", "--database", location,
             "--catalog", str(ROOT / "catalog.yaml")],
            env=os.environ | {
                "TOLLGATE_SECRET_KEY": SECRET, "TOLLGATE_PUBLISHABLE_KEY": "pk_test_crash"},
            capture_output=True, text=True, timeout=60)
        assert second.returncode == 1
        assert "one.sqlite" in second.stderr
        assert str(server.process.pid) in second.stderr
    finally:
        server.stop()
