"""Stripe from the shell: docs/stripe.md walked as it is written, and the commands about Stripe
against the sandbox's.

The executable is found by the environment variable TOLLGATE_BIN.
"""

import json
import re
import shutil
import subprocess
import urllib.error
import urllib.request

import pytest
import stripe

from guide import ROOT, TOLLGATE, Shell, answering, plain_environment, section
from keys import key
from ports import free_port
from terminal import on_a_terminal, shows_how_far_it_is
from waiting import until

SECRET = "sk_test_sandbox"


# --- docs/stripe.md, command by command


def test_the_guide_leads_to_a_first_fulfilled_purchase(tmp_path):
    shutil.copy(ROOT / "catalog.yaml", tmp_path / "catalog.yaml")
    stripe_port, server_port = free_port(), free_port()
    sandbox = f"http://127.0.0.1:{stripe_port}"
    shell = Shell(tmp_path, {"8082": stripe_port, "8080": server_port})
    blocks = section("stripe.md", "1. A purchase on your machine")
    assert len(blocks) == 4, "the guide has other steps than this test"
    start, make_price, sell, look = blocks
    try:
        # The server learns the time from the sandbox, which is there first.
        playing, serving = start.split("export ", 1)
        shell.run(playing)
        answering(f"{sandbox}/sandbox/clock")
        # The address that is listened on follows the guide's port to this machine's.
        shell.run(f"export TOLLGATE_LISTEN=127.0.0.1:{server_port}")
        shell.run("export " + serving + "SERVER=$!\n")
        answering(f"http://127.0.0.1:{server_port}/healthz")

        said, code = shell.run(make_price)
        price = re.search(r'"id": ?"(price_\w+)"', said)
        assert code == 0 and price, said
        catalog = (tmp_path / "catalog.yaml").read_text()
        changed = re.sub(
            r"(- id: coins_100\n(?:    .*\n)*?    stripe_price_ids: )\[.*?\]",
            rf"\g<1>[{price.group(1)}]", catalog)
        assert changed != catalog
        (tmp_path / "catalog.yaml").write_text(changed)
        assert shell.run("$T catalog check catalog.yaml")[1] == 0
        shell.run("kill $SERVER; wait $SERVER; $T serve & SERVER=$!\n")
        answering(f"http://127.0.0.1:{server_port}/healthz")

        said, code = shell.run(sell)
        page = re.search(r'"url": ?"([^"]+)"', said.replace("\\/", "/"))
        assert code == 0 and page, said
        assert page.group(1).startswith(f"{sandbox}/c/pay/")
        session = re.search(r"cs_test_\w+", page.group(1)).group(0)
        with urllib.request.urlopen(urllib.request.Request(
                f"{sandbox}/sandbox/checkout/{session}/pay", method="POST",
                data=json.dumps({"card": "4242424242424242"}).encode()), timeout=60) as answer:
            back = json.loads(answer.read())["redirect"]
        with urllib.request.urlopen(back, timeout=30) as answer:
            assert "Thank you" in answer.read().decode()
        said, code = shell.run(look)
        assert code == 0 and re.search(r'"balance": ?100\b', said), said

        # Section 5 and 6: by hand, while no server holds the database.
        shell.run("kill $SERVER; wait $SERVER")
        for title, words in [
            ("5. Nothing missed", "complete"), ("6. An account that exists", "customers"),
        ]:
            (commands,) = section("stripe.md", title)
            said, code = shell.run(commands, timeout=120)
            assert code == 0 and words in said, said
    finally:
        shell.end()


# --- reconcile and import


