"""What those who run the server do: back it up, restore it, change its keys, watch it."""

import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import threading
import time
import urllib.error

import pytest

from keys import key
from test_crash import Ledger, Load, open_shop, rebuilt
from tollgate_world import Apple, Server, postgres, sqlite
from waiting import until


@pytest.fixture(scope="module")
def apple():
    return Apple()


@pytest.fixture
def root(tmp_path, apple):
    path = tmp_path / "root.der"
    path.write_bytes(apple.root_der)
    return path


def test_a_backup_made_under_load_is_restored_and_the_stores_fill_the_gap_on_sqlite(
    tmp_path, apple, root
):
    """F21."""
    server = Server(f"sqlite:{tmp_path}/live.sqlite", root)
    ledger = open_shop(server, 11, apple)
    with Load(ledger, lambda: server) as load:
        load.goes_on(50)
        live = sqlite3.connect(f"file:{tmp_path}/live.sqlite?mode=ro", uri=True)
        copy = sqlite3.connect(tmp_path / "copy.sqlite")
        live.backup(copy)
        copy.close()
        live.close()
        load.goes_on(20)
    before = {event["id"]: event for event in events(server)}
    server.stop()
    restored = f"sqlite:{tmp_path}/copy.sqlite"
    server = Server(restored, root)
    # What was decided in the gap is decided anew when it is asked for again.
    ledger.replies.clear()
    ledger.settle(server)
    # No id means two things.
    for event in events(server):
        known = before.get(event["id"])
        assert known is None or known["customer"] == event["customer"]
    server.stop()
    rebuilt(restored)


def test_a_backup_made_under_load_is_restored_and_the_stores_fill_the_gap_on_postgres(
    tmp_path, apple, root
):
    """F21."""
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))
    binaries = found[-1] if found else pathlib.Path(shutil.which("pg_dump")).parent
    with postgres(tmp_path) as location:
        server = Server(location, root)
        ledger = open_shop(server, 12, apple)
        with Load(ledger, lambda: server) as load:
            load.goes_on(50)
            subprocess.run(
                [binaries / "pg_dump", "--format=custom", f"--file={tmp_path}/copy.dump",
                 location], check=True)
            load.goes_on(20)
        server.stop()
        subprocess.run(
            [binaries / "psql", location, "-qc", "CREATE DATABASE restored"], check=True)
        restored = re.sub(r"/postgres$", "/restored", location)
        subprocess.run(
            [binaries / "pg_restore", f"--dbname={restored}", f"{tmp_path}/copy.dump"],
            check=True)
        server = Server(restored, root)
        ledger.replies.clear()
        ledger.settle(server)
        server.stop()
        rebuilt(restored)


def events(server: Server) -> list[dict]:
    found, after = [], ""
    while True:
        page = server.call(f"/v1/events?limit=100{after}")
        found += page["data"]
        if not page["has_more"]:
            return found
        after = f"&starting_after={found[-1]['id']}"


def test_the_secret_key_is_changed_server_by_server_and_nobody_is_refused(tmp_path):
    """K2 and F20: OLD, then OLD,NEW, then NEW,OLD, then NEW, on two servers, clients all the while."""
    old, new = key("sk", "old"), key("sk", "new")
    with postgres(tmp_path) as location:
        def start(keys):
            return Server(location, environment={"TOLLGATE_SECRET_KEY": keys})

        servers = [start(old), start(old)]
        current = old
        made = servers[0].call(
            "/v1/customers", b'{"app_user_id":"user-1"}', Authorization=f"Bearer {old}")
        refused, served, turns = [], collections.Counter(), [0, 0]
        lock, stopping = threading.Lock(), threading.Event()

        def client(place):
            while not stopping.is_set():
                turns[place] += 1
                with lock:
                    chosen, key = list(servers), current
                for server in chosen:
                    try:
                        server.call(
                            f"/v1/customers/{made['id']}", Authorization=f"Bearer {key}")
                        served[key] += 1
                    except urllib.error.HTTPError as error:
                        refused.append(error.code)
                    except (urllib.error.URLError, ConnectionError):
                        # The balancer has not noticed yet; it would try the other one.
                        pass
                time.sleep(0.01)

        def all_have_heard():
            """Every client has begun anew since, and is done with what it had in hand."""
            wanted, end = [number + 2 for number in turns], time.monotonic() + 60
            while any(number < least for number, least in zip(turns, wanted)):
                assert time.monotonic() < end, "the servers answer"
                time.sleep(0.005)

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            clients = [pool.submit(client, place) for place in (0, 1)]
            for keys in (f"{old},{new}", f"{new},{old}", new):
                for place in (0, 1):
                    fresh = start(keys)
                    with lock:
                        leaving, servers[place] = servers[place], fresh
                    all_have_heard()
                    leaving.stop()
                if keys.startswith(f"{old},"):
                    with lock:
                        current = new
                    all_have_heard()
            stopping.set()
            for running in clients:
                running.result()
        assert refused == []
        assert served[old] > 0 and served[new] > 0
        with pytest.raises(urllib.error.HTTPError) as gone:
            servers[0].call(f"/v1/customers/{made['id']}", Authorization=f"Bearer {old}")
        assert gone.value.code == 401
        for server in servers:
            server.stop()


@pytest.mark.parametrize("database", [sqlite, postgres])
def test_metrics_have_every_queue_and_a_scraper_can_read_them(database, tmp_path, apple, root):
    with database(tmp_path) as location:
        server = Server(
            location, root, environment={"TOLLGATE_WEBHOOKS_ALLOW_PRIVATE": "true"})
        endpoint = server.call(
            "/v1/webhook_endpoints", b'{"url":"http://127.0.0.1:9/nobody"}')["id"]
        buyer = server.call("/v1/customers", b'{"app_user_id":"user-1"}')
        server.call("/webhooks/app_store", apple.coins_bought(1, buyer["app_account_token"]))

        def read() -> dict[str, float]:
            import urllib.request
            with urllib.request.urlopen(server.url + "/metrics") as answer:
                text = answer.read().decode()
            values, types = {}, set()
            for line in text.splitlines():
                if line.startswith("# TYPE "):
                    name, kind = line.split()[2:]
                    assert name not in types and kind in ("counter", "gauge")
                    types.add(name)
                    continue
                matched = re.fullmatch(
                    r'([a-z_]+)(\{[a-z_]+="[^"\\]*"(,[a-z_]+="[^"\\]*")*\})? (-?\d+)', line)
                assert matched, line
                assert matched.group(1) in types
                values[matched.group(1) + (matched.group(2) or "")] = int(matched.group(4))
            return values

        waiting = f'tollgate_webhook_waiting{{endpoint="{endpoint}"}}'
        values = until(lambda: (found := read()).get(waiting) == 1 and found)
        assert values['tollgate_messages_total{store="app_store",outcome="recorded"}'] == 1
        for name in ("tollgate_commit_waiting", "tollgate_feed_waiting", "tollgate_feed_lag_seconds",
                     "tollgate_journal_newest", "tollgate_parked_oldest_seconds",
                     f'tollgate_webhook_dead{{endpoint="{endpoint}"}}',
                     f'tollgate_webhook_oldest_seconds{{endpoint="{endpoint}"}}'):
            assert name in values, name
        assert values["tollgate_feed_lag_seconds"] < 10
        server.stop()
