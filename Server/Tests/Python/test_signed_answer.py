"""A signed answer, verified by a stock JWT library (PyJWT) as any other backend would.

The executable is found by the environment variable TOLLGATE_BIN.
"""

import base64
import contextlib
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import time
import urllib.request

import jwt
import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from keys import key

ROOT = pathlib.Path(__file__).resolve().parents[3]
TOLLGATE = os.environ.get("TOLLGATE_BIN", ROOT / "Server/.build/debug/tollgate")
SECRET_KEY = key("sk", "signed")
PUBLISHABLE_KEY = key("pk", "signed")


def environment(folder):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TOLLGATE_")}
    return {
        **kept, "TOLLGATE_SECRET_KEY": SECRET_KEY, "TOLLGATE_PUBLISHABLE_KEY": PUBLISHABLE_KEY,
        "TOLLGATE_LISTEN": "127.0.0.1:0", "TOLLGATE_DATABASE": f"sqlite:{folder}/t.sqlite",
        "TOLLGATE_CATALOG": str(ROOT / "catalog.yaml"),
    }


@contextlib.contextmanager
def running(folder):
    server = subprocess.Popen(
        [TOLLGATE, "serve"], env=environment(folder), cwd=folder, stdout=subprocess.PIPE,
        text=True)
    try:
        for line in server.stdout:
            if found := re.search(r"tollgate listening on (http://\S+:\d+)", line):
                yield found.group(1)
                break
        else:
            pytest.fail(f"the server ended with status {server.wait()}")
    finally:
        server.terminate()
        server.wait(timeout=30)
        server.stdout.close()


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    with running(tmp_path_factory.mktemp("signed")) as address:
        yield address


