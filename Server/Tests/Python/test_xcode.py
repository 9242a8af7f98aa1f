"""J16, K3: transactions of StoreKit testing in Xcode, on a server that has its certificate and on others.

Xcode's certificate and its JWS have the form of those that Xcode 15 and 26 make.
"""

import base64
import contextlib
import datetime
import json
import os
import sqlite3
import subprocess
import time
import urllib.error

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.x509.oid import NameOID

from keys import key
from test_access import check
from tollgate_world import BINARY, BUNDLE_ID, ROOT, SECRET, Apple, Server, base64url

SETTING = "TOLLGATE_APP_STORE_XCODE_CERTIFICATE_FILE"
PRODUCT = "com.example.app.pro.monthly"
MONTH = 30 * 86_400_000


def self_made(private, name="StoreKit Testing in Xcode"):
    """A certificate that signs itself, with the extensions of Xcode's."""
    subject = x509.Name([
        x509.NameAttribute(NameOID.COMMON_NAME, name), x509.NameAttribute(NameOID.ORGANIZATION_NAME, name)])
    now = datetime.datetime.now(datetime.timezone.utc)
    return (
        x509.CertificateBuilder().subject_name(subject).issuer_name(subject).public_key(private.public_key())
        .serial_number(1).not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=364))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.RFC822Name(name)]), critical=False)
        .add_extension(
            x509.KeyUsage(
                digital_signature=True, content_commitment=False, key_encipherment=False,
                data_encipherment=False, key_agreement=False, key_cert_sign=False, crl_sign=False,
                encipher_only=False, decipher_only=False),
            critical=True)
        .sign(private, hashes.SHA256()))


