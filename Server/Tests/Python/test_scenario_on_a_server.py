"""`tollgate scenario run --webhook --entitled` against a running `tollgate serve`: the contract for
any backend, kept by our own over HTTP.

Between them stands what docs/scenarios.md asks of a backend: one address for both stores, and one
question. The executable is found by the environment variable TOLLGATE_BIN.
"""

import http.server
import json
import os
import pathlib
import random
import subprocess
import threading
import urllib.error
import urllib.parse
import urllib.request

import pytest
import yaml
from keys import key
from ports import free_port

ROOT = pathlib.Path(__file__).resolve().parents[3]
TOLLGATE = os.environ.get("TOLLGATE_BIN", str(ROOT / "Server/.build/debug/tollgate"))
SCENARIOS = ROOT / "Server/Scenarios"
SECRET = "whsec_contract"
KEY = key("sk", "contract")


def scenario(*arguments):
    return subprocess.run(
        [TOLLGATE, "scenario", "run", *map(str, arguments)], text=True, capture_output=True,
        timeout=300, stdin=subprocess.DEVNULL)


class Adapter(http.server.BaseHTTPRequestHandler):
    """The two addresses that the runner knows, on top of Tollgate's own."""

    base = ""

    def log_message(self, *_):
        pass

    def ask(self, method, path, body=None, headers=None):
        request = urllib.request.Request(
            self.base + path, data=body, method=method,
            headers={"Content-Type": "application/json", **(headers or {})})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as answer:
            return answer.code, answer.read()

    def reply(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        signature = self.headers.get("Stripe-Signature")
        if signature:
            self.reply(*self.ask(
                "POST", "/webhooks/stripe", body, {"Stripe-Signature": signature}))
        else:
            self.reply(*self.ask("POST", "/webhooks/app_store", body))

    def do_GET(self):
        asked = dict(urllib.parse.parse_qsl(urllib.parse.urlparse(self.path).query))
        key = {"Authorization": f"Bearer {KEY}"}
        person = asked["customer"]
        # The app's backend knows its users before they buy; here they are known when asked for.
        status, answer = self.ask("POST", "/v1/customers", json.dumps(
            {"app_user_id": person, "app_account_token": person}).encode(), key)
        assert status in (200, 201), answer
        customer = json.loads(answer)["id"]
        status, answer = self.ask("GET", f"/v1/customers/{customer}/entitlements", None, key)
        assert status == 200, answer
        has = {entitlement["lookup_key"] for entitlement in json.loads(answer)["data"]}
        self.reply(200, json.dumps({"entitled": asked["entitlement"] in has}).encode())


@pytest.fixture
def backend(tmp_path):
    """A server of ours behind the adapter; answers the adapter's address."""
    # A first run makes the App Store's root, which the server has to trust before it starts.
    made = scenario(
        SCENARIOS / "app-store/the-last-millisecond.yaml", "--orders", "0",
        "--authority", tmp_path / "keys.json", "--root-out", tmp_path / "root.der")
    assert made.returncode == 0, made.stderr
    port = free_port()
    environment = {k: v for k, v in os.environ.items() if not k.startswith("TOLLGATE_")}
    process = subprocess.Popen(
        [TOLLGATE, "serve", "--listen", f"127.0.0.1:{port}"], cwd=tmp_path, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={
            **environment, "TOLLGATE_SECRET_KEY": KEY, "TOLLGATE_PUBLISHABLE_KEY": key("pk", "contract"),
            "TOLLGATE_CATALOG": str(SCENARIOS / "catalog.yaml"),
            "TOLLGATE_APP_STORE_ROOTS": "root.der",
            "TOLLGATE_APP_STORE_BUNDLE_ID": "com.example.app",
            "TOLLGATE_APP_STORE_APP_APPLE_ID": "1234567890",
            "TOLLGATE_APP_STORE_ENVIRONMENT": "Sandbox",
            "TOLLGATE_STRIPE_WEBHOOK_SECRETS": SECRET,
        })
    line = process.stdout.readline()
    assert line.startswith("tollgate listening"), line
    threading.Thread(target=process.stdout.read, daemon=True).start()
    handler = type("Here", (Adapter,), {"base": f"http://127.0.0.1:{port}"})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", tmp_path / "keys.json"
    server.shutdown()
    process.terminate()
    process.wait(timeout=30)


def test_a_server_of_ours_is_scored_as_any_backend_is(backend):
    address, keys = backend
    # All but what this server cannot know: production (it serves the sandbox), one-time payments and
    # plans made by the API of a Stripe that it cannot ask.
    unknowable = {
        "production-tries-again", "card-blocked", "card-not-processed", "card-stolen",
        "challenge-at-every-payment", "challenge-passed", "cross-sell-at-checkout", "dispute-lost-late",
        "disputed-as-not-received", "free-with-an-invoice", "incomplete-then-confirmed",
        "incomplete-then-paid", "lifetime-disputed-and-won", "pass-beside-a-plan", "pass-by-bank-debit", "pass-of-thirty-days", "pass-paid-late",
        "plan-begins-by-bank-debit", "plan-paid-in-parts",
        "quantity-of-a-plan", "refund-of-a-lifetime", "renewal-fails-and-recovers",
        "sent-invoices", "sent-invoices-never-paid",
        "trial-ended-early", "pass-refunded-in-parts",
        "trial-resumed-and-not-paid", "trial-without-card-ends",
        "trial-without-card-pauses", "unpaid", "passes-of-both-stores", "unlock-for-ever",
    }
    # Two events of one second name two plans, so the server has to ask which holds (RULES §4.3).
    unknowable.add("changed-back-after-no-proration")
    names = sorted(
        f"{path.parent.name}/{path.stem}" for path in SCENARIOS.glob("*/*.yaml")
        # The server has one catalog.
        if path.stem not in unknowable and "catalog: ../catalog.yaml" in path.read_text())
    assert len(names) > 100
    # Others each day: `make soak` plays all.
    if not os.environ.get("TOLLGATE_SOAK"):
        seed = int(os.environ.get("TOLLGATE_SEED", "0"))
        names = sorted(random.Random(seed).sample(names, 30))
    ended = scenario(
        *[SCENARIOS / f"{name}.yaml" for name in names], "--webhook", f"{address}/webhook",
        "--entitled", f"{address}/entitled", "--authority", keys, "--webhook-secret", SECRET,
        "--json")
    answer = json.loads(ended.stdout)
    failures = [failure for one in answer["scenarios"] for failure in one["failures"]]
    assert not failures, "\n".join(f"{one['file']}: {one['message']}" for one in failures)
    assert ended.returncode == 0
    # A story of which nothing could be asked has not passed.
    asked = [one for one in answer["scenarios"] if one["asked"]]
    assert (answer["passed"], answer["failed"]) == (len(asked), 0)
    assert answer["skipped"] == len(names) - len(asked)
    # Each check of the others was asked, or has its reason why not.
    for one in asked:
        checks = [
            step for step in yaml.safe_load(pathlib.Path(one["file"]).read_text())["steps"]
            if "check" in step or step.keys() <= {"at", "customer", "coins", "environment"}]
        assert one["asked"] + len(one["skipped"]) == len(checks), one["file"]
    if os.environ.get("TOLLGATE_SOAK"):
        assert sum(one["asked"] for one in answer["scenarios"]) > 2 * len(names)


def test_a_wrong_secret_is_a_failure_and_not_a_pass(backend):
    address, keys = backend
    ended = scenario(
        SCENARIOS / "stripe/subscription-renews-and-ends.yaml", "--webhook", f"{address}/webhook",
        "--entitled", f"{address}/entitled", "--authority", keys, "--webhook-secret", "whsec_no",
        "--json")
    assert ended.returncode == 1
    assert json.loads(ended.stdout)["failed"] == 1
