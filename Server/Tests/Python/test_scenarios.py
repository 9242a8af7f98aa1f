"""`tollgate scenario`: the repository's stories, errors in files, and other people's backends.

The backends here share nothing with Tollgate: they read with the stores' own libraries.
"""

import datetime
import http.server
import json
import os
import pathlib
import random
import re
import subprocess
import threading
import time
import urllib.parse
import urllib.request

import pytest
import stripe
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier
from ports import free_port

ROOT = pathlib.Path(__file__).resolve().parents[3]
TOLLGATE = os.environ.get("TOLLGATE_BIN", str(ROOT / "Server/.build/debug/tollgate"))
SCENARIOS = ROOT / "Server/Scenarios"
SECRET = "whsec_somebody"

GRANTS = {
    "com.example.app.pro.weekly": {"pro"},
    "com.example.app.pro.monthly": {"pro"},
    "com.example.app.pro.yearly": {"pro", "archive"},
    "com.example.app.lifetime": {"pro", "archive"},
    "price_pro_monthly": {"pro"},
    "price_pro_yearly": {"pro", "archive"},
    "price_archive_monthly": {"archive"},
    "price_lifetime": {"pro", "archive"},
}


class Naive:
    """A backend as many people write it: the newest word of the store about each purchase."""

    def __init__(self, root):
        self.root = root
        self.apple = {}
        self.stripe = {}
        self.verifiers = {}

    def verifier(self, environment):
        if environment not in self.verifiers:
            self.verifiers[environment] = SignedDataVerifier(
                [self.root.read_bytes()], False, environment, "com.example.app", 1234567890)
        return self.verifiers[environment]

    def notification(self, signed_payload):
        verifier = self.verifier(Environment.SANDBOX)
        notice = verifier.verify_and_decode_notification(signed_payload)
        if not notice.data or not notice.data.signedTransactionInfo:
            return
        bought = verifier.verify_and_decode_signed_transaction(notice.data.signedTransactionInfo)
        renewal = None
        if notice.data.signedRenewalInfo:
            renewal = verifier.verify_and_decode_renewal_info(notice.data.signedRenewalInfo)
        known = self.apple.get(bought.originalTransactionId)
        if known is None or known["signed"] < notice.signedDate:
            self.apple[bought.originalTransactionId] = self.reading(notice, bought, renewal)

    def reading(self, notice, bought, renewal):
        end = bought.expiresDate
        if renewal and renewal.gracePeriodExpiresDate:
            end = renewal.gracePeriodExpiresDate
        elif renewal and renewal.renewalDate:
            end = renewal.renewalDate
        entitled = notice.data.rawStatus in (1, 4) if end else bought.revocationDate is None
        return {
            "signed": notice.signedDate, "customer": bought.appAccountToken,
            "product": bought.productId, "end": end, "entitled": entitled}

    def event(self, event):
        thing = event["data"]["object"]
        if thing["object"] == "subscription":
            owner = thing["metadata"].get("app_user_id")
            entitled = thing["status"] in ("active", "trialing", "past_due")
            prices = [item["price"]["id"] for item in thing["items"]["data"]]
            known = self.stripe.get(thing["id"])
            if known is None or known["created"] <= event["created"]:
                self.stripe[thing["id"]] = {
                    "created": event["created"], "customer": owner, "products": prices,
                    "entitled": entitled}

    def entitled(self, customer, entitlement):
        now = time.time() * 1000
        for purchase in self.apple.values():
            if purchase["customer"] == customer and purchase["entitled"] \
                    and entitlement in GRANTS.get(purchase["product"], ()) \
                    and (purchase["end"] is None or now < purchase["end"]):
                return True
        for purchase in self.stripe.values():
            if purchase["customer"] == customer and purchase["entitled"] \
                    and any(entitlement in GRANTS.get(price, ()) for price in purchase["products"]):
                return True
        return False


class ByTheName(Naive):
    """Believes that a notification of the type REFUND always ends the access."""

    def reading(self, notice, bought, renewal):
        reading = super().reading(notice, bought, renewal)
        if notice.rawNotificationType == "REFUND":
            reading["entitled"] = False
        return reading