def call(base, method, path, key, body=None):
    request = urllib.request.Request(
        base + path, None if body is None else json.dumps(body).encode(),
        {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)


@pytest.fixture(scope="module")
def customer(base):
    return new_customer(base)


def new_customer(base):
    customer = call(base, "POST", "/v1/customers", SECRET_KEY, {"app_user_id": "reader"})["id"]
    call(base, "POST", f"/v1/customers/{customer}/grants", SECRET_KEY, {"lookup_key": "pro"})
    return customer


@pytest.fixture(scope="module")
def token(base, customer):
    return answer(base, customer)


def answer(base, customer):
    session = call(base, "POST", "/v1/customer_sessions", SECRET_KEY, {
        "customer": customer, "components": {"active_entitlements": {"enabled": True}}})
    path = f"/v1/customers/{customer}/entitlements"
    return call(base, "GET", path, session["client_secret"])["signed_answer"]


def key_of(base, token):
    return jwt.PyJWKClient(base + "/.well-known/jwks.json").get_signing_key_from_jwt(token).key


def test_a_stock_library_verifies_the_answer_with_the_published_keys(base, customer, token):
    claims = jwt.decode(
        token, key_of(base, token), algorithms=["ES256"], audience="tollgate",
        options={"require": ["exp", "iat", "aud", "sub"]})
    assert claims["sub"] == customer
    since, until, ground = claims["entitlements"]["pro"][0]
    assert until is None and ground == "grant" and since <= claims["at"]
    assert time.time() < claims["exp"] <= time.time() + 3 * 86400 + 5
    assert len(token) < 2048


def test_an_answer_is_for_its_audience_and_its_time(base, token):
    key = key_of(base, token)
    with pytest.raises(jwt.InvalidAudienceError):
        jwt.decode(token, key, algorithms=["ES256"], audience="somebody else")
    with pytest.raises(jwt.ExpiredSignatureError):
        jwt.decode(
            token, key, algorithms=["ES256"], audience="tollgate", leeway=-3 * 86400 - 10,
            options={"verify_iat": False})


def test_an_answer_that_was_changed_is_worth_nothing(base, token):
    header, payload, signature = token.split(".")
    claims = jwt.decode(token, options={"verify_signature": False})
    claims["entitlements"]["archive"] = [[0, None, "grant"]]
    forged = jwt.utils.base64url_encode(json.dumps(claims).encode()).decode()
    with pytest.raises(jwt.InvalidSignatureError):
        jwt.decode(
            f"{header}.{forged}.{signature}", key_of(base, token), algorithms=["ES256"],
            audience="tollgate")


def test_the_catalogs_slice_is_signed_by_the_same_keys_for_another_audience(base):
    slice = call(base, "GET", "/v1/catalog", PUBLISHABLE_KEY)
    token = slice["signed_catalog"]
    key = key_of(base, token)
    claims = jwt.decode(token, key, algorithms=["ES256"], audience="tollgate.catalog")
    granted = {p["app_store_product_id"]: p["entitlements"] for p in claims["products"]}
    assert granted["com.example.app.pro.monthly"] == ["pro"]
    with pytest.raises(jwt.InvalidAudienceError):
        jwt.decode(token, key, algorithms=["ES256"], audience="tollgate")


def keys(*arguments, folder):
    done = subprocess.run(
        [TOLLGATE, "keys", *arguments, "--json"], env=environment(folder), cwd=folder,
        capture_output=True, text=True, timeout=60)
    return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr


def let_the_next_key_sign(folder):
    """A change at once takes a minute: as if that had passed.

    The keys are sealed with the secret key, so nobody can do this who has only the file.
    """
    derived = HKDF(hashes.SHA256(), 32, b"tollgate", b"secrets at rest, 1")
    box = ChaCha20Poly1305(derived.derive(SECRET_KEY.encode()))
    with contextlib.closing(sqlite3.connect(folder / "t.sqlite")) as database, database:
        sealed, = database.execute(
            "SELECT value FROM meta WHERE name = 'answer_key_sealed'").fetchone()
        kept = json.loads(box.decrypt(sealed[:12], sealed[12:], b"answer key"))
        assert [len(base64.b64decode(key["secret"])) for key in kept] == [32, 32]
        assert base64.b64decode(kept[0]["secret"]) not in sealed
        kept[-1]["from"] -= 60_000
        fresh = os.urandom(12)
        database.execute(
            "UPDATE meta SET value = ? WHERE name = 'answer_key_sealed'",
            [fresh + box.encrypt(fresh, json.dumps(kept).encode(), b"answer key")])


def test_an_answer_signed_before_a_change_of_keys_verifies_after_it(tmp_path):
    with running(tmp_path) as base:
        customer = new_customer(base)
        before = answer(base, customer)
        # The running server is asked; its file is its own.
        status, listed = keys("rotate", "--server", base, folder=tmp_path)
        assert status == 0 and [key["status"] for key in listed] == ["signing", "next"]
        assert len(call(base, "GET", "/.well-known/jwks.json", SECRET_KEY)["keys"]) == 2
        # Beside it, the file can be read all the same.
        assert keys("list", folder=tmp_path) == (0, listed)
        status, refused = keys("rotate", folder=tmp_path)
        assert status == 1 and "A server is using this database" in refused
    # Stopped, the command does it itself; the change under way is hurried on.
    status, listed = keys("rotate", "--at-once", folder=tmp_path)
    assert status == 0 and [key["status"] for key in listed] == ["signing", "next"]
    let_the_next_key_sign(tmp_path)
    with running(tmp_path) as base:
        after = answer(base, customer)
        kids = [jwt.get_unverified_header(token)["kid"] for token in (before, after)]
        assert kids[0] != kids[1]
        for token in (before, after):
            claims = jwt.decode(token, key_of(base, token), algorithms=["ES256"], audience="tollgate")
            assert claims["sub"] == customer
        status, listed = keys("list", "--server", base, folder=tmp_path)
        assert [(key["id"], key["status"]) for key in listed] == [
            (kids[0], "former"), (kids[1], "signing")]
        audit = subprocess.run(
            [TOLLGATE, "audit", "--json"], env=environment(tmp_path), capture_output=True, text=True)
        by_hand, by_the_server = json.loads(audit.stdout)
        for entry, actor, detail in [
            (by_hand, "cli:", "at once"), (by_the_server, "secret key", ""),
        ]:
            assert (entry["action"], entry["outcome"]) == ("signing_keys.rotate", "done")
            assert entry["actor"].startswith(actor) and entry["detail"] == detail
        assert by_the_server["request"]
