"""Offer signatures and reports, judged by Apple's own Python library and by Python itself.

The executable is found by the environment variable TOLLGATE_BIN.
"""

import base64
import gzip
import json
import os
import pathlib
import re
import subprocess
import time
import urllib.error
import urllib.request
import uuid

import jwt
import pytest
from appstoreserverlibrary.jws_signature_creator import (
    IntroductoryOfferEligibilitySignatureCreator,
    PromotionalOfferV2SignatureCreator,
)
from appstoreserverlibrary.promotional_offer import PromotionalOfferSignatureCreator
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256

import keys
from test_app_store_commands import MONTHLY, World

SECRET_KEY = keys.key("sk", "offers")
ROOT = pathlib.Path(__file__).parents[3]
BUNDLE = "com.example.app"
PRODUCT = "com.example.app.pro.monthly"
KEY_ID = "ABCDEFGHIJ"
ISSUER = "99b16628-15e4-4668-972b-eeff55eeff55"


@pytest.fixture(scope="module")
def key():
    return ec.generate_private_key(ec.SECP256R1())


@pytest.fixture(scope="module")
def pem(key):
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def environment(folder, **settings):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TOLLGATE_")}
    return kept | {
        "TOLLGATE_SECRET_KEY": SECRET_KEY,
        "TOLLGATE_PUBLISHABLE_KEY": keys.key("pk", "offers"),
        "TOLLGATE_LISTEN": "127.0.0.1:0",
        "TOLLGATE_DATABASE": f"sqlite:{folder / 'tollgate.sqlite'}",
        "TOLLGATE_CATALOG": str(ROOT / "catalog.yaml"),
    } | settings


@pytest.fixture(scope="module")
def binary():
    found = os.environ.get("TOLLGATE_BIN")
    if not found:
        pytest.skip("TOLLGATE_BIN is not set")
    return found


@pytest.fixture(scope="module")
def base(tmp_path_factory, binary, pem):
    folder = tmp_path_factory.mktemp("tollgate")
    (folder / "key.p8").write_bytes(pem)
    server = subprocess.Popen(
        [binary, "serve"],
        env=environment(
            folder,
            TOLLGATE_APP_STORE_BUNDLE_ID=BUNDLE,
            TOLLGATE_APP_STORE_ROOTS=str(any_root(folder)),
            TOLLGATE_APP_STORE_ISSUER_ID=ISSUER,
            TOLLGATE_APP_STORE_KEY_ID=KEY_ID,
            TOLLGATE_APP_STORE_KEY_FILE=str(folder / "key.p8"),
        ),
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        for line in server.stdout:
            found = re.search(r"tollgate listening on (http://127\.0\.0\.1:\d+)", line)
            if found:
                yield found.group(1)
                break
        else:
            pytest.fail(f"the server ended with status {server.wait()}")
    finally:
        server.terminate()
        server.wait(timeout=30)
        server.stdout.close()


def any_root(folder):
    """A certificate of nobody; nothing is verified with it here."""
    import datetime

    from cryptography import x509
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP384R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Nobody")])
    now = datetime.datetime.now(datetime.timezone.utc)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now)
        .not_valid_after(now + datetime.timedelta(days=30))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, SHA256())
    )
    path = folder / "root.der"
    path.write_bytes(certificate.public_bytes(serialization.Encoding.DER))
    return path


