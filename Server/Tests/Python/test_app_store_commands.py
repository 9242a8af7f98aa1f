"""The commands about the App Store, against a simulated one: `app-store test-notification`,
`reconcile app-store`, `import app-store`, `import revenuecat`, `parked`.

The executable is found by the environment variable TOLLGATE_BIN.
"""

import contextlib
import csv
import datetime
import gzip
import http.server
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import threading
import urllib.error
import urllib.request

import pytest

import guide
from keys import key
from ports import free_port
from terminal import on_a_terminal, shows_how_far_it_is
from waiting import until

ROOT = pathlib.Path(__file__).resolve().parents[3]
TOLLGATE = os.environ.get("TOLLGATE_BIN", str(ROOT / "Server/.build/debug/tollgate"))
SECRET, PUBLISHABLE = key("sk", "commands"), key("pk", "commands")
MONTHLY = "com.example.app.pro.monthly"
DAY = 86_400_000
PRODUCTS = [
    {
        "product_id": MONTHLY, "type": "Auto-Renewable Subscription", "price": 9990,
        "period": "P1M", "subscription_group_id": "pro", "level": 2,
    },
    {"product_id": "com.example.app.lifetime", "type": "Non-Consumable", "price": 199000},
]


def listening(process, word):
    for line in process.stdout:
        if line.startswith(word):
            return line.split()[-1]
    raise AssertionError(f"it ended before it listened: {process.stderr.read()}")


class World:
    """The sandbox's App Store, and a Tollgate that is set up as docs/app-store.md says."""

    def __init__(self, directory, *options):
        self.directory = directory
        self.port = free_port()
        self.processes = []
        plain = {k: v for k, v in os.environ.items() if not k.startswith("TOLLGATE_")}
        store = self.start(
            plain, "sandbox", "app-store", "--listen", "127.0.0.1:0", "--control", "127.0.0.1:0",
            "--durations", "real", "--root-out", "root.der", "--key-out", "key.p8",
            "--notification-url", f"http://127.0.0.1:{self.port}/webhooks/app_store", *options)
        found = {}
        while len(found) < 2:
            line = store.stdout.readline()
            assert line, store.stderr.read()
            if line.startswith("app-store control listening on "):
                found["control"] = line.split()[-1]
            elif line.startswith("app-store listening on "):
                found["store"] = line.split()[-1]
        self.control_base = found["control"]
        self.store_base = found["store"]
        key = self.control("GET", "api_key")
        self.environment = {
            **plain,
            "TOLLGATE_SECRET_KEY": SECRET, "TOLLGATE_PUBLISHABLE_KEY": PUBLISHABLE,
            "TOLLGATE_CATALOG": str(ROOT / "catalog.yaml"),
            "TOLLGATE_APP_STORE_BASE_URL": found["store"],
            "TOLLGATE_APP_STORE_ROOTS": "root.der", "TOLLGATE_APP_STORE_KEY_FILE": "key.p8",
            "TOLLGATE_APP_STORE_BUNDLE_ID": "com.example.app",
            "TOLLGATE_APP_STORE_ISSUER_ID": key["issuer_id"],
            "TOLLGATE_APP_STORE_KEY_ID": key["key_id"],
            "TOLLGATE_CLOCK": f"{found['control']}/sandbox/clock",
        }
        self.control("PUT", "products", {"data": PRODUCTS})

    def start(self, environment, *arguments):
        process = subprocess.Popen(
            [TOLLGATE, *arguments], cwd=self.directory, env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.processes.append(process)
        return process

    def serve(self):
        process = self.start(self.environment, "serve", "--listen", f"127.0.0.1:{self.port}")
        listening(process, "tollgate listening on ")
        return process

    def end(self, process):
        process.terminate()
        process.wait(timeout=30)

    def run(self, *arguments, stdin=None, **more):
        return subprocess.run(
            [TOLLGATE, *arguments], cwd=self.directory, env={**self.environment, **more},
            text=True, capture_output=True, timeout=120, input=stdin)

    def control(self, method, path, body=None):
        request = urllib.request.Request(
            f"{self.control_base}/sandbox/{path}", method=method,
            data=None if body is None and method == "GET" else json.dumps(body or {}).encode())
        with urllib.request.urlopen(request, timeout=60) as response:
            answer = response.read()
        return json.loads(answer) if answer.startswith((b"{", b"[")) else answer

    def api(self, path, body):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}", method="POST", data=json.dumps(body).encode(),
            headers={
                "Authorization": f"Bearer {SECRET}", "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.loads(response.read())

    def is_entitled(self, user):
        # As of the sandbox's clock, which TOLLGATE_CLOCK names.
        answer = self.run("explain", user, "pro", "--json")
        assert answer.returncode == 0, answer.stderr
        return json.loads(answer.stdout)["entitled"]

    def now(self):
        return self.control("GET", "clock")["now"]

    def stop(self):
        for process in self.processes:
            if process.poll() is None:
                process.terminate()
        for process in self.processes:
            process.wait(timeout=30)
            process.communicate()


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path)
    yield world
    world.stop()


