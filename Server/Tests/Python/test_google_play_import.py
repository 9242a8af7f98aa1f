"""What was bought in Google Play before: `tollgate import google-play` by tokens and by order ids, and
`tollgate reconcile google-play --everything` on a backup that was restored. The expected answers are
those of the simulated store's books.
"""

import datetime
import json
import os
import subprocess
import urllib.error
import uuid

import pytest

from google_play import DAY, PACKAGE, Play
from keys import key
from test_restore import on_postgres, on_sqlite
from tollgate_world import BINARY, SECRET, Server, postgres, sqlite

CATALOG = """\
entitlements:
  - {lookup_key: pro, name: Pro}
products:
  - {id: premium, name: Premium, kind: auto_renewable, google_play_product_id: premium,
     entitlements: [pro], duration: P1M, subscription_group: premium, level: 1}
  - {id: level, name: Level, kind: non_consumable, google_play_product_id: level, entitlements: [pro]}
  - {id: coins_100, name: Coins, kind: consumable, google_play_product_id: coins, coins: 100}
  - {id: pass, name: Pass, kind: non_renewing, google_play_product_id: game, entitlements: [pro],
     duration: P30D}
"""


class World:
    """A simulated Google Play, and commands and servers of Tollgate's that ask it."""

    def __init__(self, folder, database):
        self.play = Play(folder, push=False)
        self.database = database
        self.folder = folder
        (folder / "catalog.yaml").write_text(CATALOG)

    @property
    def environment(self):
        return {
            "TOLLGATE_DATABASE": self.database,
            "TOLLGATE_CATALOG": str(self.folder / "catalog.yaml"),
            "TOLLGATE_SECRET_KEY": SECRET,
            "TOLLGATE_CLOCK": f"{self.play.control_base}/sandbox/clock",
            "TOLLGATE_GOOGLE_PLAY_PACKAGE_NAME": PACKAGE,
            "TOLLGATE_GOOGLE_PLAY_SERVICE_ACCOUNT_FILE": str(self.play.key_file),
            "TOLLGATE_GOOGLE_PLAY_API_BASE": self.play.base,
        }

    def run(self, *arguments):
        ended = subprocess.run(
            [BINARY, *map(str, arguments)], env=os.environ | self.environment,
            capture_output=True, text=True, timeout=120)
        return ended.returncode, ended.stdout, ended.stderr

    def bring_in(self, name, text, *more):
        path = self.folder / name
        path.write_text(text)
        return self.run("import", "google-play", path, *more)

    def answers(self, *users):
        """Whether each may use `pro`, and their coins."""
        server = Server(self.database, environment=self.environment)
        try:
            return {user: self.answer(server, user) for user in users}
        finally:
            server.stop()

    @staticmethod
    def answer(server, user):
        try:
            told = server.call(f"/v1/customers/{user}/entitlements?environment=production")
            coins = server.call(f"/v1/customers/{user}/coins?environment=production")
        except urllib.error.HTTPError as error:
            if error.code != 404:
                raise
            return None
        return [one["lookup_key"] for one in told["data"]] == ["pro"], coins["balance"]


# `make test` takes one of them, on the next day the other.
DATABASES = [sqlite, postgres]
if not os.environ.get("TOLLGATE_SOAK"):
    DATABASES = [DATABASES[datetime.date.today().toordinal() % 2]]


@pytest.fixture(params=DATABASES, ids=lambda database: database.__name__)
def world(request, tmp_path):
    with request.param(tmp_path) as database:
        world = World(tmp_path, database)
        yield world
        world.play.stop()


