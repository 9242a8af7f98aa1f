"""H8: a command whose output cannot be written says so and ends with 1, whatever it prints."""

import contextlib
import csv
import http.server
import json
import os
import pathlib
import re
import subprocess
import threading

import pytest

import test_app_store_commands
import test_app_store_support
import test_finance
import test_stripe_commands
from test_app_store_commands import MONTHLY
from test_retention_messaging import WIDE
from tollgate_world import Apple, BINARY, ROOT, SECRET, Server

SOURCES = ROOT / "Server/Sources"


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    """One customer with a purchase, and a member of the staff."""
    folder = tmp_path_factory.mktemp("output")
    apple = Apple()
    root = folder / "root.der"
    root.write_bytes(apple.root_der)
    location = f"sqlite:{folder}/output.sqlite"
    server = Server(location, root)
    customer = server.call("/v1/customers", json.dumps({"app_user_id": "user-1"}).encode())
    for number in range(3):
        server.call("/webhooks/app_store", apple.coins_bought(number, customer["app_account_token"]))
    server.stop()
    run(["staff", "add", "ann", "--role", "admin"], location, subprocess.DEVNULL)
    return location


def run(arguments, location, stdout, **options):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("TOLLGATE_")} | {
        "TOLLGATE_SECRET_KEY": SECRET, "TOLLGATE_DATABASE": location}
    return subprocess.run(
        [BINARY, *arguments], stdout=stdout, stderr=subprocess.PIPE, env=environment, text=True,
        timeout=120, **options)


KINDS = ["full disk", "closed pipe"]


@contextlib.contextmanager
def unwritable(kind):
    """Standard output that takes nothing, and what a command says of it."""
    if kind == "full disk":
        with open("/dev/full", "wb") as full:
            yield full, "The output could not be written: there is no space left."
        return
    reading, writing = os.pipe()
    os.close(reading)
    try:
        yield writing, "The output could not be written: its reader has gone."
    finally:
        os.close(writing)


COMMANDS = [
    ["help"], ["--help"], ["help", "export"], ["export", "--help"],
    ["catalog", "check", str(ROOT / "catalog.yaml")],
    ["scenario", "check", str(ROOT / "Server/Scenarios/app-store/billing-grace-recovery.yaml")],
    ["sandbox", "stripe", "trigger", "--list"],
    ["sandbox", "stripe", "trigger", "--list", "--json"],
    ["export", "journal"], ["export", "journal", "--format", "ndjson"], ["export", "sales"],
    ["export", "coins"], ["report", "list"], ["report", "sales"],
    ["report", "sales", "--format", "csv"], ["report", "sales", "--json"],
    ["staff", "list"], ["staff", "list", "--json"], ["audit"], ["audit", "--json"],
    ["parked", "list"], ["webhooks", "list", "--json"], ["keys", "list"], ["keys", "list", "--json"],
    ["explain", "user-1", "pro"], ["explain", "user-1", "pro", "--json"], ["rebuild", "--verify"],
    ["rebuild", "--verify", "--json"], ["check-access"], ["check-access", "--json"],
    ["parked", "list", "--json"], ["parked", "retry"], ["webhooks", "list"],
    ["keys", "rotate"], ["staff", "password", "ann"],
    ["scenario", "run", str(ROOT / "Server/Scenarios/app-store/billing-grace-recovery.yaml")],
    ["simulate", "--years", "0.1", "--customers", "1"],
]


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_h8_output_that_cannot_be_written_is_said_and_ends_with_1(database, arguments):
    works = run(arguments, database, subprocess.PIPE)
    assert works.returncode == 0, works.stderr
    for kind in KINDS if works.stdout else []:
        with unwritable(kind) as (stdout, sentence):
            ended = run(arguments, database, stdout)
        assert ended.returncode == 1 and sentence in ended.stderr, (kind, ended.returncode, ended.stderr)


# Commands that ask a store


def ends_with_1(world, words, kind):
    """The command prints something, and where that cannot be written it says so and ends with 1."""
    def run(stdout):
        return subprocess.run(
            [BINARY, *words()], cwd=world.directory, env=world.environment, text=True, timeout=120,
            stdout=stdout, stderr=subprocess.PIPE)
    works = run(subprocess.PIPE)
    assert works.returncode == 0 and works.stdout, (works.stdout, works.stderr)
    with unwritable(kind) as (stdout, sentence):
        ended = run(stdout)
    assert ended.returncode == 1 and sentence in ended.stderr, (ended.returncode, ended.stderr)