def test_a_test_notification_arrives_and_is_counted(world):
    world.serve()
    answer = world.run("app-store", "test-notification")
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.splitlines()[-1].endswith("  SUCCESS")
    result = json.loads(world.run("app-store", "test-notification", "--json").stdout)
    assert [attempt["sendAttemptResult"] for attempt in result["send_attempts"]] == ["SUCCESS"]
    with urllib.request.urlopen(f"http://127.0.0.1:{world.port}/metrics") as metrics:
        text = metrics.read().decode()
    assert 'tollgate_messages_total{store="app_store",outcome="nothing"} 2\n' in text


def test_a_test_notification_that_does_not_arrive_says_why(world):
    answer = world.run("app-store", "test-notification")
    assert answer.returncode == 1
    assert answer.stdout.splitlines()[-1].endswith("  SOCKET_ISSUE")
    world.control("PUT", "app", {"notification_url": ""})
    answer = world.run("app-store", "test-notification")
    assert answer.returncode == 1 and "4040007" in answer.stderr
    stranger = world.run(
        "app-store", "test-notification", TOLLGATE_APP_STORE_KEY_ID="AAAAAAAAAA")
    assert stranger.returncode == 1 and "401" in stranger.stderr


@pytest.mark.parametrize(
    "variables, code, word",
    [
        ({"TOLLGATE_APP_STORE_KEY_ID": ""}, 2, "TOLLGATE_APP_STORE_KEY_ID"),
        ({"TOLLGATE_APP_STORE_KEY_FILE": "none.p8"}, 1, "none.p8"),
        ({"TOLLGATE_APP_STORE_KEY_FILE": "root.der"}, 1, "TOLLGATE_APP_STORE_KEY_FILE"),
        ({"TOLLGATE_APP_STORE_BUNDLE_ID": ""}, 2, "TOLLGATE_APP_STORE_BUNDLE_ID"),
        ({"TOLLGATE_APP_STORE_ONLINE_CHECKS": "perhaps"}, 2, "ONLINE_CHECKS"),
    ])
def test_what_is_half_set_up_is_named(world, variables, code, word):
    answer = world.run("app-store", "test-notification", **variables)
    assert answer.returncode == code
    assert word in answer.stderr


