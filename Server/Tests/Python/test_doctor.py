"""`tollgate doctor` finds what is wrong, at each store and on this machine, and says what to do."""

import contextlib
import email.utils
import http.server
import json
import os
import pathlib
import re
import subprocess
import threading
import time
import types

import pytest
import stripe

import test_app_store_commands
import test_stripe_commands
from google_play import PACKAGE, Play
from keys import key
from ports import free_port
from self_signed import certificate
from test_staff_sign_in import Browser, added
from tollgate_world import BINARY, BUNDLE_ID, ROOT, SECRET, Apple, Server, postgres

EVENTS = [
    "checkout.session.completed", "checkout.session.async_payment_succeeded",
    "checkout.session.async_payment_failed", "checkout.session.expired", "customer.subscription.created",
    "customer.subscription.updated", "customer.subscription.deleted", "invoice.paid", "invoice.voided",
    "invoice.marked_uncollectible", "payment_intent.succeeded", "refund.created", "refund.updated",
    "refund.failed", "charge.dispute.created", "charge.dispute.updated", "charge.dispute.closed",
    "entitlements.active_entitlement_summary.updated",
]
VERSION = "2026-09-30.endive"


def doctor(folder, environment, *arguments):
    """The exit code, and what was found: by check, state and sentence with its remedy."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("TOLLGATE_")}
    ended = subprocess.run(
        [BINARY, "doctor", "--json", *arguments], cwd=folder, env=plain | environment, text=True,
        capture_output=True, timeout=120)
    findings = json.loads(ended.stdout)
    for one in findings:
        assert one["sentence"], one
        assert ("remedy" in one) == (one["state"] in ("warning", "failed")), one
    failed = any(one["state"] == "failed" for one in findings)
    assert ended.returncode == (1 if failed else 0), (findings, ended.stderr)
    return findings


def state(findings, check):
    """The worst state of a check, and all its sentences."""
    found = [one for one in findings if one["check"] == check]
    assert found, (check, findings)
    order = ["failed", "warning", "skipped", "ok"]
    worst = min((one["state"] for one in found), key=order.index)
    return worst, "\n".join(one["sentence"] for one in found)


@pytest.fixture
def settings(tmp_path):
    return {
        "TOLLGATE_SECRET_KEY": SECRET, "TOLLGATE_PUBLISHABLE_KEY": key("pk", "doctor"),
        "TOLLGATE_CATALOG": str(ROOT / "catalog.yaml"), "TOLLGATE_DATABASE": f"sqlite:{tmp_path}/live.sqlite",
    }


# This machine


def test_wrong_settings_are_found_before_anything_is_asked(tmp_path, settings):
    findings = doctor(tmp_path, settings | {
        "TOLLGATE_SECRET_KEY": "sk_test_short", "TOLLGATE_DATABSE": "sqlite:x"})
    assert {one["check"] for one in findings} == {"settings"}
    worst, sentences = state(findings, "settings")
    assert worst == "failed" and "has 5 characters" in sentences and "Did you mean TOLLGATE_DATABASE?" in sentences


def test_a_machine_without_stores(tmp_path, settings):
    findings = doctor(tmp_path, settings)
    assert state(findings, "settings")[0] == "ok"
    assert state(findings, "database") == ("warning", f"There is no database at {tmp_path}/live.sqlite yet.")
    assert state(findings, "backups")[0] == "warning"
    for check in ("app_store", "stripe", "google_play", "public_url", "clock"):
        assert state(findings, check)[0] == "skipped", check


def test_beside_a_running_server(tmp_path, settings):
    port = free_port()
    environment = settings | {
        "TOLLGATE_LISTEN": f"127.0.0.1:{port}", "TOLLGATE_PUBLIC_URL": f"http://127.0.0.1:{port}"}
    plain = {name: value for name, value in os.environ.items() if not name.startswith("TOLLGATE_")}
    process = subprocess.Popen(
        [BINARY, "serve"], cwd=tmp_path, env=plain | environment, stdout=subprocess.PIPE, text=True)
    try:
        assert "listening on" in process.stdout.readline()
        findings = doctor(tmp_path, environment)
        assert state(findings, "settings")[0] == "ok", "its ports are in use, as they should be"
        assert state(findings, "database")[0] == "ok"
        assert state(findings, "public_url")[0] == "ok"
    finally:
        process.terminate()
        process.communicate(timeout=30)
    assert state(doctor(tmp_path, environment), "public_url")[0] == "failed"


def test_the_dashboard_says_what_the_command_says(tmp_path, settings):
    port = free_port()
    environment = settings | {"TOLLGATE_LISTEN": f"127.0.0.1:{port}"}
    added(environment["TOLLGATE_DATABASE"])
    plain = {name: value for name, value in os.environ.items() if not name.startswith("TOLLGATE_")}
    process = subprocess.Popen(
        [BINARY, "serve"], cwd=tmp_path, env=plain | environment, stdout=subprocess.PIPE, text=True)
    try:
        assert "listening on" in process.stdout.readline()
        browser = Browser(types.SimpleNamespace(url=f"http://127.0.0.1:{port}"))
        browser.sign_in()
        browser.open("/dashboard/doctor")
        page = browser.press("/dashboard/doctor/ask")
        assert page.status_code == 200
        found = [one for one in doctor(tmp_path, environment) if one["check"] != "settings"]
    finally:
        process.terminate()
        process.communicate(timeout=30)
    assert {"clock", "database", "disk", "backups", "public_url", "stripe"} <= {one["check"] for one in found}
    for one in found:
        assert f">{one['check']}<" in page.text, one
    assert "answers; its journal has " in page.text and "No folder of backups is named." in page.text


def test_backups_that_are_missing_or_old(tmp_path, settings):
    environment = settings | {"TOLLGATE_BACKUPS": f"{tmp_path}/backups"}
    assert state(doctor(tmp_path, environment), "backups")[0] == "failed"
    (tmp_path / "backups").mkdir()
    copy = tmp_path / "backups/tollgate-20260601T000000Z.sqlite"
    copy.write_bytes(b"")
    assert state(doctor(tmp_path, environment), "backups")[0] == "ok"
    os.utime(copy, (time.time() - 30 * 3600,) * 2)
    worst, sentence = state(doctor(tmp_path, environment), "backups")
    assert worst == "failed" and "30 hours old" in sentence


@pytest.mark.skipif(
    not list(pathlib.Path("/usr/lib/postgresql").glob("*/bin")), reason="PostgreSQL is not installed")
def test_the_password_of_a_database_is_not_said(tmp_path, settings):
    """D3: neither by doctor, nor by the server that begins."""
    with postgres(tmp_path) as location:
        database = location + ("&" if "?" in location else "?") + "password=S3CRET"
        server = Server(database)
        try:
            said = server.process.stdout.readline()
            findings = doctor(tmp_path, settings | {"TOLLGATE_DATABASE": database})
        finally:
            server.stop()
    assert said.startswith("database: postgres") and "S3CRET" not in said
    worst, sentence = state(findings, "database")
    assert worst == "ok" and "S3CRET" not in json.dumps(findings), sentence


def test_a_file_that_is_no_database(tmp_path, settings):
    (tmp_path / "live.sqlite").write_text("this is no database, only words " * 100)
    assert state(doctor(tmp_path, settings), "database")[0] == "failed"


@contextlib.contextmanager
def answering(status, seconds=0, tls=None, **headers):
    """A server with one answer, whose clock is that many seconds off; and the paths that were asked for."""
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(status)
            for name, value in {"Content-Length": "0", **headers}.items():
                self.send_header(name, value)
            self.end_headers()

        def date_time_string(self, timestamp=None):
            return email.utils.formatdate(time.time() + seconds, usegmt=True)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http{'s' if tls else ''}://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()


def test_a_public_address_that_leads_elsewhere(tmp_path, settings):
    """Stores follow no redirection, and neither does doctor."""
    with answering(302, Location="/elsewhere") as (address, asked):
        findings = doctor(tmp_path, settings | {"TOLLGATE_PUBLIC_URL": address})
    worst, sentence = state(findings, "public_url")
    assert worst == "failed" and "/healthz answers 302" in sentence, sentence
    assert asked == ["/healthz"]


@pytest.mark.parametrize("name, days, expected, words", [
    ("localhost", 60, "ok", "is valid until "),
    ("localhost", 20.5, "warning", "ends in 20 days, on "),
    ("localhost", 0.5, "warning", "ends in 0 days, on "),
    ("localhost", -3, "failed", "expired on "),
    ("other.example.com", 60, "failed", "is for another name"),
])
def test_the_certificate_of_the_public_address(tmp_path, settings, name, days, expected, words):
    """What is trusted is asked by the request for /healthz; this looks at time and name."""
    _, context = certificate(tmp_path, name, days)
    with answering(200, tls=context) as (address, _):
        findings = doctor(
            tmp_path, settings | {"TOLLGATE_PUBLIC_URL": address.replace("127.0.0.1", "localhost") + "/"})
    worst, sentence = state(findings, "public_url.certificate")
    assert worst == expected and words in sentence, sentence
    assert state(findings, "public_url")[0] == "failed", "nobody trusts its issuer"


def test_an_address_without_tls_has_no_certificate(tmp_path, settings):
    with answering(200) as (address, _):
        findings = doctor(tmp_path, settings | {"TOLLGATE_PUBLIC_URL": address})
        # It speaks no TLS, and there is no certificate to look at.
        secure = doctor(tmp_path, settings | {"TOLLGATE_PUBLIC_URL": address.replace("http:", "https:")})
    assert "public_url.certificate" not in {one["check"] for one in findings}
    assert state(secure, "public_url.certificate")[0] == "skipped"


@pytest.mark.parametrize("off, expected, words", [
    (0, "ok", "agrees"), (120, "warning", "s behind the store's"), (-900, "failed", "s ahead of the store's")])
def test_a_clock_that_is_wrong(tmp_path, settings, off, expected, words):
    with answering(404, off) as (address, _):
        findings = doctor(tmp_path, settings | {
            "TOLLGATE_STRIPE_API_BASE": address, "TOLLGATE_STRIPE_SECRET_KEY": "sk_test_x",
            "TOLLGATE_STRIPE_WEBHOOK_SECRETS": "whsec_x"})
    worst, sentence = state(findings, "clock")
    assert worst == expected and words in sentence, sentence


@pytest.mark.parametrize("text, mode, expected", [
    (f"keys: {{secret: {SECRET}}}\n", 0o644, "warning"),
    (f"keys: {{secret: {SECRET}}}\n", 0o640, "ok"),
    ("keys: {secret: {env: KEY}}\n", 0o644, "ok"),
])
def test_keys_in_a_file_that_everybody_may_read(tmp_path, settings, text, mode, expected):
    file = tmp_path / "tollgate.yaml"
    file.write_text(text)
    file.chmod(mode)
    findings = doctor(tmp_path, settings | {"KEY": SECRET})
    worst, sentences = state(findings, "settings")
    assert worst == expected, sentences
    assert SECRET not in json.dumps(findings)


def test_people_read_the_remedy_below_its_finding(tmp_path, settings):
    plain = {name: value for name, value in os.environ.items() if not name.startswith("TOLLGATE_")}
    ended = subprocess.run(
        [BINARY, "doctor"], cwd=tmp_path, env=plain | settings, text=True, capture_output=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    lines = ended.stdout.splitlines()
    index = next(index for index, line in enumerate(lines) if line.startswith("warning  backups"))
    assert lines[index + 1].startswith("         → Set TOLLGATE_BACKUPS")
    assert re.fullmatch(r"\d+ ok, \d+ warning, 0 failed, \d+ skipped", lines[-1])


# The App Store


@pytest.fixture(scope="module")
def app_store(tmp_path_factory):
    world = test_app_store_commands.World(tmp_path_factory.mktemp("doctor_app_store"))
    yield world
    world.stop()


def test_the_app_store_takes_the_key(app_store):
    findings = doctor(app_store.directory, app_store.environment)
    assert state(findings, "app_store.key")[0] == "ok"
    assert state(findings, "app_store.roots")[0] == "ok"


def test_the_app_store_refuses_a_key_that_was_revoked(app_store):
    findings = doctor(app_store.directory, app_store.environment | {"TOLLGATE_APP_STORE_KEY_ID": "REVOKED123"})
    worst, sentence = state(findings, "app_store.key")
    assert worst == "failed" and "401" in sentence, sentence
    (remedy,) = {one["remedy"] for one in findings if one["check"] == "app_store.key"}
    assert "Issuer id, key id and .p8 belong together" in remedy


def test_notifications_that_did_not_arrive_are_found(app_store):
    # No server listens at the address that the store was given.
    app_store.control("POST", "purchases", {"product_id": test_app_store_commands.MONTHLY})
    app_store.control("POST", "clock/advance", {"by": 60_000})
    worst, sentence = state(doctor(app_store.directory, app_store.environment), "app_store.notifications")
    assert worst == "failed" and "did not arrive" in sentence, sentence


def test_the_last_message_and_the_end_of_the_root(tmp_path, settings):
    apple = Apple()
    root = tmp_path / "root.der"
    root.write_bytes(apple.root_der)
    environment = settings | {
        "TOLLGATE_APP_STORE_ROOTS": str(root), "TOLLGATE_APP_STORE_BUNDLE_ID": BUNDLE_ID,
        "TOLLGATE_APP_STORE_ENVIRONMENT": "Sandbox"}
    Server(settings["TOLLGATE_DATABASE"], root).stop()
    findings = doctor(tmp_path, environment)
    assert state(findings, "app_store.heard") == ("warning", "No message of the App Store has arrived yet.")
    # Less than thirty days are left.
    assert state(findings, "app_store.roots")[0] == "warning"
    assert not [one for one in findings if one["check"] in ("stripe.heard", "google_play.heard")]
    server = Server(settings["TOLLGATE_DATABASE"], root)
    token = server.call("/v1/customers", json.dumps({"app_user_id": "ann"}).encode())["app_account_token"]
    server.call("/webhooks/app_store", apple.coins_bought(1, token))
    server.stop()
    worst, sentence = state(doctor(tmp_path, environment), "app_store.heard")
    assert worst == "ok" and sentence.startswith("The last message of the App Store arrived at 20"), sentence


def test_without_a_key_nothing_is_asked_for(app_store):
    environment = {
        name: value for name, value in app_store.environment.items()
        if name not in ("TOLLGATE_APP_STORE_KEY_FILE", "TOLLGATE_APP_STORE_ISSUER_ID", "TOLLGATE_APP_STORE_KEY_ID")}
    assert state(doctor(app_store.directory, environment), "app_store.key")[0] == "warning"


# Stripe


@pytest.fixture(scope="module")
def stripe_world(tmp_path_factory):
    world = test_stripe_commands.World(tmp_path_factory.mktemp("doctor_stripe"))
    world.environment["TOLLGATE_PUBLIC_URL"] = "http://127.0.0.1:9"
    stripe.api_base, stripe.api_key = world.base, test_stripe_commands.SECRET
    yield world
    for process in world.processes:
        process.terminate()
        process.wait(timeout=30)


def test_stripe_takes_the_key_and_has_the_prices(stripe_world):
    findings = doctor(stripe_world.directory, stripe_world.environment)
    assert state(findings, "stripe.key")[0] == "ok"
    assert state(findings, "stripe.prices") == ("ok", "Stripe has all 2 prices of the catalog.")


def test_stripe_refuses_another_key(stripe_world):
    findings = doctor(
        stripe_world.directory, stripe_world.environment | {"TOLLGATE_STRIPE_SECRET_KEY": "sk_test_another"})
    assert state(findings, "stripe.key")[0] == "failed"
    assert not [one for one in findings if one["check"] == "stripe.prices"]


def test_addresses_of_other_receivers_are_not_repeated(stripe_world):
    """D3: of a chat's endpoint, the address is the secret. One on our own server is shown: it may be misspelt."""
    made = [
        stripe.WebhookEndpoint.create(url=url, enabled_events=["*"])
        for url in ("http://localhost:9/hooks/T0SECRET?token=S3CRET", "http://127.0.0.1:9/webhook/stripe?token=S3CRET")]
    try:
        worst, sentence = state(
            doctor(stripe_world.directory, stripe_world.environment), "stripe.webhook_endpoint")
    finally:
        for endpoint in made:
            stripe.WebhookEndpoint.delete(endpoint.id)
    assert worst == "failed" and "http://127.0.0.1:9/webhook/stripe" in sentence and "localhost" in sentence
    assert "SECRET" not in sentence and "S3CRET" not in sentence, sentence


