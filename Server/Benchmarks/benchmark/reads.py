"""The ways to ask for entitlements, beside that by our own customer id."""

import json
import random
import urllib.request
from pathlib import Path

from . import corpus, population
from .fill import sessions, users
from .load import LoadGenerator
from .servers import Server, Tollgate

ROUTE = "/v1/customers/{}/entitlements"
POLLS = 500  # so many customers are polled
COLLECTORS = 8
PURCHASES = 50  # of each collector
# A new connection leaves a port of the client behind for a minute.
NEW_CONNECTIONS = 6_000


def with_reference(server: Server, customers: int, load: LoadGenerator, directory: Path) -> dict[str, dict]:
    """How backends ask, by their own user ids, and apps, by a session with a signed answer."""
    by_user, by_session = directory / "users.corpus", directory / "signed-in.corpus"
    users(server, customers, by_user)
    sessions(server, customers, load, directory, by_session)
    return {
        "user_reads": {"corpus": by_user, "repeat": True, "headers": server.headers},
        # Each request bears its own session.
        "session_reads": {"corpus": by_session, "repeat": True}}


def of_tollgate(server: Tollgate, customers: int, load: LoadGenerator, directory: Path,
                by_user: Path) -> dict[str, dict]:
    """What only Tollgate is asked, by the app's user ids: polling that shows the tag of the answer
    before, unknown users, customers with many purchases, and connections for one request each."""
    chosen = random.Random(13).choices(range(customers), k=POLLS)
    polls = [(target, _tag(server, target)) for target in map(server.user_target, chosen)]
    misses = (f"nobody-{number:08d}" for number in range(POLLS))
    return {
        "polls": {"corpus": _corpus(directory / "polls.corpus", polls), "repeat": True, "status": "304",
                  "headers": server.headers},
        "misses": {"corpus": _corpus(directory / "misses.corpus", ((ROUTE.format(m), None) for m in misses)),
                   "repeat": True, "status": "404", "headers": server.headers},
        "collectors": {"corpus": _collectors(server, load, directory), "repeat": True,
                       "headers": server.headers},
        "new_connections": {"corpus": by_user, "repeat": True, "fresh": True, "count": NEW_CONNECTIONS,
                            "headers": server.headers}}


def _corpus(path: Path, asked) -> Path:
    corpus.write(path, (
        corpus.record(target=target.encode(), head=f"If-None-Match: {tag}\r\n".encode() if tag else b"")
        for target, tag in asked))
    return path


def _tag(server: Tollgate, target: str) -> str:
    request = urllib.request.Request(f"http://127.0.0.1:{server.port}{target}", headers=server.headers)
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.headers["ETag"]


def _collectors(server: Tollgate, load: LoadGenerator, directory: Path) -> Path:
    """Makes customers who hold many purchases each, and checks that they have what these give."""
    names = [f"collector-{number}" for number in range(COLLECTORS)]
    made, grants = directory / "collectors.corpus", directory / "grants.corpus"
    corpus.write(made, (corpus.record(json.dumps({"app_user_id": name}).encode()) for name in names))
    load.run(server.port, method="POST", target="/v1/customers", corpus=made, connections=1,
             headers=server.headers)
    body = json.dumps({"lookup_key": population.LOOKUP_KEY}).encode()
    corpus.write(grants, (
        corpus.record(body, target=f"/v1/customers/{name}/grants".encode())
        for name in names for _ in range(PURCHASES)))
    load.run(server.port, method="POST", corpus=grants, connections=8, headers=server.headers)
    purchases = server.get(f"/v1/customers/{names[0]}/purchases")["data"]
    if len(purchases) != PURCHASES:
        raise RuntimeError(f"{names[0]} was given {PURCHASES} purchases and has {len(purchases)}")
    return _corpus(directory / "collector-reads.corpus", ((ROUTE.format(name), None) for name in names))