@pytest.fixture
def serve(tmp_path):
    """Serves a backend; answers its address and the file of the App Store's root."""
    servers = []

    def serve(kind):
        root = tmp_path / "root.der"
        backend = kind(root)

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def reply(self, status, value):
                body = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                if "Stripe-Signature" in self.headers:
                    backend.event(json.loads(str(stripe.Webhook.construct_event(
                        body, self.headers["Stripe-Signature"], SECRET))))
                else:
                    backend.notification(json.loads(body)["signedPayload"])
                self.reply(200, {})

            def do_GET(self):
                asked = dict(urllib.parse.parse_qsl(urllib.parse.urlparse(self.path).query))
                answer = backend.entitled(asked["customer"], asked["entitlement"])
                self.reply(200, {"entitled": answer})

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}", root

    yield serve
    for server in servers:
        server.shutdown()


def run(*arguments, timeout=300):
    return subprocess.run(
        [TOLLGATE, "scenario", *map(str, arguments)], text=True, capture_output=True,
        timeout=timeout, stdin=subprocess.DEVNULL)


def score(address, root, *names):
    ended = run(
        "run", *[SCENARIOS / f"{name}.yaml" for name in names], "--webhook", f"{address}/webhook",
        "--entitled", f"{address}/entitled", "--root-out", root, "--webhook-secret", SECRET,
        "--json")
    return ended.returncode, json.loads(ended.stdout)


def files():
    return sorted(SCENARIOS.glob("*/*.yaml"))


def test_tollgate_holds_in_every_scenario():
    # Others each day, since ScenarioTests play all of them: `make soak` does so here, too.
    played = files()
    if not os.environ.get("TOLLGATE_SOAK"):
        seed = int(os.environ.get("TOLLGATE_SEED", "0"))
        played = sorted(random.Random(seed).sample(played, 30))
    ended = run("run", *played, "--orders", "1", "--json")
    answer = json.loads(ended.stdout)
    assert [s["failures"] for s in answer["scenarios"] if s["failures"]] == []
    assert ended.returncode == 0
    assert (answer["passed"], answer["skipped"]) == (len(played), 0)


def test_there_are_as_many_as_were_asked_for():
    kinds = [path.parent.name for path in files()]
    assert kinds.count("app-store") >= 40
    assert kinds.count("stripe") >= 30
    assert kinds.count("google-play") >= 80
    assert kinds.count("both") >= 5


def covered():
    """What the stories say they are examples of."""
    words = set()
    for path in files():
        listed = re.search(r"^covers:(.*?)^(?:catalog|about):", path.read_text(), re.S | re.M)
        words |= {word.strip().removeprefix("- ").strip()
                  for word in re.findall(r"[^\[\],\n]+", listed.group(1) if listed else "")}
    return words


def test_every_row_of_the_notification_table_is_covered():
    rows = {
        "SUBSCRIBED": ["INITIAL_BUY", "RESUBSCRIBE"], "DID_RENEW": ["", "BILLING_RECOVERY"],
        "DID_CHANGE_RENEWAL_PREF": ["", "UPGRADE", "DOWNGRADE"],
        "DID_CHANGE_RENEWAL_STATUS": ["AUTO_RENEW_ENABLED", "AUTO_RENEW_DISABLED"],
        "OFFER_REDEEMED": ["", "UPGRADE", "DOWNGRADE"],
        "DID_FAIL_TO_RENEW": ["", "GRACE_PERIOD"], "GRACE_PERIOD_EXPIRED": [""],
        "EXPIRED": ["", "VOLUNTARY", "BILLING_RETRY", "PRICE_INCREASE", "PRODUCT_NOT_FOR_SALE"],
        "PRICE_INCREASE": ["PENDING", "ACCEPTED"], "REFUND": ["", "SEATS"],
        "REFUND_REVERSED": [""], "REFUND_DECLINED": [""], "CONSUMPTION_REQUEST": [""],
        "REVOKE": [""], "RENEWAL_EXTENDED": [""], "RENEWAL_EXTENSION": ["SUMMARY", "FAILURE"],
        "ONE_TIME_CHARGE": [""], "TEST": [""],
        "EXTERNAL_PURCHASE_TOKEN": ["UNREPORTED", "CREATED", "ACTIVE_TOKEN_REMINDER"],
        "RESCIND_CONSENT": [""], "METADATA_UPDATE": [""], "MIGRATION": [""], "PRICE_CHANGE": [""],
        "UNCLAIM_SEATS": [""],
    }
    table = {f"{kind} / {subtype}" if subtype else kind
             for kind, subtypes in rows.items() for subtype in subtypes}
    assert table - covered() == set()