def test_the_webhook_endpoint_and_its_events(stripe_world):
    def found():
        return state(doctor(stripe_world.directory, stripe_world.environment), "stripe.webhook_endpoint")

    assert found()[0] == "failed" and "Stripe sends no events to http://127.0.0.1:9/webhooks/stripe" in found()[1]
    endpoint = stripe.WebhookEndpoint.create(
        url="http://127.0.0.1:9/webhooks/stripe", enabled_events=EVENTS, api_version=VERSION)
    assert found()[0] == "ok", found()
    stripe.WebhookEndpoint.modify(
        endpoint.id, enabled_events=[event for event in EVENTS if event != "refund.failed"])
    assert found() == ("failed", "The endpoint http://127.0.0.1:9/webhooks/stripe gets no refund.failed.")
    stripe.WebhookEndpoint.modify(endpoint.id, enabled_events=["*"], disabled=True)
    assert found()[0] == "failed" and "is disabled" in found()[1]
    stripe.WebhookEndpoint.modify(endpoint.id, disabled=False)
    assert found()[0] == "ok"
    stripe.WebhookEndpoint.delete(endpoint.id)
    stripe.WebhookEndpoint.create(url="http://127.0.0.1:9/webhooks/stripe", enabled_events=["*"])
    assert found()[0] == "warning" and "the account's version of the API" in found()[1]


