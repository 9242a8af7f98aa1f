"""A database of another version, and the server's catalog: only a server that starts changes them."""

import contextlib
import os
import sqlite3
import subprocess

import pytest

from keys import key
from tollgate_world import BINARY, ROOT, SECRET, Server, postgres

# Each opens the database; those that only read refuse another version, too.
COMMANDS = [
    ("staff", "add", "ann"), ("staff", "list"), ("keys", "rotate"), ("keys", "list"),
    ("keys", "create", "a job", "--scope", "read"), ("parked", "retry"), ("webhooks", "replay", "we_1", "--dead"),
    ("reconcile", "app-store"), ("reconcile", "stripe"), ("import", "stripe"),
    ("import", "receipts", "receipts.jsonl"), ("import", "reports", "report.txt"), ("report", "revenue"),
    ("export", "sales"), ("rebuild", "--reports"), ("rebuild", "--verify"), ("explain", "ann", "pro"),
]


@pytest.fixture
def place(tmp_path):
    """The file of a database that a server has used."""
    Server(f"sqlite:{tmp_path}/live.sqlite").stop()
    for name in ("receipts.jsonl", "report.txt"):
        (tmp_path / name).write_text("")
    return tmp_path / "live.sqlite"


def tollgate(place, *arguments, **environment):
    plain = {name: value for name, value in os.environ.items() if not name.startswith("TOLLGATE_")}
    return subprocess.run(
        [BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=120, cwd=place.parent,
        env=plain | {
            "TOLLGATE_SECRET_KEY": SECRET, "TOLLGATE_DATABASE": f"sqlite:{place}",
            "TOLLGATE_CATALOG": str(ROOT / "catalog.yaml"), "TOLLGATE_STRIPE_SECRET_KEY": key("sk", "versions"),
            "TOLLGATE_STRIPE_API_BASE": "http://127.0.0.1:9"} | environment)


def changed(place, *statements):
    with contextlib.closing(sqlite3.connect(place)) as database, database:
        for statement in statements:
            database.execute(*statement)


def contents(place):
    """Every row that says which version made the database."""
    with contextlib.closing(sqlite3.connect(place)) as database:
        return [
            database.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()
            for table in ("schema_version", "meta", "catalog_version", "staff", "journal")]


@pytest.mark.parametrize("statement", [
    ("DELETE FROM schema_version WHERE number = (SELECT max(number) FROM schema_version)",),
    ("UPDATE meta SET value = ? WHERE name = 'engine'", [b"1"]),
], ids=["schema", "engine"])
def test_commands_leave_a_database_of_an_earlier_version_alone(place, statement):
    """A server of that version may be using it."""
    changed(place, statement)
    before = contents(place)
    for arguments in COMMANDS:
        ended = tollgate(place, *arguments)
        assert ended.returncode == 1, (arguments, ended.stdout, ended.stderr)
        assert "tollgate serve" in ended.stderr, (arguments, ended.stderr)
    assert contents(place) == before


def test_a_new_engine_derives_beside_the_database_and_leaves_nothing_there(place):
    """Other folders may be memory. What a server left that was killed does not pile up."""
    changed(place, ("UPDATE meta SET value = ? WHERE name = 'engine'", [b"1"]))
    left = place.parent / "live.sqlite.upgrade"
    left.mkdir()
    (left / "next.sqlite").write_bytes(b"half of a database")
    Server(f"sqlite:{place}", environment={"TMPDIR": str(place.parent / "missing")}).stop()
    assert not left.exists()
    assert tollgate(place, "staff", "add", "ann").returncode == 0
    assert tollgate(place, "rebuild", "--verify").returncode == 0


def test_what_an_operator_keeps_under_the_name_of_the_scratch_folder_stays(place):
    changed(place, ("UPDATE meta SET value = ? WHERE name = 'engine'", [b"1"]))
    kept = place.parent / "live.sqlite.upgrade"
    for make in (lambda: kept.write_text("notes"), lambda: (kept.mkdir(), (kept / "notes").write_text("notes"))):
        make()
        ended = tollgate(
            place, "serve", TOLLGATE_LISTEN="127.0.0.1:0", TOLLGATE_PUBLISHABLE_KEY=key("pk", "versions"),
            TOLLGATE_STRIPE_WEBHOOK_SECRETS=key("whsec", "versions"))
        assert ended.returncode == 1 and f"{kept} is in the way" in ended.stderr, ended.stderr
        note = kept if kept.is_file() else kept / "notes"
        assert note.read_text() == "notes"
        note.unlink()
    kept.rmdir()
    Server(f"sqlite:{place}").stop()
    assert not kept.exists()


def test_what_a_killed_upgrade_left_beside_postgresql_is_cleared(tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    with postgres(tmp_path) as location:
        Server(location).stop()

        def serve():
            subprocess.run(
                ["psql", "-q", location, "-c", "UPDATE meta SET value = '1' WHERE name = 'engine'"], check=True)
            return subprocess.Popen(
                [BINARY, "serve"], stdout=subprocess.PIPE, text=True,
                env=os.environ | {
                    "TOLLGATE_DATABASE": location, "TOLLGATE_CATALOG": str(ROOT / "catalog.yaml"),
                    "TOLLGATE_LISTEN": "127.0.0.1:0", "TOLLGATE_SECRET_KEY": SECRET,
                    "TOLLGATE_PUBLISHABLE_KEY": key("pk", "versions"), "TMPDIR": str(scratch)})

        with serve() as killed:
            while killed.poll() is None and not list(scratch.glob("tollgate-engine-*")):
                pass
            killed.kill()
        # However far it came, the next one leaves nothing.
        with serve() as server:
            assert "listening on" in server.stdout.readline()
            assert not list(scratch.iterdir())
            server.terminate()


def test_a_command_has_the_servers_catalog_or_none(place):
    """On PostgreSQL a server may be serving beside it."""
    other = place.parent / "other.yaml"
    other.write_text((ROOT / "catalog.yaml").read_text().replace("name: 100 coins", "name: A hundred coins"))
    before = contents(place)
    for command in (("import", "stripe"), ("reconcile", "stripe")):
        ended = tollgate(place, *command, "--catalog", other)
        assert ended.returncode == 1 and "The server has another catalog" in ended.stderr, ended.stderr
        # With the server's own, only Stripe is missing.
        ended = tollgate(place, *command)
        assert ended.returncode == 1 and "catalog" not in ended.stderr, ended.stderr
    assert contents(place) == before


def test_a_copy_of_an_earlier_version_is_restored_unverified(place):
    copy = place.parent / "copy.sqlite"
    assert tollgate(place, "backup", "--to", copy).returncode == 0
    changed(copy, ("UPDATE meta SET value = ? WHERE name = 'engine'", [b"1"]))
    ended = tollgate(place, "restore", copy, "--replace", "--no-reconcile")
    assert ended.returncode == 1 and "--no-verify --no-reconcile" in ended.stderr
    assert not list(place.parent.glob("live.sqlite.before-*"))
    ended = tollgate(place, "restore", copy, "--replace", "--no-verify", "--no-reconcile")
    assert ended.returncode == 0, ended.stderr
    Server(f"sqlite:{place}").stop()
    assert tollgate(place, "rebuild", "--verify").returncode == 0