def test_every_row_of_the_life_cycle_is_covered():
    """What an auto-renewable subscription goes through, in production and in the sandbox."""
    rows = {
        # Periods, as the calendar has them and as the sandbox shortens them.
        "billing cycle", "month ends", "leap day", "compressed durations",
        "a week of three minutes", "a year of an hour", "twelve renewals", "six renewals",
        # Charges that fail.
        "billing retry", "recovery begins a new cycle", "DID_RENEW / BILLING_RECOVERY", "grace",
        "grace 3 days", "grace of weekly plans", "cancel in grace", "EXPIRED / BILLING_RETRY",
        # Changes within a group.
        "subscription groups", "DID_CHANGE_RENEWAL_PREF / UPGRADE",
        "DID_CHANGE_RENEWAL_PREF / DOWNGRADE", "crossgrade of equal duration",
        "crossgrade of different duration",
        # Offers.
        "introductory offer", "promotional offer", "offer code", "win-back offer", "FREE_TRIAL",
        "PAY_AS_YOU_GO", "PAY_UP_FRONT",
        # Prices, families, refunds, extensions.
        "PRICE_INCREASE / PENDING", "PRICE_INCREASE / ACCEPTED", "EXPIRED / PRICE_INCREASE",
        "FAMILY_SHARED", "REVOKE", "REFUND", "REFUND_PRORATED", "REFUND_REVERSED",
        "REFUND with a newer period", "RENEWAL_EXTENDED", "retry ladder",
    }
    assert rows - covered() == set()


def test_every_notification_and_case_of_google_play_is_covered():
    """https://developer.android.com/google/play/billing/rtdn-reference"""
    rows = {f"SUBSCRIPTION_{name}" for name in (
        "RECOVERED", "RENEWED", "CANCELED", "PURCHASED", "ON_HOLD", "IN_GRACE_PERIOD", "RESTARTED",
        "DEFERRED", "PAUSED", "PAUSE_SCHEDULE_CHANGED", "REVOKED", "EXPIRED", "ITEMS_CHANGED",
        "CANCELLATION_SCHEDULED", "PRICE_CHANGE_UPDATED", "PENDING_PURCHASE_CANCELED",
        "PRICE_STEP_UP_CONSENT_UPDATED")}
    rows |= {"ONE_TIME_PRODUCT_PURCHASED", "ONE_TIME_PRODUCT_CANCELED"}
    rows |= {"WITH_TIME_PRORATION", "CHARGE_PRORATED_PRICE", "WITHOUT_PRORATION",
             "CHARGE_FULL_PRICE", "DEFERRED", "KEEP_EXISTING"}
    # Every case of docs/cases.md.
    rows |= {f"G{number}" for number in range(1, 34)}
    assert rows - covered() == set()


def test_a_backend_of_somebody_else_is_scored(serve):
    address, root = serve(Naive)
    code, answer = score(
        address, root, "app-store/initial-buy-renew-cancel", "app-store/refund-and-reversal",
        "app-store/billing-grace-recovery", "app-store/ends-of-months",
        "stripe/subscription-renews-and-ends", "both/different-entitlements")
    assert [s["failures"] for s in answer["scenarios"] if s["failures"]] == []
    assert code == 0
    assert sum(s["asked"] for s in answer["scenarios"]) > 20


def test_a_backend_that_believes_the_name_of_a_notification_is_found_out(serve):
    address, root = serve(ByTheName)
    code, answer = score(address, root, "app-store/refund-of-an-old-period")
    assert code == 1
    failure = answer["scenarios"][0]["failures"][0]
    assert failure["file"].endswith("refund-of-an-old-period.yaml")
    assert "user should have pro and has nothing" in failure["message"]


def test_what_a_backend_cannot_be_asked_is_left_out(serve):
    address, root = serve(Naive)
    _, answer = score(
        address, root, "app-store/claimed-by-the-app", "app-store/consumable-quantity",
        "app-store/the-last-millisecond")
    claimed, coins, exact = answer["scenarios"]
    assert claimed["asked"] == 0 and "app itself" in claimed["skipped"][0]
    assert any("coins" in reason for reason in coins["skipped"])
    assert any("to the second" in reason for reason in exact["skipped"])
    # A story of which nothing could be asked is no story that passed.
    unasked = sum(story["asked"] == 0 for story in answer["scenarios"])
    assert unasked >= 1 and answer["skipped"] == unasked
    assert answer["passed"] + answer["failed"] == 3 - unasked