def test_a_command_does_not_guess_the_time_when_the_sandboxs_clock_is_silent(world):
    world.end(world.serve())
    silent = f"http://127.0.0.1:{free_port()}/sandbox/clock"
    elsewhere = world.environment["TOLLGATE_CLOCK"].replace("clock", "app")
    for url, command in (
        (silent, ["explain", "user", "pro"]), (elsewhere, ["reconcile", "app-store"]),
        (silent, ["report", "sales"]), (elsewhere, ["parked", "retry"]),
    ):
        answer = world.run(*command, TOLLGATE_CLOCK=url)
        assert answer.returncode == 1 and url in answer.stderr, (command, answer)
        assert "unset TOLLGATE_CLOCK" in answer.stderr
    # One that names its time asks no clock.
    answer = world.run("explain", "user", "pro", "--at", "0", TOLLGATE_CLOCK=silent)
    assert "TOLLGATE_CLOCK" not in answer.stderr
    # A server may start before its sandbox does.
    world.environment["TOLLGATE_CLOCK"] = silent
    server = world.serve()
    server.terminate()
    assert "Real time is taken until it does." in server.communicate(timeout=30)[1]


def test_reconciling_brings_in_what_came_while_nobody_listened(world):
    server = world.serve()
    token = "5f1f7d9e-2f0c-4d55-8f0a-0c9fb1a3d001"
    world.api("/v1/customers", {"app_user_id": "user", "app_account_token": token})
    busy = world.run("reconcile", "app-store")
    assert busy.returncode == 1 and "server" in busy.stderr
    world.end(server)
    world.control("POST", "purchases", {"product_id": MONTHLY, "app_account_token": token})
    assert not world.is_entitled("user")
    answer = world.run("reconcile", "app-store", "--json")
    assert answer.returncode == 0, answer.stderr
    [report] = json.loads(answer.stdout)
    assert report["environment"] == "sandbox"
    assert (report["undelivered"], report["taken"]) == (1, 1)
    assert world.now() - 180_000 < report["complete_until"] < world.now()
    assert world.is_entitled("user")
    again = world.run("reconcile", "app-store")
    assert again.returncode == 0, again.stderr
    assert "1 notifications, 1 undelivered, 0 new" in again.stdout
    assert "holds every notification sent from" in again.stdout
    assert world.run("rebuild", "--verify").returncode == 0


# --- what a running server does by itself


def test_a_server_asks_by_itself_for_what_it_missed(world):
    server = world.serve()
    token = "5f1f7d9e-2f0c-4d55-8f0a-0c9fb1a3d001"
    world.api("/v1/customers", {"app_user_id": "jenny", "app_account_token": token})
    world.end(server)
    world.control("POST", "purchases", {"product_id": MONTHLY, "app_account_token": token})
    assert not world.is_entitled("jenny")
    world.serve()
    until(lambda: world.is_entitled("jenny"), "nobody asked the App Store")


def test_a_server_asks_again_by_itself_with_the_receipts_of_those_who_live_on_them(world):
    for name in ("ISSUER_ID", "KEY_ID", "KEY_FILE"):
        del world.environment[f"TOLLGATE_APP_STORE_{name}"]
    kept = world.control("PUT", "app", {"notification_url": ""})["shared_secret"]
    assert re.fullmatch("[0-9a-f]{32}", kept)
    given = world.control("PUT", "app", {"shared_secret": "00112233445566778899aabbccddeeff"})
    world.environment["TOLLGATE_APP_STORE_SHARED_SECRET"] = given["shared_secret"]
    buyer = world.control("POST", "customers")["id"]
    world.control("POST", "purchases", {"product_id": MONTHLY, "customer": buyer})
    receipt = world.control("GET", f"customers/{buyer}/receipt")["receipt_data"]
    world.serve()
    jenny = world.api("/v1/customers", {"app_user_id": "jenny"})["id"]
    world.api("/v1/app_store/receipts", {"customer": jenny, "receipt_data": receipt})
    assert world.is_entitled("jenny")
    first_end = world.now() + 32 * DAY
    for _ in range(2):
        world.control("POST", "clock/advance", {"by": 32 * DAY})
        until(lambda: world.is_entitled("jenny"), "nobody asked about the newest receipt")
    assert world.now() > first_end, "the receipt that was shown says nothing of that month"


# --- the line that says how far it is


