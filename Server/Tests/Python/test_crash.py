"""Crash tests on the real binary: what was answered 200 is there afterwards, and nothing happens twice.

`make soak` runs the same with TOLLGATE_KILLS and TOLLGATE_FAILOVERS set higher.
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import threading
import time
import urllib.error

import pytest

from keys import key
from ports import free_port
from tollgate_world import (
    Apple, BINARY, COINS, ROOT, SECRET, Server, postgres, sqlite,
)

KILLS = int(os.environ.get("TOLLGATE_KILLS", "10"))
FAILOVERS = int(os.environ.get("TOLLGATE_FAILOVERS", "1"))
# Other moments, other purchases: `make soak` adds up runs of different seeds.
SEED = int(os.environ.get("TOLLGATE_SEED", "0"))
CUSTOMERS = 8
LOST = (urllib.error.URLError, ConnectionError, TimeoutError, OSError, json.JSONDecodeError)


class Ledger:
    """What was sent, what was answered, and what must therefore be there."""

    def __init__(self, apple: Apple, customers: list[dict], seed: int):
        self.apple = apple
        self.customers = customers
        self.random = random.Random(seed)
        self.lock = threading.Lock()
        self.purchases: dict[int, tuple[int, bytes]] = {}
        self.acknowledged: set[int] = set()
        # Idempotency key to (customer, amount) and to what was answered.
        self.spends: dict[str, tuple[int, int]] = {}
        self.replies: dict[str, tuple[int, str]] = {}

    def step(self, server: Server):
        """Sends one thing: mostly something new, now and then something once more."""
        with self.lock:
            chance = self.random.random()
            if chance < 0.7 or not self.purchases:
                number = len(self.purchases)
                who = number % len(self.customers)
                self.purchases[number] = (who, b"")
                kind = "new"
            elif chance < 0.85:
                number = self.random.choice(list(self.purchases))
                kind = "again"
            else:
                key = f"spend-{len(self.spends)}"
                self.spends[key] = (self.random.randrange(len(self.customers)), 7)
                kind = "spend"
        if kind == "spend":
            return self.spend(server, key)
        if kind == "new":
            who = self.purchases[number][0]
            body = self.apple.coins_bought(number, self.customers[who]["app_account_token"])
            with self.lock:
                self.purchases[number] = (who, body)
        body = self.purchases[number][1]
        if body:
            server.call("/webhooks/app_store", body)
            with self.lock:
                self.acknowledged.add(number)

    def spend(self, server: Server, key: str):
        who, amount = self.spends[key]
        path = f"/v1/customers/{self.customers[who]['id']}/coins/spend"
        try:
            reply = server.call(
                path, json.dumps({"amount": amount}).encode(), **{"Idempotency-Key": key})
            answer = (200, json.dumps(reply, sort_keys=True))
        except urllib.error.HTTPError as error:
            # Decided against, which is an answer too; anything else was not decided.
            if error.code != 409:
                raise
            answer = (409, json.load(error)["error"]["code"])
        with self.lock:
            known = self.replies.setdefault(key, answer)
        assert known == answer, f"the same key got {known} and then {answer}"

    def at_least(self, who: int) -> int:
        credited = sum(COINS for n in self.acknowledged if self.purchases[n][0] == who)
        spent = sum(
            amount for key, (customer, amount) in self.spends.items()
            if customer == who and self.replies.get(key, (200,))[0] == 200)
        return credited - spent

    def check_nothing_is_lost(self, server: Server):
        for who, customer in enumerate(self.customers):
            balance = server.call(f"/v1/customers/{customer['id']}/coins")["balance"]
            assert balance >= self.at_least(who), "nothing that was answered 200 is lost"

    def settle(self, server: Server):
        """Everything is sent again, as stores and clients do; then the books are exact."""
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            bodies = [body for _, body in self.purchases.values() if body]
            list(pool.map(lambda body: server.call("/webhooks/app_store", body), bodies))
            list(pool.map(lambda key: self.spend(server, key), list(self.spends)))
        for who, customer in enumerate(self.customers):
            bought = sum(
                COINS for owner, body in self.purchases.values() if owner == who and body)
            spent = sum(
                amount for key, (owner, amount) in self.spends.items()
                if owner == who and self.replies[key][0] == 200)
            balance = server.call(f"/v1/customers/{customer['id']}/coins")["balance"]
            assert balance == bought - spent, "credited once, debited once"


class Load:
    """Clients that go on until they are told to stop; what fails is simply not answered."""

    def __init__(self, ledger: Ledger, server_now, width: int = 8):
        self.ledger = ledger
        self.server_now = server_now
        self.stopping = threading.Event()
        self.errors: list[BaseException] = []
        self.threads = [threading.Thread(target=self.run) for _ in range(width)]

    def run(self):
        while not self.stopping.is_set():
            try:
                self.ledger.step(self.server_now())
            except LOST:
                time.sleep(0.005)
            except BaseException as error:
                self.errors.append(error)
                return

    def goes_on(self, count: int):
        """Waits until so many more were answered 200."""
        wanted, end = len(self.ledger.acknowledged) + count, time.monotonic() + 60
        while len(self.ledger.acknowledged) < wanted:
            assert not self.errors, self.errors[0]
            assert time.monotonic() < end, "the server answers"
            time.sleep(0.005)

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        for thread in self.threads:
            thread.join(timeout=90)
        assert not self.errors, self.errors[0]


def open_shop(server: Server, seed: int, apple: Apple) -> Ledger:
    customers = [
        server.call("/v1/customers", json.dumps({"app_user_id": f"user-{n}"}).encode())
        for n in range(CUSTOMERS)
    ]
    return Ledger(apple, customers, seed)


def rebuilt(location: str):
    proof = subprocess.run(
        [BINARY, "rebuild", "--verify", "--database", location], capture_output=True, text=True)
    assert proof.returncode == 0, proof.stdout + proof.stderr


@pytest.fixture(scope="module")
def apple():
    return Apple()


@pytest.fixture
def root(tmp_path, apple):
    path = tmp_path / "root.der"
    path.write_bytes(apple.root_der)
    return path


@pytest.mark.parametrize("database", [sqlite, postgres])
def test_what_was_answered_200_survives_every_sigkill(database, tmp_path, apple, root):
    """F4, I2, I3, I15."""
    chance = random.Random(KILLS + SEED * 1_000_003)
    with database(tmp_path) as location:
        server = Server(location, root)
        ledger = open_shop(server, 1 + SEED, apple)
        for life in range(KILLS):
            with Load(ledger, lambda: server):
                time.sleep(chance.uniform(0.02, 0.6))
                server.kill()
            server = Server(location, root)
            ledger.check_nothing_is_lost(server)
        ledger.settle(server)
        server.stop()
        assert len(ledger.acknowledged) > KILLS, "there was load at every kill"
        print(f"{KILLS} kills, {len(ledger.acknowledged)} notifications and "
              f"{len(ledger.replies)} spends answered, 0 lost, 0 twice")
        rebuilt(location)


@pytest.mark.parametrize("database", [sqlite, postgres])
def test_a_server_told_to_stop_finishes_what_it_acknowledged(database, tmp_path, apple, root):
    """F22: SIGTERM under load."""
    with database(tmp_path) as location:
        server = Server(location, root)
        ledger = open_shop(server, 2, apple)
        for _ in range(3):
            with Load(ledger, lambda: server, width=16) as load:
                load.goes_on(50)
                began = time.monotonic()
                server.process.send_signal(signal.SIGTERM)
                assert server.process.wait(timeout=20) == 0
                assert time.monotonic() - began < 10
            server = Server(location, root)
            ledger.check_nothing_is_lost(server)
        ledger.settle(server)
        server.stop()
        rebuilt(location)


def limit_file_size(megabytes: int):
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(
            resource.RLIMIT_FSIZE, (megabytes << 20, resource.RLIM_INFINITY))
    return limit


def status_of(server: Server, path: str, body: bytes | None = None, **headers) -> int:
    try:
        server.call(path, body, **headers)
        return 200
    except urllib.error.HTTPError as error:
        error.read()
        return error.code


def fill(server: Server, ledger: Ledger, seconds: float) -> int:
    """Sends until a write is refused; returns that status."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        number = len(ledger.purchases)
        who = number % CUSTOMERS
        body = ledger.apple.coins_bought(number, ledger.customers[who]["app_account_token"])
        ledger.purchases[number] = (who, body)
        status = status_of(server, "/webhooks/app_store", body)
        if status != 200:
            return status
        ledger.acknowledged.add(number)
    raise AssertionError("the disk never filled")


