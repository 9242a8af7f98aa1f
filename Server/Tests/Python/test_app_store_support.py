"""`tollgate app-store` as support and the team use it: refunds, orders, renewal dates, tokens and the
messages for customers who are about to cancel, against a simulated App Store.

The executable is found by the environment variable TOLLGATE_BIN.
"""

import json
import types
import uuid

import pytest

from ports import free_port
from test_app_store_commands import DAY, MONTHLY, PRODUCTS, World
from test_retention_messaging import WIDE
from test_staff_sign_in import PASSWORD, Browser

TOKEN = "5f1f7d9e-2f0c-4d55-8f0a-0c9fb1a3d001"
YEARLY = "com.example.app.pro.yearly"


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path, "--realtime-limit", "60000")
    world.control("PUT", "products", {"data": [
        PRODUCTS[0] | {"offers": [
            {"offer_type": 2, "offer_id": "come_back", "discount_type": "PAY_AS_YOU_GO",
             "period": "P1M", "price": 4990}]},
        PRODUCTS[0] | {"product_id": YEARLY, "period": "P1Y", "price": 79990, "level": 1}]})
    yield world
    world.stop()


def buy(world, **more):
    return world.control("POST", "purchases", {"product_id": MONTHLY, **more})


def said(world, *words, code=0, **environment):
    answer = world.run("app-store", *words, **environment)
    assert answer.returncode == code, (words, answer.stdout, answer.stderr)
    return answer.stdout.strip() if code == 0 else answer.stderr.strip()


def told(world, *words, **environment):
    return json.loads(said(world, *words, "--json", **environment))


def test_refunds_are_listed(world):
    bought = buy(world)["transaction_id"]
    assert said(world, "refunds", bought) == "Nothing was refunded."
    assert told(world, "refunds", bought) == []
    world.control("POST", f"transactions/{bought}/refund", {"percentage": 50000})
    (refund,) = told(world, "refunds", bought)
    assert (refund["transaction_id"], refund["product_id"]) == (bought, MONTHLY)
    assert refund["revocation_type"] == "REFUND_PRORATED" and refund["revocation_date"]
    assert "revoked" in said(world, "refunds", bought)
    assert "4040010" in said(world, "refunds", "1", code=1)
    assert "TOLLGATE_APP_STORE_ROOTS" in said(
        world, "refunds", bought, code=1, TOLLGATE_APP_STORE_ROOTS="")


def test_an_order_is_looked_up_in_production(tmp_path):
    world = World(tmp_path, "--environment", "production")
    try:
        world.environment["TOLLGATE_APP_STORE_APP_APPLE_ID"] = "1234567890"
        customer = world.control("POST", "customers")["id"]
        bought = buy(world, customer=customer)["transaction_id"]
        (order,) = world.control("GET", f"customers/{customer}/orders")["data"]
        (transaction,) = told(world, "order", order)
        assert transaction["transaction_id"] == bought
        assert "no order" in said(world, "order", "MNONE", code=1)
    finally:
        world.stop()


def test_an_order_is_looked_up_on_the_dashboard(tmp_path):
    world = World(tmp_path, "--environment", "production")
    try:
        world.environment |= {
            "TOLLGATE_APP_STORE_APP_APPLE_ID": "1234567890",
            "TOLLGATE_DATABASE": f"sqlite:{tmp_path}/orders.sqlite",
            "TOLLGATE_PUBLIC_URL": f"http://127.0.0.1:{world.port}"}
        customer = world.control("POST", "customers")["id"]
        bought = buy(world, customer=customer)["transaction_id"]
        (order,) = world.control("GET", f"customers/{customer}/orders")["data"]
        for words, line in (
            (("add", "ann@example.com", "--role", "support"), None),
            (("password", "ann@example.com", "--stdin"), PASSWORD + "\n"),
        ):
            ended = world.run("staff", *words, stdin=line)
            assert ended.returncode == 0, ended.stderr
        world.serve()
        browser = Browser(types.SimpleNamespace(url=world.environment["TOLLGATE_PUBLIC_URL"]))
        browser.sign_in()
        found = browser.open(f"/dashboard/app-store?order={order}")
        assert found.status_code == 200 and bought in found.text and MONTHLY in found.text
        none = browser.open("/dashboard/app-store?order=MNONE")
        assert none.status_code == 200 and bought not in none.text
        assert "This order does not belong to this app" in none.text
    finally:
        world.stop()