def test_long_work_shows_on_a_terminal_how_far_it_is(world):
    lines = []
    for number in range(3):
        buyer = world.control("POST", "customers")["id"]
        world.control("POST", "purchases", {"product_id": MONTHLY, "customer": buyer})
        receipt = world.control("GET", f"customers/{buyer}/receipt")["receipt_data"]
        lines.append(json.dumps({"app_user_id": f"old-{number}", "receipt_data": receipt}))
    (world.directory / "receipts.jsonl").write_text("\n".join(lines) + "\n")
    world.end(world.serve())
    for command in (["import", "receipts", "receipts.jsonl"], ["reconcile", "app-store"]):
        code, said, shown = on_a_terminal(world, *command)
        assert code == 0, shown
        assert shows_how_far_it_is(shown)
        assert said and "\r" not in said
        # A program that reads the answer sees none of it, nor does a file.
        assert on_a_terminal(world, *command, "--json")[2] == ""
        assert world.run(*command).stderr == ""


# --- revoked certificates, asked about over the wire


@contextlib.contextmanager
def responder():
    """Stands before the store's own OCSP responder, and counts what it is asked."""

    class Line(http.server.BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_POST(self):
            server.asked += 1
            body = self.rfile.read(int(self.headers["Content-Length"]))
            request = urllib.request.Request(
                server.leads_to + "/ocsp", body, {"Content-Type": "application/ocsp-request"})
            try:
                with urllib.request.urlopen(request, timeout=20) as answer:
                    status, said = answer.status, answer.read()
            except urllib.error.HTTPError as error:
                status, said = error.code, b""
            self.send_response(status)
            self.send_header("Content-Type", "application/ocsp-response")
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Line)
    server.asked, server.leads_to = 0, None
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def test_a_server_with_online_checks_asks_the_issuers_and_tells_revoked_from_unreachable(tmp_path):
    with responder() as line:
        url = f"http://127.0.0.1:{line.server_port}/ocsp"
        world = World(tmp_path, "--ocsp-url", url)
        line.leads_to = world.store_base
        world.environment["TOLLGATE_APP_STORE_ONLINE_CHECKS"] = "true"

        def deliver(notice):
            """Status and code of the answer to a notification."""
            body = json.dumps({"signedPayload": notice["signedPayload"]}).encode()
            try:
                with urllib.request.urlopen(
                        f"http://127.0.0.1:{world.port}/webhooks/app_store", body, timeout=60
                ) as answer:
                    return answer.status, None
            except urllib.error.HTTPError as error:
                return error.code, json.loads(error.read())["error"]["code"]

        def buy():
            bought = world.control("POST", "purchases", {"product_id": MONTHLY})
            notice = world.control("GET", "notifications")["data"][-1]
            return bought, notice

        def attempts(notice):
            return [
                attempt["sendAttemptResult"]
                for one in world.control("GET", "notifications")["data"]
                if one["notificationUUID"] == notice["notificationUUID"]
                for attempt in one["sendAttempts"]]

        def metrics():
            with urllib.request.urlopen(f"http://127.0.0.1:{world.port}/metrics") as answer:
                return answer.read().decode()

        try:
            # Good: both certificates are asked about once, and then known for a while.
            server = world.serve()
            _, first = buy()
            assert attempts(first) == ["SUCCESS"] and line.asked == 2
            for _ in range(3):
                assert attempts(buy()[1]) == ["SUCCESS"]
            assert line.asked == 2
            world.end(server)

            # Unreachable: no verdict, so that the App Store sends it again.
            server = world.serve()
            world.control("PUT", "ocsp", {"answer": "unavailable"})
            _, lost = buy()
            assert attempts(lost) == ["UNSUCCESSFUL_HTTP_RESPONSE_CODE"]
            assert deliver(lost) == (503, "revocation_unknown")
            asked = line.asked
            assert deliver(lost) == (503, "revocation_unknown")
            assert line.asked > asked, "what failed is not remembered"
            # The same notice is taken once the responder answers.
            world.control("PUT", "ocsp", {"answer": "good"})
            assert deliver(lost) == (200, None)
            assert 'outcome="recorded"} 1\n' in metrics()
            world.end(server)

            # Revoked: refused for good, with the rule.
            server = world.serve()
            world.control("PUT", "ocsp", {"answer": "revoked"})
            bought, refused = buy()
            assert attempts(refused) == ["UNSUCCESSFUL_HTTP_RESPONSE_CODE"]
            assert deliver(refused) == (400, "jws_revoked")
            # On the app's way in, too.
            with pytest.raises(urllib.error.HTTPError) as refusal:
                world.api("/v1/app_store/transactions", {
                    "signed_transaction": bought["signed_transaction"], "mode": "purchased"})
            assert refusal.value.code in (400, 403)
            assert 'outcome="recorded"' not in metrics()
        finally:
            world.stop()