def test_purchases_come_in_by_their_tokens(world):
    play = world.play
    anna = play.buy("premium", base_plan_id="monthly", account=play.account())
    ben = play.buy("level", account=play.account())
    carl = play.buy("coins", account=play.account())
    dora = play.buy("coins", account=play.account())
    play.post(f"purchases/{dora}/consume")
    # A pass is consumed while it runs, so that it can be bought again.
    fay = play.buy("game", account=play.account())
    play.post(f"purchases/{fay}/consume")
    # Nobody is named: the purchase bears the account token of a customer.
    token = str(uuid.uuid4())
    eve = play.buy("level", account=play.account(obfuscated_account_id=token))
    lines = [
        "purchase_token,product_id,kind,app_user_id", f"{anna},premium,subscription,anna",
        f"{ben},level,one_time,ben", f"{carl},coins,,carl", f"{dora},coins,one_time,dora", f"{eve},,,",
        f"{fay},game,one_time,fay",
    ]
    code, said, complained = world.bring_in("purchases.csv", "\n".join(lines) + "\n", "--json")
    assert code == 0, complained
    report = json.loads(said)
    assert (report["purchases"], report["new"], report["consumed"]) == (5, 5, 1)
    assert report["unmatched"] == []
    # The same file again does nothing; the same purchases in another one say nothing new.
    assert json.loads(world.bring_in("purchases.csv", "\n".join(lines) + "\n", "--json")[1]) == report
    again = [json.dumps({"purchase_token": ben, "kind": "one_time", "app_user_id": "ben"})]
    code, said, _ = world.bring_in("again.jsonl", "\n".join(again), "--json")
    assert code == 0 and json.loads(said)["new"] == 0

    server = Server(world.database, environment=world.environment)
    server.call("/v1/customers", json.dumps(
        {"app_user_id": "eve", "app_account_token": token}).encode())
    server.stop()
    assert world.answers("anna", "ben", "carl", "dora", "eve", "fay") == {
        "anna": (True, 0), "ben": (True, 0), "carl": (False, 100), "dora": (False, 0),
        "eve": (True, 0), "fay": (True, 0)}
    assert world.run("rebuild", "--verify")[0] == 0


def test_purchases_come_in_by_their_order_ids(world):
    play = world.play
    bought = play.post("purchases", product_id="premium", base_plan_id="monthly")
    play.post(f"purchases/{bought['purchase_token']}/acknowledge")
    play.advance(65 * DAY)
    orders = play.control("GET", f"purchases/{bought['purchase_token']}")["orders"]
    assert len(orders) == 3
    level = play.post("purchases", product_id="level")["order_id"]
    lines = [f"{order},anna" for order in orders] + [f"{level},ben"]
    code, said, complained = world.bring_in("orders.csv", "\n".join(lines), "--json")
    assert code == 0, complained
    report = json.loads(said)
    assert (report["purchases"], report["new"]) == (4, 4)
    assert world.answers("anna", "ben") == {"anna": (True, 0), "ben": (True, 0)}
    # Each order is a sale.
    assert world.run("rebuild", "--reports")[0] == 0
    code, said, complained = world.run("export", "sales", "--environment", "production")
    assert code == 0, complained
    assert all(order in said for order in [*orders, level]), said


def test_a_line_that_leads_to_nothing_is_named_with_what_to_do(world):
    play = world.play
    ben = play.buy("level", account=play.account())
    assert world.bring_in("first.csv", f"{ben},ben")[0] == 0
    gone = play.buy("premium", base_plan_id="monthly", account=play.account())
    play.post(f"purchases/{gone}/cancel")
    play.advance(100 * DAY)
    lines = [
        "purchase_token,kind,app_user_id", f"{ben},one_time,carl", f"{gone},subscription,gustav",
        "unknown-token-of-nobody,subscription,hans", f"{ben},both,ben", ",,ida", f"{ben},ben",
        "GPA.0000-0000-0000-00000,,jan",
    ]
    code, said, complained = world.bring_in("wrong.csv", "\n".join(lines))
    assert code == 1 and "7 lines could not be brought in." in complained, complained
    path = world.folder / "wrong.csv"
    for line, words in [
        (2, "belongs to another customer"), (3, "60 days ago"), (4, "compare the package name"),
        (5, "neither subscription nor one_time"), (6, "give one of them"),
        (7, "write purchase_token,kind,app_user_id"), (8, "knows no such purchase"),
    ]:
        assert any(
            told.startswith(f"{path}:{line}: ") and words in told for told in said.splitlines()
        ), (line, said)
    # The file takes nothing from anybody.
    assert world.answers("ben", "carl") == {"ben": (True, 0), "carl": (False, 0)}


def test_an_import_that_was_broken_off_goes_on_where_it_was(world):
    play = world.play
    users = [f"user{number}" for number in range(24)]
    lines = [f"{play.buy('level', account=play.account())},level,one_time,{user}" for user in users]
    text = "\n".join(["purchase_token,product_id,kind,app_user_id", *lines])
    # Some calls fail, so that most runs break off after a few lines.
    play.control("PUT", "faults", {"api_errors": 0.08})
    broken = 0
    for _ in range(60):
        code, said, complained = world.bring_in("many.csv", text, "--json")
        if code == 0:
            break
        assert "Run it again to go on." in complained, complained
        broken += 1
    play.control("PUT", "faults", {})
    assert code == 0 and broken > 0, broken
    report = json.loads(said)
    assert report["purchases"] == 24 and report["unmatched"] == []
    assert set(world.answers(*users).values()) == {(True, 0)}


