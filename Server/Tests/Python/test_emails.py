"""Emails to customers, as a mail server receives them that shares no code with Tollgate (aiosmtpd)."""

import email
import email.policy
import email.utils
import hashlib
import hmac
import json
import os
import queue
import subprocess
import threading
import time
import urllib.request

import pytest

from keys import key
from test_alert_mail import Mailbox, mail_server
from test_config import Serving
from test_doctor import doctor, state
from tollgate_world import BINARY, ROOT

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


# Before anybody is written to


def tried(folder, text, address="me@example.com", *arguments):
    (folder / "tollgate.yaml").write_text(text)
    plain = {name: value for name, value in os.environ.items() if not name.startswith("TOLLGATE_")}
    return subprocess.run(
        [BINARY, "emails", "test", address, *arguments], cwd=folder, env=plain, text=True, capture_output=True,
        timeout=120)


def test_a_test_email_has_the_sender_that_customers_see(folder):
    """No kind has to be switched on: first one looks whether emails arrive."""
    with mail_server() as (mailbox, port):
        text = SETTINGS.replace("receipt: true", "receipt: false") + f"  port: {port}\n  reply_to: help@example.com\n"
        ended = tried(folder, text)
        assert ended.returncode == 0, ended.stderr
        assert ended.stdout == f"localhost:{port} took the test email to me@example.com.\n"
        ended = tried(folder, text, "me@example.com", "--json")
        assert json.loads(ended.stdout) == {"address": "me@example.com", "server": f"localhost:{port}"}
    _, mail = mailbox.mails.get(timeout=30)
    assert mail.mail_from == "billing@example.com" and mail.rcpt_tos == ["me@example.com"]
    read = email.message_from_bytes(mail.content, policy=email.policy.default)
    assert not read.defects, read.defects
    assert read["From"] == "Example <billing@example.com>"
    assert email.utils.parseaddr(read["Reply-To"]) == ("", "help@example.com")
    assert "http://127.0.0.1:8080" in read.get_content()


def test_a_test_email_that_is_refused_ends_with_1_and_the_servers_words(folder):
    with mail_server(Refuses("RCPT")) as (_, port):
        ended = tried(folder, SETTINGS + f"  port: {port}\n")
    assert ended.returncode == 1 and "550 5.1.1 no" in ended.stdout
    # Nobody listens there any more.
    ended = tried(folder, SETTINGS + f"  port: {port}\n")
    assert ended.returncode == 1 and f"Nobody answers at localhost:{port}" in ended.stdout


def test_a_test_email_needs_settings_and_an_address(folder):
    ended = tried(folder, SETTINGS, "me@localhost@example.com")
    assert ended.returncode == 2 and "is not an email address" in ended.stderr
    ended = tried(folder, SETTINGS.partition("emails:")[0])
    assert ended.returncode == 1 and "docs/emails.md" in ended.stderr


def test_doctor_asks_the_mail_server_and_sends_nothing(folder):
    kinds = "  lapsed: true\n"
    with mail_server() as (mailbox, port):
        (folder / "tollgate.yaml").write_text(SETTINGS + f"  port: {port}\n" + kinds)
        findings = doctor(folder, {})
        assert state(findings, "emails.server") == ("ok", f"localhost:{port} takes the connection.")
        assert "Example" in state(findings, "emails.sender")[1]
        # The public address is this machine's: only its owner could unsubscribe.
        worst, sentence = state(findings, "emails.unsubscribe")
        assert worst == "warning" and "http://127.0.0.1:8080/emails/unsubscribe" in sentence
        assert mailbox.mails.empty()
    findings = doctor(folder, {"TOLLGATE_PUBLIC_URL": "https://tollgate.invalid"})
    assert state(findings, "emails.server")[0] == "failed"
    worst, sentence = state(findings, "emails.unsubscribe")
    assert worst == "failed" and sentence.startswith("https://tollgate.invalid/emails/unsubscribe: ")


def test_doctor_says_when_no_emails_are_sent_or_none_can_be_unsubscribed(folder):
    (folder / "tollgate.yaml").write_text(SETTINGS.partition("emails:")[0])
    assert state(doctor(folder, {}), "emails")[0] == "skipped"
    with mail_server() as (_, port):
        (folder / "tollgate.yaml").write_text(SETTINGS + f"  port: {port}\n")
        assert state(doctor(folder, {}), "emails.unsubscribe")[0] == "skipped"


def test_doctor_tries_the_login(folder):
    """A wrong password is found before the first email."""
    with mail_server(auth_required=True, auth_require_tls=False) as (mailbox, port):
        login = f"  port: {port}\n  username: tollgate\n  password: wrong\n"
        (folder / "tollgate.yaml").write_text(SETTINGS + login)
        worst, sentence = state(doctor(folder, {}), "emails.server")
        assert worst == "failed" and "refused the user name and password" in sentence, sentence
        right = login.replace("wrong", '"s3cret, with a comma"')
        (folder / "tollgate.yaml").write_text(SETTINGS + right)
        worst, sentence = state(doctor(folder, {}), "emails.server")
        assert (worst, sentence) == ("ok", f"localhost:{port} takes the connection and the login.")
    assert [given for given, _ in mailbox.logins] == [
        ("tollgate", "wrong"), ("tollgate", "s3cret, with a comma")]
