"""`tollgate backup` and `tollgate restore`: beside a server that goes on, and after the machine is gone."""

import json
import os
import pathlib
import shutil
import sqlite3
import subprocess

import pytest

from test_app_store_commands import DAY, MONTHLY, PRODUCTS, World
from test_restore import COINS, Shop
from tollgate_world import BINARY, SECRET, Apple, Server


def tollgate(*arguments, **environment):
    plain = {name: value for name, value in os.environ.items() if not name.startswith("TOLLGATE_")}
    return subprocess.run(
        [BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=120,
        env=plain | {"TOLLGATE_SECRET_KEY": SECRET} | environment)


def buy(server, apple, numbers):
    customer = server.call("/v1/customers", json.dumps({"app_user_id": "ann"}).encode())
    for number in numbers:
        server.call("/webhooks/app_store", apple.coins_bought(number, customer["app_account_token"]))


@pytest.fixture(scope="module")
def apple():
    return Apple()


@pytest.fixture
def live(tmp_path, apple):
    """A server, with the folder of its database."""
    root = tmp_path / "root.der"
    root.write_bytes(apple.root_der)
    server = Server(f"sqlite:{tmp_path}/live.sqlite", root)
    server.folder = tmp_path
    server.database = f"sqlite:{tmp_path}/live.sqlite"
    buy(server, apple, range(3))
    yield server
    if server.process.poll() is None:
        server.stop()


def journal(path):
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as copy:
        return copy.execute("SELECT count(*) FROM journal").fetchone()[0]


def test_a_copy_is_made_and_proven_beside_the_server(live, apple):
    ended = tollgate("backup", "--to", live.folder / "copy.sqlite", "--database", live.database, "--json")
    assert ended.returncode == 0, ended.stderr
    made = json.loads(ended.stdout)
    copy = live.folder / "copy.sqlite"
    assert made["file"] == str(copy) and made["bytes"] == copy.stat().st_size
    assert made["verified_journal_rows"] == journal(copy) > 3
    assert copy.stat().st_mode & 0o777 == 0o600
    # One file: nothing beside it has to be copied, too.
    assert [path.name for path in live.folder.glob("copy*")] == ["copy.sqlite"]
    buy(live, apple, range(3, 5))
    assert journal(live.folder / "live.sqlite") > journal(copy), "the copy is of one instant"


def test_a_file_that_is_there_is_not_written_over(live):
    (live.folder / "copy.sqlite").write_text("mine")
    ended = tollgate("backup", "--to", live.folder / "copy.sqlite", "--database", live.database)
    assert ended.returncode == 1 and "there is a file at" in ended.stderr
    assert (live.folder / "copy.sqlite").read_text() == "mine"


def test_copies_are_made_again_and_again_and_the_newest_stay(live):
    folder = live.folder / "copies"
    process = subprocess.Popen(
        [BINARY, "backup", "--to", f"{folder}/", "--every", "1s", "--keep", "2", "--no-verify",
         "--database", live.database],
        stdout=subprocess.PIPE, text=True,
        env={name: value for name, value in os.environ.items() if not name.startswith("TOLLGATE_")})
    try:
        copied, removed = [], []
        while not removed:
            words = process.stdout.readline().split()
            assert words, "it ended"
            (copied if words[0] == "copied" else removed).append(words[1])
    finally:
        process.terminate()
        process.communicate(timeout=30)
    assert len(copied) == 3 and removed == copied[:1]
    assert sorted(str(path) for path in folder.glob("*Z.sqlite"))[:2] == copied[1:]
    assert folder.stat().st_mode & 0o777 == 0o700


def test_copies_whose_proof_fails_do_not_pile_up_and_count_as_none(live):
    """Such as by a full temporary folder, night after night."""
    folder = live.folder / "copies"
    folder.mkdir()
    names = ["tollgate-20260101T000000Z.sqlite", "tollgate-20260102T000000Z.sqlite",
             "tollgate-20260103T000000Z.sqlite.unproven"]
    old, good, failed = [folder / name for name in names]
    for path in (old, good, failed):
        path.write_text("copy")
    ended = tollgate("backup", "--to", f"{folder}/", "--keep", "1", "--database", live.database,
                     TMPDIR=str(live.folder / "missing"))
    assert ended.returncode == 1 and ended.stderr, ended
    left = set(folder.iterdir())
    assert good in left and not {old, failed} & left, "the newest proven copy stays"
    (unproven,) = left - {good}
    assert unproven.name.endswith("Z.sqlite.unproven")
    assert journal(unproven) > 1


def test_only_copies_are_removed_to_make_room(live):
    folder = live.folder / "copies"
    folder.mkdir()
    own = [folder / name for name in ("tollgate-before-the-moveZ.sqlite", "tollgate-20260101T000000Z.sqlite.gz")]
    for path in own:
        path.write_text("mine")
    (folder / "tollgate-20260101T000000Z.sqlite").write_text("old")
    ended = tollgate("backup", "--to", f"{folder}/", "--keep", "1", "--no-verify", "--database", live.database, "--json")
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["removed"] == [f"{folder}/tollgate-20260101T000000Z.sqlite"]
    assert all(path.read_text() == "mine" for path in own)


def test_nothing_is_copied_into_a_file_of_another_user(live):
    """D6: in a folder like /tmp, where a file belongs to whoever was first."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("only root makes files of another user")
    folder = live.folder / "shared"
    folder.mkdir()
    trap = folder / "copy.sqlite.part"
    trap.touch()
    trap.chmod(0o666)
    for path in (trap, folder):
        os.chown(path, 65534, 65534)
    folder.chmod(0o1777)
    # Without its rights over other users' files, root is a user like any other.
    plain = {name: value for name, value in os.environ.items() if not name.startswith("TOLLGATE_")}
    ended = subprocess.run(
        ["setpriv", "--bounding-set=-all", "--inh-caps=-all", BINARY, "backup", "--to", folder / "copy.sqlite",
         "--database", live.database],
        capture_output=True, text=True, timeout=120, env=plain)
    assert ended.returncode == 1 and f"cannot remove {trap}" in ended.stderr, ended.stderr
    assert trap.read_bytes() == b""
    assert not (folder / "copy.sqlite").exists()


@pytest.mark.parametrize("arguments, words", [
    (["--to", "x/", "--database", "postgres://tollgate@127.0.0.1/tollgate"], "pg_dump"),
    (["--to", "x/", "--every", "soon"], "is no span of time like 30m, 1h or 1d"),
    (["--to", "x/", "--keep", "0"], "keep at least 1"),
    ([], "TOLLGATE_BACKUPS"),
])
def test_wrong_words_are_said(tmp_path, arguments, words):
    database = [] if "--database" in arguments else ["--database", f"sqlite:{tmp_path}/none.sqlite"]
    ended = tollgate("backup", *arguments, *database)
    assert ended.returncode == 2 and words in ended.stderr, ended.stderr


def test_a_folder_by_the_environment(live):
    ended = tollgate("backup", "--database", live.database, TOLLGATE_BACKUPS=f"{live.folder}/copies/")
    assert ended.returncode == 0, ended.stderr
    assert len(list((live.folder / "copies").glob("tollgate-*Z.sqlite"))) == 1


def test_a_damaged_copy_is_not_put_in_place(live):
    copy = live.folder / "copy.sqlite"
    assert tollgate("backup", "--to", copy, "--database", live.database).returncode == 0
    live.stop()
    bytes_ = bytearray(copy.read_bytes())
    # Pages in the middle: the header is whole.
    bytes_[len(bytes_) // 2:len(bytes_) // 2 + 8_192] = b"\xff" * 8_192
    copy.write_bytes(bytes_)
    before = journal(live.folder / "live.sqlite")
    ended = tollgate("restore", copy, "--replace", "--no-reconcile", "--database", live.database)
    assert ended.returncode == 1 and ended.stderr.strip(), ended.stdout
    assert journal(live.folder / "live.sqlite") == before
    assert not list(live.folder.glob("*.before-*"))


def test_a_copy_with_something_derived_changed_is_not_put_in_place(live):
    copy = live.folder / "copy.sqlite"
    assert tollgate("backup", "--to", copy, "--database", live.database).returncode == 0
    live.stop()
    with sqlite3.connect(copy) as tampered:
        tampered.execute("UPDATE customer SET balance = balance + 1 WHERE balance > 0")
        assert tampered.total_changes == 1
    tampered.close()
    ended = tollgate("restore", copy, "--replace", "--no-reconcile", "--database", live.database)
    assert ended.returncode == 1 and "differs from what its journal says, in customer" in ended.stderr


def test_a_restore_is_refused_while_the_server_runs_and_keeps_what_was_there(live, apple):
    copy = live.folder / "copy.sqlite"
    assert tollgate("backup", "--to", copy, "--database", live.database).returncode == 0
    buy(live, apple, range(3, 5))
    restore = ("restore", copy, "--no-reconcile", "--database", live.database)
    ended = tollgate(*restore, "--replace")
    assert ended.returncode == 1 and "is in use by another server" in ended.stderr
    live.stop()
    ended = tollgate(*restore)
    assert ended.returncode == 1 and "Say --replace" in ended.stderr
    rows = journal(live.folder / "live.sqlite")
    ended = tollgate(*restore, "--replace")
    assert ended.returncode == 0, ended.stderr
    (former,) = live.folder.glob("live.sqlite.before-*Z")
    assert journal(former) == rows > journal(live.folder / "live.sqlite") == journal(copy)


def test_after_the_machine_is_gone_a_restore_brings_back_what_the_store_has_sold(tmp_path):
    """F21, by our own commands."""
    world = World(tmp_path)
    try:
        world.control(
            "PUT", "products",
            {"data": PRODUCTS + [{"product_id": COINS, "type": "Consumable", "price": 10_000}]})
        shop = Shop(world)
        world.environment["TOLLGATE_DATABASE"] = f"sqlite:{tmp_path}/live.sqlite"
        server = world.serve()
        for user in ("ann", "ben"):
            shop.join(user)
            shop.buy(user, COINS)
        leaves = shop.buy("ben", MONTHLY)
        ended = world.run("backup", "--to", "copy.sqlite")
        assert ended.returncode == 0, ended.stderr
        # The store goes on selling, and everything is answered 200.
        shop.buy("ann", COINS, quantity=3)
        shop.buy("ann", MONTHLY)
        world.control("POST", f"transactions/{leaves['transaction_id']}/refund")
        world.control("POST", "clock/advance", {"by": DAY})
        assert shop.answers() == shop.books()
        world.end(server)
        # The machine is gone, and with it all but the copy.
        for path in pathlib.Path(tmp_path).glob("live.sqlite*"):
            path.unlink()
        shop.buy("ben", COINS)

        ended = world.run("restore", "copy.sqlite")
        assert ended.returncode == 0, ended.stderr
        assert "asking   the App Store" in ended.stdout
        assert "holds every notification sent from" in ended.stdout
        # No server ran since: what it answers first is what the restore has brought back.
        server = world.serve()
        assert shop.answers() == shop.books()
        world.end(server)
        assert world.run("rebuild", "--verify").returncode == 0
    finally:
        world.stop()


def test_a_store_that_does_not_answer_does_not_stop_a_restore(tmp_path):
    world = World(tmp_path)
    try:
        world.environment["TOLLGATE_DATABASE"] = f"sqlite:{tmp_path}/live.sqlite"
        world.end(world.serve())
        assert world.run("backup", "--to", "copy.sqlite").returncode == 0
        shutil.move(tmp_path / "live.sqlite", tmp_path / "gone.sqlite")
        ended = world.run("restore", "copy.sqlite", TOLLGATE_CLOCK="", TOLLGATE_APP_STORE_BASE_URL="http://127.0.0.1:9")
        assert ended.returncode == 1
        assert "The copy is in place, and not everything could be asked" in ended.stderr
        assert "the App Store: " in ended.stderr
        assert journal(tmp_path / "live.sqlite") == journal(tmp_path / "copy.sqlite")
    finally:
        world.stop()