def test_prices_that_stripe_does_not_have_or_no_longer_sells(stripe_world):
    catalog = stripe_world.directory / "catalog.yaml"
    text = catalog.read_text()
    try:
        catalog.write_text(text.replace(stripe_world.pro, "price_of_another_account"))
        worst, sentence = state(doctor(stripe_world.directory, stripe_world.environment), "stripe.prices")
        assert (worst, sentence) == ("failed", "pro_monthly: Stripe has no price price_of_another_account.")
    finally:
        catalog.write_text(text)
    stripe.Price.modify(stripe_world.coins, active=False)
    worst, sentence = state(doctor(stripe_world.directory, stripe_world.environment), "stripe.prices")
    assert worst == "warning" and sentence.startswith("coins_100: "), sentence
    stripe.Price.modify(stripe_world.coins, active=True)


# Google Play


CATALOG = """\
entitlements:
  - {lookup_key: pro, name: Pro}
products:
  - {id: premium, name: Premium, kind: auto_renewable, google_play_product_id: premium, BASE_PLANS
     entitlements: [pro], duration: P1M, subscription_group: premium, level: 1}
  - {id: coins_100, name: Coins, kind: consumable, google_play_product_id: COINS, coins: 100}
"""


@pytest.fixture(scope="module")
def play(tmp_path_factory):
    play = Play(tmp_path_factory.mktemp("doctor_play"), push=False)
    yield play
    play.stop()


