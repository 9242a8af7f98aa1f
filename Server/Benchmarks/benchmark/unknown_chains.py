"""Notifications of strangers, each under a chain of certificates that nobody has seen before."""

import base64
import json

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from . import certificates

STRANGERS = 10  # with a root and an intermediate each; the leaf is another one every time


def bodies(count: int, now_ms: int):
    """As the App Store signs them, but for the root: names, marker extensions and length are its own."""
    chains = [certificates.make_chain("http://127.0.0.1:9/ocsp") for _ in range(STRANGERS)]
    for number in range(count):
        chain = certificates.with_another_leaf(chains[number % STRANGERS])
        payload = base64.urlsafe_b64encode(json.dumps({
            "notificationType": "TEST", "version": "2.0", "signedDate": now_ms,
            "notificationUUID": f"00000000-0000-4000-8000-{number:012d}",
            "data": {"bundleId": "com.example.app", "environment": "Sandbox"},
        }).encode()).rstrip(b"=")
        signed = chain.protected_header() + b"." + payload
        key = serialization.load_pem_private_key(chain.leaf_key_pem(), None)
        r, s = decode_dss_signature(key.sign(signed, ec.ECDSA(hashes.SHA256())))
        signature = base64.urlsafe_b64encode(r.to_bytes(32, "big") + s.to_bytes(32, "big")).rstrip(b"=")
        yield b'{"signedPayload":"' + signed + b"." + signature + b'"}'
