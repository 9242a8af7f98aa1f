"""Brings a database to a number of customers, each with one active subscription.

Small populations go in through the front door: customers and signed notifications over HTTP. For a
million that would take minutes of signing and posting; there `FillDatabase` does what the server
does, without signatures and HTTP, before the server starts.
"""

import hashlib
import json
import random
import secrets
import sqlite3
import struct
import subprocess
import time
from pathlib import Path

from . import corpus, population
from .load import LoadGenerator
from .servers import Reference, Server, Tollgate

THROUGH_THE_FRONT_DOOR = 20_000
SAMPLE = 50_000  # reads ask for so many customers, drawn at random
SESSIONS = 2_000  # so many customers are signed in


def bulk(program: Path, database: str, catalog: Path, customers: int, seconds: int,
         run_started_ms: int, messages: int = 0) -> tuple[int, list[str]]:
    """Fills `database`, which no server may have open. Returns how many customers it got in that
    time, and ids of some for the reads. With `messages`, so many of each customer's are journalled
    with what the App Store said in them."""
    if not program.exists():
        raise RuntimeError(f"{program.name} is not built")
    done = subprocess.run(
        [str(program), "--database", database, "--catalog", str(catalog), "--customers", str(customers),
         "--started", str(run_started_ms), "--seconds", str(seconds), "--messages", str(messages)],
        capture_output=True, text=True, timeout=2 * seconds + 60)
    if done.returncode != 0:
        raise RuntimeError(f"{program.name}: {done.stderr.strip()[-2000:]}")
    count, *ids = done.stdout.split()
    return int(count), _sample(ids)


def fill(server: Server, customers: int, load: LoadGenerator, first_purchases: Path,
         directory: Path, run_started_ms: int) -> list[str]:
    """Fills the database of a running server and returns customers' ids for the reads."""
    if isinstance(server, Reference):
        return _fill_reference(server, customers, run_started_ms)
    return _fill_over_http(server, customers, load, first_purchases, directory)


def users(server: Server, customers: int, path: Path) -> None:
    """Writes reads by the user ids of the app's backend."""
    corpus.write(path, (
        corpus.record(target=server.user_target(customer).encode())
        for customer in random.Random(7).choices(range(customers), k=SAMPLE)))


def sessions(server: Server, customers: int, load: LoadGenerator, directory: Path, path: Path) -> None:
    """Signs some customers in and writes reads by their sessions, whose answers are signed."""
    chosen = random.Random(11).choices(range(customers), k=SESSIONS)
    found = (_sessions_of_reference(server, chosen) if isinstance(server, Reference)
             else _sessions_over_http(server, chosen, load, directory))
    corpus.write(path, (
        corpus.record(target=target.encode(), head=f"Authorization: Bearer {secret}\r\n".encode())
        for target, secret in found))


def _sessions_over_http(server: Tollgate, chosen: list[int], load: LoadGenerator,
                        directory: Path) -> list[tuple[str, str]]:
    requests, answers = directory / "sessions.corpus", directory / "sessions.answers"
    corpus.write(requests, (
        corpus.record(json.dumps({
            "customer": population.app_user_id(customer),
            "components": {"active_entitlements": {"enabled": True}}}).encode())
        for customer in chosen))
    load.run(server.port, method="POST", target="/v1/customer_sessions", corpus=requests,
             connections=32, headers=server.headers, responses=answers)
    made = [json.loads(body) for _, body in _answers(answers)]
    return [(f"/v1/customers/{session['customer']}/entitlements", session["client_secret"])
            for session in made]


def _sessions_of_reference(server: Reference, chosen: list[int]) -> list[tuple[str, str]]:
    made = [(secrets.token_urlsafe(32), customer) for customer in chosen]
    expires = int(time.time()) + 3600
    database = sqlite3.connect(server.database, timeout=60)
    with database:
        database.executemany(
            "INSERT INTO session VALUES (?, ?, ?)",
            [(hashlib.sha256(secret.encode()).hexdigest(), population.app_account_token(customer), expires)
             for secret, customer in made])
    database.close()
    return [("/v1/session/entitlements", secret) for secret, _ in made]


def _fill_over_http(server: Tollgate, customers: int, load: LoadGenerator, first_purchases: Path,
                    directory: Path) -> list[str]:
    registrations, answers = directory / "customers.corpus", directory / "customers.answers"
    corpus.write(registrations, (
        corpus.record(json.dumps({
            "app_user_id": population.app_user_id(i),
            "app_account_token": population.app_account_token(i)}).encode())
        for i in range(customers)))
    load.run(server.port, method="POST", target="/v1/customers", corpus=registrations,
             connections=32, headers=server.headers, responses=answers)
    load.run(server.port, method="POST", target="/webhooks/app_store", corpus=first_purchases,
             connections=64, count=customers)
    ids = {index: json.loads(body)["id"] for index, body in _answers(answers)}
    return _sample([ids[i] for i in range(customers)])


def _fill_reference(server: Reference, customers: int, run_started_ms: int) -> list[str]:
    database = sqlite3.connect(server.database, timeout=60)
    with database:
        for i in range(customers):
            database.execute(
                "INSERT INTO customer VALUES (?, ?)",
                (population.app_user_id(i), population.app_account_token(i)))
            key, starts = population.original_transaction_id(i), population.period_start(i, 0, run_started_ms)
            database.execute(
                "INSERT INTO period VALUES (?, ?, ?, ?, ?)",
                (key, key, population.PRODUCT_ID, starts, starts + population.MONTH_MS))
            database.execute(
                "INSERT INTO subscription VALUES (?, ?, ?, 1, 1, ?, ?)",
                (key, population.app_account_token(i), population.PRODUCT_ID,
                 starts + population.MONTH_MS, run_started_ms))
    database.close()
    return _sample([population.app_account_token(i) for i in range(customers)])


def _sample(ids: list[str]) -> list[str]:
    return random.Random(7).choices(ids, k=SAMPLE)


def _answers(path: Path):
    with open(path, "rb") as file:
        while head := file.read(12):
            index, length = struct.unpack("<QI", head)
            yield index, file.read(length)