class Taking(http.server.BaseHTTPRequestHandler):
    """A server that takes whatever the App Store sends."""

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="module")
def app_store(tmp_path_factory):
    world = test_app_store_commands.World(tmp_path_factory.mktemp("app_store_output"))
    buyer = world.control("POST", "customers")["id"]
    bought = world.control("POST", "purchases", {"product_id": MONTHLY, "customer": buyer})
    (world.directory / "signed.jws").write_text(bought["signed_transaction"])
    (world.directory / "table.png").write_bytes(WIDE)
    receipt = world.control("GET", f"customers/{buyer}/receipt")["receipt_data"]
    (world.directory / "receipts.csv").write_text(f"old-1,{receipt}\n")
    (world.directory / "export.csv").write_text(
        "rc_original_app_user_id,store,store_transaction_id,original_store_transaction_id,"
        "product_identifier,start_time,effective_end_time,refunded_at,is_sandbox\n"
        f"old-1,app_store,{bought['transaction_id']},{bought['original_transaction_id']},{MONTHLY},"
        "2020-01-01 00:00:00,2020-02-01 00:00:00,,true\n")
    world.end(world.serve())
    server = http.server.ThreadingHTTPServer(("127.0.0.1", world.port), Taking)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    world.bought = bought["transaction_id"]
    world.member, world.team = test_app_store_support.hosted(world, seats=30)
    yield world
    server.shutdown()
    world.stop()


def told(world, *words):
    ended = world.run("app-store", *words, "--json")
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def a_fresh_one(world):
    return world.control("POST", "purchases", {"product_id": MONTHLY})["transaction_id"]


def a_message(world):
    return told(world, "retention", "upload-message", "--header", "Stay", "--body", "Please.")[0]["id"]


def an_image(world):
    return told(world, "retention", "upload-image", "table.png")[0]["id"]


def a_seat(world):
    """The buyer's transaction, a claim of a seat and an app transaction, for words of one command."""
    claim = told(world, "seats", "claim", world.team)["subject"]
    return [world.team, claim, world.member["app_transaction_id"]]


def a_request(world):
    return told(world, "extend-all", MONTHLY, "--days", "1")["request_identifier"]


DEFAULT = f"app-store retention default {MONTHLY} en-US"
TAKES = "https://billing.example.com/webhooks/app_store/retention_message"
# Where `{}` stands, what the function makes at the store for this one run.
APP_STORE = {
    "app-store test-notification": None,
    "app-store refunds {}": lambda world: world.bought,
    "app-store extend {} --days 1": a_fresh_one,
    f"app-store extend-all {MONTHLY} --days 1": None,
    f"app-store extension-status {MONTHLY} {{}}": a_request,
    "app-store finish {}": a_fresh_one,
    "app-store set-token {} 5f1f7d9e-2f0c-4d55-8f0a-0c9fb1a3d001": a_fresh_one,
    "app-store groups {}": lambda world: world.bought,
    "app-store seats show {}": lambda world: world.team,
    "app-store seats claim {}": lambda world: world.team,
    "app-store seats release {} CLAIM": a_seat,
    "app-store seats associate {} CLAIM APP": a_seat,
    "app-store retention images": an_image,
    "app-store retention upload-image table.png": None,
    "app-store retention delete-image {}": an_image,
    "app-store retention messages": a_message,
    "app-store retention upload-message --header Stay --body Please.": None,
    "app-store retention delete-message {}": a_message,
    DEFAULT + " --set {}": a_message,
    DEFAULT: None,
    DEFAULT + " --delete": lambda world: world.run(*(DEFAULT + " --set").split(), a_message(world)),
    "app-store retention url --set " + TAKES: None,
    "app-store retention url": None,
    "app-store retention url --delete": lambda world: told(world, "retention", "url", "--set", TAKES),
    "import app-store receipts.csv": None,
    "import revenuecat export.csv --sandbox": None,
    "reconcile app-store": None,
    "reconcile app-store --everything": None,
    "verify signed.jws --root root.der --bundle-id com.example.app --environment Sandbox": None,
}


