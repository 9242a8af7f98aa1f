"""What tests of the running server share: the App Store's signatures made by a library that knows
nothing of us, one life of the server, and databases of a test's own.
"""

import atexit
import base64
import contextlib
import datetime
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import urllib.request
import uuid

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.x509.oid import NameOID

from keys import key

ROOT = pathlib.Path(__file__).resolve().parents[3]
BINARY = os.environ.get("TOLLGATE_BIN", str(ROOT / "Server/.build/debug/tollgate"))
BUNDLE_ID = "com.example.app"
SECRET = key("sk", "crash")
COINS = 100


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Apple:
    """Signs as the App Store does, under a root of its own."""

    def __init__(self):
        root, root_key = self._issue("Crash Root", None, None, ec.SECP384R1(), None)
        self._middle = self._issue(
            "Crash Intermediate", root, root_key, ec.SECP384R1(), "1.2.840.113635.100.6.2.1")
        self._root = root
        self.root_der = root.public_bytes(serialization.Encoding.DER)
        self.change_leaf()

    def change_leaf(self):
        """Signs from now on with another key, under a chain that nobody has seen before."""
        middle, middle_key = self._middle
        leaf, self._key = self._issue(
            "Crash Leaf", middle, middle_key, ec.SECP256R1(), "1.2.840.113635.100.6.11.1")
        chain = [
            base64.b64encode(c.public_bytes(serialization.Encoding.DER)).decode()
            for c in (leaf, middle, self._root)
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
        return self.bought("com.example.app.coins100", "Consumable", number, token)

    def bought(self, product: str, kind: str, number: int, token: str) -> bytes:
        """The body of a ONE_TIME_CHARGE."""
        now = int(time.time() * 1000)
        transaction = self.sign({
            "transactionId": str(9_000_000 + number),
            "originalTransactionId": str(9_000_000 + number),
            "bundleId": BUNDLE_ID, "productId": product,
            "purchaseDate": now, "originalPurchaseDate": now, "quantity": 1,
            "type": kind, "appAccountToken": token, "inAppOwnershipType": "PURCHASED",
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

    def __init__(self, database: str, root: pathlib.Path | None = None, *,
                 port: int = 0, environment: dict | None = None, **options):
        given = environment or {}
        environment = os.environ | {
            "TOLLGATE_DATABASE": database,
            "TOLLGATE_CATALOG": str(ROOT / "catalog.yaml"),
            "TOLLGATE_LISTEN": f"127.0.0.1:{port}",
            "TOLLGATE_SECRET_KEY": SECRET,
            "TOLLGATE_PUBLISHABLE_KEY": key("pk", "crash"),
        }
        if root:
            environment |= {
                "TOLLGATE_APP_STORE_ROOTS": str(root),
                "TOLLGATE_APP_STORE_BUNDLE_ID": BUNDLE_ID,
                "TOLLGATE_APP_STORE_ENVIRONMENT": "Sandbox",
            }
        self.process = subprocess.Popen(
            [BINARY, "serve"], env=environment | given, stdout=subprocess.PIPE, text=True,
            **options)
        # Whatever a test leaves behind ends with it.
        atexit.register(self.process.kill)
        line = self.process.stdout.readline()
        assert "listening on" in line, line
        self.url = line.rsplit(" ", 1)[1].strip()
        self.port = int(self.url.rsplit(":", 1)[1])

    def call(self, path: str, body: bytes | None = None, *, method: str | None = None,
             timeout: float = 60, **headers) -> dict:
        """The answer's JSON; urllib's errors where it is none of 2xx."""
        request = urllib.request.Request(
            self.url + path, data=body, method=method,
            headers={"Authorization": f"Bearer {SECRET}", "Content-Type": "application/json"}
            | headers)
        with urllib.request.urlopen(request, timeout=timeout) as answer:
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
def postgres(folder, script="with-postgres.sh"):
    say = "import os, sys; print(os.environ['TOLLGATE_DATABASE'], flush=True); sys.stdin.read()"
    process = subprocess.Popen(
        ["bash", str(ROOT / "scripts" / script), sys.executable, "-c", say],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().strip()
    finally:
        process.stdin.close()
        process.wait(timeout=60)


def citus(folder):
    """A coordinator and two workers; an empty location where the extension is not installed."""
    return postgres(folder, "with-citus.sh")