def test_what_reads_google_play_is_left_out(serve):
    address, root = serve(Naive)
    _, answer = score(address, root, "google-play/bought-renewed-cancelled")
    assert answer["scenarios"][0]["asked"] == 0
    assert "reads Google Play itself" in answer["scenarios"][0]["skipped"][0]


def test_mistakes_about_google_play_are_named(tmp_path):
    (tmp_path / "catalog.yaml").write_text((SCENARIOS / "catalog-play.yaml").read_text())
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(
        "scenario: Wrong\ncatalog: catalog.yaml\nsteps:\n"
        "  - at: 2026-02-03\n    google_play: change\n    product: gold_montly\n"
        "    replacement_mode: DEFERED\n"
        "  - at: 2026-02-04\n    google_play: topup\n"
        "  - at: 2026-02-05\n    google_play: faults\n    lots: 1\n"
        "  - check: [pro]\n    environment: live\n")
    ended = run("check", wrong)
    assert ended.returncode == 1
    assert f"{wrong}:7: error: ‘DEFERED’ is no replacement_mode; did you mean ‘DEFERRED’?" in ended.stderr
    assert f"{wrong}:9: error: ‘topup’ is nothing that happens in ‘google_play’; " \
        "did you mean ‘top_up’?" in ended.stderr
    assert f"{wrong}:12: error: ‘google_play: faults’ has no key ‘lots’; did you mean ‘lost’?" \
        in ended.stderr
    assert "‘live’ is no environment" in ended.stderr


def test_mistakes_are_named_with_file_line_and_a_way_out(tmp_path):
    (tmp_path / "catalog.yaml").write_text((SCENARIOS / "catalog.yaml").read_text())
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(
        "scenario: Wrong\ncatalog: catalog.yaml\nsteps:\n"
        "  - at: 2026-02-30\n    app_store: buyy\n    product: pro_monthly\n"
        "  - at: 2026-03-01\n    check: [pro]\n    custmer: user\n")
    ended = run("check", wrong)
    assert ended.returncode == 1
    assert f"{wrong}:4: error: ‘2026-02-30’ is no time" in ended.stderr
    assert f"{wrong}:5: error: ‘buyy’ is nothing that happens" in ended.stderr
    assert "did you mean ‘buy’?" in ended.stderr
    assert f"{wrong}:9: error: ‘check’ has no key ‘custmer’; did you mean ‘customer’?" in ended.stderr
    # To a program the same is said in JSON, beside what could be read.
    good = SCENARIOS / "app-store/the-last-millisecond.yaml"
    told = run("check", good, wrong, "--json")
    answer = json.loads(told.stdout)
    assert (told.returncode, told.stderr, answer["scenarios"]) == (1, "", 1)
    assert answer["checks"] > 0 and "\n".join(answer["mistakes"]) == ended.stderr.rstrip("\n")


def test_a_product_that_the_catalog_lacks_is_named(tmp_path):
    (tmp_path / "catalog.yaml").write_text((SCENARIOS / "catalog.yaml").read_text())
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(
        "scenario: Wrong\ncatalog: catalog.yaml\nsteps:\n"
        "  - at: 2026-02-03\n    app_store: buy\n    product: pro_montly\n  - check: [pro]\n")
    ended = run("check", wrong)
    assert ended.returncode == 1
    assert f"{wrong}:4: error: the catalog has no product ‘pro_montly’; did you mean ‘pro_monthly’?" \
        in ended.stderr


# --- a run of the sandbox that becomes a scenario


class Deaf(http.server.BaseHTTPRequestHandler):
    """Takes every notification."""

    def log_message(self, *_):
        pass

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()


