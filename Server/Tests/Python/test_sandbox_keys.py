"""What nobody knows is refused by its name: keys of /sandbox/ and of its files, addresses of the API.

The executable is found by the environment variable TOLLGATE_BIN.
"""

import json
import re
import subprocess
import urllib.error
import urllib.request

import pytest
import stripe

from guide import ROOT
from test_app_store_commands import PRODUCTS, TOLLGATE, World
from test_stripe_library import receiver, sandbox

__all__ = ["receiver", "sandbox"]


def call(base, method, path, body):
    request = urllib.request.Request(
        f"{base}/sandbox/{path}", method=method, data=json.dumps(body).encode())
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.loads(answer.read() or b"{}")
    except urllib.error.HTTPError as answer:
        return answer.code, json.loads(answer.read())


STRIPE = [
    ("POST", "clock/advance"), ("POST", "settle"), ("PUT", "faults"), ("POST", "deliveries"),
    ("POST", "checkout/cs_1/pay"), ("POST", "intents/pi_1/authenticate"),
    ("POST", "customers/cus_1/default_card"), ("POST", "refunds"),
    ("POST", "charges/ch_1/dispute"), ("POST", "disputes/dp_1/close"),
    ("POST", "disputes/dp_1/escalate"), ("POST", "payouts"),
    ("POST", "trigger"), ("POST", "policy"), ("POST", "endpoints/we_1/roll"),
    ("POST", "events/evt_1/resend"),
]


def test_stripes_controls_refuse_keys_that_they_do_not_know(sandbox):
    for method, path in STRIPE:
        status, answer = call(sandbox.base, method, path, {"colour": "red"})
        assert (status, answer["error"]["code"]) == (400, "parameter_unknown"), path
        assert "colour" in answer["error"]["message"]
    for path, body in (
        ("endpoints", {"url": "http://127.0.0.1:1/"}), ("balance_differences", {"kind": "amount"}),
    ):
        status, answer = call(sandbox.base, "POST", path, {**body, "colour": "red"})
        assert status == 400 and "colour" in answer["error"]["message"]
    # What is nearly right is told what would be.
    _, answer = call(sandbox.base, "PUT", "faults", {"repeat": 2})
    assert "repeats" in answer["error"]["message"]
    for path, body, words in (
        ("refunds", {"charge": "ch_1", "amount": "12"}, "amount is a whole number"),
        ("policy", {"dunning_end": "never"}, "one of canceled, unpaid, past_due"),
        ("settle", [1], "no JSON object"),
    ):
        status, answer = call(sandbox.base, "POST", path, body)
        assert status == 400 and words in answer["error"]["message"]
    documented = set(re.findall(r"`(?:POST|PUT) ([a-z_/{}]+)", guide_of_stripe()))
    tried = {re.sub(r"\b[a-z]+_1\b", "{id}", path) for _, path in STRIPE}
    assert documented <= tried | {"endpoints", "balance_differences"}


def guide_of_stripe():
    text = (ROOT / "docs/sandbox.md").read_text()
    return text.split("### Calls that Stripe does not have")[1].split("## The App Store")[0]


APP_STORE = [
    ("POST", "clock/advance"), ("PUT", "app"), ("PUT", "behaviour"), ("PUT", "faults"),
    ("POST", "customers"), ("POST", "customers/1/download"), ("POST", "customers/1/family"),
    ("POST", "customers/1/restore"), ("POST", "customers/1/billing/fail"),
    ("POST", "customers/1/billing/recover"), ("POST", "subscriptions/1/cancel"),
    ("POST", "subscriptions/1/resume"), ("POST", "subscriptions/1/consent"),
    ("POST", "subscriptions/1/revoke_family_share"), ("POST", "subscriptions/1/end"),
    ("POST", "transactions/1/refund"), ("POST", "transactions/1/reverse"),
    ("POST", "transactions/1/finish"), ("POST", "transactions/1/request_refund"),
    ("POST", "transactions/1/decline_refund"), ("POST", "notifications/test"),
    ("POST", "products/1/withdraw"), ("POST", "subscriptions/1/switch_to_bundle"),
    ("POST", "subscriptions/1/migrate"),
]
# Those that need something.
NEEDING = [
    ("POST", "purchases", {"product_id": "p"}), ("PUT", "products", {"data": []}),
    ("POST", "subscriptions/1/change", {"product_id": "p"}),
    ("POST", "subscriptions/1/redeem", {"offer": "o"}),
    ("POST", "subscriptions/1/extend", {"days": 1}),
    ("POST", "subscriptions/1/add_seats", {"seats": 1}),
    ("POST", "subscriptions/1/assign_seat", {"customer": "c"}),
    ("POST", "subscriptions/1/attach", {"app_account_token": "t"}),
    ("POST", "products/1/price", {"price": 1}), ("POST", "products/1/extend", {"days": 1}),
    ("POST", "transactions/1/tell", {"type": "REFUND"}),
    ("PUT", "ocsp", {"answer": "good"}),
    ("PUT", "api_key", {"key_id": "k", "issuer_id": "i"}),
]