class World:
    """The sandbox's Stripe, and what a Tollgate beside it is told."""

    def __init__(self, directory):
        self.directory = directory
        self.port = free_port()
        self.base = f"http://127.0.0.1:{self.port}"
        self.server = free_port()
        self.processes = []
        self.start(
            plain_environment(), "stripe listening", "sandbox", "stripe",
            "--listen", f"127.0.0.1:{self.port}", "--secret-key", SECRET, "--portal")
        stripe.api_base, stripe.api_key = self.base, SECRET
        self.coins = self.price("100 coins", 1000)
        self.pro = self.price("Pro", 999, recurring={"interval": "month"})
        (directory / "catalog.yaml").write_text(f"""\
entitlements:
  - {{lookup_key: pro, name: Pro}}
products:
  - id: pro_monthly
    name: Pro
    kind: auto_renewable
    stripe_price_ids: [{self.pro}]
    entitlements: [pro]
    subscription_group: pro
    level: 1
    duration: P1M
  - id: coins_100
    name: 100 coins
    kind: consumable
    stripe_price_ids: [{self.coins}]
    coins: 100
buy_buttons:
  - {{id: buy_coins, product: coins_100}}
""")
        self.environment = {
            **plain_environment(),
            "TOLLGATE_SECRET_KEY": key("sk", "commands"),
            "TOLLGATE_PUBLISHABLE_KEY": key("pk", "commands"),
            "TOLLGATE_STRIPE_API_BASE": self.base, "TOLLGATE_STRIPE_SECRET_KEY": SECRET,
            "TOLLGATE_STRIPE_WEBHOOK_SECRETS": "whsec_sandbox",
            "TOLLGATE_CLOCK": f"{self.base}/sandbox/clock",
        }

    @staticmethod
    def price(name, amount, **more):
        return stripe.Price.create(
            currency="usd", unit_amount=amount, product_data={"name": name}, **more).id

    def start(self, environment, word, *arguments):
        process = subprocess.Popen(
            [TOLLGATE, *arguments], cwd=self.directory, env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.processes.append(process)
        line = process.stdout.readline()
        assert line.startswith(word), line
        return process

    def run(self, *arguments, code=0):
        ended = subprocess.run(
            [TOLLGATE, *arguments], cwd=self.directory, env=self.environment, text=True,
            capture_output=True, timeout=120)
        assert ended.returncode == code, ended.stderr
        return ended

    def json(self, *arguments):
        return json.loads(self.run(*arguments, "--json").stdout)

    def control(self, path, **body):
        request = urllib.request.Request(
            f"{self.base}/sandbox/{path}", method="POST", data=json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read())

    def checkout(self, customer, price, mode):
        session = stripe.checkout.Session.create(
            mode=mode, customer=customer, line_items=[{"price": price, "quantity": 1}],
            success_url="http://127.0.0.1:1/done")
        self.control(f"checkout/{session.id}/pay", card="4242424242424242")

    def is_entitled(self, user):
        now = json.loads(urllib.request.urlopen(f"{self.base}/sandbox/clock").read())["now"]
        return self.json("explain", user, "pro", "--at", str(now))["entitled"]

    def stop(self):
        for process in self.processes:
            if process.poll() is None:
                process.terminate()
        for process in self.processes:
            process.wait(timeout=30)
            process.stdout.close()


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path)
    yield world
    world.stop()


def test_an_account_is_imported_and_what_happens_later_is_reconciled(world):
    jenny = stripe.Customer.create(metadata={"app_user_id": "jenny"}).id
    rick = stripe.Customer.create().id
    stranger = stripe.Customer.create().id
    world.checkout(jenny, world.pro, "subscription")
    world.checkout(rick, world.pro, "subscription")
    world.checkout(stranger, world.coins, "payment")
    (world.directory / "users.csv").write_text(f"customer,user\n{rick},rick\n")
    # A payment on a form of the team's own, which says what it was for in a word of its own.
    card = stripe.PaymentMethod.attach("pm_card_visa", customer=jenny).id
    stripe.PaymentIntent.create(
        amount=1000, currency="usd", customer=jenny, payment_method=card, confirm=True,
        metadata={"sku": "coins_100:1"})
    arguments = ["import", "stripe", "--users", "users.csv", "--price-key", "sku"]
    found = world.json(*arguments)
    assert (found["customers"], found["strangers"]) == ({"seen": 3, "new": 2}, 1)
    assert found["objects"]["new"] >= 5
    assert world.is_entitled("jenny") and world.is_entitled("rick")
    again = world.json(*arguments)
    assert again["objects"]["new"] == 0 and again["customers"]["new"] == 0
    said = world.run(*arguments).stdout
    assert "3 seen, 0 brought in, 1 with no name in the app" in said

    # Nobody listens while Jenny leaves; the list of events tells it.
    first = world.json("reconcile", "stripe")
    assert first["objects"]["new"] == 0
    world.control("clock/advance", by=3 * 86_400_000)
    subscription = stripe.Subscription.list(customer=jenny).data[0].id
    stripe.Subscription.cancel(subscription)
    assert world.is_entitled("jenny")
    found = world.json("reconcile", "stripe")
    assert found["events"]["new"] >= 1
    assert not world.is_entitled("jenny") and world.is_entitled("rick")
    assert "complete" in world.run("reconcile", "stripe").stdout
    full = world.json("reconcile", "stripe", "--full")
    assert full["objects"]["seen"] >= 5 and full["objects"]["new"] == 0
    assert world.run("rebuild", "--verify").stdout.count("DIFFERENT") == 0


