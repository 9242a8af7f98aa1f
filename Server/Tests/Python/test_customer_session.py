"""Stripe's own Python library, unmodified, with its API base set to `tollgate serve`.

The executable is found by the environment variable TOLLGATE_BIN.
"""

import json
import os
import pathlib
import re
import subprocess
import urllib.error
import urllib.request

import pytest
import stripe

from keys import key

SECRET_KEY = key("sk", "sessions")
PUBLISHABLE_KEY = key("pk", "sessions")
ROOT = pathlib.Path(__file__).parents[3]


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    binary = os.environ.get("TOLLGATE_BIN")
    if not binary:
        pytest.skip("TOLLGATE_BIN is not set")
    folder = tmp_path_factory.mktemp("tollgate")
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("TOLLGATE_")
    }
    environment.update(
        TOLLGATE_SECRET_KEY=SECRET_KEY,
        TOLLGATE_PUBLISHABLE_KEY=PUBLISHABLE_KEY,
        TOLLGATE_LISTEN="127.0.0.1:0",
        TOLLGATE_DATABASE=f"sqlite:{folder / 'tollgate.sqlite'}",
        TOLLGATE_CATALOG=str(ROOT / "catalog.yaml"),
    )
    server = subprocess.Popen(
        [binary, "serve"], env=environment, cwd=folder, stdout=subprocess.PIPE, text=True
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


@pytest.fixture(scope="module")
def client(base):
    return stripe.StripeClient(
        SECRET_KEY, base_addresses={"api": base}, max_network_retries=0
    )


@pytest.fixture(scope="module")
def customer(base):
    status, body = call(base, "POST", "/v1/customers", SECRET_KEY, {"app_user_id": "reader-1"})
    assert status == 201
    return body["id"]


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


def components(*names):
    return {name: {"enabled": True} for name in names}


def test_a_session_is_made_and_opens_what_it_was_made_for(base, client, customer):
    session = client.v1.customer_sessions.create(
        params={
            "customer": customer,
            "components": components("buy_button", "active_entitlements"),
        }
    )
    assert isinstance(session, stripe.CustomerSession)
    assert session.object == "customer_session"
    assert session.customer == customer
    assert session.client_secret.startswith("cuss_secret_")
    assert session.expires_at > session.created
    assert session.livemode is False
    assert session.components.buy_button.enabled is True

    status, answer = call(
        base, "GET", f"/v1/customers/{customer}/entitlements", session.client_secret
    )
    assert status == 200
    assert answer["data"] == []
    status, answer = call(base, "POST", "/v1/portal_sessions", session.client_secret, {})
    assert status == 403
    assert answer["error"]["code"] == "component_disabled"


def test_the_older_way_of_the_library_works_too(base, customer, monkeypatch):
    monkeypatch.setattr(stripe, "api_base", base)
    session = stripe.CustomerSession.create(
        api_key=SECRET_KEY, customer=customer, components=components("customer_portal")
    )
    assert session.customer == customer
    status, answer = call(base, "POST", "/v1/portal_sessions", session.client_secret, {})
    assert status == 200
    assert "/portal?token=" in answer["url"]
    assert session.client_secret not in answer["url"]


def test_refusals_are_the_errors_that_the_library_knows(base, client, customer):
    with pytest.raises(stripe.InvalidRequestError) as missing:
        client.v1.customer_sessions.create(
            params={"customer": "nobody", "components": components("buy_button")}
        )
    assert missing.value.http_status == 404
    assert missing.value.code == "resource_missing"
    assert missing.value.param == "customer"

    with pytest.raises(stripe.InvalidRequestError) as unknown:
        client.v1.customer_sessions.create(
            params={"customer": customer, "components": components("pricing_table")}
        )
    assert unknown.value.code == "parameter_unknown"

    wrong = stripe.StripeClient("sk_test_other", base_addresses={"api": base})
    with pytest.raises(stripe.AuthenticationError) as refused:
        wrong.v1.customer_sessions.create(
            params={"customer": customer, "components": components("buy_button")}
        )
    assert refused.value.http_status == 401

    publishable = stripe.StripeClient(PUBLISHABLE_KEY, base_addresses={"api": base})
    with pytest.raises(stripe.PermissionError) as scope:
        publishable.v1.customer_sessions.create(
            params={"customer": customer, "components": components("buy_button")}
        )
    # The library keeps the code of a 403 in the body only.
    assert scope.value.json_body["error"]["code"] == "key_scope"