def test_a_service_account_without_permission_is_told_what_to_do(world):
    level = world.play.buy("level", account=world.play.account())
    world.play.control("PUT", "faults", {"api_status": 401})
    code, _, complained = world.bring_in("denied.csv", f"{level},ben")
    assert code == 1 and "docs/google-play.md, step 1" in complained, complained
    code, _, complained = world.bring_in("denied.csv", f"{level},ben", "--reads-per-minute", "5")
    assert code == 2 and "--reads-per-minute is from 60 to 3000." in complained


def test_an_app_that_is_only_on_android_needs_no_bundle_id(world):
    (world.folder / "catalog.yaml").write_text(
        CATALOG + f"apps: [{{id: droid, name: Droid, package_name: {PACKAGE}}}]\n")
    publishable = key("pk", "crash")
    environment = world.environment | {"TOLLGATE_PUBLISHABLE_KEY": f"droid:{publishable}"}
    del environment["TOLLGATE_GOOGLE_PLAY_PACKAGE_NAME"]
    server = Server(world.database, environment=environment)
    try:
        customer = server.call("/v1/customers", json.dumps({"app_user_id": "anna"}).encode())["id"]
        session = server.call("/v1/customer_sessions", json.dumps(
            {"customer": customer, "components": {"active_entitlements": {"enabled": True}}}
        ).encode())["client_secret"]
        token = world.play.buy("level", account=world.play.account())
        answer = server.call(
            "/v1/google_play/purchases",
            json.dumps({"purchase_token": token, "kind": "one_time", "mode": "purchased"}).encode(),
            **{"Authorization": f"Bearer {session}", "Tollgate-Publishable-Key": publishable})
        assert answer["purchase"] == f"google_play/production/{PACKAGE}/{token}"
        assert world.answer(server, "anna") == (True, 0)
    finally:
        server.stop()


@pytest.mark.parametrize("place", [on_sqlite, on_postgres])
def test_a_restored_backup_is_completed_as_far_as_google_can_tell(tmp_path, place):
    with place(tmp_path) as (database, back_up, restore):
        world = World(tmp_path, database)
        play = world.play
        kept, ended, coins = (
            play.buy(product, account=play.account(), **more) for product, more in [
                ("premium", {"base_plan_id": "monthly"}), ("premium", {"base_plan_id": "yearly"}),
                ("coins", {}),
            ])
        lines = [f"{kept},kept", f"{ended},ended", f"{coins},coins"]
        assert world.bring_in("before.csv", "\n".join(lines))[0] == 0
        assert world.answers("kept", "ended", "coins") == {
            "kept": (True, 0), "ended": (True, 0), "coins": (False, 100)}
        back_up()

        # What follows is told to a database that is lost then.
        play.advance(12 * DAY)
        play.post(f"purchases/{ended}/revoke")
        play.post(f"purchases/{coins}/revoke")
        late = play.buy("level", account=play.account())
        world.bring_in("after.csv", f"{late},late")
        assert world.run("reconcile", "google-play", "--everything")[0] == 0
        after = world.answers("kept", "ended", "coins", "late")
        world.database = restore("restored")
        play.advance(DAY)

        code, said, complained = world.run("reconcile", "google-play", "--everything")
        assert code == 0, complained
        assert "purchases 3 read" in said and "refunds with revocation: complete from" in said
        assert "every purchase known here that can still change was read last as of" in said
        assert "Google lists no purchases" in said
        # All is as it was, but for whom nobody knows here.
        assert world.answers("kept", "ended", "coins", "late") == after | {"late": None}
        assert after["ended"] == (False, 0) and after["coins"] == (False, 0)
        world.bring_in("app.csv", f"{late},late")
        assert world.answers("late") == {"late": after["late"]}

        report = json.loads(world.run("reconcile", "google-play", "--everything", "--json")[1])
        assert report["purchaseNews"] == 0 and report["voidNews"] == 0
        play.stop()