def test_receipts_are_imported_with_a_report(world):
    lines = []
    for number in range(3):
        buyer = world.control("POST", "customers")["id"]
        world.control("POST", "purchases", {"product_id": MONTHLY, "customer": buyer})
        receipt = world.control("GET", f"customers/{buyer}/receipt")["receipt_data"]
        lines.append(json.dumps({"app_user_id": f"old-{number}", "receipt_data": receipt}))
    nobody = world.control("POST", "customers")["id"]
    empty = world.control("GET", f"customers/{nobody}/receipt")["receipt_data"]
    lines += [f"old-3,{empty}", "old-4,bm9uc2Vuc2U="]
    (world.directory / "receipts.jsonl").write_text("\n".join(lines) + "\n")
    # The schema and the catalog are there once a server has run.
    world.end(world.serve())
    answer = world.run("import", "receipts", "receipts.jsonl", "--json")
    assert answer.returncode == 1 and "2 lines" in answer.stderr
    report = json.loads(answer.stdout)
    assert (report["customers"], report["purchases"], report["new"]) == (3, 3, 3)
    assert [line["line"] for line in report["unmatched"]] == [4, 5]
    for number in range(3):
        assert world.is_entitled(f"old-{number}")
    again = json.loads(world.run("import", "receipts", "receipts.jsonl", "--json").stdout)
    assert again == report, "it was done, and says so again"
    assert world.run("rebuild", "--verify").returncode == 0


def test_transaction_ids_are_imported_under_the_columns_that_the_file_names(world):
    buyer = world.control("POST", "customers")["id"]
    bought = world.control("POST", "purchases", {"product_id": MONTHLY, "customer": buyer})
    (world.directory / "ids.csv").write_text(
        f"transaction_id,app_user_id\n{bought['transaction_id']},anna\n12,ben\n")
    world.end(world.serve())
    answer = world.run("import", "app-store", "ids.csv")
    assert answer.returncode == 1 and "1 lines could not be matched" in answer.stderr
    assert "line 3 ben: the App Store knows no transaction" in answer.stdout
    assert world.is_entitled("anna")