@pytest.mark.parametrize("words", APP_STORE)
def test_h8_what_the_app_store_answers_is_said_to_be_lost(app_store, words):
    def made():
        value = APP_STORE[words](app_store) if APP_STORE[words] else None
        values = value if isinstance(value, list) else [value, None, None]
        for_word = dict(zip(("{}", "CLAIM", "APP"), values))
        return [str(for_word.get(word, word)) for word in words.split()]

    ends_with_1(app_store, made, "full disk")
    if not words.startswith("verify"):
        ends_with_1(app_store, lambda: [*made(), "--json"], "closed pipe")


def test_h8_an_order_that_nobody_can_read(tmp_path):
    world = test_app_store_commands.World(tmp_path, "--environment", "production")
    try:
        world.environment["TOLLGATE_APP_STORE_APP_APPLE_ID"] = "1234567890"
        buyer = world.control("POST", "customers")["id"]
        world.control("POST", "purchases", {"product_id": MONTHLY, "customer": buyer})
        (order,) = world.control("GET", f"customers/{buyer}/orders")["data"]
        for more in [[], ["--json"]]:
            for kind in KINDS:
                ends_with_1(world, lambda: ["app-store", "order", order, *more], kind)
    finally:
        world.stop()


@pytest.fixture(scope="module")
def stripe_world(tmp_path_factory):
    world = test_stripe_commands.World(tmp_path_factory.mktemp("stripe_output"))
    with (world.directory / "balance.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, test_finance.COLUMNS, restval="")
        writer.writeheader()
        writer.writerows(test_finance.transactions(7))
    yield world
    world.stop()


@pytest.mark.parametrize("words", [
    "import stripe", "reconcile stripe", "reconcile stripe --everything", "import reports balance.csv"])
def test_h8_what_stripe_answers_is_said_to_be_lost(stripe_world, words):
    for more, kind in zip(([], ["--json"]), KINDS):
        ends_with_1(stripe_world, lambda: [*words.split(), *more], kind)


def leaves(command, *names):
    """The names of each command that has no commands below it."""
    below = [one for one in command.get("subcommands", []) if one["commandName"] != "help"]
    return [leaf for one in below for leaf in leaves(one, *names, one["commandName"])] if below else [names]


def test_h8_the_help_of_every_command_is_said_to_be_lost():
    dump = run(["--experimental-dump-help"], "sqlite:/none", subprocess.PIPE).stdout
    found = leaves(json.loads(dump)["command"])
    assert len(found) > 50, found
    with open("/dev/full", "wb") as full:
        ended = {names: run([*names, "--help"], "sqlite:/none", full) for names in found}
    assert {names for names, end in ended.items() if end.returncode != 1 or "no space left" not in end.stderr} == set()


def test_h8_an_export_that_nobody_got_does_not_move_its_place(database, tmp_path):
    place = tmp_path / "place"
    arguments = ["export", "journal", "--cursor-file", str(place)]
    with open("/dev/full", "wb") as full:
        assert run(arguments, database, full).returncode == 1
    assert not place.exists()
    given = run(arguments, database, subprocess.PIPE)
    assert given.returncode == 0 and len(given.stdout.splitlines()) > 3 and place.exists()


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_h8_a_story_that_nobody_can_read_did_not_come_true(tmp_path, more):
    arguments = ["demo", "--script", "--catalog", str(ROOT / "catalog.yaml"), *more]
    with open("/dev/full", "wb") as full:
        ended = run(arguments, f"sqlite:{tmp_path}/story.sqlite", full)
    assert ended.returncode == 1, ended.stderr
    assert "The output could not be written: there is no space left." in ended.stderr


def test_h8_complaints_that_nobody_reads_change_no_exit_code(database):
    with open("/dev/full", "wb") as full:
        ended = subprocess.run(
            [BINARY, "catalog", "check", "/none.yaml"], stdout=full, stderr=full, timeout=60)
    assert ended.returncode == 1


def test_h8_all_that_commands_print_goes_one_way():
    """What traps where a write fails, or forgets that it did, is used in one file only."""
    found = [
        f"{path.relative_to(SOURCES)}:{number}"
        for path in sorted(SOURCES.rglob("*.swift"))
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if re.search(r"FileHandle\.standard(Output|Error)\.write\(Data|(?<![\w.])print\(|\bfputs\(", line)
    ]
    assert found == []
