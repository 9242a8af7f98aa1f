"""Emails to customers, as a mail server receives them that shares no code with Tollgate (aiosmtpd)."""

import email
import email.policy
import hashlib
import hmac
import json
import queue
import threading
import time
import urllib.request

import pytest

from keys import key
from test_alert_mail import Mailbox, mail_server
from test_config import Serving
from tollgate_world import ROOT

pytestmark = pytest.mark.filterwarnings("ignore")
SECRET = key("sk", "emails")
SETTINGS = f"""\
listen: 127.0.0.1:0
public_url: http://127.0.0.1:8080
keys:
  secret: {SECRET}
  publishable: {key("pk", "emails")}
stripe: {{secret_key: sk_test_x, webhook_secrets: [whsec_emails], api_base: "http://127.0.0.1:9"}}
emails:
  receipt: true
  sandbox: true
  from: billing@example.com
  from_name: Example
  host: localhost
  tls: none
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "catalog.yaml").write_text((ROOT / "catalog.yaml").read_text())
    return tmp_path


def post(server, path, body):
    request = urllib.request.Request(
        server.url + path, json.dumps(body).encode(),
        {"Authorization": f"Bearer {SECRET}", "Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.read().decode()


def pay(server, customer, number):
    """What Stripe sends when a Checkout of ours was paid."""
    now = int(time.time())
    session = {
        "id": f"cs_test_{number}", "object": "checkout.session", "mode": "payment", "status": "complete",
        "payment_status": "paid", "payment_intent": f"pi_{number}", "customer": None,
        "client_reference_id": customer, "amount_total": 1000, "currency": "usd", "created": now,
        "metadata": {"tollgate_lines": "price_coins_100:1"}, "livemode": False}
    event = {
        "id": f"evt_{number}", "object": "event", "type": "checkout.session.completed", "created": now,
        "livemode": False, "api_version": "2026-09-30.endive", "data": {"object": session}}
    body = json.dumps(event)
    signature = hmac.new(b"whsec_emails", f"{now}.{body}".encode(), hashlib.sha256).hexdigest()
    request = urllib.request.Request(
        server.url + "/webhooks/stripe", body.encode(), {"Stripe-Signature": f"t={now},v1={signature}"})
    urllib.request.urlopen(request, timeout=30).close()


def first_mail(server, mailbox, customer):
    """Payments from before the server first looked are no news, so there are several."""
    for number in range(60):
        pay(server, customer, number)
        try:
            return mailbox.mails.get(timeout=2)[1]
        except queue.Empty:
            continue
    raise AssertionError("no mail came")


def test_a_receipt_arrives_as_a_mail_that_other_programs_read(folder):
    (folder / "emails").mkdir()
    template = folder / "emails" / "receipt.en.txt"
    template.write_text("Subject: Paid: {{product}}\n\nThanks for {{amount}}.\n\n{{link}}\n")
    with mail_server() as (mailbox, port):
        text = SETTINGS + f"  port: {port}\n  templates: emails\n"
        (folder / "tollgate.yaml").write_text(text)
        server = Serving(folder)
        try:
            ann = post(server, "/v1/customers", {"app_user_id": "ann", "email": "ann@example.com"})
            mail = first_mail(server, mailbox, json.loads(ann)["id"])
        finally:
            log = server.stop()
    assert mail.mail_from == "billing@example.com" and mail.rcpt_tos == ["ann@example.com"]
    read = email.message_from_bytes(mail.content, policy=email.policy.default)
    assert not read.defects, read.defects
    assert read["From"] == "Example <billing@example.com>" and read["Subject"] == "Paid: 100 coins"
    assert read.get_content_type() == "multipart/alternative"
    plain, html = read.iter_parts()
    assert "Thanks for $10.00." in plain.get_content() and "http://127.0.0.1:8080/portal" in plain.get_content()
    assert '<a href="http://127.0.0.1:8080/portal">' in html.get_content()
    assert "ann@example.com" not in log


class Refuses(Mailbox):
    """A mail server that refuses one command of each mail for good."""

    def __init__(self, command):
        super().__init__()
        self.command, self.asked = command, threading.Event()

    def answer(self, command, usual):
        if command != self.command:
            return usual
        self.asked.set()
        return "550 5.1.1 no <ANN@example.com>"

    async def handle_MAIL(self, server, session, envelope, address, options):
        envelope.mail_from = address
        return self.answer("MAIL", "250 OK")

    async def handle_RCPT(self, server, session, envelope, address, options):
        envelope.rcpt_tos.append(address)
        return self.answer("RCPT", "250 OK")

    async def handle_DATA(self, server, session, envelope):
        return self.answer("DATA", "250 OK")


@pytest.mark.parametrize("command, outcome", [("MAIL", "retried"), ("RCPT", "refused"), ("DATA", "failed")])
def test_a_refusal_for_good_ends_a_mail_only_if_it_is_about_it(folder, command, outcome):
    with mail_server(Refuses(command)) as (mailbox, port):
        (folder / "tollgate.yaml").write_text(SETTINGS + f"  port: {port}\n")
        server = Serving(folder)
        try:
            ann = json.loads(post(server, "/v1/customers", {"app_user_id": "ann", "email": "ann@example.com"}))
            for number in range(60):
                pay(server, ann["id"], number)
                if mailbox.asked.wait(timeout=2):
                    break
            # The result is kept after the answer.
            counted, deadline = f'tollgate_emails_total{{kind="receipt",outcome="{outcome}"}}', time.time() + 30
            metrics = ""
            while counted not in metrics and time.time() < deadline:
                with urllib.request.urlopen(server.url + "/metrics", timeout=30) as answer:
                    metrics = answer.read().decode()
        finally:
            log = server.stop()
    assert mailbox.asked.is_set()
    assert counted in metrics, metrics
    assert ("will be sent again" in log) == (outcome == "retried")
    assert "ann@example.com" not in log.lower()


def test_a_broken_template_is_refused_at_the_start(folder):
    (folder / "emails").mkdir()
    (folder / "emails" / "receipt.en.txt").write_text("Subject: Paid\n\n{{amout}}\n")
    (folder / "tollgate.yaml").write_text(SETTINGS + "  templates: emails\n")
    with pytest.raises(AssertionError, match=r"emails/receipt.en.txt:3:1: .*did you mean ‘amount’"):
        Serving(folder).stop()


def test_a_server_without_a_public_address_sends_no_emails(folder):
    (folder / "tollgate.yaml").write_text(SETTINGS.replace("public_url: http://127.0.0.1:8080\n", ""))
    with pytest.raises(AssertionError, match="Emails to customers need TOLLGATE_PUBLIC_URL"):
        Serving(folder).stop()