@pytest.fixture
def sandbox(tmp_path):
    """A sandbox with a listener, saving what happens; answers a function that acts in it."""
    listener = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Deaf)
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    products = tmp_path / "products.json"
    products.write_text(json.dumps({"data": [
        {"product_id": "com.example.pro", "type": "Auto-Renewable Subscription", "price": 9990,
         "period": "P1M", "subscription_group_id": "pro", "level": 1},
        {"product_id": "com.example.coins", "type": "Consumable", "price": 990},
    ]}))
    port = free_port()
    process = subprocess.Popen(
        [TOLLGATE, "sandbox", "app-store", "--listen", f"127.0.0.1:{port}", "--durations", "real",
         "--renewals", "0", "--products", str(products), "--seed", "7",
         "--now", str(int(datetime.datetime(2026, 3, 1, tzinfo=datetime.UTC).timestamp() * 1000)),
         "--notification-url", f"http://127.0.0.1:{listener.server_port}/",
         "--save-scenario", str(tmp_path / "run.yaml")],
        text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert "listening" in process.stdout.readline()

    def act(path, body, method="POST"):
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/sandbox/{path}", json.dumps(body).encode(), method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            text = answer.read()
            return json.loads(text) if text else None

    yield act
    process.terminate()
    process.wait(timeout=20)
    process.stdout.close()
    process.stderr.close()
    listener.shutdown()


def test_a_run_of_the_sandbox_is_saved_and_replays(sandbox, tmp_path):
    day = 86_400_000
    user = sandbox("customers", {"app_account_token": "6f1c3c8e-2f4b-4a7e-9c34-5d3f6a1b2c3d"})["id"]
    sandbox("faults", {"duplicate": 0.5, "reorder": 0.5}, method="PUT")
    bought = sandbox("purchases", {"product_id": "com.example.pro", "customer": user})
    sandbox("clock/advance", {"by": 45 * day})
    sandbox(f"customers/{user}/billing/fail", {})
    sandbox("clock/advance", {"by": 20 * day})
    sandbox(f"customers/{user}/billing/recover", {})
    sandbox(f"transactions/{bought['transaction_id']}/refund", {})
    sandbox("clock/advance", {"by": 5 * day})
    saved = (tmp_path / "run.yaml").read_text()
    assert re.search(r"app_store: buy\n\s+customer: customer_1\n\s+product: com_example_pro", saved)
    assert saved.count("check: [com_example_pro]") >= 4
    ended = run("run", tmp_path / "run.yaml", "--orders", "5", "--json")
    answer = json.loads(ended.stdout)
    assert answer["scenarios"][0]["failures"] == []
    assert ended.returncode == 0


def test_faults_of_the_run_are_saved_with_it(sandbox, tmp_path):
    hour = 3_600_000
    token = "6f1c3c8e-2f4b-4a7e-9c34-5d3f6a1b2c3d"
    user = sandbox("customers", {"app_account_token": token})["id"]
    start = int(datetime.datetime(2026, 3, 1, tzinfo=datetime.UTC).timestamp() * 1000)
    sandbox("faults", {
        "api_errors": 0.25, "outage_start": start + hour, "outage_end": start + 3 * hour,
    }, method="PUT")
    sandbox("clock/advance", {"by": 2 * hour})
    bought = sandbox("purchases", {"product_id": "com.example.pro", "customer": user})
    sandbox("clock/advance", {"by": 2 * hour})
    sandbox("faults", {}, method="PUT")
    sandbox(f"transactions/{bought['transaction_id']}/tell", {"type": "PRICE_CHANGE"})
    stranger = sandbox("customers", {})["id"]
    other = sandbox("purchases", {"product_id": "com.example.pro", "customer": stranger})
    # Somebody else's purchase that names the customer: no longer told apart, so not checked.
    sandbox(f"subscriptions/{other['original_transaction_id']}/attach",
            {"app_account_token": token})
    saved = (tmp_path / "run.yaml").read_text()
    assert "api_errors: 0.25" in saved
    assert "outage_start: 2026-03-01 01:00" in saved and "outage_end: 2026-03-01 03:00" in saved
    assert re.search(r"app_store: tell\n\s+customer: customer_1\n\s+purchase: 1\n\s+type: PRICE", saved)
    # Bought while nothing arrived: the sandbox tries once, so the backend cannot know.
    assert "check: [com_example_pro]" not in saved
    assert run("check", tmp_path / "run.yaml").returncode == 0
    ended = run("run", tmp_path / "run.yaml", "--orders", "2", "--json")
    assert json.loads(ended.stdout)["scenarios"][0]["failures"] == []