def in_google_play(play, settings, coins="coins", plans="", **more):
    (play.directory / "catalog.yaml").write_text(CATALOG.replace("COINS", coins).replace("BASE_PLANS", plans))
    return doctor(play.directory, settings | {
        "TOLLGATE_CATALOG": "catalog.yaml", "TOLLGATE_CLOCK": f"{play.control_base}/sandbox/clock",
        "TOLLGATE_GOOGLE_PLAY_PACKAGE_NAME": PACKAGE,
        "TOLLGATE_GOOGLE_PLAY_SERVICE_ACCOUNT_FILE": str(play.key_file),
        "TOLLGATE_GOOGLE_PLAY_API_BASE": play.base} | more)


def test_google_takes_the_service_account_and_has_the_products(play, settings):
    findings = in_google_play(play, settings, plans="google_play_base_plans: [monthly, yearly],")
    assert state(findings, "google_play.key")[0] == "ok"
    assert state(findings, "google_play.products")[0] == "ok"
    # What nobody tells is found only by asking.
    assert state(findings, "google_play.notifications")[0] == "warning"


def test_a_subscription_of_pub_sub(play, settings):
    name = "projects/sandbox/subscriptions/play"

    def found(subscription):
        return state(
            in_google_play(play, settings, TOLLGATE_GOOGLE_PLAY_SUBSCRIPTION=subscription),
            "google_play.notifications")

    assert found(name)[0] == "ok", found(name)
    worst, sentence = found("projects/sandbox/subscriptions/other")
    assert worst == "failed" and "404" in sentence, sentence
    play.control("PUT", "subscriptions", {"name": "forgotten", "expires_after_days": 31})
    worst, sentence = found("projects/sandbox/subscriptions/forgotten")
    assert worst == "warning" and "after 31 days in which nobody pulls" in sentence, sentence
    # Google's own samples prove a push by such a token; the sentence goes to chats.
    play.control("PUT", "subscriptions", {"name": "pushed", "push_endpoint": "http://127.0.0.1:9/push?token=s3cret"})
    worst, sentence = found("projects/sandbox/subscriptions/pushed")
    assert worst == "failed" and "pushes to 127.0.0.1, and this server pulls" in sentence, sentence


def test_products_and_base_plans_that_google_does_not_have(play, settings):
    findings = in_google_play(play, settings, coins="coins_of_old", plans="google_play_base_plans: [weekly],")
    worst, sentences = state(findings, "google_play.products")
    assert worst == "failed"
    assert "coins_100: the Play Console has no product coins_of_old." in sentences
    assert "premium: the subscription premium has no base plan weekly." in sentences


def test_google_knows_no_such_app(play, settings):
    findings = in_google_play(play, settings, TOLLGATE_GOOGLE_PLAY_PACKAGE_NAME="com.example.other")
    assert state(findings, "google_play.key")[0] == "failed"


def test_a_service_account_file_that_is_none(play, settings, tmp_path):
    file = tmp_path / "account.json"
    file.write_text("{}")
    findings = in_google_play(play, settings, TOLLGATE_GOOGLE_PLAY_SERVICE_ACCOUNT_FILE=str(file))
    assert state(findings, "google_play.key")[0] == "failed"
