"""Traces as a collector of OpenTelemetry receives them; OpenTelemetry's own definitions judge them."""

import base64
import http.server
import json
import re
import threading
import urllib.error

import pytest
from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from tollgate_world import Apple, Server, sqlite

CALLER = "4bf92f3577b34da6a3ce929d0e0e4736"


class Listener:
    """Answers every request alike, and keeps it."""

    def __init__(self, status=200):
        self.requests = requests = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                requests.append((self.path, self.headers, body))
                self.send_response(status)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            do_GET = do_POST

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def spans(self):
        """Every span that came, read by OpenTelemetry's own definitions: unknown fields fail."""
        found = []
        for path, headers, body in self.requests:
            assert path == "/v1/traces" and headers["Content-Type"] == "application/json"
            # In JSON ids are hexadecimal, other than Protobuf's own rule for bytes.
            hexadecimal = re.sub(
                rb'"(traceId|spanId|parentSpanId)":"([0-9a-f]+)"',
                lambda m: b'"%b":"%b"' % (m[1], base64.b64encode(bytes.fromhex(m[2].decode()))),
                body)
            sent = json_format.Parse(hexadecimal, ExportTraceServiceRequest())
            for resource in sent.resource_spans:
                about = {a.key: a.value.string_value for a in resource.resource.attributes}
                assert about["service.name"] == "tollgate" and about["service.version"]
                for scope in resource.scope_spans:
                    found += scope.spans
        return found


@pytest.fixture
def collector():
    listener = Listener()
    yield listener
    listener.server.shutdown()


def attributes(span):
    return {a.key: a.value.string_value or a.value.int_value for a in span.attributes}


def traced(collector, **more):
    return {"TOLLGATE_TRACES_ENDPOINT": collector.url} | more


def test_one_trace_leads_from_a_stores_bytes_to_the_commit(tmp_path, collector):
    apple = Apple()
    root = tmp_path / "root.der"
    root.write_bytes(apple.root_der)
    with sqlite(tmp_path) as database:
        server = Server(database, root, environment=traced(collector))
        body = apple.coins_bought(1, "6dfe1c2e-4e8f-4d0c-9b0a-3a2f5c1d7e90")
        server.call("/webhooks/app_store", body)
        server.stop()
    spans = collector.spans()
    (request,) = [one for one in spans if one.name == "POST /webhooks/app_store"]
    assert request.kind == Span.SPAN_KIND_SERVER and not request.parent_span_id
    assert attributes(request) == {
        "http.request.method": "POST", "http.route": "/webhooks/app_store",
        "http.response.status_code": 200}
    steps = [one for one in spans if one.trace_id == request.trace_id and one is not request]
    assert [one.name for one in steps] == ["verify and translate", "commit"]
    end = request.start_time_unix_nano
    for step in steps:
        assert step.parent_span_id == request.span_id
        assert end <= step.start_time_unix_nano <= step.end_time_unix_nano
        end = step.end_time_unix_nano
    assert end <= request.end_time_unix_nano


def test_a_backends_trace_goes_on_here_and_names_nobody(tmp_path, collector):
    with sqlite(tmp_path) as database:
        server = Server(database, environment=traced(collector))
        person = "ada-whom-nobody-should-see"
        server.call("/v1/customers", json.dumps({"app_user_id": person}).encode())
        server.call(f"/v1/customers/{person}/entitlements",
                    traceparent=f"00-{CALLER}-00f067aa0ba902b7-01")
        with pytest.raises(urllib.error.HTTPError) as missing:
            server.call(f"/v1/nothing/{person}?email={person}")
        assert missing.value.code == 404
        server.stop()
    spans = collector.spans()
    (read,) = [one for one in spans if one.trace_id.hex() == CALLER]
    assert read.name == "GET /v1/customers/{id}/entitlements"
    assert read.parent_span_id.hex() == "00f067aa0ba902b7"
    assert any(attributes(one).get("http.response.status_code") == 404 for one in spans)
    assert not any(person.encode() in body for _, _, body in collector.requests)


def test_what_a_store_is_asked_belongs_to_the_trace(tmp_path, collector):
    stripe = Listener(500)
    with sqlite(tmp_path) as database:
        server = Server(database, environment=traced(
            collector, TOLLGATE_STRIPE_SECRET_KEY="sk_test_x", TOLLGATE_STRIPE_API_BASE=stripe.url,
            TOLLGATE_STRIPE_WEBHOOK_SECRETS="whsec_" + "x" * 32))
        server.call("/v1/customers", b'{"app_user_id":"ada"}')
        with pytest.raises(urllib.error.HTTPError) as failed:
            server.call("/v1/buy_buttons/buy_coins_100/checkout", b'{"customer":"ada"}')
        server.stop()
    stripe.server.shutdown()
    spans = collector.spans()
    (request,) = [one for one in spans if one.name.startswith("POST /v1/buy_buttons/")]
    assert attributes(request)["http.response.status_code"] == failed.value.code >= 500
    assert request.status.code == Status.STATUS_CODE_ERROR
    calls = [one for one in spans if one.trace_id == request.trace_id
             and one.kind == Span.SPAN_KIND_CLIENT]
    assert calls and all(attributes(one)["server.address"] == "127.0.0.1" for one in calls)
    # Stripe could go on with it.
    told = {headers["traceparent"] for _, headers, _ in stripe.requests if headers["traceparent"]}
    assert any(request.trace_id.hex() in one for one in told)
