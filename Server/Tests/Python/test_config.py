"""`tollgate.yaml`: one file with all settings; and a catalog that changes while the server runs."""

import hashlib
import hmac
import http.server
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import pytest

from keys import key
from ports import free_port
from tollgate_world import BINARY, ROOT
from waiting import until

SECRET, PUBLISHABLE = key("sk", "config"), key("pk", "config")
KEYS = f"""\
keys:
  secret: {SECRET}
  publishable: {PUBLISHABLE}
"""
# Every key that there is.
FULL = """\
listen: 127.0.0.1:0
metrics_listen: 127.0.0.1:9464
database: sqlite:live.sqlite
backups: backups/
catalog: catalog.yaml
public_url: https://billing.example.com
client_address_header: X-Forwarded-For
connections_per_address: 500
server: https://billing.example.com
demo: false
app_url: example://home
portal_return_url: https://example.com/account
apple_app_ids: [TEAMID.com.example.app, TEAMID.com.example.other]
log_level: notice
clock: system
keys: {secret: [NEW, OLD], publishable: pk_test_x}
webhooks: {allow_private: false}
app_store:
  roots: [AppleRootCA-G3.cer]
  bundle_id: com.example.app
  app_apple_id: 1234567890
  environments: [Production, Sandbox]
  key: {issuer_id: 57246542, key_id: ABC123, file: AuthKey.p8}
  shared_secret: abc
  xcode_certificate_file: xcode.cer
  online_checks: true
  small_business: true
  retention_messages: retention.yaml
  base_url: http://127.0.0.1:8081
  reports: {issuer_id: 57246542, key_id: DEF456, file: Connect.p8, vendor_number: "85000000", base_url: "http://127.0.0.1:8081"}
stripe: {secret_key: sk_test_x, webhook_secrets: [whsec_new, whsec_old], api_base: "http://127.0.0.1:8082"}
google_play:
  service_account_file: service-account.json
  package_names: [com.example.app]
  subscription: projects/p/subscriptions/s
  push: {audience: tollgate, email: push@p.iam.gserviceaccount.com}
  license_keys: [MIIB]
  bucket: gs://pubsite_prod_rev_0123
  api_base: http://127.0.0.1:8083
  pubsub_base: http://127.0.0.1:8083
  certs_url: http://127.0.0.1:8083/certs
open_id: {issuer: "https://id.example.com", client_id: tollgate, client_secret: abc, name: Company, domain: example.com}
alerts:
  webhook: https://hooks.example.com/services/x
  secret: whsec_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=
  after: {question: 2h, silence: 12h, webhook: 30m}
  before: {deadline: 12h, expiry: 60d}
  disk_percent: 5
  refund_percent: 5
  churn_percent: 10
  email:
    host: smtp.example.com
    port: 587
    tls: starttls
    username: tollgate
    password: abc
    from: tollgate@example.com
    to: [ops@example.com, boss@example.com]
    ca_file: mail-root.pem
  quiet_hours: {from: "22:00", to: "07:00", time_zone: Europe/Berlin}
emails:
  receipt: true
  payment_failed: true
  trial_ends: true
  lapsed: false
  from: billing@example.com
  from_name: Example
  reply_to: support@example.com
  host: smtp.example.com
  port: 465
  tls: implicit
  username: tollgate
  password: abc
  ca_file: mail-root.pem
  language: ja
  templates: .
  account_url: https://example.com/account
  sandbox: true
traces: {endpoint: "http://127.0.0.1:4318", headers: ["Authorization: Bearer x"], sample_ratio: 0.1}
"""


def tollgate(folder, *arguments, **environment):
    plain = {name: value for name, value in os.environ.items() if not name.startswith("TOLLGATE_")}
    return subprocess.run(
        [BINARY, *arguments], cwd=folder, env=plain | environment, text=True, capture_output=True,
        stdin=subprocess.DEVNULL, timeout=120)


def check(folder, text, **environment):
    (folder / "tollgate.yaml").write_text(text)
    ended = tollgate(folder, "config", "check", "--json", **environment)
    found = json.loads(ended.stdout)
    assert ended.returncode == (1 if found["errors"] else 0), ended.stderr
    return found