def test_a_full_disk_is_answered_503_and_reads_go_on(tmp_path, apple, root):
    """F6, where a file may not grow: what a full disk looks like to a process."""
    location = f"sqlite:{tmp_path}/full.sqlite"
    server = Server(
        location, root, preexec_fn=limit_file_size(2), restore_signals=False)
    ledger = open_shop(server, 3, apple)
    assert fill(server, ledger, 120) == 503
    for _ in range(3):
        assert fill(server, ledger, 60) == 503
    ledger.check_nothing_is_lost(server)
    assert status_of(server, "/healthz") == 200
    assert server.process.poll() is None
    server.stop()
    # With room again, all is well.
    server = Server(location, root)
    ledger.check_nothing_is_lost(server)
    ledger.settle(server)
    server.stop()
    rebuilt(location)


def test_a_full_file_system_is_answered_503_and_reads_go_on(tmp_path, apple, root):
    """F6 with ENOSPC itself, on a file system of four megabytes."""
    mount = tmp_path / "small"
    mount.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(mount)], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("no right to mount a small file system here; the test before covers EFBIG")
    try:
        location = f"sqlite:{mount}/full.sqlite"
        server = Server(location, root)
        ledger = open_shop(server, 4, apple)
        assert fill(server, ledger, 120) == 503
        ledger.check_nothing_is_lost(server)
        assert server.process.poll() is None
        server.stop()
        subprocess.run(["mount", "-o", "remount,size=64m", str(mount)], check=True)
        server = Server(location, root)
        ledger.check_nothing_is_lost(server)
        ledger.settle(server)
        server.stop()
        rebuilt(location)
    finally:
        subprocess.run(["umount", "-l", str(mount)], capture_output=True)