@pytest.mark.parametrize("days", [3, 40])
def test_a_restored_backup_is_completed_from_stripe(world, days):
    """F21: Stripe lists the events of 30 days; what is older is read object by object."""
    database = world.directory / "live.sqlite"
    world.environment["TOLLGATE_DATABASE"] = f"sqlite:{database}"
    jenny, rick = (
        stripe.Customer.create(metadata={"app_user_id": user}).id for user in ("jenny", "rick"))
    world.checkout(jenny, world.pro, "subscription")
    world.json("import", "stripe")
    world.json("reconcile", "stripe")
    assert world.is_entitled("jenny")
    copy = database.read_bytes()
    # Rick pays, Jenny leaves, and the server hears of both.
    world.checkout(rick, world.pro, "subscription")
    stripe.Subscription.cancel(stripe.Subscription.list(customer=jenny).data[0].id)
    world.json("reconcile", "stripe")
    assert world.is_entitled("rick") and not world.is_entitled("jenny")
    world.control("clock/advance", by=days * 86_400_000)

    for log in world.directory.glob("live.sqlite-*"):
        log.unlink()
    database.write_bytes(copy)
    assert not world.is_entitled("rick")
    assert world.json("reconcile", "stripe")["objects" if days > 29 else "events"]["new"] >= 2
    assert world.is_entitled("rick") and not world.is_entitled("jenny")
    # By hand, all of it is asked for again, and nothing is new.
    for reach in (["--everything"], ["--since", "2020-01-01"]):
        found = world.json("reconcile", "stripe", *reach)
        assert (found["events"]["new"], found["objects"]["new"]) == (0, 0)
    assert world.run("rebuild", "--verify").stdout.count("DIFFERENT") == 0


def test_long_work_shows_on_a_terminal_how_far_it_is(world):
    for name in ("jenny", "rick"):
        customer = stripe.Customer.create(metadata={"app_user_id": name}).id
        world.checkout(customer, world.pro, "subscription")
    for command, kinds in (
        (["import", "stripe"], {"customers", "subscriptions", "invoices"}),
        (["reconcile", "stripe"], {"subscriptions", "invoices", "events"}),
    ):
        code, said, shown = on_a_terminal(world, *command)
        assert code == 0 and shows_how_far_it_is(shown), shown
        assert kinds <= {part.split(":")[0].strip() for part in shown.split("\r")}, shown
        assert "seen" in said and "\r" not in said
        # A program that reads the answer sees none of it, nor does a file.
        assert on_a_terminal(world, *command, "--json")[2] == ""
        assert world.run(*command).stderr == ""
    # What goes wrong on the way stands on a line of its own.
    world.environment["TOLLGATE_STRIPE_SECRET_KEY"] = "sk_test_wrong"
    code, _, shown = on_a_terminal(world, "reconcile", "stripe")
    assert code == 1 and shown.startswith("Stripe answered 401 "), shown