def test_the_file_says_everything_that_variables_say(tmp_path):
    source = (ROOT / "Server/Sources/TollgateCLI/Settings.swift").read_text()
    names = set(re.findall(r'"([A-Z_]+)"', source.partition("names: Set<String>")[2].partition("]")[0]))
    found = check(tmp_path, FULL)
    assert found["errors"] == []
    # The name of the file itself cannot stand in it.
    assert set(found["settings"]) == {"TOLLGATE_" + name for name in names - {"CONFIG"}}


@pytest.mark.parametrize("text, line, column, words", [
    ("listn: 127.0.0.1:8080\n", 1, 1, "did you mean ‘listen’?"),
    ("stripe:\n  secret: sk_test_x\n", 2, 3, "‘stripe’ has no key ‘secret’"),
    ("app_store:\n  app_apple_id: one\n", 2, 17, "is not a whole number"),
    ("demo: perhaps\n", 1, 7, "is not true or false"),
    ("database: [a, b]\n", 1, 11, "is one value; remove the list"),
    ("keys:\n  secret: {path: x}\n", 2, 12, "has no key ‘path’"),
    ("keys:\n  secret: {file: x, env: Y}\n", 2, 11, "keep one of its keys"),
    ("keys:\n  secret: {env: NOT_THERE}\n", 2, 11, "the variable NOT_THERE is not set"),
    ("keys:\n  secret: {file: none.txt}\n", 2, 11, "none.txt cannot be read: there is no such file"),
    ("keys:\n  secret: {credential: key}\n", 2, 11, "LoadCredential=key:PATH"),
    ("app_store: {roots: ['a,b']}\n", 1, 21, "has no comma; write two elements"),
    ("listen: 1\nlisten: 2\n", 1, 1, "more than once"),
    ("listen\n", 1, 1, "is a block of keys and values"),
])
def test_mistakes_have_a_place_and_a_remedy(tmp_path, text, line, column, words):
    (error,) = check(tmp_path, text)["errors"]
    assert words in error["message"], error
    if "more than once" not in words:
        assert (error["line"], error["column"]) == (line, column), error


HOOK = "  webhook: https://hooks.example.com/x\n"
MAIL = "host: smtp.example.com, from: a@example.com, to: [b@example.com]"


@pytest.mark.parametrize("alerts, at, words", [
    ("email: {host: smtp.example.com, from: a@example.com}", "smtp", "mail needs ‘to’"),
    ("email: {host: 'https://s3cret', from: a@example.com, to: [b@example.com]}", "'https", "write its name alone"),
    ("email: {host: x, from: 'A <a@example.com>', to: [b@example.com]}", "'A", "like tollgate@example.com"),
    ("email: {host: x, from: a@example.com, to: ['b@example.com', s3cret]}", "'b", "not an email address"),
    (f"email: {{{MAIL}, tls: startls}}", "startls", "did you mean ‘starttls’?"),
    (f"email: {{{MAIL}, tls: none}}", "none", "use starttls or implicit"),
    (f"email: {{{MAIL}, port: 70000}}", "70000", "from 1 to 65535"),
    (f"email: {{{MAIL}, password: s3cret}}", "s3cret", "needs a ‘username’"),
    (f"email: {{{MAIL}, username: s3cret}}", "s3cret", "needs a ‘password’"),
    ("quiet_hours: {from: '22:00', to: '07:00'}", "'22", "quiet hours need ‘time_zone’"),
    ("quiet_hours: {from: '22', to: '07:00', time_zone: UTC}", "'22", "no time of day"),
    ("quiet_hours: {from: 22:00, to: 24:00, time_zone: UTC}", "24:00", "no time of day"),
    ("quiet_hours: {from: 22:00, to: 022:00, time_zone: UTC}", "022:00", "no time of day"),
    ("quiet_hours: {from: 22:00, to: '22:00', time_zone: UTC}", "'22:00'", "have no length"),
    ("quiet_hours: {from: 22:00, to: 07:00, time_zone: Europe/Berln}", "Europe", "did you mean ‘Europe/Berlin’?"),
    ("after: {question: soon}", "soon", "no span of time; write it like 30m"),
    ("before: {expiry: 0d}", "0d", "no span of time"),
    ("disk_percent: 101", "101", "from 1 to 100"), ("refund_percent: 0", "0", "from 1 to 100"),
    ("disk_percent: 5", "5", "needs ‘webhook’"),
    ("webhook: http://hooks.example.com/s3cret", "http:", "Nothing is sent to this URL"),
    ("webhook: https://127.0.0.1/s3cret", "https:", "its address is not public"),
    ("secret: s3cret", "s3cret", "it is not whsec_"),
])
def test_mistakes_in_alarms_have_a_place_and_a_remedy(tmp_path, alerts, at, words):
    channel = "" if "email" in alerts or "webhook: http" in alerts or at == "5" else HOOK
    (error,) = check(tmp_path, f"alerts:\n  {alerts}\n{channel}")["errors"]
    assert words in error["message"] and "s3cret" not in error["message"], error
    assert (error["line"], error["column"]) == (2, 3 + alerts.index(at)), error


