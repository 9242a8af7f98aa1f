"""docs/sandbox.md walked as a team does that has a backend of its own and no Tollgate: its commands,
its Python and its file, as they are written there.

The executable is found by the environment variable TOLLGATE_BIN.
"""

import http.server
import json
import re
import subprocess
import sys
import threading
import time

import pytest
import stripe
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier

import guide
from ports import free_port

SECRET = "whsec_sandbox"


@pytest.fixture
def backend():
    """Somebody's own backend: keeps what either store posts, and takes it."""
    posted = []

    class Inbox(http.server.BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            posted.append((self.path, body, self.headers.get("Stripe-Signature")))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Inbox)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port, posted
    server.shutdown()


def blocks(language, title):
    text = (guide.ROOT / "docs/sandbox.md").read_text()
    part = text.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]
    return re.findall(rf"```{language}\n(.*?)```", part, re.S)


def arrived(posted, word, timeout=20):
    until = time.monotonic() + timeout
    while time.monotonic() < until:
        found = [one for one in posted if word in one[1]]
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"no {word} in {[body[:80] for _, body, _ in posted]}")


def test_stripe_for_a_backend_of_ones_own(tmp_path, backend):
    port, posted = backend
    ports = {"8082": free_port(), "3000": port}
    shell = guide.Shell(tmp_path, ports)
    start, commands = blocks("sh", "Stripe")
    try:
        shell.run(start.rstrip() + " &")
        guide.answering(f"http://127.0.0.1:{ports['8082']}/sandbox/clock")
        program = shell.local(blocks("python", "Stripe")[0])
        made = subprocess.run(
            [sys.executable, "-c", program], text=True, capture_output=True, timeout=60)
        assert made.returncode == 0, made.stderr
        session = re.search(r"/c/pay/(cs_test_\w+)", made.stdout).group(1)
        shell.run(
            f"curl -s -X POST http://127.0.0.1:8082/sandbox/checkout/{session}/pay "
            "-d '{\"card\": \"4242424242424242\"}'")
        (path, body, signature), *_ = arrived(posted, '"checkout.session.completed"')
        assert path == "/webhook"
        event = stripe.Webhook.construct_event(body, signature, SECRET)
        assert event.data.object.id == session and event.data.object.payment_status == "paid"

        # As with the stripe command: listen prints a secret, and trigger brings an event about.
        listen, trigger = commands.strip().splitlines()
        posted.clear()
        control = f" --sandbox http://127.0.0.1:{ports['8082']}"
        (tmp_path / "listened").touch()
        listen = listen.split("#")[0].rstrip() + control + " > listened 2>&1 &"
        shell.run(listen)
        until = time.monotonic() + 20
        while "whsec_" not in (tmp_path / "listened").read_text():
            assert time.monotonic() < until
            time.sleep(0.05)
        secret = re.search(r"whsec_\w+", (tmp_path / "listened").read_text()).group(0)
        said, code = shell.run(trigger + control)
        assert code == 0, said
        (_, body, signature), *_ = arrived(posted, '"checkout.session.completed"')
        assert stripe.Webhook.construct_event(body, signature, secret)
    finally:
        shell.end()


def test_the_app_store_for_a_backend_of_ones_own(tmp_path, backend):
    port, posted = backend
    ports = {"8081": free_port(), "3000": port}
    shell = guide.Shell(tmp_path, ports)
    start, acts = blocks("sh", "The App Store")
    (tmp_path / "products.json").write_text(blocks("json", "The App Store")[0])
    try:
        shell.run(start.rstrip() + " &")
        guide.answering(f"http://127.0.0.1:{ports['8081']}/sandbox/clock")
        verifier = SignedDataVerifier(
            [(tmp_path / "root.der").read_bytes()], False, Environment.SANDBOX,
            "com.example.app", None)
        bought = None
        for line in acts.strip().splitlines():
            command = line.split("#")[0].rstrip() + f" --control http://127.0.0.1:{ports['8081']}"
            said, code = shell.run(command.replace("TRANSACTION_ID", str(bought)))
            assert code == 0, said
            found = re.search(r'"transaction_id":"(\d+)"', said)
            bought = bought or (found and found.group(1))
        assert bought
        notices = [
            verifier.verify_and_decode_notification(json.loads(body)["signedPayload"])
            for path, body, _ in posted if path == "/app-store"]
        assert [notice.rawNotificationType for notice in notices] == [
            "SUBSCRIBED", "DID_RENEW", "REFUND"]
        # The first month was refunded; the running one stays.
        assert notices[-1].data.rawStatus == 1
    finally:
        shell.end()


def test_the_test_in_the_guide_is_one_that_passes(tmp_path, backend):
    """The example of a team's own test, with what it leaves to the team filled in."""
    port = free_port()
    shell = guide.Shell(tmp_path, {"8082": port, "3000": backend[0]})
    text = (guide.ROOT / "docs/sandbox.md").read_text()
    example = text.split("A test, in full:", 1)[1]
    example = re.search(r"```python\n(.*?)```", example, re.S).group(1)
    program = f"""
import json, urllib.request, stripe
stripe.api_base, stripe.api_key = "http://127.0.0.1:{port}", "sk_test_sandbox"
HOUR, DAY = 3_600_000, 86_400_000

def post(path, **body):
    with urllib.request.urlopen(urllib.request.Request(
            stripe.api_base + path, json.dumps(body).encode(), method="POST")) as answer:
        return json.loads(answer.read())

def subscribe(card):
    price = stripe.Price.create(currency="usd", unit_amount=999, recurring={{"interval": "month"}},
                                product_data={{"name": "Pro"}})
    customer = stripe.Customer.create().id
    session = stripe.checkout.Session.create(
        mode="subscription", customer=customer, success_url=stripe.api_base,
        line_items=[{{"price": price.id, "quantity": 1}}])
    post(f"/sandbox/checkout/{{session.id}}/pay", card="4242424242424242")
    post(f"/sandbox/customers/{{customer}}/default_card", card=card)
    return stripe.Subscription.list(customer=customer).data[0]

def my_backend_says(customer, entitlement):
    return stripe.Subscription.list(customer=customer).data[0].status in ("active", "past_due")

{example}
test_a_failed_renewal_keeps_access_for_three_days()
print("passed")
"""
    start, _ = blocks("sh", "Stripe")
    try:
        shell.run(start.rstrip() + " &")
        guide.answering(f"http://127.0.0.1:{port}/sandbox/clock")
        ended = subprocess.run(
            [sys.executable, "-c", program], text=True, capture_output=True, timeout=60)
        assert ended.stdout == "passed\n", ended.stderr
    finally:
        shell.end()