def test_the_app_stores_controls_refuse_keys_that_they_do_not_know(tmp_path):
    world = World(tmp_path)
    try:
        for method, path, body in [(*one, {}) for one in APP_STORE] + NEEDING:
            status, answer = call(world.control_base, method, path, {**body, "colour": "red"})
            assert (status, answer["error"]["message"]) == (400, "Unknown key: colour"), path
        misspelt = {**PRODUCTS[0], "prise": 990}
        status, answer = call(world.control_base, "PUT", "products", {"data": [misspelt]})
        assert (status, answer["error"]["message"]) == (400, "Unknown key: data.0.prise")
    finally:
        for process in world.processes:
            world.end(process)


def test_a_file_of_products_is_refused_by_the_key_that_nobody_knows(tmp_path):
    file = tmp_path / "products.json"
    file.write_text(json.dumps({"data": [{**PRODUCTS[0], "subscription_group": "pro"}]}))
    ended = subprocess.run(
        [TOLLGATE, "sandbox", "app-store", "--listen", "127.0.0.1:0", "--products", file],
        text=True, capture_output=True, timeout=60)
    assert ended.returncode != 0
    assert "Unknown key: data.0.subscription_group" in ended.stderr


# Addresses


LEFT_OUT = [
    "quotes", "billing/meters", "billing/meter_events", "billing/alerts",
    "billing/credit_grants", "tokens", "sources", "tax/calculations", "tax/registrations",
    "tax/settings", "tax/transactions", "files", "file_links", "issuing/cards",
    "terminal/readers", "treasury/financial_accounts", "identity/verification_sessions",
    "radar/value_lists", "reporting/report_runs", "sigma/scheduled_query_runs", "transfers",
    "topups", "shipping_rates", "country_specs", "exchange_rates", "apple_pay/domains",
    "payment_method_configurations", "payment_method_domains", "invoice_rendering_templates",
    "plans", "mandates/mandate_1", "setup_attempts", "reviews", "application_fees",
    "climate/orders", "forwarding/requests", "apps/secrets",
]


def test_what_is_left_out_is_listed_and_answered_as_an_unknown_address(sandbox):
    text = (ROOT / "docs/sandbox.md").read_text()
    client = stripe.StripeClient("sk_test_python", base_addresses={"api": sandbox.base})
    for path in LEFT_OUT:
        assert f"`{path.split('/mandate_1')[0]}`" in text, path
        for version in ("v1", "v2"):
            with pytest.raises(stripe.InvalidRequestError) as refused:
                client.raw_request("get", f"/{version}/{path}")
            assert refused.value.http_status == 404
            assert refused.value.headers["Content-Type"] == "application/json"
            assert f"(GET: /{version}/{path})" in str(refused.value)
    for path in ("/v1", "/v1/", "/v2", "/v2/core/events", "/v1/unicorns?a=b"):
        request = urllib.request.Request(
            sandbox.base + path, headers={"Authorization": "Bearer sk_test_python"})
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request)
        assert refused.value.code == 404
        assert "Unrecognized request URL" in json.loads(refused.value.read())["error"]["message"]
    with pytest.raises(stripe.InvalidRequestError) as refused:
        stripe.Quote.list()
    assert refused.value.http_status == 404
    # Without a key nobody learns what there is.
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(sandbox.base + "/v2/core/events")
    assert refused.value.code == 401