def test_a_renewal_date_is_extended_twice_a_year_at_most(world):
    bought = buy(world)["original_transaction_id"]
    before = world.control("GET", f"subscriptions/{bought}")["renewal_date"]
    answer = told(world, "extend", bought, "--days", "14", "--reason", "outage")
    assert answer == {
        "original_transaction_id": bought, "effective_date": before + 14 * DAY}
    assert "renews" in said(world, "extend", bought, "--days", "1")
    assert "4030005" in said(world, "extend", bought, "--days", "1", code=1)
    for words in [("--days", "0"), ("--days", "91"), (), ("--days", "1", "--reason", "whim")]:
        said(world, "extend", bought, *words, code=2)


def test_all_subscribers_are_extended_and_how_far_that_is_is_told(world):
    bought = buy(world)["original_transaction_id"]
    before = world.control("GET", f"subscriptions/{bought}")["renewal_date"]
    request = told(world, "extend-all", MONTHLY, "--days", "3", "--storefront", "USA")[
        "request_identifier"]
    status = told(world, "extension-status", MONTHLY, request)
    assert (status["complete"], status["succeeded_count"], status["failed_count"]) == (True, 1, 0)
    assert said(world, "extension-status", MONTHLY, request) == "complete: 1 extended, 0 not"
    assert world.control("GET", f"subscriptions/{bought}")["renewal_date"] == before + 3 * DAY
    assert "4000028" in said(
        world, "extend-all", MONTHLY, "--days", "3", "--storefront", "XXX", code=1)
    assert "4040009" in said(world, "extension-status", MONTHLY, "none", code=1)


def test_a_token_is_set_and_a_transaction_finished(world):
    bought = buy(world)["transaction_id"]
    assert said(world, "set-token", bought, TOKEN) == f"{bought}: token set"
    assert "UUID" in said(world, "set-token", bought, "me", code=1)
    assert told(world, "finish", bought) == {"done": "finished", "subject": bought}
    assert "4040010" in said(world, "finish", "1", code=1)


def test_changes_are_in_the_audit_log_of_the_database_that_is_named(world):
    bought = buy(world)["original_transaction_id"]
    world.end(world.serve())
    database = "sqlite:.tollgate/tollgate.sqlite"
    said(world, "finish", bought)
    said(world, "extend", bought, "--days", "2", "--database", database)
    said(world, "extend", bought, "--days", "2", TOLLGATE_DATABASE=database)
    said(world, "extend", bought, "--days", "2", "--database", database, code=1)
    said(world, "finish", bought, "--unaudited", TOLLGATE_DATABASE=database)
    log = json.loads(world.run("audit", "--json").stdout)
    assert [(entry["action"], entry["outcome"]) for entry in log] == [
        ("app_store.extend", "refused: app_store_refused"), ("app_store.extend", "done"),
        ("app_store.extend", "done")]
    assert {entry["subject"] for entry in log} == {f"transaction:{bought}"}
    # Beside a server on SQLite nothing is done unseen.
    world.serve()
    busy = said(world, "finish", bought, "--database", database, code=1)
    assert "server is using this database" in busy


def hosted(world, seats=3):
    """A group subscription to which the app itself invites."""
    world.control("PUT", "products", {"data": PRODUCTS + [PRODUCTS[0] | {
        "product_id": "com.example.app.team", "multiseat": True, "invitation_management": "DEVELOPER",
        "subscription_group_id": "team"}]})
    buyer = world.control("POST", "customers")
    bought = world.control("POST", "purchases", {
        "product_id": "com.example.app.team", "customer": buyer["id"], "quantity": seats})
    return buyer, bought["transaction_id"]


