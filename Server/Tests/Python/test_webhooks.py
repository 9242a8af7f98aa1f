"""Outgoing webhooks, seen by a receiver that knows nothing of us: the library of Standard Webhooks
verifies what arrives, over crashes and with several servers."""

import base64
import collections
import http.server
import json
import socket
import threading
import time
import urllib.error

import pytest
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from tollgate_world import Apple, Server, postgres, sqlite
from waiting import until

ALLOWED = {"TOLLGATE_WEBHOOKS_ALLOW_PRIVATE": "true"}


class Receiver:
    """A backend of an app on loopback."""

    def __init__(self):
        self.lock = threading.Lock()
        self.arrivals: list[tuple[dict, bytes]] = []
        self.pause = 0.0
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                length = int(self.headers["content-length"])
                body = self.rfile.read(length)
                if len(body) < length:
                    # The sender died between head and end of body: nothing has arrived.
                    self.close_connection = True
                    return
                if receiver.pause:
                    time.sleep(receiver.pause)
                with receiver.lock:
                    receiver.arrivals.append((dict(self.headers.items()), body))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/hooks"

    def ids(self) -> list[str]:
        with self.lock:
            return [headers["webhook-id"] for headers, _ in self.arrivals]


@pytest.fixture
def receiver():
    made = Receiver()
    yield made
    made.server.shutdown()


@pytest.fixture(scope="module")
def apple():
    return Apple()


@pytest.fixture
def root(tmp_path, apple):
    path = tmp_path / "root.der"
    path.write_bytes(apple.root_der)
    return path


def customer(server: Server, name: str) -> dict:
    return server.call("/v1/customers", json.dumps({"app_user_id": name}).encode())


def feed(server: Server) -> list[dict]:
    events, after = [], ""
    while True:
        page = server.call(f"/v1/events?limit=100{after}")
        events += page["data"]
        if not page["has_more"]:
            return events
        after = f"&starting_after={events[-1]['id']}"


def test_the_library_of_standard_webhooks_verifies_what_we_send(tmp_path, apple, root, receiver):
    server = Server(f"sqlite:{tmp_path}/hooks.sqlite", root, environment=ALLOWED)
    endpoint = server.call(
        "/v1/webhook_endpoints", json.dumps({"url": receiver.url}).encode())
    assert len(base64.b64decode(endpoint["secret"].removeprefix("whsec_"))) >= 24
    buyer = customer(server, "user-1")
    server.call("/webhooks/app_store", apple.coins_bought(1, buyer["app_account_token"]))
    until(lambda: receiver.arrivals)
    headers, body = receiver.arrivals[0]
    event = Webhook(endpoint["secret"]).verify(body, headers)
    assert event == feed(server)[0]
    assert event["changes"] == [{"type": "coins.credited", "amount": 100}]

    for tampered in (body + b" ", body.replace(b"100", b"999")):
        with pytest.raises(WebhookVerificationError):
            Webhook(endpoint["secret"]).verify(tampered, headers)
    other = "whsec_" + base64.b64encode(b"x" * 32).decode()
    with pytest.raises(WebhookVerificationError):
        Webhook(other).verify(body, headers)

    # Rotation without a gap: both keys verify, as the library of a receiver that has only one.
    rotated = server.call(
        f"/v1/webhook_endpoints/{endpoint['id']}/rotate_secret", b'{"overlap":600}')
    server.call("/webhooks/app_store", apple.coins_bought(2, buyer["app_account_token"]))
    until(lambda: len(receiver.arrivals) == 2)
    headers, body = receiver.arrivals[1]
    for secret in (endpoint["secret"], rotated["secret"]):
        assert Webhook(secret).verify(body, headers)["coins"]["balance"] == 200
    server.stop()


def test_the_receiver_of_these_tests_takes_no_half_of_a_message(receiver):
    for body in (b"", b"ab", b"abcd"):
        with socket.create_connection(("127.0.0.1", receiver.server.server_port)) as sender:
            sender.sendall(
                b"POST /hooks HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\nwebhook-id: x\r\n\r\n" + body)
            sender.shutdown(socket.SHUT_WR)
            answer = sender.makefile("rb").read()
            assert bool(answer) == (len(body) == 4)
    assert receiver.ids() == ["x"]


def test_without_leave_nothing_is_sent_to_this_machine(tmp_path, receiver):
    server = Server(f"sqlite:{tmp_path}/closed.sqlite")
    for url in (receiver.url, receiver.url.replace("http:", "https:"),
                f"https://localhost:{receiver.server.server_port}/"):
        with pytest.raises(urllib.error.HTTPError) as refused:
            server.call("/v1/webhook_endpoints", json.dumps({"url": url}).encode())
        assert refused.value.code == 422
        assert json.load(refused.value)["error"]["code"] == "url_forbidden"
    server.stop()


@pytest.mark.parametrize(("database", "kills"), [(sqlite, 5), (postgres, 1)])
def test_a_server_killed_while_it_sends_loses_nothing_and_keeps_each_customers_order(
    database, kills, tmp_path, apple, root, receiver
):
    """F16 and I11."""
    with database(tmp_path) as location:
        server = Server(location, root, environment=ALLOWED)
        endpoint = server.call(
            "/v1/webhook_endpoints", json.dumps({"url": receiver.url}).encode())
        buyers = [customer(server, f"user-{n}") for n in range(5)]
        receiver.pause = 0.02
        number = 0
        for _ in range(kills):
            seen = len(receiver.arrivals)
            for _ in range(20):
                buyer = buyers[number % 5]
                server.call(
                    "/webhooks/app_store", apple.coins_bought(number, buyer["app_account_token"]))
                number += 1
            until(lambda: len(receiver.arrivals) > seen + 3)
            server.kill()
            server = Server(location, root, environment=ALLOWED)
        receiver.pause = 0
        until(lambda: len(feed(server)) >= number)
        events = feed(server)
        wanted = {event["id"] for event in events}
        # On PostgreSQL, the lease of a server that died holds the next up for 20 seconds at most.
        until(lambda: wanted <= set(receiver.ids()), seconds=120)
        order = collections.defaultdict(list)
        for headers, body in receiver.arrivals:
            # The library allows a message to be five minutes old; this test ends before.
            event = Webhook(endpoint["secret"]).verify(body, headers)
            if event["id"] not in order[event["customer"]]:
                order[event["customer"]].append(event["id"])
        for buyer in buyers:
            assert order[buyer["id"]] == [
                event["id"] for event in events if event["customer"] == buyer["id"]]
        server.stop()


def test_of_two_servers_one_sends_and_the_other_takes_over(tmp_path, apple, root, receiver):
    """F9: leased work happens once, and moves when a process dies."""
    with postgres(tmp_path) as location:
        servers = [Server(location, root, environment=ALLOWED) for _ in range(2)]
        servers[0].call("/v1/webhook_endpoints", json.dumps({"url": receiver.url}).encode())
        buyer = customer(servers[0], "user-1")
        for number in range(40):
            servers[number % 2].call(
                "/webhooks/app_store", apple.coins_bought(number, buyer["app_account_token"]))
        until(lambda: len(set(receiver.ids())) >= 40)
        assert len(receiver.ids()) == len(set(receiver.ids())), "each is sent once"
        servers[0].kill()
        for number in range(40, 60):
            servers[1].call(
                "/webhooks/app_store", apple.coins_bought(number, buyer["app_account_token"]))
        began = time.monotonic()
        until(lambda: len(set(receiver.ids())) >= 60, seconds=120)
        print(f"taken over after {time.monotonic() - began:.1f} s")
        servers[1].stop()