class Xcode:
    """A session of Xcode on one machine: it counts transactions from 0, and writes dates with fractions."""

    def __init__(self):
        self._key = ec.generate_private_key(ec.SECP256R1())
        self.certificate = self_made(self._key).public_bytes(serialization.Encoding.DER)

    def sign(self, payload: dict) -> str:
        def escaped(value):
            # Xcode escapes slashes.
            return base64url(json.dumps(value).replace("/", "\\/").encode())

        chain = [base64.b64encode(self.certificate).decode()]
        header = {"kid": "Apple_Xcode_Key", "typ": "JWT", "x5c": chain, "alg": "ES256"}
        signed = f"{escaped(header)}.{escaped(payload)}"
        r, s = decode_dss_signature(self._key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
        return f"{signed}.{base64url(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}"


def transaction(number=0, original=0, *, first=None, at=None, signed=None, **changes):
    """A month of a plan; `first` and `at` are when the plan and this month were bought."""
    at = at or int(time.time() * 1000) - 60_000
    payload = {
        "inAppOwnershipType": "PURCHASED", "purchaseDate": at + 0.7297, "signedDate": (signed or at) + 6.485,
        "originalPurchaseDate": (first or at) + 0.7297, "expiresDate": at + MONTH + 0.7297,
        "subscriptionGroupIdentifier": "6F3A93AB", "isUpgraded": False, "offerType": 1, "quantity": 1,
        "transactionId": str(number), "originalTransactionId": str(original), "webOrderLineItemId": "0",
        "type": "Auto-Renewable Subscription", "transactionReason": "PURCHASE", "productId": PRODUCT,
        "environment": "Xcode", "storefront": "USA", "storefrontId": "143441", "bundleId": BUNDLE_ID,
        "deviceVerification": "sGDnpg+o/b8uwDSu", "deviceVerificationNonce": "7edea87d-98f0-42d0-9682-49ca81022f73",
    }
    return {name: value for name, value in (payload | changes).items() if value is not None}


@pytest.fixture
def xcode():
    return Xcode()


@contextlib.contextmanager
def serving(folder, xcode=None, apple=None, **more):
    """A server that trusts this Xcode, and this App Store."""
    environment = {"TOLLGATE_APP_STORE_BUNDLE_ID": BUNDLE_ID}
    if xcode:
        (folder / "xcode.cer").write_bytes(xcode.certificate)
        environment[SETTING] = str(folder / "xcode.cer")
    if apple:
        (folder / "root.der").write_bytes(apple.root_der)
        environment["TOLLGATE_APP_STORE_ROOTS"] = str(folder / "root.der")
    server = Server(f"sqlite:{folder}/xcode.sqlite", environment=environment | more)
    try:
        yield server
    finally:
        server.stop()


def customer(server, user="jenny"):
    return server.call("/v1/customers", json.dumps({"app_user_id": user}).encode())


def present(server, signed, of, mode="purchased"):
    """What the SDK does with a transaction."""
    session = server.call("/v1/customer_sessions", json.dumps({
        "customer": of["id"], "components": {"active_entitlements": {"enabled": True}}}).encode())
    body = json.dumps({"signed_transaction": signed, "mode": mode}).encode()
    headers = {"Authorization": f"Bearer {key('pk', 'crash')}"}
    headers["Tollgate-Customer-Session"] = session["client_secret"]
    return server.call("/v1/app_store/transactions", body, **headers)


def refused(server, signed, of):
    with pytest.raises(urllib.error.HTTPError) as refusal:
        present(server, signed, of)
    error = json.load(refusal.value)["error"]
    return refusal.value.code, error["code"], error["message"]


def entitlements(server, of, environment="sandbox"):
    answer = server.call(f"/v1/customers/{of['id']}/entitlements?environment={environment}")
    return {one["lookup_key"]: one["until"] for one in answer["data"]}


def rows(folder, table):
    """Of a stopped server."""
    with contextlib.closing(sqlite3.connect(folder / "xcode.sqlite")) as database:
        return database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


def test_a_purchase_in_xcode_is_an_entitlement_in_the_sandbox_and_nowhere_else(tmp_path, xcode):
    # Without any root: nobody needs Apple's certificate to test with Xcode.
    with serving(tmp_path, xcode) as server:
        jenny = customer(server)
        bought = transaction(appAccountToken=jenny["app_account_token"])
        first = int(bought["originalPurchaseDate"])
        reply = present(server, xcode.sign(bought), jenny)
        assert reply == {
            "environment": "sandbox", "customer": jenny["id"], "new": True,
            "purchase": f"app_store/sandbox/{BUNDLE_ID}/xcode-0-{first}"}
        assert present(server, xcode.sign(bought), jenny)["new"] is False
        assert set(entitlements(server, jenny)) == {"pro"}
        assert entitlements(server, jenny, "production") == {}
        # It renews under the next id, and is refunded.
        renewed = transaction(1, first=first, at=first + MONTH, signed=first + 1000)
        assert present(server, xcode.sign(renewed), jenny, "observed")["purchase"] == reply["purchase"]
        assert entitlements(server, jenny)["pro"] == first + 2 * MONTH
        for payload in (bought, renewed):
            revoked = payload | {
                "signedDate": first + 2000, "revocationDate": first + 1500.5, "revocationReason": 0,
                "revocationType": "REFUND_FULL", "revocationPercentage": 100_000}
            present(server, xcode.sign(revoked), jenny, "observed")
        assert entitlements(server, jenny) == {}
        # The second opinion does not judge what a developer's machine has signed.
        found = check(f"sqlite:{tmp_path}/xcode.sqlite")
        assert found.returncode == 0 and "1 purchases looked at" in found.stdout, found.stdout + found.stderr
    assert rows(tmp_path, "wanted") == 0


def test_ids_that_xcode_uses_again_are_other_purchases(tmp_path, xcode):
    with serving(tmp_path, xcode) as server:
        now = int(time.time() * 1000) - 600_000
        people = [customer(server, user) for user in ("jenny", "karl")]
        purchases = [
            present(server, xcode.sign(transaction(at=now + i)), who)["purchase"] for i, who in enumerate(people)]
        assert len(set(purchases)) == 2
        assert all("pro" in entitlements(server, who) for who in people)
        # Two passes of one session have ids of their own.
        for number in (1, 2):
            coins = transaction(
                number, number, at=now + number, type="Consumable", productId="com.example.app.coins100",
                expiresDate=None, webOrderLineItemId=None, subscriptionGroupIdentifier=None, offerType=None)
            present(server, xcode.sign(coins), people[0])
        assert server.call(f"/v1/customers/{people[0]['id']}/coins?environment=sandbox")["balance"] == 200


def test_the_app_store_is_never_asked_about_what_xcode_sold(tmp_path, xcode):
    """An upgraded plan without its successor makes the server ask the App Store; not Xcode's."""
    apple = Apple()
    with serving(tmp_path, xcode, apple) as server:
        jenny = customer(server)
        present(server, xcode.sign(transaction(isUpgraded=True)), jenny)
    assert rows(tmp_path, "wanted") == 0
    with serving(tmp_path, xcode, apple) as server:
        sold = {name: int(value) if isinstance(value, float) else value for name, value in transaction(
            isUpgraded=True, environment="Sandbox").items()}
        present(server, apple.sign(sold), jenny)
    assert rows(tmp_path, "wanted") == 1, "the same of the App Store's sandbox"


def test_j16_a_server_without_the_certificate_names_the_setting(tmp_path, xcode):
    with serving(tmp_path, apple=Apple()) as server:
        jenny = customer(server)
        status, code, message = refused(server, xcode.sign(transaction()), jenny)
        assert (status, code) == (400, "xcode_certificate")
        assert SETTING in message and "docs/sdk.md" in message
        assert entitlements(server, jenny) == {}


def test_j16_forged_data_of_xcode_is_refused(tmp_path, xcode):
    apple = Apple()
    with serving(tmp_path, xcode, apple) as server:
        jenny = customer(server)
        assert refused(server, Xcode().sign(transaction()), jenny)[:2] == (400, "xcode_certificate")
        header, _, _ = xcode.sign(transaction()).split(".")
        _, payload, signature = Xcode().sign(transaction()).split(".")
        assert refused(server, f"{header}.{payload}.{signature}", jenny)[:2] == (400, "jws_signature")
        for environment in ("Production", "Sandbox", "LocalTesting"):
            signed = xcode.sign(transaction(environment=environment))
            assert refused(server, signed, jenny)[:2] == (400, "environment")
        whole = {name: int(value) if isinstance(value, float) else value for name, value in transaction().items()}
        assert refused(server, apple.sign(whole), jenny)[:2] == (400, "environment")
        assert refused(server, xcode.sign(transaction(bundleId="com.example.other")), jenny)[:2] == (
            404, "app_unknown")
        # As a notification it is refused too, whoever is trusted on devices.
        notice = xcode.sign({
            "notificationType": "SUBSCRIBED", "notificationUUID": "002e14d5-51f5-4503-b5a8-c3a1af68eb20",
            "version": "2.0", "signedDate": int(time.time() * 1000), "data": {
                "bundleId": BUNDLE_ID, "environment": "Xcode",
                "signedTransactionInfo": xcode.sign(transaction())}})
        with pytest.raises(urllib.error.HTTPError) as refusal:
            server.call("/webhooks/app_store", json.dumps({"signedPayload": notice}).encode())
        assert json.load(refusal.value)["error"]["code"] == "jws_chain_length"
        assert entitlements(server, jenny) == {}
    assert rows(tmp_path, "purchase") == 0


def start(folder, *arguments, **given):
    """The exit code and the complaint of a server that should not start, or what another command says."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("TOLLGATE_")}
    keys = {
        "TOLLGATE_SECRET_KEY": SECRET, "TOLLGATE_PUBLISHABLE_KEY": key("pk", "crash"),
        "TOLLGATE_CATALOG": str(ROOT / "catalog.yaml"), "TOLLGATE_LISTEN": "127.0.0.1:0",
        "TOLLGATE_DATABASE": f"sqlite:{folder}/none.sqlite", "TOLLGATE_APP_STORE_BUNDLE_ID": BUNDLE_ID}
    ended = subprocess.run(
        [BINARY, *(arguments or ["serve"])], cwd=folder, env=plain | keys | given, text=True, capture_output=True,
        timeout=60)
    return ended.returncode, ended.stdout, ended.stderr


@pytest.mark.parametrize("given", [
    {"TOLLGATE_APP_STORE_ENVIRONMENT": "Production"},
    {"TOLLGATE_APP_STORE_ENVIRONMENT": "Production,Sandbox"},
    {},  # with the app's number both environments are served
])
def test_k3_a_server_of_production_does_not_start_with_xcodes_certificate(tmp_path, xcode, given):
    (tmp_path / "xcode.cer").write_bytes(xcode.certificate)
    number = {SETTING: "xcode.cer", "TOLLGATE_APP_STORE_APP_APPLE_ID": "1234567890"}
    code, _, said = start(tmp_path, **number, **given)
    assert code == 2 and f"{SETTING} trusts what Xcode signs" in said and "serves Production" in said, said
    assert "TOLLGATE_APP_STORE_ENVIRONMENT=Sandbox" in said and not (tmp_path / "none.sqlite").exists()


def test_k3_nor_does_one_with_live_keys(tmp_path, xcode):
    (tmp_path / "xcode.cer").write_bytes(xcode.certificate)
    code, _, said = start(
        tmp_path, **{SETTING: "xcode.cer"}, TOLLGATE_APP_STORE_ENVIRONMENT="Sandbox",
        TOLLGATE_SECRET_KEY=SECRET.replace("_test_", "_live_"),
        TOLLGATE_PUBLISHABLE_KEY=key("pk", "crash").replace("_test_", "_live_"))
    assert code == 2 and f"{SETTING} trusts what Xcode signs" in said and "With live keys" in said, said


def test_k3_a_file_of_no_use_is_named_with_the_way_to_a_better_one(tmp_path):
    receipts = self_made(rsa.generate_private_key(65537, 2048), "StoreKit")
    (tmp_path / "receipts.cer").write_bytes(receipts.public_bytes(serialization.Encoding.DER))
    (tmp_path / "empty.cer").write_bytes(b"")
    for name, words in [
            ("missing.cer", "missing.cer cannot be read"), ("empty.cer", "it holds no certificate"),
            ("receipts.cer", "certificate for receipts")]:
        code, _, said = start(tmp_path, **{SETTING: name})
        assert code == 1 and SETTING in said and words in said, said
        assert name == "missing.cer" or "docs/sdk.md" in said
    code, _, said = start(tmp_path, TOLLGATE_APP_STORE_ENVIRONMENT="Xcode")
    assert code == 2 and SETTING in said, said


def test_the_settings_file_and_the_doctor_know_the_certificate(tmp_path, xcode):
    pem = x509.load_der_x509_certificate(xcode.certificate).public_bytes(serialization.Encoding.PEM)
    (tmp_path / "xcode.pem").write_bytes(pem)
    (tmp_path / "tollgate.yaml").write_text("app_store:\n  xcode_certificate_file: xcode.pem\n")
    code, said, complaint = start(tmp_path, "config", "check", "--json")
    assert code == 0 and json.loads(said)["settings"] == [SETTING], complaint
    _, said, complaint = start(tmp_path, "doctor", "--json")
    found = [one for one in json.loads(said) if one["check"] == "app_store.xcode"]
    digest = x509.load_der_x509_certificate(xcode.certificate).fingerprint(hashes.SHA256()).hex()
    assert [one["state"] for one in found] == ["ok"] and digest in found[0]["sentence"], complaint


def test_the_guides_second_way_takes_the_certificate_out_of_a_transaction(tmp_path, xcode):
    """docs/sdk.md: Save Public Certificate may give another certificate than the one that signs."""
    guide = (ROOT / "docs/sdk.md").read_text().partition("### If the server answers")[2]
    command = guide.partition("```text\n")[2].partition("\n```")[0]
    assert "transaction.txt" in command
    (tmp_path / "transaction.txt").write_text(xcode.sign(transaction()) + "\n")
    subprocess.run(["bash", "-c", command], cwd=tmp_path, check=True, timeout=60)
    assert (tmp_path / "xcode.cer").read_bytes() == xcode.certificate