def test_seats_of_a_group_are_claimed_associated_and_released(world):
    buyer, bought = hosted(world)
    member = world.control("POST", "customers")["app_transaction_id"]
    assert told(world, "seats", "show", bought) == {"total": 3, "available": 3, "claims": []}
    request = str(uuid.uuid4())
    first = told(world, "seats", "claim", bought, "--request", request)["subject"]
    assert told(world, "seats", "claim", bought, "--request", request)["subject"] == first
    second = told(world, "seats", "claim", bought, "--app-transaction", member)["subject"]
    assert said(world, "seats", "show", bought) == f"1 of 3 seats are free\n{first}\n{second}"
    told(world, "seats", "claim", bought)
    # Apple documents no number for this error; the sandbox has that of a bad request.
    refused = said(world, "seats", "claim", bought, code=1)
    assert "no seats available" in refused and "repeat with --request" in refused
    said(world, "seats", "claim", bought, "--request", "me", code=2)
    (group,) = told(world, "groups", member, "--members")
    assert group["type"] == "CONSUMER"
    assert group["members"] == [buyer["app_transaction_id"], member]
    other = world.control("POST", "customers")["app_transaction_id"]
    assert said(world, "seats", "associate", bought, first, other) == f"{first}: associated"
    assert said(world, "groups", other) == f"{group['id']}  CONSUMER"
    assert said(world, "seats", "release", bought, second) == f"{second}: released"
    assert "4000000" in said(world, "seats", "release", bought, second, code=1)
    assert told(world, "seats", "show", bought)["available"] == 1
    assert "4040010" in said(world, "seats", "show", "1", code=1)
    assert "4040010" in said(world, "groups", "1", code=1)


# Messages for customers who are about to cancel


def rules(world, text):
    (world.directory / "retention.yaml").write_text("retention_messages:\n" + text)
    world.environment["TOLLGATE_RETENTION_MESSAGES"] = "retention.yaml"


def test_from_an_image_to_a_message_that_is_shown(world):
    (world.directory / "table.png").write_bytes(WIDE)
    (image,) = told(world, "retention", "upload-image", "table.png")
    (plain,) = told(
        world, "retention", "upload-message", "--header", "Before you go", "--body", "Half price.")
    (pictured,) = told(
        world, "retention", "upload-message", "--header", "Stay", "--body", "Please.",
        "--image", image["id"], "--alt-text", "A table", "--header-above-image")
    assert told(world, "retention", "images") == [
        {"id": image["id"], "size": "FULL_SIZE", "state": "APPROVED"}]
    assert {message["id"] for message in told(world, "retention", "messages")} == {
        plain["id"], pictured["id"]}
    place = ("retention", "default", MONTHLY, "en-US")
    assert "4040020" in said(world, *place, code=1)
    assert told(world, *place, "--set", pictured["id"])[0]["id"] == pictured["id"]
    assert told(world, *place)[0]["id"] == pictured["id"]
    rules(world, f"""
  - product: pro_monthly
    locale: ja
    message: {plain['id']}
    offer: come_back
  - product: pro_monthly
    locale: de-DE
    message: {plain['id']}
    switch_to: pro_yearly
""")
    world.serve()
    url = f"http://127.0.0.1:{world.port}/webhooks/app_store/retention_message"
    assert "4040021" in said(world, "retention", "url", code=1)
    assert said(world, "retention", "url", "--set", url) == url
    bought = buy(world)["original_transaction_id"]

    def shown(locale):
        return world.control(
            "POST", f"subscriptions/{bought}/retention_message", {"locale": locale})

    offer = shown("ja")
    assert (offer["source"], offer["offer_identifier"]) == ("realtime", "come_back"), offer
    other = shown("de-DE")
    assert (other["source"], other["product_id"]) == ("realtime", YEARLY), other
    # No rule for this language: the default message.
    fallback = shown("en-US")
    assert (fallback["source"], fallback["message_identifier"]) == (
        "default", pictured["id"].lower())
    assert fallback["request"]["result"] == "UNSUCCESSFUL_HTTP_RESPONSE_CODE"
    said(world, "retention", "url", "--delete")
    said(world, *place, "--delete")
    assert shown("en-US") == {"source": "none"}
    assert "4030019" in said(world, "retention", "delete-image", image["id"], code=1)
    said(world, "retention", "delete-message", pictured["id"])
    said(world, "retention", "delete-image", image["id"])
    assert told(world, "retention", "images") == []