def test_a_server_without_an_endpoint_asks_when_it_starts(world):
    def serve():
        return world.start(
            world.environment, "tollgate listening", "serve", "--listen",
            f"127.0.0.1:{world.server}")

    def call(method, path, **body):
        request = urllib.request.Request(
            f"http://127.0.0.1:{world.server}{path}", method=method,
            data=json.dumps(body).encode() if body else None,
            headers={
                "Authorization": f"Bearer {key('sk', 'commands')}", "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    server = serve()
    user = call("POST", "/v1/customers", app_user_id="jenny")["id"]
    session = call("POST", "/v1/checkout_sessions", customer=user, product="coins_100")["id"]
    server.terminate()
    server.wait(timeout=30)
    world.control(f"checkout/{session}/pay", card="4242424242424242")
    serve()
    balance = until(
        lambda: call("GET", f"/v1/customers/{user}/coins")["balance"], "nobody asked Stripe")
    assert balance == 100


def test_a_wrong_key_and_a_wrong_file_are_named(world):
    world.environment["TOLLGATE_STRIPE_SECRET_KEY"] = "sk_test_wrong"
    assert "Stripe" in world.run("reconcile", "stripe", code=1).stderr
    (world.directory / "users.csv").write_text("cus_1;jenny\n")
    ended = world.run("import", "stripe", "--users", "users.csv", code=1)
    assert "users.csv:1: not" in ended.stderr


def test_a_command_without_the_servers_key_names_nobody(world):
    """Customers' names follow from it, and no server could open what another one seals."""
    del world.environment["TOLLGATE_SECRET_KEY"]
    ended = world.run("import", "stripe", code=1)
    assert "TOLLGATE_SECRET_KEY is not set" in ended.stderr
    assert not list(world.directory.glob(".tollgate/*.sqlite"))


def test_who_opens_checkout_all_the_time_is_told_to_wait_each_address_for_itself(world):
    world.environment["TOLLGATE_CLIENT_ADDRESS_HEADER"] = "X-Forwarded-For"
    base = f"http://127.0.0.1:{world.server}"
    world.start(
        world.environment, "tollgate listening", "serve", "--listen",
        f"127.0.0.1:{world.server}")

    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_):
            return None

    opener = urllib.request.build_opener(Stay)

    def visit(address):
        request = urllib.request.Request(
            f"{base}/buy/buy_coins", headers={"X-Forwarded-For": f"203.0.113.9, {address}"})
        try:
            return opener.open(request, timeout=30).status
        except urllib.error.HTTPError as answer:
            return answer.code

    statuses = [visit("198.51.100.1") for _ in range(40)]
    assert statuses[:20] == [303] * 20 and statuses.count(429) >= 10
    assert visit("198.51.100.2") == 303
    # Of the newer kind of address, a whole network is one caller.
    statuses = [visit(f"2001:db8::{n:x}") for n in range(40)]
    assert statuses.count(429) >= 10
    assert visit("2001:db8:0:1::1") == 303


# --- a run of the sandbox that becomes a scenario


def test_a_run_of_the_sandbox_is_saved_and_replays(tmp_path):
    port = free_port()
    process = subprocess.Popen(
        [TOLLGATE, "sandbox", "stripe", "--listen", f"127.0.0.1:{port}", "--seed", "7",
         "--now", "1772323200000", "--save-scenario", str(tmp_path / "run.yaml")],
        text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=plain_environment())
    try:
        assert process.stdout.readline().startswith("stripe listening")
        base = f"http://127.0.0.1:{port}"
        stripe.api_base, stripe.api_key = base, SECRET

        def control(path, **body):
            request = urllib.request.Request(
                f"{base}/sandbox/{path}", method="POST", data=json.dumps(body).encode())
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.loads(answer.read())

        day = 86_400_000
        month = {"interval": "month"}
        pro = World.price("Pro", 999, recurring=month)
        gold = World.price("Gold", 1999, recurring=month)
        coins = World.price("100 coins", 1000)
        jenny = stripe.Customer.create(email="jenny@example.com").id
        rick = stripe.Customer.create().id
        session = stripe.checkout.Session.create(
            mode="subscription", customer=jenny, line_items=[{"price": pro, "quantity": 1}],
            success_url=base)
        control(f"checkout/{session.id}/pay", card="4242424242424242")
        control("clock/advance", by=10 * day)
        subscription = stripe.Subscription.list(customer=jenny).data[0]
        stripe.Subscription.modify(
            subscription.id, proration_behavior="none",
            items=[{"id": subscription["items"].data[0].id, "price": gold}])
        card = stripe.PaymentMethod.attach("pm_card_chargeCustomerFail", customer=rick).id
        stripe.Customer.modify(rick, invoice_settings={"default_payment_method": card})
        session = stripe.checkout.Session.create(
            mode="payment", customer=rick, line_items=[{"price": coins, "quantity": 3}],
            success_url=base)
        control(f"checkout/{session.id}/pay", card="4242424242424242")
        control("refunds", customer=rick, amount=500)
        control("clock/advance", by=25 * day)
        stripe.Subscription.modify(subscription.id, cancel_at_period_end=True)
        control("clock/advance", by=40 * day)
        saved = (tmp_path / "run.yaml").read_text()
    finally:
        process.terminate()
        process.wait(timeout=30)
        process.stdout.close()
    for words in [
        "stripe: open_checkout", "stripe: pay_checkout", "stripe: change", "proration: none",
        "stripe: refund", "amount: 500", "quantity: 3", "stripe: cancel", "when: period_end",
        f"check: [{pro.lower()}]", f"check: [{gold.lower()}]", "check: []",
    ]:
        assert words in saved, saved
    run = subprocess.run(
        [TOLLGATE, "scenario", "run", str(tmp_path / "run.yaml"), "--orders", "3", "--json"],
        text=True, capture_output=True, timeout=120)
    assert run.stdout, run.stderr
    assert json.loads(run.stdout)["scenarios"][0]["failures"] == []
    assert run.returncode == 0
