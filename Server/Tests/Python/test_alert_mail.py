"""Alarms by mail, as a mail server receives them that shares no code with Tollgate (aiosmtpd)."""

import contextlib
import datetime
import email
import email.policy
import email.utils
import json
import os
import queue
import socket
import subprocess
import threading
import time

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

from keys import key
from ports import free_port
from self_signed import certificate
from test_config import Serving
from tollgate_world import BINARY, ROOT

# The played servers may ask for a password without TLS, to see that they get none.
pytestmark = pytest.mark.filterwarnings("ignore")
KEYS = f"keys:\n  secret: {key('sk', 'mail')}\n  publishable: {key('pk', 'mail')}\n"
OPS, BOSS = "ops@example.com", "boss@example.com"


def is_encrypted(server):
    return server.transport.get_extra_info("ssl_object") is not None


class Mailbox:
    """What a mail server took, and what it refuses."""

    def __init__(self):
        self.mails, self.logins, self.answers = queue.Queue(), [], {}

    def log_in(self, server, session, envelope, mechanism, data):
        given = (data.login.decode(), data.password.decode())
        self.logins.append((given, is_encrypted(server)))
        return AuthResult(success=given == ("tollgate", "s3cret, with a comma"), handled=False)

    async def handle_RCPT(self, server, session, envelope, address, options):
        if answer := self.answers.get(address):
            return answer
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        self.mails.put((is_encrypted(server), envelope))
        return self.answers.get("DATA", "250 OK")


@contextlib.contextmanager
def mail_server(mailbox=None, **options):
    mailbox = mailbox or Mailbox()
    port = free_port()
    if options.get("auth_required"):
        options["authenticator"] = mailbox.log_in
    controller = Controller(mailbox, hostname="127.0.0.1", port=port, **options)
    controller.start()
    try:
        yield mailbox, port
    finally:
        controller.stop()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "catalog.yaml").write_text((ROOT / "catalog.yaml").read_text())
    return tmp_path


def settings(port, more="tls: none", to=(OPS,)):
    return KEYS + (
        f"alerts:\n  email:\n    host: localhost\n    port: {port}\n    from: tollgate@example.com\n"
        f"    to: [{', '.join(to)}]\n" + "".join(f"    {line}\n" for line in more.split("\n")))


def tried(folder, text):
    """What `tollgate alerts test` says of each channel, and its exit code."""
    (folder / "tollgate.yaml").write_text(text)
    plain = {name: value for name, value in os.environ.items() if not name.startswith("TOLLGATE_")}
    ended = subprocess.run(
        [BINARY, "alerts", "test", "--json"], cwd=folder, env=plain, text=True, capture_output=True,
        stdin=subprocess.DEVNULL, timeout=120)
    assert ended.stdout, ended.stderr
    assert "s3cret" not in ended.stdout + ended.stderr
    outcomes = json.loads(ended.stdout)
    assert ended.returncode == (1 if any("failure" in one for one in outcomes) else 0), ended.stderr
    return outcomes


def failure(folder, text):
    (outcome,) = tried(folder, text)
    return outcome.get("failure")


CREDENTIALS = "username: tollgate\npassword: {env: MAIL_PASSWORD}"


def test_a_test_message_arrives_as_a_mail_that_other_programs_read(folder):
    with mail_server() as (mailbox, port):
        assert tried(folder, settings(port, to=(OPS, BOSS))) == [
            {"channel": "email", "place": OPS}, {"channel": "email", "place": BOSS}]
    mails = [mailbox.mails.get(timeout=30)[1] for _ in range(2)]
    # Each recipient gets a mail of their own.
    assert sorted(mail.rcpt_tos[0] for mail in mails) == [BOSS, OPS]
    assert len({email.message_from_bytes(mail.content)["Message-ID"] for mail in mails}) == 2
    for mail in mails:
        assert mail.mail_from == "tollgate@example.com"
        assert all(len(line) <= 78 for line in mail.content.split(b"\r\n"))
        read = email.message_from_bytes(mail.content, policy=email.policy.default)
        assert not read.defects, read.defects
        assert read["From"] == "Tollgate <tollgate@example.com>" and read["To"] == mail.rcpt_tos[0]
        assert read["Subject"] == "Tollgate at http://127.0.0.1:8080: test message"
        assert read["Auto-Submitted"] == "auto-generated"
        age = datetime.datetime.now(datetime.timezone.utc) - read["Date"].datetime
        assert abs(age.total_seconds()) < 300
        assert read.get_content_type() == "text/plain" and read.get_content_charset() == "utf-8"
        assert read.get_content().splitlines()[0] == "Tollgate at http://127.0.0.1:8080"
        assert "Alarms of this server arrive here, too." in read.get_content()