def test_revenuecats_customers_are_imported_from_a_packed_export(world):
    def day(number):
        instant = datetime.datetime.fromtimestamp(
            (world.now() + number * DAY) / 1000, datetime.timezone.utc)
        return instant.strftime("%Y-%m-%d %H:%M:%S")

    columns = [
        "rc_original_app_user_id", "rc_last_seen_app_user_id_alias", "store", "store_transaction_id",
        "original_store_transaction_id", "product_identifier", "start_time", "effective_end_time",
        "refunded_at", "is_sandbox", "entitlement_identifiers"]
    buyer = world.control("POST", "customers")["id"]
    bought = world.control("POST", "purchases", {"product_id": MONTHLY, "customer": buyer})
    transaction = bought["transaction_id"]
    rows = [
        columns,
        ["$RCAnonymousID:1", "anna", "app_store", transaction, transaction, MONTHLY, day(0), day(30), "",
         "true", '["pro"]'],
        ["ben", "ben", "amazon", "a1", "a1", "premium", day(-1), day(30), "", "true", '["pro"]'],
    ]
    with gzip.open(world.directory / "export.csv.gz", "wt", newline="") as file:
        csv.writer(file).writerows(rows)
    world.end(world.serve())
    told = world.run("import", "revenuecat", "export.csv.gz", "--sandbox")
    assert told.returncode == 1
    assert "coins_since is not set" in told.stderr
    assert "0 lines could not be brought in; 1 purchases are active in RevenueCat" in told.stderr
    assert "export.csv.gz:3: ben has premium (amazon) in RevenueCat until" in told.stdout
    assert world.is_entitled("anna")
    again = json.loads(world.run("import", "revenuecat", "export.csv.gz", "--sandbox", "--json").stdout)
    assert (again["purchases"], again["new"], again["unsupported"]) == (1, 0, {"amazon": 1})
    left = json.loads(world.run("import", "revenuecat", "export.csv.gz", "--json").stdout)
    assert (left["sandbox"], left["purchases"], left["differences"]) == (2, 0, [])
    assert world.run("rebuild", "--verify").returncode == 0


def test_nothing_is_parked(world):
    world.end(world.serve())
    listed = world.run("parked", "list", "--json")
    assert listed.returncode == 0 and json.loads(listed.stdout) == []
    answer = world.run("parked", "retry")
    assert answer.returncode == 0 and answer.stdout == "0 used after all, 0 still parked\n"


# --- a database that an earlier version left


def test_a_server_derives_again_what_an_earlier_engine_had_derived(world):
    server = world.serve()
    token = "5f1f7d9e-2f0c-4d55-8f0a-0c9fb1a3d001"
    world.api("/v1/customers", {"app_user_id": "jenny", "app_account_token": token})
    world.control("POST", "purchases", {"product_id": MONTHLY, "app_account_token": token})
    assert world.is_entitled("jenny")
    world.end(server)
    # What an engine might have left that knew no better.
    path = world.directory / ".tollgate" / "tollgate.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("UPDATE purchase SET version = 1")
        database.execute("UPDATE meta SET value = ? WHERE name = 'engine'", (b"1",))
        database.execute("UPDATE customer SET balance = balance + 5, next_change = NULL")
        database.execute("DELETE FROM holding")
        database.commit()
    # Nobody gets a wrong answer meanwhile.
    refused = world.run("explain", "jenny", "pro")
    assert refused.returncode == 1
    assert "engine 1" in refused.stderr and "tollgate serve" in refused.stderr
    refused = world.run("parked", "list")
    assert refused.returncode == 1 and "engine 1" in refused.stderr
    server = world.serve()
    assert world.is_entitled("jenny")
    world.end(server)
    verified = world.run("rebuild", "--verify")
    assert verified.returncode == 0 and "DIFFERENT" not in verified.stdout
    # The next start has nothing to do.
    world.end(world.serve())
    assert world.run("explain", "jenny", "pro").returncode == 0


# --- docs/app-store.md, command by command


