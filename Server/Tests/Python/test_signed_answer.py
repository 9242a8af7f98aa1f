"""A signed answer, verified by a stock JWT library (PyJWT) as any other backend would.

The executable is found by the environment variable TOLLGATE_BIN.
"""

import json
import os
import pathlib
import re
import subprocess
import time
import urllib.request

import jwt
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
SECRET_KEY = "sk_test_signed"
PUBLISHABLE_KEY = "pk_test_signed"


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    folder = tmp_path_factory.mktemp("signed")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TOLLGATE_")}
    server = subprocess.Popen(
        [os.environ.get("TOLLGATE_BIN", ROOT / "Server/.build/debug/tollgate"), "serve"],
        env={
            **kept, "TOLLGATE_SECRET_KEY": SECRET_KEY, "TOLLGATE_PUBLISHABLE_KEY": PUBLISHABLE_KEY,
            "TOLLGATE_LISTEN": "127.0.0.1:0", "TOLLGATE_DATABASE": f"sqlite:{folder}/t.sqlite",
            "TOLLGATE_CATALOG": str(ROOT / "catalog.yaml"),
        },
        cwd=folder, stdout=subprocess.PIPE, text=True)
    for line in server.stdout:
        if found := re.search(r"tollgate listening on (http://\S+:\d+)", line):
            yield found.group(1)
            break
    else:
        pytest.fail(f"the server ended with status {server.wait()}")
    server.terminate()
    server.wait(timeout=30)
    server.stdout.close()


def call(base, method, path, key, body=None):
    request = urllib.request.Request(
        base + path, None if body is None else json.dumps(body).encode(),
        {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)


@pytest.fixture(scope="module")
def customer(base):
    customer = call(base, "POST", "/v1/customers", SECRET_KEY, {"app_user_id": "reader"})["id"]
    call(base, "POST", f"/v1/customers/{customer}/grants", SECRET_KEY, {"lookup_key": "pro"})
    return customer


@pytest.fixture(scope="module")
def token(base, customer):
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