@pytest.mark.parametrize("implicit", [False, True])
def test_user_name_and_password_go_over_tls_only(folder, monkeypatch, implicit):
    monkeypatch.setenv("MAIL_PASSWORD", "s3cret, with a comma")
    pem, context = certificate(folder)
    options = (
        {"ssl_context": context, "auth_require_tls": False} if implicit
        else {"tls_context": context, "require_starttls": True})
    more = f"tls: {'implicit' if implicit else 'starttls'}\nca_file: {pem}\n{CREDENTIALS}"
    with mail_server(auth_required=True, **options) as (mailbox, port):
        assert failure(folder, settings(port, more)) is None
    is_secure, _ = mailbox.mails.get(timeout=30)
    assert is_secure and mailbox.logins == [(("tollgate", "s3cret, with a comma"), True)]


class OffersMore(Mailbox):
    """A mail server that would rather be logged in to in ways that need more than a password."""

    def log_in(self, server, session, envelope, mechanism, data):
        self.logins.append((data.login.decode(), data.password.decode()))
        return AuthResult(success=True, handled=False)

    async def auth_GSSAPI(self, server, arguments):
        return AuthResult(success=False, handled=False)

    async def auth_CRAM__MD5(self, server, arguments):
        return AuthResult(success=False, handled=False)


def test_the_login_is_by_password_whatever_else_is_offered(folder, monkeypatch):
    monkeypatch.setenv("MAIL_PASSWORD", "s3cret")
    pem, context = certificate(folder)
    more = f"tls: starttls\nca_file: {pem}\n" + CREDENTIALS.replace("tollgate", OPS)
    with mail_server(OffersMore(), auth_required=True, tls_context=context, require_starttls=True) as (
            mailbox, port):
        assert failure(folder, settings(port, more)) is None
    assert mailbox.logins == [(OPS, "s3cret")]


def test_a_server_that_is_silent_after_it_has_taken_the_mail_has_taken_it(folder):
    """The answer to QUIT never comes; libcurl alone would wait two minutes for it."""
    def speak(listening, heard):
        link, _ = listening.accept()
        with link, link.makefile("rwb", 0) as lines:
            lines.write(b"220 mail.example.com\r\n")
            while line := lines.readline():
                if line.startswith(b"QUIT"):
                    heard.set()
                    lines.read()
                elif line.startswith(b"DATA"):
                    lines.write(b"354 go on\r\n")
                    while lines.readline().rstrip() != b".":
                        pass
                    lines.write(b"250 taken\r\n")
                else:
                    lines.write(b"250 mail.example.com\r\n")

    heard = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=speak, args=(listening, heard), daemon=True).start()
        began = time.monotonic()
        assert failure(folder, settings(listening.getsockname()[1])) is None
    assert heard.is_set() and time.monotonic() - began < 60


def test_nothing_is_sent_without_the_tls_that_is_wanted(folder, monkeypatch):
    monkeypatch.setenv("MAIL_PASSWORD", "s3cret, with a comma")
    more = f"tls: starttls\n{CREDENTIALS}"
    with mail_server(auth_required=True, auth_require_tls=False) as (mailbox, port):
        assert "offers no STARTTLS" in failure(folder, settings(port, more))
    assert mailbox.logins == [] and mailbox.mails.empty()