def test_the_guide_leads_to_a_first_verified_notification(tmp_path):
    shutil.copy(ROOT / "catalog.yaml", tmp_path / "catalog.yaml")
    ports = {"8081": free_port(), "8091": free_port(), "8080": free_port()}
    shell = guide.Shell(tmp_path, ports)
    play, serve = guide.section("app-store.md", "Without an account")
    try:
        playing, asking = play.split("&\n", 1)
        shell.run(playing + "&")
        guide.answering(f"http://127.0.0.1:{ports['8091']}/sandbox/clock")
        said, code = shell.run(asking)
        key = json.loads(re.search(r"\{.*\}", said, re.S).group(0))
        assert code == 0 and (tmp_path / "root.der").exists() and (tmp_path / "key.p8").exists()
        # What the guide leaves open is what was just shown.
        for name, value in [("ISSUER_ID", key["issuer_id"]), ("KEY_ID", key["key_id"])]:
            assert f"TOLLGATE_APP_STORE_{name}=…" in serve
            serve = serve.replace(f"TOLLGATE_APP_STORE_{name}=…", f"TOLLGATE_APP_STORE_{name}={value}")
        serving, testing = serve.split("&\n", 1)
        # The address that is listened on follows the guide's port to this machine's.
        shell.run(f"export TOLLGATE_LISTEN=127.0.0.1:{ports['8080']}\n" + serving + "&")
        guide.answering(f"http://127.0.0.1:{ports['8080']}/healthz")
        said, code = shell.run(testing)
        assert code == 0 and "SUCCESS" in said, said
        with urllib.request.urlopen(f"http://127.0.0.1:{ports['8080']}/metrics") as answer:
            metrics = answer.read().decode()
        assert re.search(r'tollgate_messages_total\{[^}]*store="app_store"[^}]*\} [1-9]', metrics), metrics
    finally:
        shell.end()


@pytest.mark.parametrize("environment", ["sandbox", "production"])
def test_the_guides_sections_lead_from_keys_to_a_first_notification(tmp_path, environment):
    """Sections 2 to 5, with the sandbox in Apple's place: only addresses, keys and clock differ."""
    shutil.copy(ROOT / "catalog.yaml", tmp_path / "catalog.yaml")
    ports = {"8080": free_port()}
    store, control = free_port(), free_port()
    shell = guide.Shell(tmp_path, ports)
    [check] = guide.section("app-store.md", "2. What you sell")
    [serve] = guide.section("app-store.md", "3. Start the server")
    [test] = guide.section("app-store.md", "5. The first notification")
    try:
        said, code = shell.run(check)
        assert code == 0, said
        # What one fetches from App Store Connect, and the address that one enters there.
        shell.run(
            f"tollgate sandbox app-store --environment {environment} --listen :{store} "
            f"--control :{control} --root-out AppleRootCA-G3.cer "
            "--key-out SubscriptionKey_2X9R4HXF34.p8 --app-apple-id 1234567890 --notification-url "
            f"http://127.0.0.1:{ports['8080']}/webhooks/app_store &")
        guide.answering(f"http://127.0.0.1:{control}/sandbox/clock")
        with urllib.request.urlopen(f"http://127.0.0.1:{control}/sandbox/api_key") as answer:
            key = json.loads(answer.read())
        for given, here in [
            ("57246542-96fe-1a63-e053-0824d011072a", key["issuer_id"]),
            ("KEY_ID=2X9R4HXF34", f"KEY_ID={key['key_id']}"), ("/etc/tollgate/", f"{tmp_path}/"),
            # Live keys go with Apple's own root and with real time only.
            ("sk_live_…", SECRET), ("pk_live_…", PUBLISHABLE),
        ]:
            assert given in serve, given
            serve = serve.replace(given, here)
        shell.run(
            f"export TOLLGATE_APP_STORE_BASE_URL=http://127.0.0.1:{store} "
            f"TOLLGATE_CLOCK=http://127.0.0.1:{control}/sandbox/clock")
        shell.run(serve.rstrip() + " &")
        guide.answering(f"http://127.0.0.1:{ports['8080']}/healthz")
        said, code = shell.run(test.replace("--environment sandbox", f"--environment {environment}"))
        assert code == 0, said
        assert re.search(rf"^{environment}: requested as \S+$", said, re.M), said
        assert re.search(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ  SUCCESS$", said, re.M), said
        with urllib.request.urlopen(f"http://127.0.0.1:{ports['8080']}/metrics") as answer:
            assert 'tollgate_messages_total{store="app_store",outcome="nothing"} 1\n' in (
                answer.read().decode())
    finally:
        shell.end()