def test_two_servers_on_one_postgres_do_everything_once_and_see_each_other(
    tmp_path, apple, root
):
    """F9 and I3: the same notifications through both at once; a change is seen through the other."""
    with postgres(tmp_path) as location:
        servers = [Server(location, root), Server(location, root)]
        ledger = open_shop(servers[0], 5, apple)
        turn = random.Random(5)
        slowest = 0.0
        with Load(ledger, lambda: turn.choice(servers), width=12) as load:
            load.goes_on(300)
        for who, customer in enumerate(ledger.customers[:4]):
            number = len(ledger.purchases)
            body = apple.coins_bought(number, customer["app_account_token"])
            before = servers[1].call(f"/v1/customers/{customer['id']}/coins")["balance"]
            ledger.purchases[number] = (who, body)
            servers[0].call("/webhooks/app_store", body)
            ledger.acknowledged.add(number)
            began = time.monotonic()
            while servers[1].call(
                    f"/v1/customers/{customer['id']}/coins")["balance"] == before:
                assert time.monotonic() - began < 1, "seen through the other within a second"
            slowest = max(slowest, time.monotonic() - began)
        # Everything at both, at once.
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            bodies = [body for _, body in ledger.purchases.values() if body]
            jobs = [(server, body) for body in bodies for server in servers]
            list(pool.map(lambda job: job[0].call("/webhooks/app_store", job[1]), jobs))
        servers[0].kill()
        ledger.settle(servers[1])
        servers[1].stop()
        print(f"seen through the other server after {slowest * 1000:.0f} ms at most")
        rebuilt(location)


def test_a_second_server_on_the_same_sqlite_file_is_refused(tmp_path, root):
    location = f"sqlite:{tmp_path}/one.sqlite"
    server = Server(location, root)
    try:
        second = subprocess.run(
            [BINARY, "serve", "--listen", "127.0.0.1:0", "--database", location,
             "--catalog", str(ROOT / "catalog.yaml")],
            env=os.environ | {
                "TOLLGATE_SECRET_KEY": SECRET, "TOLLGATE_PUBLISHABLE_KEY": key("pk", "crash")},
            capture_output=True, text=True, timeout=60)
        assert second.returncode == 1
        assert "one.sqlite" in second.stderr
        assert str(server.process.pid) in second.stderr
    finally:
        server.stop()


# PostgreSQL that ends, comes back, and is replaced


