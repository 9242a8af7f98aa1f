"""What stores report is taken in where it is read, before the router: on raw connections it must look as if it came through
the route, which takes in what is out of the ordinary."""

import http.client
import json
import pathlib
import socket
import threading
import uuid

import pytest

from tollgate_world import COINS, SECRET, Apple, Server
from waiting import until

APP_STORE, STRIPE = "/webhooks/app_store", "/webhooks/stripe"
SIGNING_SECRET = "whsec_arrivals"


class World:
    def __init__(self, folder):
        self.apple = Apple()
        root = folder / "root.der"
        root.write_bytes(self.apple.root_der)
        self.server = Server(
            f"sqlite:{folder}/arrivals.sqlite", root,
            environment={"TOLLGATE_STRIPE_WEBHOOK_SECRETS": SIGNING_SECRET})
        self.number = 0

    def customer(self) -> dict:
        return self.server.call("/v1/customers", json.dumps({"app_user_id": str(uuid.uuid4())}).encode())

    def coins_bought(self, customer: dict) -> bytes:
        self.number += 1
        return self.apple.coins_bought(self.number, customer["app_account_token"])

    def balance(self, customer: dict) -> int:
        return self.server.call(f"/v1/customers/{customer['id']}/coins?environment=sandbox")["balance"]

    def refusals(self, code: str) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=20)
        connection.request("GET", "/metrics", headers={"Authorization": f"Bearer {SECRET}"})
        text = connection.getresponse().read().decode()
        return sum(int(line.split()[-1]) for line in text.splitlines()
                   if line.startswith("tollgate_refusals_total") and f'code="{code}"' in line)

    def open(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.server.port), timeout=20)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    made = World(tmp_path_factory.mktemp("arrivals"))
    yield made
    made.server.stop()


def post(path: str, body: bytes, fields: str = "") -> bytes:
    return f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n{fields}\r\n".encode() + body


def chunked(path: str, body: bytes, fields: str = "") -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n{fields}\r\n".encode()
    chunk = f"{len(body):x}\r\n".encode() + body + b"\r\n" if body else b""
    return head + chunk + b"0\r\n\r\n"


def answer(lines) -> tuple[int, dict, dict]:
    """The next answer on a connection: status, fields without the date, JSON."""
    status = int(lines.readline().split()[1])
    fields = {}
    while (line := lines.readline()) != b"\r\n":
        assert line, "the connection ended within an answer"
        name, value = line.decode().split(":", 1)
        fields[name.lower()] = value.strip()
    body = json.loads(lines.read(int(fields["content-length"])))
    assert fields.pop("date").endswith(" GMT")
    return status, fields, body


HEALTH = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.mark.parametrize("piece", [1_000_000, 1_460, 97])
def test_what_is_sent_on_before_an_answer_is_answered_in_its_turn(world, piece):
    customer = world.customer()
    ask = (f"GET /v1/customers/{customer['id']}/entitlements HTTP/1.1\r\nHost: x\r\n"
           f"Authorization: Bearer {SECRET}\r\n\r\n").encode()
    first, second, third = (world.coins_bought(customer) for _ in range(3))
    sent = (post(APP_STORE, first) + HEALTH + post(APP_STORE, second) + post(APP_STORE, b"{}") + ask
            + chunked(APP_STORE, third) + post(APP_STORE, first) + HEALTH)
    with world.open() as wire, wire.makefile("rb") as lines:
        for start in range(0, len(sent), piece):
            wire.sendall(sent[start:start + piece])
        found = [answer(lines) for _ in range(8)]
    assert [status for status, _, _ in found] == [200, 200, 200, 400, 200, 200, 200, 200]
    taken = {"received": True}
    assert [found[place][2] for place in (0, 2, 5, 6)] == [taken] * 4
    assert found[1][2] == found[7][2] == {"status": "ok"}
    assert found[4][2]["data"] == []
    assert world.balance(customer) == 3 * COINS


