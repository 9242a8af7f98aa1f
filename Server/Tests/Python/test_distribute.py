"""`tollgate database distribute`: the large tables spread over the workers of Citus."""

import json
import os
import subprocess

import pytest

from tollgate_world import BINARY, COINS, Apple, Server, citus, postgres
from waiting import until


def distribute(location: str, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [BINARY, "database", "distribute", "--database", location, *arguments],
        capture_output=True, text=True, timeout=300)


def query(location: str, sql: str) -> str:
    return subprocess.run(
        ["psql", location, "-AtqXc", sql], check=True, capture_output=True, text=True).stdout.strip()


def events(server: Server, count: int) -> list[dict]:
    """The feed, once it has so many events."""
    def all_of_them():
        found = server.call("/v1/events?limit=100")["data"]
        return found if len(found) >= count else None

    return until(all_of_them, f"the feed never has {count} events")


def test_a_database_that_cannot_be_spread_is_refused_with_the_remedy(tmp_path):
    on_a_file = distribute(f"sqlite:{tmp_path}/t.sqlite")
    assert on_a_file.returncode == 2 and on_a_file.stdout == ""
    assert "SQLite is one file on one machine" in on_a_file.stderr
    assert "--database postgres://" in on_a_file.stderr

    with postgres(tmp_path) as location:
        Server(location).stop()
        plain = distribute(location)
        assert plain.returncode == 1 and plain.stdout == ""
        assert "does not have the extension citus" in plain.stderr
        assert "CREATE EXTENSION" in plain.stderr or "Install it" in plain.stderr
        assert "journal" in query(location, "SELECT indrelid::regclass FROM pg_index "
                                  "WHERE indexrelid = 'journal_dedupe_key_key'::regclass")

    assert distribute(location, "--shards", "0").returncode == 2


def test_a_spread_database_takes_notifications_in_and_tells_of_them(tmp_path):
    apple = Apple()
    root = tmp_path / "root.der"
    root.write_bytes(apple.root_der)
    with citus(tmp_path) as location:
        if not location:
            pytest.skip("this machine's PostgreSQL has no extension citus")
        # What is there already moves along.
        server = Server(location, root)
        before = server.call("/v1/customers", json.dumps({"app_user_id": "before"}).encode())
        bought = apple.coins_bought(1, before["app_account_token"])
        server.call("/webhooks/app_store", bought)
        events(server, 1)

        in_use = distribute(location)
        assert in_use.returncode == 1 and "stop all of them" in in_use.stderr
        server.stop()
        spread = distribute(location, "--shards", "4")
        assert spread.returncode == 0, spread.stderr
        assert ["spread", "journal", "by", "subject"] in map(str.split, spread.stdout.splitlines())
        again = distribute(location, "--json")
        assert again.returncode == 0 and {"table": "journal", "by": "subject"} in json.loads(again.stdout)
        shards = query(location, "SELECT count(*), count(DISTINCT nodeport) FROM citus_shards "
                       "WHERE table_name = 'journal'::regclass")
        assert shards == "4|2"

        server = Server(location, root)
        # A repetition is known, wherever its row lies now.
        server.call("/webhooks/app_store", bought)
        balance = f"/v1/customers/{before['id']}/coins"
        assert server.call(balance)["balance"] == COINS
        for number in range(2, 12):
            made = server.call(
                "/v1/customers", json.dumps({"app_user_id": f"user-{number}"}).encode())
            server.call("/webhooks/app_store", apple.coins_bought(number, made["app_account_token"]))
            found = server.call(f"/v1/customers/user-{number}/coins")
            assert found["balance"] == COINS
        told = events(server, 11)
        assert len({event["id"] for event in told}) == len(told)
        server.stop()

        numbers = query(location, "SELECT count(*), count(DISTINCT number), max(number) FROM message")
        assert len(set(numbers.split("|"))) == 1, numbers
        assert query(location, "SELECT count(*) FROM journal WHERE kind = 0") == "11"
        verified = subprocess.run(
            [BINARY, "rebuild", "--verify", "--database", location],
            capture_output=True, text=True, env=os.environ, timeout=300)
        assert verified.returncode == 0, verified.stdout + verified.stderr