class Cluster:
    """A PostgreSQL server with, if wanted, a synchronous standby."""

    def __init__(self, folder: pathlib.Path):
        found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))
        self.binaries = found[-1] if found else pathlib.Path(shutil.which("initdb")).parent
        self.folder = folder
        self.as_owner = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        if self.as_owner:
            shutil.chown(folder, "postgres")
        self.ports = [free_port(), free_port()]
        self.primary = 0
        self.generation = 0
        self.data = [folder / "data-0", None]
        self.command(
            "initdb", "-D", self.data[0], "-U", "postgres", "-A", "trust", "-E", "UTF8",
            "--locale=C.UTF-8", "--no-sync")
        self.start(0)

    @property
    def url(self) -> str:
        hosts = ",".join(f"127.0.0.1:{port}" for port in self.ports)
        return (f"postgres://postgres@{hosts}/postgres"
                "?target_session_attrs=read-write&connect_timeout=2")

    def command(self, name: str, *words, check: bool = True):
        ended = subprocess.run(
            [*self.as_owner, str(self.binaries / name), *map(str, words)], cwd="/",
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            timeout=120)
        assert not check or ended.returncode == 0, f"{name} ended with {ended.returncode}"

    def start(self, place: int):
        self.command(
            "pg_ctl", "-D", self.data[place], "-w", "-l", self.folder / f"log-{place}", "-o",
            f"-c listen_addresses=127.0.0.1 -p {self.ports[place]} -k {self.folder} "
            "-c wal_level=replica -c max_wal_senders=8 -c hot_standby=on "
            "-c max_connections=100", "start")

    def sql(self, place: int, text: str) -> str:
        return subprocess.run(
            [str(self.binaries / "psql"), "-h", "127.0.0.1", "-p", str(self.ports[place]), "-U",
             "postgres", "-Atc", text], capture_output=True, text=True, check=True,
            timeout=60).stdout.strip()

    def add_standby(self):
        """Makes the other place a synchronous standby of the primary."""
        place = 1 - self.primary
        self.generation += 1
        self.data[place] = self.folder / f"data-{self.generation}"
        self.command(
            "pg_basebackup", "-h", "127.0.0.1", "-p", self.ports[self.primary], "-U", "postgres",
            "-D", self.data[place], "-R", "-X", "stream", "--no-sync", "-c", "fast")
        self.start(place)
        self.sql(self.primary, "ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.sql(self.primary, "SELECT pg_reload_conf()")
        until = time.monotonic() + 30
        while self.sql(
                self.primary,
                "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") != "1":
            assert time.monotonic() < until, "the standby never became synchronous"
            time.sleep(0.05)

    def fail_over(self):
        """The primary dies at once; the standby takes its place."""
        self.command("pg_ctl", "-D", self.data[self.primary], "-m", "immediate", "stop")
        self.primary = 1 - self.primary
        self.command("pg_ctl", "-D", self.data[self.primary], "-w", "promote")
        # Alone for now: nobody has to confirm.
        self.sql(self.primary, "ALTER SYSTEM SET synchronous_standby_names = ''")
        self.sql(self.primary, "SELECT pg_reload_conf()")

    def restart(self):
        """The database crashes and recovers."""
        self.command("pg_ctl", "-D", self.data[self.primary], "-m", "immediate", "stop")
        self.start(self.primary)

    def stop(self):
        for data in self.data:
            if data:
                self.command("pg_ctl", "-D", data, "-m", "immediate", "stop", check=False)


@pytest.fixture
def cluster():
    import tempfile
    folder = pathlib.Path(tempfile.mkdtemp())
    made = Cluster(folder)
    yield made
    made.stop()
    shutil.rmtree(folder, ignore_errors=True)


def resumes(server: Server, ledger: Ledger, within: float) -> float:
    """Seconds until a write is answered 200 again."""
    began = time.monotonic()
    before = len(ledger.acknowledged)
    while len(ledger.acknowledged) < before + 5:
        assert time.monotonic() - began < within, "writes resume"
        assert server.process.poll() is None, "the server goes on"
        time.sleep(0.02)
    return time.monotonic() - began


def test_a_database_that_crashes_and_one_that_is_replaced_lose_nothing(cluster, apple, root):
    """F7 and F8: crash restarts, then failovers to a synchronous standby, all under load."""
    # What it says while the database is away fills pages.
    server = Server(cluster.url, root, stderr=subprocess.DEVNULL)
    ledger = open_shop(server, 6 + SEED, apple)
    waits = []
    with Load(ledger, lambda: server) as load:
        for _ in range(2):
            load.goes_on(40)
            cluster.restart()
            waits.append(resumes(server, ledger, 15))
        for _ in range(FAILOVERS):
            cluster.add_standby()
            load.goes_on(40)
            cluster.fail_over()
            waits.append(resumes(server, ledger, 15))
    ledger.check_nothing_is_lost(server)
    ledger.settle(server)
    server.stop()
    print(f"{FAILOVERS} failovers, {len(ledger.acknowledged)} notifications answered, 0 lost; "
          f"writes resumed after {max(waits):.1f} s at most")
    rebuilt(cluster.url)