def call(base, method, path, key, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        base + path,
        data=data,
        method=method,
        headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


@pytest.fixture(scope="module")
def session(base):
    _, customer = call(base, "POST", "/v1/customers", SECRET_KEY, {"app_user_id": "reader-1"})
    _, session = call(
        base,
        "POST",
        "/v1/customer_sessions",
        SECRET_KEY,
        {"customer": customer["id"], "components": {"buy_button": {"enabled": True}}},
    )
    return session["client_secret"]


def covered(product, offer, token, nonce, timestamp):
    parts = [BUNDLE, KEY_ID, product, offer, token.lower(), str(nonce).lower(), str(timestamp)]
    return "\u2063".join(parts).encode()


def test_a_promotional_offer_is_signed_as_apples_library_signs_it(base, session, key, pem):
    status, signed = call(
        base,
        "POST",
        "/v1/app_store/offer_signatures",
        session,
        {"type": "promotional_offer", "product": "pro_monthly", "offer": "come_back"},
    )
    assert status == 200
    offer = signed["promotional_offer"]
    assert signed["product_id"] == PRODUCT
    assert offer["key_id"] == KEY_ID
    assert abs(offer["timestamp"] - time.time() * 1000) < 60_000
    assert uuid.UUID(offer["nonce"]).version == 4
    text = covered(
        PRODUCT, "come_back", signed["app_account_token"], offer["nonce"], offer["timestamp"]
    )
    # Apple's own signature holds over the same text, so the text is right …
    theirs = PromotionalOfferSignatureCreator(pem, KEY_ID, BUNDLE).create_signature(
        PRODUCT,
        "come_back",
        signed["app_account_token"],
        uuid.UUID(offer["nonce"]),
        offer["timestamp"],
    )
    key.public_key().verify(base64.b64decode(theirs), text, ec.ECDSA(SHA256()))
    # … and so does ours, and over nothing else.
    ours = base64.b64decode(offer["signature"])
    key.public_key().verify(ours, text, ec.ECDSA(SHA256()))
    with pytest.raises(InvalidSignature):
        key.public_key().verify(ours, text + b"0", ec.ECDSA(SHA256()))


def expect_same_form(ours, theirs, key, audience):
    public = key.public_key()
    claims = jwt.decode(ours, public, algorithms=["ES256"], audience=audience)
    model = jwt.decode(theirs, public, algorithms=["ES256"], audience=audience)
    assert claims.keys() == model.keys()
    for name in claims.keys() - {"iat", "nonce"}:
        assert claims[name] == model[name], name
    assert abs(claims["iat"] - model["iat"]) < 60
    assert uuid.UUID(claims["nonce"]).version == 4
    assert jwt.get_unverified_header(ours) == jwt.get_unverified_header(theirs)


@pytest.mark.parametrize("transaction", [None, "2000000123456789"])
def test_the_second_form_is_the_jws_of_apples_library(base, session, key, pem, transaction):
    _, signed = call(
        base,
        "POST",
        "/v1/app_store/offer_signatures",
        session,
        {
            "type": "promotional_offer",
            "product": PRODUCT,
            "offer": "come_back",
            "transaction_id": transaction,
        },
    )
    theirs = PromotionalOfferV2SignatureCreator(pem, KEY_ID, ISSUER, BUNDLE).create_signature(
        PRODUCT, "come_back", transaction
    )
    expect_same_form(signed["compact_jws"], theirs, key, "promotional-offer")


def test_eligibility_is_signed_for_ones_own_transactions_only(base, session):
    status, refused = call(
        base,
        "POST",
        "/v1/app_store/offer_signatures",
        session,
        {
            "type": "introductory_offer_eligibility",
            "product": "pro_monthly",
            "transaction_id": "704289572311513293",
        },
    )
    assert status == 403
    assert refused["error"]["code"] == "offer_ineligible"


def test_eligibility_is_the_jws_of_apples_library(tmp_path):
    world = World(tmp_path)
    try:
        token = str(uuid.uuid4())
        server = world.serve()
        customer = world.api(
            "/v1/customers", {"app_user_id": "reader", "app_account_token": token}
        )
        world.end(server)
        world.control("POST", "purchases", {"product_id": MONTHLY, "app_account_token": token})
        assert world.run("reconcile", "app-store").returncode == 0
        world.serve()
        session = world.api(
            "/v1/customer_sessions",
            {"customer": customer["id"], "components": {"buy_button": {"enabled": True}}},
        )["client_secret"]
        status, signed = call(
            f"http://127.0.0.1:{world.port}",
            "POST",
            "/v1/app_store/offer_signatures",
            session,
            {"type": "introductory_offer_eligibility", "product": "pro_monthly"},
        )
        assert status == 200
        assert signed["allows_introductory_offer"] is True
        pem = (tmp_path / "key.p8").read_bytes()
        key = serialization.load_pem_private_key(pem, None)
        claims = jwt.decode(signed["compact_jws"], options={"verify_signature": False})
        theirs = IntroductoryOfferEligibilitySignatureCreator(
            pem,
            world.environment["TOLLGATE_APP_STORE_KEY_ID"],
            world.environment["TOLLGATE_APP_STORE_ISSUER_ID"],
            BUNDLE,
        ).create_signature(PRODUCT, True, claims["transactionId"])
        expect_same_form(signed["compact_jws"], theirs, key, "introductory-offer-eligibility")
    finally:
        world.stop()


SALES = (
    "SKU\tTitle\tProduct Type Identifier\tUnits\tDeveloper Proceeds\tBegin Date\tEnd Date\t"
    "Customer Currency\tCountry Code\tCurrency of Proceeds\tApple Identifier\tCustomer Price\n"
    "com.example.pro\tPro\tIAY\t3\t6.99\t06/01/2026\t06/01/2026\tUSD\tUS\tUSD\t123\t9.99\n"
)


def test_files_of_reports_are_taken_in(binary, tmp_path):
    packed = tmp_path / "S_D_87654321_20260601.txt.gz"
    packed.write_bytes(gzip.compress(SALES.encode()))
    run = [binary, "import", "reports"]
    settings = environment(tmp_path)

    def imported(*arguments):
        return subprocess.run(
            [*run, *arguments], env=settings, cwd=tmp_path, capture_output=True, text=True
        )

    first = imported(str(packed))
    assert first.returncode == 0, first.stderr
    assert first.stdout == "S_D_87654321_20260601.txt.gz: SALES DAILY 2026-06-01, 1 lines\n"
    again = imported("--json", str(packed))
    assert json.loads(again.stdout)[0]["new"] is False
    broken = tmp_path / "S_D_87654321_20260602.txt"
    broken.write_text(SALES.replace("\t3\t", "\tthree\t"))
    refused = imported(str(broken))
    assert refused.returncode == 1
    assert "line 2" in refused.stderr and "Units" in refused.stderr
    nowhere = imported()
    assert nowhere.returncode == 2
    assert "TOLLGATE_CONNECT_KEY_FILE" in nowhere.stderr
