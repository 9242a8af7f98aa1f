"""F21 on the real binary: a backup is made and restored by the commands of docs/operations.md, after
the App Store has gone on selling and everything was answered 200. What everybody must have is read
from the simulated store's books.
"""

import base64
import contextlib
import json
import pathlib
import re
import shutil
import sqlite3
import subprocess
import urllib.error
import urllib.request

import pytest

from test_app_store_commands import DAY, MONTHLY, PRODUCTS, SECRET, World
from tollgate_world import postgres
from waiting import until

COINS = "com.example.app.coins100"


@contextlib.contextmanager
def on_sqlite(folder):
    """Where the database is, and what backs it up to a file and brings it back."""

    def back_up():
        live = sqlite3.connect(f"file:{folder}/live.sqlite?mode=ro", uri=True)
        copy = sqlite3.connect(folder / "copy.sqlite")
        live.backup(copy)
        copy.close()
        live.close()

    def restore(name):
        shutil.copy(folder / "copy.sqlite", folder / f"{name}.sqlite")
        return f"sqlite:{folder}/{name}.sqlite"

    yield f"sqlite:{folder}/live.sqlite", back_up, restore


@contextlib.contextmanager
def on_postgres(folder):
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))
    binaries = found[-1] if found else pathlib.Path(shutil.which("pg_dump")).parent
    with postgres(folder) as location:

        def back_up():
            subprocess.run(
                [binaries / "pg_dump", "--format=custom", f"--file={folder}/copy.dump", location],
                check=True)

        def restore(name):
            subprocess.run([binaries / "psql", location, "-qc", f"CREATE DATABASE {name}"], check=True)
            restored = re.sub(r"/postgres$", f"/{name}", location)
            subprocess.run(
                [binaries / "pg_restore", f"--dbname={restored}", f"{folder}/copy.dump"], check=True)
            return restored

        yield location, back_up, restore


class Shop:
    """People who buy, and what the store's books and the server say of them."""

    def __init__(self, world):
        self.world = world
        self.buyers = {}

    def join(self, user):
        customer = self.world.api("/v1/customers", {"app_user_id": user})
        buyer = self.world.control(
            "POST", "customers", {"app_account_token": customer["app_account_token"]})
        self.buyers[user] = (buyer["id"], customer["id"])

    def buy(self, user, product, **more):
        return self.world.control(
            "POST", "purchases", {"product_id": product, "customer": self.buyers[user][0], **more})

    def books(self):
        """Whether each may use what was bought, and how many coins they have."""
        told = {}
        for user, (buyer, _) in self.buyers.items():
            entitled, coins = False, 0
            for id_ in self.world.control("GET", f"customers/{buyer}")["transaction_ids"]:
                one = self.transaction(id_)
                if "revocationDate" in one:
                    continue
                if one["productId"] == COINS:
                    coins += 100 * one["quantity"]
                else:
                    original = one["originalTransactionId"]
                    state = self.world.control("GET", f"subscriptions/{original}")
                    entitled |= state["status"] == 1
            told[user] = (entitled, coins)
        return told

    def transaction(self, id_):
        signed = self.world.control("GET", f"transactions/{id_}")["signed_transaction"]
        payload = signed.split(".")[1]
        return json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))

    def answers(self):
        told = {}
        for user in self.buyers:
            try:
                list_, coins = (self.get(f"/v1/customers/{user}/{what}")
                                for what in ("entitlements", "coins"))
                told[user] = (bool(list_["data"]), coins["balance"])
            except urllib.error.HTTPError as error:
                assert error.code == 404
                told[user] = None
        return told

    def counted(self, metric):
        """What a counter about the App Store says."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.world.port}/metrics") as answer:
            text = answer.read().decode()
        found = re.search(metric + r'\{store="app_store"\} (\d+)', text)
        return int(found.group(1)) if found else 0

    def get(self, path):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.world.port}{path}",
            headers={"Authorization": f"Bearer {SECRET}"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)


@pytest.mark.parametrize("database", [on_sqlite, on_postgres])
def test_a_restored_backup_is_completed_by_the_server_itself_and_by_the_command(database, tmp_path):
    with database(tmp_path) as (location, back_up, restore):
        world = World(tmp_path)
        try:
            world.control(
                "PUT", "products",
                {"data": PRODUCTS + [
                    {"product_id": COINS, "type": "Consumable", "price": 10_000}]})
            lives_through_a_loss(world, location, back_up, restore)
        finally:
            world.stop()


def lives_through_a_loss(world, location, back_up, restore):
    shop = Shop(world)
    world.environment["TOLLGATE_DATABASE"] = location
    server = world.serve()
    for user in ("ann", "ben"):
        shop.join(user)
        shop.buy(user, COINS)
    leaves = shop.buy("ben", MONTHLY)
    world.control("POST", "clock/advance", {"by": DAY})
    # The first pass has ended.
    until(lambda: shop.counted("tollgate_reconciliations_total") == 1)
    back_up()
    # The store goes on selling, and everything is answered 200.
    shop.buy("ann", COINS, quantity=3)
    shop.buy("ann", MONTHLY)
    world.control("POST", f"transactions/{leaves['transaction_id']}/refund")
    shop.join("cleo")
    shop.buy("cleo", COINS)
    shop.buy("cleo", MONTHLY)
    world.control("POST", "clock/advance", {"by": 2 * DAY})
    assert shop.answers() == shop.books()
    world.end(server)
    # The machine is gone. Nobody listens while somebody looks for the copy.
    shop.buy("ben", COINS)

    # A server that is started on the copy notices, and the app's backend signs people in.
    world.environment["TOLLGATE_DATABASE"] = restore("first")
    server = world.serve()
    again = world.api("/v1/customers", {"app_user_id": "cleo"})
    assert again["id"] == shop.buyers["cleo"][1]
    until(lambda: shop.answers() == shop.books())
    assert shop.counted("tollgate_lost_messages_total") == 5
    server.terminate()
    assert "the record lacked, such as after a restored backup" in server.communicate(timeout=30)[1]
    assert world.run("rebuild", "--verify").returncode == 0

    # So does the command, while no server runs.
    world.environment["TOLLGATE_DATABASE"] = restore("second")
    answer = world.run("reconcile", "app-store")
    assert answer.returncode == 0, answer.stderr
    assert "1 undelivered, 6 new" in answer.stdout
    assert "5 of the new had been delivered" in answer.stdout
    assert "holds every notification sent from" in answer.stdout
    assert "everything that known customers bought was read last as of" in answer.stdout
    server = world.serve()
    world.api("/v1/customers", {"app_user_id": "cleo"})
    assert shop.answers() == shop.books()
    world.end(server)

    # By hand, everything is asked for again, and nothing is new.
    [report] = json.loads(world.run("reconcile", "app-store", "--everything", "--json").stdout)
    assert report["notifications"] >= 8 and report["histories"] == 3
    assert (report["taken"], report["delivered"], report["histories_changed"]) == (0, 0, 0)
    [report] = json.loads(
        world.run("reconcile", "app-store", "--since", "2026-01-01", "--json").stdout)
    assert report["taken"] == 0
    for wrong in (["--since", "yesterday"], ["--since", "2026-01-01", "--everything"]):
        answer = world.run("reconcile", "app-store", *wrong)
        assert answer.returncode == 2 and "--since" in answer.stderr
