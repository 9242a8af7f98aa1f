"""The commands about the App Store, against a simulated one: `app-store test-notification`,
`reconcile app-store`, `import receipts`, `parked`.

The executable is found by the environment variable TOLLGATE_BIN.
"""

import json
import os
import pathlib
import socket
import subprocess
import urllib.request

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
TOLLGATE = os.environ.get("TOLLGATE_BIN", str(ROOT / "Server/.build/debug/tollgate"))
MONTHLY = "com.example.app.pro.monthly"
DAY = 86_400_000
PRODUCTS = [
    {
        "product_id": MONTHLY, "type": "Auto-Renewable Subscription", "price": 9990,
        "period": "P1M", "subscription_group_id": "pro", "level": 2,
    },
    {"product_id": "com.example.app.lifetime", "type": "Non-Consumable", "price": 199000},
]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def listening(process, word):
    for line in process.stdout:
        if line.startswith(word):
            return line.split()[-1]
    raise AssertionError(f"it ended before it listened: {process.stderr.read()}")


class World:
    """The sandbox's App Store, and a Tollgate that is set up as docs/app-store.md says."""

    def __init__(self, directory):
        self.directory = directory
        self.port = free_port()
        self.processes = []
        plain = {k: v for k, v in os.environ.items() if not k.startswith("TOLLGATE_")}
        store = self.start(
            plain, "sandbox", "app-store", "--listen", "127.0.0.1:0", "--control", "127.0.0.1:0",
            "--durations", "real", "--root-out", "root.der", "--key-out", "key.p8",
            "--notification-url", f"http://127.0.0.1:{self.port}/webhooks/app_store")
        found = {}
        while len(found) < 2:
            line = store.stdout.readline()
            assert line, store.stderr.read()
            if line.startswith("app-store control listening on "):
                found["control"] = line.split()[-1]
            elif line.startswith("app-store listening on "):
                found["store"] = line.split()[-1]
        self.control_base = found["control"]
        key = self.control("GET", "api_key")
        self.environment = {
            **plain,
            "TOLLGATE_SECRET_KEY": "sk_test_commands", "TOLLGATE_PUBLISHABLE_KEY": "pk_test_c",
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

    def run(self, *arguments, **more):
        return subprocess.run(
            [TOLLGATE, *arguments], cwd=self.directory, env={**self.environment, **more},
            text=True, capture_output=True, timeout=120)

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
                "Authorization": "Bearer sk_test_commands", "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.loads(response.read())

    def is_entitled(self, user):
        answer = self.run("explain", user, "pro", "--json", "--at", str(self.now()))
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
    assert "1 undelivered notifications, 0 new" in again.stdout
    assert "proven complete from" in again.stdout
    assert world.run("rebuild", "--verify").returncode == 0


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


def test_nothing_is_parked(world):
    world.end(world.serve())
    listed = world.run("parked", "list", "--json")
    assert listed.returncode == 0 and json.loads(listed.stdout) == []
    answer = world.run("parked", "retry")
    assert answer.returncode == 0 and answer.stdout == "0 used after all, 0 still parked\n"