EMAILS = "from: a@example.com, host: smtp.example.com"


@pytest.mark.parametrize("emails, at, words", [
    ("{receipt: maybe}", "maybe", "is not true or false"),
    (f"{{receipts: true, {EMAILS}}}", "receipts", "did you mean ‘receipt’?"),
    (f"{{{EMAILS}, language: klingon}}", "klingon}", "possible are ‘en’, ‘de’, ‘es’"),
    (f"{{{EMAILS}, reply_to: nobody}}", "nobody", "not an email address"),
    (f"{{{EMAILS}, tls: none}}", "none", "without TLS, mail and password could be read"),
    (f"{{{EMAILS}, account_url: example}}", "example}", "not a web address"),
    ("{lapsed: true, from: a@example.com}", "true", "emails need ‘host’"),
    ("{lapsed: true, host: smtp.example.com}", "true", "emails need ‘from’"),
    ("{from: a@example.com, port: 25}", "25", "add its ‘host’ to ‘emails’"),
])
def test_mistakes_in_emails_have_a_place_and_a_remedy(tmp_path, emails, at, words):
    (error,) = check(tmp_path, f"emails: {emails}\n")["errors"]
    assert words in error["message"], error
    assert (error["line"], error["column"]) == (1, 9 + emails.index(at)), error


def test_emails_take_the_mail_server_of_alarms(tmp_path):
    alerts = "alerts: {email: {host: smtp.example.com, from: a@example.com, to: b@example.com}}\n"
    assert check(tmp_path, alerts + "emails: {receipt: true, from: c@example.com}\n")["errors"] == []


@pytest.mark.parametrize("name, text, line, words", [
    ("receipt.en.txt", "Thank you.\n", 1, "the first line is the subject"),
    ("receipt.ja.txt", "Subject: {{product}}\n\n{{amout}}\n", 3, "did you mean ‘amount’?"),
    ("lapsed.en.txt", "Subject: x\n\n{{#date}}\nended\n", 4, "Mustache cannot read this"),
    ("letter.html", "<html>\n", 1, "the text is missing"),
    ("recipt.en.txt", "Subject: x\n", 1, "did you mean ‘receipt.en.txt’?"),
])
def test_mistakes_in_templates_of_emails_have_a_file_and_a_line(tmp_path, name, text, line, words):
    (tmp_path / "emails").mkdir()
    (tmp_path / "emails" / name).write_text(text)
    (error,) = check(tmp_path, f"emails: {{receipt: true, {EMAILS}, templates: emails}}\n")["errors"]
    assert error["file"] == f"emails/{name}" and words in error["message"], error
    # Where Mustache misses the end of a section, it may name the end of the text.
    assert error["line"] in ((line - 1, line, line + 1) if "Mustache" in words else (line,)), error


def test_variables_complete_the_mail_settings_of_the_file(tmp_path):
    text = "alerts: {email: {host: smtp.example.com, from: a@example.com, username: u}}\n"
    assert len(check(tmp_path, text)["errors"]) == 2
    variables = {"TOLLGATE_ALERTS_EMAIL_TO": "b@example.com", "TOLLGATE_ALERTS_EMAIL_PASSWORD": "x"}
    assert check(tmp_path, text, **variables)["errors"] == []