def test_a_certificate_that_is_not_trusted_or_for_another_name_gets_nothing(folder):
    _, context = certificate(folder)
    with mail_server(tls_context=context, require_starttls=True) as (mailbox, port):
        assert "its issuer is not trusted" in failure(folder, settings(port, "tls: starttls"))
    pem, context = certificate(folder, "elsewhere.example.com")
    with mail_server(mailbox, tls_context=context, require_starttls=True) as (_, port):
        assert "is for another name" in failure(folder, settings(port, f"tls: starttls\nca_file: {pem}"))
    assert mailbox.mails.empty()


def test_each_refusal_is_said_with_the_servers_words(folder, monkeypatch):
    monkeypatch.setenv("MAIL_PASSWORD", "s3cret and wrong")
    pem, context = certificate(folder)
    more = f"tls: starttls\nca_file: {pem}\n{CREDENTIALS}"
    with mail_server(auth_required=True, tls_context=context, require_starttls=True) as (_, port):
        words = failure(folder, settings(port, more))
        assert "refused the user name and password: ‘535 " in words, words
    with mail_server() as (mailbox, port):
        mailbox.answers = {BOSS: "550 5.1.1 no such\x1b[31m mailbox", OPS: "451 4.3.0 later"}
        first, second, third = tried(folder, settings(port, to=(BOSS, OPS, "third@example.com")))
        assert first["failure"] == f"localhost:{port} refused the mail: ‘550 5.1.1 no such [31m mailbox’."
        assert "‘451 4.3.0 later’" in second["failure"] and "failure" not in third
        mailbox.answers = {"DATA": "554 5.7.1 spam"}
        assert "refused the mail: ‘554 5.7.1 spam’" in failure(folder, settings(port))
    assert f"Nobody answers at localhost:{port}" in failure(folder, settings(port))
    name = settings(port, "tls: starttls").replace("host: localhost", "host: mail.invalid")
    assert "mail.invalid has no address" in failure(folder, name)


def test_a_server_that_hangs_up_is_no_refusal(folder):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=lambda: listening.accept()[0].close(), daemon=True).start()
        port = listening.getsockname()[1]
        assert failure(folder, settings(port)) == f"The connection to localhost:{port} failed."


def test_an_alarm_is_mailed_by_the_server(folder):
    with mail_server() as (mailbox, port):
        mailbox.answers = {BOSS: "550 5.1.1 no such mailbox"}
        # Every disk has less free than all of it.
        (folder / "tollgate.yaml").write_text(
            "listen: 127.0.0.1:0\n" + settings(port, to=(BOSS, OPS)) + "  disk_percent: 100\n")
        server = Serving(folder)
        try:
            _, mail = mailbox.mails.get(timeout=60)
        finally:
            log = server.stop()
    assert mail.rcpt_tos == [OPS]
    read = email.message_from_bytes(mail.content, policy=email.policy.default)
    assert read["Subject"].endswith(": 1 new alarm")
    assert "\nALARM: The disk of the database is nearly full: " in read.get_content()
    assert "550 5.1.1 no such mailbox" in log and "refused alarms for good" in log


def test_the_command_says_who_took_it_to_people(folder):
    with mail_server() as (mailbox, port):
        mailbox.answers = {BOSS: "550 no"}
        (folder / "tollgate.yaml").write_text(settings(port, to=(OPS, BOSS)))
        plain = {name: value for name, value in os.environ.items() if not name.startswith("TOLLGATE_")}
        ended = subprocess.run(
            [BINARY, "alerts", "test"], cwd=folder, env=plain, text=True, capture_output=True, timeout=120)
    assert ended.returncode == 1
    assert ended.stdout.splitlines() == [
        f"email {OPS}: took the test message.",
        f"email {BOSS}: localhost:{port} refused the mail: ‘550 no’."]


def test_without_a_channel_there_is_nothing_to_try(folder):
    (folder / "tollgate.yaml").write_text(KEYS)
    plain = {name: value for name, value in os.environ.items() if not name.startswith("TOLLGATE_")}
    ended = subprocess.run(
        [BINARY, "alerts", "test"], cwd=folder, env=plain, text=True, capture_output=True, timeout=60)
    assert ended.returncode == 1 and "No channel of alarms is set." in ended.stderr, ended.stderr
