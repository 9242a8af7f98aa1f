"""Measures what a customer costs on PostgreSQL: disk, reads and ingest, at several sizes.

    measure_scaling.py [CUSTOMERS…]      10000 and 1000000 unless given

A few hundred customers are made through the server, each with a purchase that a store announced.
They are then multiplied inside the database, row by row, with other keys, so that every table and index
is as large as it would be. Ends with a message where the disk is too small.
"""

import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from tollgate_world import Apple, Server, postgres

SEEDS = 200
# Bytes of disk that a customer takes at most, with the log of PostgreSQL that is written meanwhile.
ROOM = 24_000

#: Of each table: its columns that are keys (16 bytes), and what else must be different.
TABLES = {
    "journal": ({"dedupe_key", "subject"}, {"id": None}),
    "purchase": ({"key"}, {}),
    "holding": ({"holder", "purchase"}, {}),
    "customer": ({"key"}, {}),
    "transfer": ({"id", "lot", "customer"}, {}),
    "profile": ({"customer"}, {"id": "id || '-' || g"}),
    "alias": ({"key", "customer"}, {}),
    "message": ({"customer"}, {"id": None, "number": "NULL", "previous": "NULL"}),
}


class Database:
    def __init__(self, location: str):
        found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))
        self.psql = str(found[-1] / "psql") if found else shutil.which("psql")
        self.location = location

    def run(self, sql: str) -> str:
        return subprocess.run(
            [self.psql, self.location, "-Atqc", sql], check=True, capture_output=True,
            text=True).stdout.strip()

    def multiply(self, first: int, last: int):
        """Copies the seeds, once for each number."""
        for table, (keys, others) in TABLES.items():
            columns = [
                name for name in self.run(
                    "SELECT column_name FROM information_schema.columns WHERE table_schema = "
                    f"'public' AND table_name = '{table}' ORDER BY ordinal_position").split()
                if others.get(name, "") is not None
            ]
            values = [
                f"decode(md5(encode({name}, 'hex') || g), 'hex')" if name in keys
                else others.get(name, name) for name in columns
            ]
            self.run(
                f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(values)} "
                f"FROM seed_{table} CROSS JOIN generate_series({first}, {last}) AS g")


def percentile(times: list[float], part: float) -> float:
    return sorted(times)[min(len(times) - 1, int(len(times) * part))] * 1000


def main():
    sizes = sorted(int(text) for text in sys.argv[1:]) or [10_000, 1_000_000]
    free = shutil.disk_usage(tempfile.gettempdir()).free
    for size in sizes:
        if size * ROOM >= free:
            print(f"{size:,} customers are skipped: they need {size * ROOM >> 30} GB of disk, "
                  f"and {free >> 30} GB are free.", flush=True)
    sizes = [size for size in sizes if size * ROOM < free]
    if not sizes:
        return
    apple = Apple()
    folder = pathlib.Path(tempfile.mkdtemp())
    root = folder / "root.der"
    root.write_bytes(apple.root_der)
    with postgres(folder) as location:
        database = Database(location)
        server = Server(location, root)
        for number in range(SEEDS):
            made = server.call(
                "/v1/customers", json.dumps({"app_user_id": f"user-{number}"}).encode())
            server.call(
                "/webhooks/app_store", apple.coins_bought(number, made["app_account_token"]))
        time.sleep(2)
        server.stop()
        for table in TABLES:
            database.run(f"CREATE TABLE seed_{table} AS SELECT * FROM {table}")
        print("| customers | disk, bytes a customer | of it the journal | read p50 | read p99 "
              "| ingest alone |")
        print("| ---: | ---: | ---: | ---: | ---: | ---: |")
        done = 1
        for size in sizes:
            copies = size // SEEDS
            while done < copies:
                last = min(copies, done + 100)
                database.multiply(done + 1, last)
                done = last
            database.run("UPDATE message SET number = id WHERE number IS NULL")
            database.run("VACUUM ANALYZE")
            measure(database, location, root, apple, size)


def measure(database: Database, location: str, root: pathlib.Path, apple: Apple, size: int):
    total = sum(
        int(database.run(f"SELECT pg_total_relation_size('{table}')")) for table in TABLES)
    journal = int(database.run("SELECT pg_total_relation_size('journal')"))
    ids = database.run(
        "SELECT id FROM profile TABLESAMPLE SYSTEM (5) LIMIT 2000").split("\n")
    server = Server(location, root)
    chosen = random.Random(1).sample(ids, min(500, len(ids)))
    times = []
    for customer in chosen:
        began = time.perf_counter()
        server.call(f"/v1/customers/{customer}/entitlements")
        times.append(time.perf_counter() - began)
    made = server.call("/v1/customers", json.dumps({"app_user_id": f"late-{size}"}).encode())
    bodies = [
        apple.coins_bought(size * 10 + number, made["app_account_token"]) for number in range(100)]
    began = time.perf_counter()
    for body in bodies:
        server.call("/webhooks/app_store", body)
    ingest = (time.perf_counter() - began) / len(bodies) * 1000
    server.stop()
    print(f"| {size:,} | {total // size:,} | {journal // size:,} | {percentile(times, .5):.2f} ms "
          f"| {percentile(times, .99):.2f} ms | {ingest:.1f} ms |", flush=True)


if __name__ == "__main__":
    main()