def test_all_mistakes_are_said_at_once_for_people(tmp_path):
    (tmp_path / "other.yaml").write_text("listn: x\nstripe: {secret: y}\n")
    ended = tollgate(tmp_path, "config", "check", "other.yaml")
    assert ended.returncode == 1
    assert [line.split(" ")[0] for line in ended.stdout.splitlines()] == ["other.yaml:1:1:", "other.yaml:2:10:"]


def test_a_command_does_not_go_on_with_half_of_its_settings(tmp_path):
    (tmp_path / "tollgate.yaml").write_text("databse: sqlite:live.sqlite\n")
    ended = tollgate(tmp_path, "explain", "jenny", "pro")
    assert ended.returncode == 1
    assert ended.stderr.startswith("tollgate.yaml:1:1: error: ") and "‘database’" in ended.stderr
    ended = tollgate(tmp_path, "explain", "jenny", "pro", TOLLGATE_CONFIG="none.yaml")
    assert ended.returncode == 1 and "none.yaml: cannot be read" in ended.stderr
    # Help needs no settings.
    assert tollgate(tmp_path, "help", "serve").returncode == 0


def test_a_file_that_others_wrote_is_not_read_unless_it_is_named(tmp_path):
    """K6: in somebody else's folder, a file of theirs would say where the secret key is sent."""
    file = tmp_path / "tollgate.yaml"
    file.write_text("server: http://127.0.0.1:9\n")
    file.chmod(0o666)

    def refused():
        for command in (["keys", "list"], ["config", "check"]):
            ended = tollgate(tmp_path, *command, TOLLGATE_SECRET_KEY=SECRET)
            assert ended.returncode == 1 and "TOLLGATE_CONFIG=tollgate.yaml" in ended.stderr, ended.stderr

    refused()
    named = tollgate(tmp_path, "config", "check", TOLLGATE_CONFIG="tollgate.yaml")
    assert named.returncode == 0, named.stderr
    file.chmod(0o664)
    assert tollgate(tmp_path, "config", "check").returncode == 0, "a group of one's own"
    if os.geteuid() == 0:
        os.chown(file, 65534, 65534)
        refused()


def test_a_message_about_the_file_does_not_repeat_its_secrets(tmp_path):
    (tmp_path / "tollgate.yaml").write_text(f"keys: {{{SECRET}}}\nstripe: {{webhook_secrets: {{whsec_{SECRET[8:]}}}}}\n")
    for command in (["config", "check"], ["config", "check", "--json"], ["explain", "jenny", "pro"]):
        ended = tollgate(tmp_path, *command)
        assert ended.returncode == 1 and "has no such key" in ended.stdout + ended.stderr
        assert SECRET[8:] not in ended.stdout + ended.stderr