def test_who_has_said_all_still_gets_the_answer(world):
    customer = world.customer()
    with world.open() as wire, wire.makefile("rb") as lines:
        wire.sendall(post(APP_STORE, world.coins_bought(customer)))
        wire.shutdown(socket.SHUT_WR)
        assert answer(lines)[0] == 200
        assert lines.read() == b""
    assert world.balance(customer) == COINS


def test_thousands_that_come_in_one_burst_are_each_answered(world):
    count = 5_000
    with world.open() as wire, wire.makefile("rb") as lines:
        sender = threading.Thread(
            target=lambda: (wire.sendall(post(STRIPE, b"") * count), wire.shutdown(socket.SHUT_WR)))
        sender.start()
        assert all(answer(lines)[0] == 400 for _ in range(count))
        assert lines.read() == b""
        sender.join()


def test_what_follows_and_is_no_request_does_not_take_the_place_of_the_answer(world):
    customer = world.customer()
    with world.open() as wire, wire.makefile("rb") as lines:
        wire.sendall(post(APP_STORE, world.coins_bought(customer)) + b"what is this\r\n\r\n")
        assert answer(lines)[0] == 200
        assert lines.readline() == b"HTTP/1.1 400 Bad Request\r\n"
        fields, _, body = lines.read().partition(b"\r\n\r\n")
        assert b"\r\nConnection: close\r\n" in fields
        assert json.loads(body)["error"]["code"] == "malformed_request"
    assert world.balance(customer) == COINS


def test_who_does_not_wait_for_the_answer_was_heard_all_the_same(world):
    customer = world.customer()
    with world.open() as wire:
        wire.sendall(post(APP_STORE, world.coins_bought(customer)))
    until(lambda: world.balance(customer) == COINS, "the message was not taken in")


def test_every_answer_is_the_one_that_the_route_gives(world):
    stranger = Apple().coins_bought(1, str(uuid.uuid4()))
    known = world.coins_bought(world.customer())
    cases = [
        (APP_STORE, known, "", 200), (APP_STORE, b"", "", 400), (APP_STORE, b"{", "", 400), (APP_STORE, b"{}", "", 400),
        (APP_STORE, stranger, "", 400), (STRIPE, b"{}", "", 400), (STRIPE, b"{}", "Stripe-Signature: t=1,v1=00\r\n", 400),
        (APP_STORE, b"{}", "Connection: keep-alive\r\n", 400), (APP_STORE, b"{}", "Content-Encoding: gzip\r\n", 415),
        (APP_STORE, b" " * ((128 << 10) + 1), "", 413),
    ]
    for path, body, fields, status in cases:
        # A body that is refused unread ends its connection.
        answers, counts = [], []
        for request in (chunked(path, body, fields), post(path, body, fields)):
            with world.open() as wire, wire.makefile("rb") as lines:
                wire.sendall(request)
                answers.append(answer(lines))
            counts.append(world.refusals(answers[-1][2]["error"]["code"]) if status != 200 else 0)
        assert answers[0] == answers[1]
        assert answers[0][0] == status
        assert counts[1] == counts[0] + (status != 200)


def test_who_waits_to_be_asked_for_the_body_is_asked(world):
    body = world.coins_bought(world.customer())
    with world.open() as wire, wire.makefile("rb") as lines:
        head, _ = post(APP_STORE, body, "Expect: 100-continue\r\n").split(b"\r\n\r\n", 1)
        wire.sendall(head + b"\r\n\r\n" + body)
        status = lines.readline()
        if b" 100 " in status:
            lines.readline()
            status = lines.readline()
        assert b" 200 " in status


def test_who_reports_on_and_on_and_reads_nothing_is_made_to_wait(world):
    def memory() -> int:
        status = pathlib.Path(f"/proc/{world.server.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) << 10

    ask = post(APP_STORE, b"{}")
    before, sent = memory(), 0
    with world.open() as wire:
        wire.settimeout(3)
        try:
            while sent < 60_000_000:
                sent += wire.send(ask * 500)
        except TimeoutError:
            pass
    assert sent < 60_000_000
    assert memory() - before < 40 << 20
    assert world.server.call("/healthz") == {"status": "ok"}