def test_changes_of_messages_are_in_the_audit_log(world):
    bought = buy(world)["original_transaction_id"]
    world.end(world.serve())
    (world.directory / "table.png").write_bytes(WIDE)
    log = {"TOLLGATE_DATABASE": "sqlite:.tollgate/tollgate.sqlite"}
    (image,) = told(world, "retention", "upload-image", "table.png", **log)
    (message,) = told(
        world, "retention", "upload-message", "--header", "Stay", "--body", "Please.", **log)
    place = ("retention", "default", MONTHLY, "en-US")
    url = f"http://127.0.0.1:{world.port}/webhooks/app_store/retention_message"
    told(world, *place, "--set", message["id"], **log)
    said(world, "retention", "url", "--set", url, **log)
    said(world, "retention", "test", bought, code=1, **log)
    said(world, "retention", "url", "--delete", **log)
    said(world, *place, "--delete", **log)
    said(world, "retention", "delete-message", message["id"], **log)
    said(world, "retention", "delete-image", image["id"], **log)
    said(world, "retention", "delete-image", image["id"], code=1, **log)
    # Who only looks leaves no entry.
    told(world, "retention", "images", **log)
    entries = json.loads(world.run("audit", "--json").stdout)
    assert [(entry["action"], entry["outcome"].split(":")[0]) for entry in reversed(entries)] == [
        ("app_store.upload_image", "done"), ("app_store.upload_message", "done"),
        ("app_store.default_message", "done"), ("app_store.retention_url", "done"),
        ("app_store.retention_test", "done"), ("app_store.retention_url", "done"),
        ("app_store.default_message", "done"), ("app_store.delete_message", "done"),
        ("app_store.delete_image", "done"), ("app_store.delete_image", "refused")]
    details = [entry["detail"] for entry in reversed(entries)]
    assert details[2] == f"en-US, message:{message['id'].lower()}" and details[3] == url


def test_the_performance_test_tells_how_fast_the_server_answers(world):
    (message,) = told(
        world, "retention", "upload-message", "--header", "Stay", "--body", "Please.")
    bought = buy(world)["original_transaction_id"]
    assert "4000211" in said(world, "retention", "test", bought, code=1)
    rules(world, f"  - message: {message['id']}\n    locale: en-US\n")
    world.serve()
    said(world, "retention", "url", "--set",
         f"http://127.0.0.1:{world.port}/webhooks/app_store/retention_message")
    result = told(world, "retention", "test", bought)
    assert (result["result"], result["success_rate"], result["pending"]) == ("PASS", 100, 0)
    said(world, "retention", "url", "--set", f"http://127.0.0.1:{free_port()}/")
    failed = said(world, "retention", "test", bought, code=1)
    assert "has not passed" in failed


def test_a_table_with_mistakes_starts_no_server(world):
    rules(world, f"  - message: {uuid.uuid4()}\n    product: pro_montly\n")
    answer = world.run("serve", "--listen", f"127.0.0.1:{world.port}")
    assert answer.returncode == 1
    assert "retention.yaml:3:" in answer.stderr and "pro_monthly" in answer.stderr
    world.environment["TOLLGATE_RETENTION_MESSAGES"] = "none.yaml"
    answer = world.run("serve", "--listen", f"127.0.0.1:{world.port}")
    assert answer.returncode == 1 and "none.yaml" in answer.stderr


def test_a_table_with_an_offer_starts_no_server_without_a_key_to_sign_it(world):
    rules(world, f"  - message: {uuid.uuid4()}\n    product: pro_monthly\n    offer: come_back\n")
    for name in ("ISSUER_ID", "KEY_ID", "KEY_FILE"):
        del world.environment[f"TOLLGATE_APP_STORE_{name}"]
    answer = world.run("serve", "--listen", f"127.0.0.1:{world.port}")
    assert answer.returncode == 1
    assert "offer" in answer.stderr and "TOLLGATE_APP_STORE_KEY_FILE" in answer.stderr
