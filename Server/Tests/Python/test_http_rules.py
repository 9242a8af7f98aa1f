"""H7: requests that break the rules of HTTP/1.1, or off, are answered as the client's mistakes: with 4xx
and without a line in the log."""

import re
import socket
import struct

import pytest

from test_attacks import AUTH, alive, code, exchange
from tollgate_world import Server


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    return tmp_path_factory.mktemp("rules") / "log"


@pytest.fixture(scope="module")
def server(log):
    with open(log, "wb") as stderr:
        made = Server(f"sqlite:{log.parent}/rules.sqlite", stderr=stderr)
    yield made
    made.stop()


@pytest.fixture(autouse=True)
def no_error_of_ours(server, log):
    """Whatever a test sends: nothing is logged, and no 5xx is counted."""
    yield
    alive(server)
    metrics = exchange(server, b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert b'tollgate_refusals_total{status="5' not in metrics
    assert log.read_bytes() == b""


def statuses(answer: bytes) -> list[int]:
    """Of all answers, also of one that begins where the body before it ends."""
    return [int(number) for number in re.findall(rb"HTTP/1\.1 (\d{3}) ", answer)]


CHUNKED = f"Host: x\r\n{AUTH}Transfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize("path", ["/v1/customers", "/webhooks/app_store", "/webhooks/stripe"])
@pytest.mark.parametrize(
    "body", ["zz\r\nabc\r\n0\r\n\r\n", "5\r\nabcdefgh\r\n0\r\n\r\n", "-1\r\n\r\n",
             "fffffffffffffffff\r\nabc", "5;\x00\r\nabcde\r\n0\r\n\r\n", "2\r\n{}\r\n\x00\r\n\r\n"])
def test_h7_malformed_chunks_are_400(server, path, body):
    answer = exchange(server, f"POST {path} HTTP/1.1\r\n{CHUNKED}{body}".encode("latin-1"), 12)
    assert statuses(answer) == [400], answer[:300]
    assert code(answer) in ("malformed_body", "malformed_request")


def test_h7_malformed_chunks_after_another_request_leave_its_answer_alone(server):
    answer = exchange(
        server, b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
        + f"POST /v1/customers HTTP/1.1\r\n{CHUNKED}zz\r\n".encode(), 12)
    assert statuses(answer) == [200, 400], answer[:600]


BEGUN = [
    f"POST /v1/customers HTTP/1.1\r\nHost: x\r\n{AUTH}Content-Length: 100\r\n\r\n{{",
    f"POST /v1/customers HTTP/1.1\r\n{CHUNKED}5\r\nab",
    "POST /webhooks/app_store HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{",
    "POST /webhooks/stripe HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{",
    "POST /dashboard/sign-in HTTP/1.1\r\nHost: x\r\nOrigin: http://x\r\nContent-Length: 100\r\n\r\nname=",
]


@pytest.mark.parametrize("begun", BEGUN)
@pytest.mark.parametrize("how", ["closed", "half closed", "reset"])
def test_h7_a_body_that_its_client_breaks_off_is_no_error_of_ours(server, begun, how):
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as wire:
        wire.sendall(begun.encode())
        # Somebody asks meanwhile, so that the server has read it.
        alive(server)
        if how == "half closed":
            wire.shutdown(socket.SHUT_WR)
            answer = b""
            while part := wire.recv(65_536):
                answer += part
            assert statuses(answer)[:1] in ([400], [403]), answer
        if how == "reset":
            wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


@pytest.mark.parametrize("hosts", ["", "Host: a\r\nHost: b\r\n", "Host: a\r\nhost: a\r\n"])
@pytest.mark.parametrize("line", ["GET /healthz", "POST /webhooks/stripe", "GET /v1/events"])
def test_h7_a_request_names_one_host(server, hosts, line):
    answer = exchange(server, f"{line} HTTP/1.1\r\n{hosts}Content-Length: 0\r\n\r\n".encode(), 5)
    assert statuses(answer) == [400], answer[:300]
    assert code(answer) == "malformed_request"


@pytest.mark.parametrize(
    "coding", ["gzip", "identity", "xchunked", "chunked, gzip", "gzip, chunked", "chunked\r\nTransfer-Encoding: chunked"])
@pytest.mark.parametrize("path", ["/v1/customers", "/webhooks/app_store", "/nothing"])
def test_h7_an_unknown_transfer_encoding_has_one_answer_and_is_the_last(server, coding, path):
    answer = exchange(
        server, f"POST {path} HTTP/1.1\r\nHost: x\r\n{AUTH}Transfer-Encoding: {coding}\r\n\r\n"
        "2\r\n{}\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n".encode(), 12)
    assert statuses(answer) == [400], answer[:600]
    assert b"connection: close" in answer.lower()


@pytest.mark.parametrize("more", ["", "Connection: keep-alive\r\n", "Host: x\r\n"])
def test_h7_http_1_0_is_answered_once(server, more):
    answer = exchange(
        server, f"GET /healthz HTTP/1.0\r\n{more}\r\nGET /healthz HTTP/1.0\r\n\r\n".encode(), 5)
    assert statuses(answer) == [200], answer[:300]
    assert b"connection: close" in answer.lower()


@pytest.mark.parametrize("value", ["close", "Close", "keep-alive, close"])
def test_h7_whoever_asks_for_the_last_answer_gets_it(server, value):
    answer = exchange(
        server, f"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: {value}\r\n\r\n".encode(), 5)
    assert statuses(answer) == [200] and b"connection: close" in answer.lower()


GET = "GET /healthz HTTP/1.1\r\nHost: x\r\n"


@pytest.mark.parametrize("offer", [
    "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n",
    "Connection: keep-alive, upgrade\r\nupgrade: websocket\r\n", "Upgrade: TLS/1.0\r\n"])
@pytest.mark.parametrize("more", ["", GET + "\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"])
def test_h7_an_offer_of_another_protocol_is_answered_in_this_one_for_the_last_time(server, offer, more):
    answer = exchange(server, f"{GET}{offer}\r\n{more}".encode(), 5)
    assert statuses(answer) == [200], answer[:300]
    assert b"connection: close" in answer.lower()


def test_h7_nobody_is_connected_to_elsewhere(server):
    answer = exchange(
        server, f"CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n{GET}\r\n".encode(), 5)
    assert len(statuses(answer)) == 1 and 400 <= statuses(answer)[0] < 500, answer[:300]
    assert b"connection: close" in answer.lower()