class Serving:
    def __init__(self, folder, **environment):
        plain = {name: value for name, value in os.environ.items() if not name.startswith("TOLLGATE_")}
        self.process = subprocess.Popen(
            [BINARY, "serve"], cwd=folder, env=plain | environment, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        line = self.process.stdout.readline()
        assert "listening on" in line, self.process.communicate()[1]
        self.url = line.split()[-1]
        self.database = self.process.stdout.readline().strip()

    def get(self, path, secret=SECRET):
        request = urllib.request.Request(self.url + path, headers={"Authorization": f"Bearer {secret}"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read().decode()

    def stop(self):
        self.process.terminate()
        return self.process.communicate(timeout=30)[1]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "catalog.yaml").write_text((ROOT / "catalog.yaml").read_text())
    return tmp_path


def test_serve_takes_its_settings_from_the_file_and_variables_win(folder):
    (folder / "tollgate.yaml").write_text(
        f"listen: 127.0.0.1:{free_port()}\ndatabase: sqlite:by-file.sqlite\n" + KEYS)
    server = Serving(folder)
    assert server.database == "database: sqlite:by-file.sqlite"
    assert server.get("/v1/events")
    server.stop()
    server = Serving(folder, TOLLGATE_DATABASE="sqlite:by-variable.sqlite")
    assert server.database == "database: sqlite:by-variable.sqlite"
    server.stop()


def test_a_demo_leaves_the_servers_database_alone(folder):
    (folder / "tollgate.yaml").write_text("listen: 0.0.0.0:8080\ndatabase: sqlite:live.sqlite\n" + KEYS)
    ended = tollgate(folder, "demo", "--script")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert not (folder / "live.sqlite").exists()


def test_a_demo_needs_no_file(tmp_path):
    ended = tollgate(tmp_path, "demo", "--script")
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_secrets_come_from_files_variables_and_credentials(folder):
    (folder / "secret.txt").write_text(SECRET + "\n")
    (folder / "credentials").mkdir()
    (folder / "credentials/former").write_text(key("sk", "former"))
    (folder / "settings.yaml").write_text("""\
listen: 127.0.0.1:0
keys:
  secret: [{file: secret.txt}, {credential: former}]
  publishable: {env: PUBLISHABLE}
""")
    server = Serving(
        folder, TOLLGATE_CONFIG="settings.yaml", PUBLISHABLE=PUBLISHABLE,
        CREDENTIALS_DIRECTORY=str(folder / "credentials"))
    assert server.get("/v1/events") and server.get("/v1/events", key("sk", "former"))
    server.stop()


def test_init_writes_a_file_with_which_the_server_starts(folder):
    ended = tollgate(folder, "config", "init")
    assert ended.returncode == 0, ended.stderr
    file = folder / "tollgate.yaml"
    assert file.stat().st_mode & 0o777 == 0o600
    assert tollgate(folder, "config", "check").returncode == 0
    keys = re.findall(r"[sp]k_test_[0-9a-f]{64}", file.read_text())
    assert len(set(keys)) == 2
    server = Serving(folder, TOLLGATE_LISTEN="127.0.0.1:0")
    assert server.get("/v1/events", keys[0])
    server.stop()
    # Keys are not lost by asking again.
    ended = tollgate(folder, "config", "init")
    assert ended.returncode == 1 and "is there already" in ended.stderr
    assert keys[0] in file.read_text()


def test_init_takes_answers_as_options(folder):
    ended = tollgate(
        folder, "config", "init", "--to", "live.yaml", "--live", "--public-url", "https://billing.example.com",
        "--bundle-id", "com.example.app", "--package-name", "com.example.android")
    assert ended.returncode == 0, ended.stderr
    text = (folder / "live.yaml").read_text()
    assert re.search(r"secret: sk_live_[0-9a-f]{64}\n", text)
    found = json.loads(tollgate(folder, "config", "check", "live.yaml", "--json").stdout)
    assert {"TOLLGATE_PUBLIC_URL", "TOLLGATE_APP_STORE_BUNDLE_ID", "TOLLGATE_GOOGLE_PLAY_PACKAGE_NAME"} <= set(
        found["settings"])


def test_a_changed_catalog_is_taken_in_and_one_with_mistakes_is_refused(folder):
    (folder / "tollgate.yaml").write_text("listen: 127.0.0.1:0\n" + KEYS)
    catalog = folder / "catalog.yaml"
    first = catalog.read_text()

    def changed(text):
        catalog.write_text(text)
        server.process.send_signal(signal.SIGHUP)

    def leads_back_to():
        return json.loads(server.get("/v1/catalog"))["checkout"]["success_path"]

    server = Serving(folder)
    try:
        assert leads_back_to() == "/checkout_redirect/success"
        second = first.replace("success_path: /checkout_redirect/success", "success_path: /second")
        changed(second)
        until(lambda: leads_back_to() == "/second")
        # Refused: the one before stays in effect. The next one is reloaded again.
        changed(second.replace("kind: auto_renewable", "kind: renewable"))
        changed(second.replace("/second", "/third"))
        until(lambda: leads_back_to() == "/third")
    finally:
        log = [json.loads(line) for line in server.stop().splitlines() if line.startswith("{")]
    assert server.process.returncode == 0
    assert any("the catalog was reloaded" in json.dumps(line) for line in log)


def test_a_catalog_with_mistakes_leaves_the_present_one(folder):
    (folder / "tollgate.yaml").write_text("listen: 127.0.0.1:0\n" + KEYS)
    server = Serving(folder)
    try:
        before = json.loads(server.get("/v1/catalog"))["checkout"]
        (folder / "catalog.yaml").write_text("products: [{id: x}]\n")
        server.process.send_signal(signal.SIGHUP)
        line = ""
        while "reload failed" not in line:
            line = server.process.stderr.readline()
            assert line, "the server ended"
        assert "catalog.yaml:1:" in line, line
        assert json.loads(server.get("/v1/catalog"))["checkout"] == before
    finally:
        server.stop()
    assert server.process.returncode == 0


def stripe_refusal(server, secret):
    """The code for a webhook of Stripe's that is signed and no event, or is not signed."""
    now = str(int(time.time()))
    signature = hmac.new(secret.encode(), f"{now}.{{}}".encode(), hashlib.sha256).hexdigest()
    request = urllib.request.Request(
        server.url + "/webhooks/stripe", b"{}", {"Stripe-Signature": f"t={now},v1={signature}"})
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=30)
    return json.load(refused.value)["error"]["code"]


def reloaded(server):
    """Sends SIGHUP; the lines of the log up to the one that says how it ended."""
    server.process.send_signal(signal.SIGHUP)
    lines = []
    while not lines or not any(words in lines[-1]["message"] for words in ("need a restart", "reload failed")):
        line = server.process.stderr.readline()
        assert line, "the server ended"
        if line.startswith("{"):
            lines.append(json.loads(line))
    return lines


def test_changed_settings_are_taken_in_or_named_as_waiting_for_a_restart(folder):
    # Warnings only, up to the reload that says otherwise.
    text = "listen: 127.0.0.1:0\nlog_level: warning\nstripe: {webhook_secrets: [whsec_old]}\n" + KEYS
    (folder / "tollgate.yaml").write_text(text)

    def refusal(secret):
        return stripe_refusal(server, secret)

    server = Serving(folder)
    try:
        assert (refusal("whsec_old"), refusal("whsec_new")) == ("malformed_body", "stripe_signature")
        (folder / "tollgate.yaml").write_text(
            text.replace("warning", "notice").replace("[whsec_old]", "[whsec_new]")
            + "app_url: https://example.com/account\nalerts: {webhook: 'https://hooks.example.com/x'}\n")
        lines = reloaded(server)
        assert (refusal("whsec_old"), refusal("whsec_new")) == ("stripe_signature", "malformed_body")
    finally:
        server.stop()
    said = {line["message"]: line["metadata"].get("settings") for line in lines}
    assert "the catalog was reloaded" in said, "a notice, which is logged from now on"
    assert said["settings were reloaded"] == (
        "TOLLGATE_ALERTS_WEBHOOK, TOLLGATE_LOG_LEVEL, TOLLGATE_STRIPE_WEBHOOK_SECRETS")
    assert said["these changed settings need a restart"] == "TOLLGATE_APP_URL"


def test_a_test_server_never_takes_in_live_keys_of_stripe(folder):
    port = free_port()

    def settings(mode, secret):
        keys = KEYS.replace("_test_", f"_{mode}_")
        return (
            "listen: 127.0.0.1:0\n" + keys + f"stripe: {{secret_key: sk_{mode}_stripe, webhook_secrets: [{secret}], "
            f"api_base: 'http://127.0.0.1:{port}'}}\n")

    (folder / "tollgate.yaml").write_text(settings("test", "whsec_test"))
    server = Serving(folder)
    try:
        (folder / "tollgate.yaml").write_text(settings("live", "whsec_live"))
        # The second time the file is as it was the first time, and the refused key is no more in force than before.
        for _ in range(2):
            line = reloaded(server)[-1]
            assert line["metadata"]["settings"] == (
                "TOLLGATE_PUBLISHABLE_KEY, TOLLGATE_SECRET_KEY, TOLLGATE_STRIPE_SECRET_KEY, "
                "TOLLGATE_STRIPE_WEBHOOK_SECRETS"), line
            assert stripe_refusal(server, "whsec_test") == "malformed_body"
            assert stripe_refusal(server, "whsec_live") == "stripe_signature"
    finally:
        server.stop()


def test_a_chat_beside_the_server_takes_a_restart(folder):
    """Whether webhooks may go to this machine is a setting of the start, for alarms too."""
    text = "listen: 127.0.0.1:0\n" + KEYS
    (folder / "tollgate.yaml").write_text(text)
    server = Serving(folder)
    try:
        (folder / "tollgate.yaml").write_text(
            text + "webhooks: {allow_private: true}\nalerts: {webhook: 'http://127.0.0.1:9/s3cret'}\n")
        line = reloaded(server)[-1]
        assert line["level"] == "error" and "Nothing is sent to this URL" in line["metadata"]["error"], line
        assert "s3cret" not in json.dumps(line)
    finally:
        server.stop()


def test_an_alarm_is_told_to_the_chat_that_the_file_names(folder):
    told, came = [], threading.Event()

    class Chat(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            told.append((self.path, self.headers, body))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()
            came.set()

        def log_message(self, *_):
            pass

    chat = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Chat)
    threading.Thread(target=chat.serve_forever, daemon=True).start()
    (folder / "tollgate.yaml").write_text(
        "listen: 127.0.0.1:0\nwebhooks: {allow_private: true}\n" + KEYS
        # Every disk has less free than all of it.
        + f"alerts: {{webhook: 'http://127.0.0.1:{chat.server_port}/s3cret', disk_percent: 100}}\n")
    server = Serving(folder)
    try:
        assert came.wait(60)
    finally:
        log = server.stop()
        chat.shutdown()
    (path, headers, body) = told[0]
    assert path == "/s3cret" and headers["Content-Type"] == "application/json"
    assert list(json.loads(body)) == ["text"]
    assert "\nALARM: The disk of the database is nearly full: " in json.loads(body)["text"]
    assert "s3cret" not in log


@pytest.mark.parametrize("alerts, words", [
    ({"DISK_PERCENT": "5"}, "TOLLGATE_ALERTS_DISK_PERCENT: this needs ‘webhook’ (TOLLGATE_ALERTS_WEBHOOK)"),
    ({"WEBHOOK": "http://hooks.example.com/s3cret"}, "TOLLGATE_ALERTS_WEBHOOK: Nothing is sent to this URL"),
    ({"WEBHOOK": "https://hooks.example.com/x", "SECRET": "s3cret"}, "TOLLGATE_ALERTS_SECRET: it is not whsec_"),
    ({"WEBHOOK": "https://hooks.example.com/x", "AFTER_QUESTION": "soon"}, "TOLLGATE_ALERTS_AFTER_QUESTION: this is no"),
])
def test_alarms_that_are_set_up_wrong_are_refused_at_the_start(folder, alerts, words):
    (folder / "tollgate.yaml").write_text(KEYS)
    ended = tollgate(folder, "serve", **{f"TOLLGATE_ALERTS_{name}": text for name, text in alerts.items()})
    assert ended.returncode == 2 and words in ended.stderr, ended.stderr
    assert "s3cret" not in ended.stderr


def test_with_a_mistake_anywhere_nothing_is_taken_in(folder):
    text = "listen: 127.0.0.1:0\n" + KEYS
    (folder / "tollgate.yaml").write_text(text)
    catalog = (folder / "catalog.yaml").read_text()
    server = Serving(folder)
    try:
        before = json.loads(server.get("/v1/catalog"))["checkout"]
        (folder / "catalog.yaml").write_text(
            catalog.replace("success_path: /checkout_redirect/success", "success_path: /second"))
        for wrong, words in [("log_levle: debug\n", "tollgate.yaml:5:1:"), ("log_level: loud\n", "is none of trace")]:
            (folder / "tollgate.yaml").write_text(text + wrong)
            line = reloaded(server)[-1]
            assert line["level"] == "error" and words in line["metadata"]["error"], line
        assert json.loads(server.get("/v1/catalog"))["checkout"] == before
        # The command says so before it tells the server anything.
        ended = tollgate(folder, "reload")
        assert ended.returncode != 0 and "is none of trace" in ended.stderr, ended.stderr
    finally:
        server.stop()
    assert server.process.returncode == 0


def test_reload_says_whether_the_catalog_was_taken_in(folder):
    (folder / "tollgate.yaml").write_text("listen: 127.0.0.1:0\n" + KEYS)
    ended = tollgate(folder, "reload")
    assert ended.returncode == 1 and "No server is using .tollgate/tollgate.sqlite" in ended.stderr
    # Numbers by which kill(2) means many processes.
    for process in ("0", "-1"):
        ended = tollgate(folder, "reload", f"--process={process}")
        assert ended.returncode == 2 and "is no server's process" in ended.stderr, ended.stderr
    catalog = folder / "catalog.yaml"
    first = catalog.read_text()
    server = Serving(folder)
    try:
        catalog.write_text(first.replace("success_path: /checkout_redirect/success", "success_path: /second"))
        ended = tollgate(folder, "reload")
        assert ended.returncode == 0 and ended.stdout.startswith("reloaded: "), ended.stderr
        assert json.loads(server.get("/v1/catalog"))["checkout"]["success_path"] == "/second"
        # Mistakes are said here; the server is not asked.
        catalog.write_text("products: [{id: x}]\n")
        ended = tollgate(folder, "reload")
        assert ended.returncode == 1 and "catalog.yaml:1:" in ended.stderr
        assert json.loads(server.get("/v1/catalog"))["checkout"]["success_path"] == "/second"
    finally:
        server.stop()


def test_reload_says_what_became_of_settings(folder):
    text = "listen: 127.0.0.1:0\nstripe: {webhook_secrets: [whsec_old]}\n" + KEYS
    (folder / "tollgate.yaml").write_text(text)
    server = Serving(folder)
    try:
        # Only a secret has changed: it is in force when the command ends.
        new = text.replace("whsec_old", "whsec_new")
        (folder / "tollgate.yaml").write_text(new)
        ended = tollgate(folder, "reload")
        assert ended.returncode == 0 and ended.stdout.startswith("reloaded: "), ended.stderr
        assert stripe_refusal(server, "whsec_new") == "malformed_body"
        assert stripe_refusal(server, "whsec_old") == "stripe_signature"
        # The catalog is as it was, and the server refuses a setting that the command does not look at.
        (folder / "tollgate.yaml").write_text(new + "metrics_listen: nowhere\n")
        ended = tollgate(folder, "reload")
        assert ended.returncode == 1 and "The reload failed; the server's current" in ended.stderr, ended.stderr
        assert "'nowhere' is not an address" in ended.stderr and not ended.stdout
        # It goes on to say what waits, whenever that has changed.
        (folder / "tollgate.yaml").write_text(new + "app_url: https://example.com/account\n")
        for _ in range(2):
            ended = tollgate(folder, "reload")
            assert ended.returncode == 0, ended.stderr
            assert "need a restart: TOLLGATE_APP_URL" in ended.stderr, ended.stderr
        # Variables of the command are not the server's.
        (folder / "other.yaml").write_text(
            (folder / "catalog.yaml").read_text().replace("success_path: /checkout_redirect/success", "success_path: /x"))
        ended = tollgate(folder, "reload", TOLLGATE_CATALOG="other.yaml")
        assert ended.returncode == 1 and "reloaded another catalog" in ended.stderr, ended.stderr
    finally:
        server.stop()
    assert server.process.returncode == 0


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says which signals a process expects")
def test_reload_ends_no_other_command_that_has_the_database(folder):
    """A restore has the database's lock, too, and no server that is still starting expects SIGHUP."""
    (folder / "tollgate.yaml").write_text("database: sqlite:live.sqlite\n" + KEYS)
    lock = (
        "import fcntl, os, sys; file = open('live.sqlite.lock', 'w'); fcntl.flock(file, fcntl.LOCK_EX); "
        "print(os.getpid(), file=file, end='', flush=True); print('locked', flush=True); sys.stdin.read()")
    process = subprocess.Popen(
        [sys.executable, "-c", lock], cwd=folder, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert process.stdout.readline() == "locked\n"
        for more in ([], [f"--process={process.pid}"]):
            ended = tollgate(folder, "reload", *more)
            assert ended.returncode == 1 and "cannot reload" in ended.stderr, ended.stderr
            assert process.poll() is None
    finally:
        process.stdin.close()
        process.wait(timeout=30)
