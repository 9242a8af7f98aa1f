"""One simulated Google Play in a process of its own, and Google's own libraries pointed at it.

The libraries are unmodified; only addresses are told to them. Every answer of the Developer API is
checked against its schema in the discovery document that google-api-python-client brings along:
a field that the document does not know, or of another type, fails.
"""

import base64
import json
import os
import pathlib
import re
import subprocess
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import googleapiclient
from google.oauth2 import service_account
from googleapiclient.discovery import build

PACKAGE = "com.example.app"
SCOPE = "https://www.googleapis.com/auth/androidpublisher"
HOUR = 3_600_000
DAY = 24 * HOUR
CATALOG = {
    "subscriptions": [
        {"product_id": "premium", "title": "Premium", "base_plans": [
            {"base_plan_id": "monthly", "period": "P1M", "price_micros": 9_990_000,
             "grace_period": "P7D", "offer_tags": ["standard"],
             "regions": {"DE": {"price_micros": 10_990_000, "currency": "EUR"},
                         "KR": {"price_micros": 12_000_000_000, "currency": "KRW"}},
             "offers": [
                 {"offer_id": "trial", "tags": ["new"], "phases": [
                     {"duration": "P1W"},
                     {"duration": "P1M", "count": 2, "price_micros": 4_990_000}]}]},
            {"base_plan_id": "strict", "period": "P1M", "price_micros": 8_990_000,
             "grace_period": "P0D"},
            {"base_plan_id": "yearly", "period": "P1Y", "price_micros": 99_990_000},
            {"base_plan_id": "prepaid", "kind": "prepaid", "period": "P1M",
             "price_micros": 9_990_000},
            {"base_plan_id": "installments", "kind": "installments", "period": "P1M",
             "price_micros": 7_990_000, "committed_payments": 3}]},
        {"product_id": "basic", "base_plans": [
            {"base_plan_id": "monthly", "period": "P1M", "price_micros": 4_990_000}]},
        {"product_id": "sports", "base_plans": [
            {"base_plan_id": "monthly", "period": "P1M", "price_micros": 3_000_000}]},
    ],
    "one_time_products": [
        {"product_id": "coins", "title": "100 coins", "price_micros": 990_000},
        {"product_id": "level", "price_micros": 1_990_000},
        {"product_id": "film", "purchase_options": [
            {"purchase_option_id": "rent", "price_micros": 3_990_000, "rental_period": "P2D"}]},
        {"product_id": "game", "purchase_options": [
            {"purchase_option_id": "buy", "price_micros": 59_990_000, "offers": [
                {"offer_id": "early", "price_micros": 49_990_000,
                 "release_time": 4_102_444_800_000}]}]},
    ],
}


def tollgate():
    default = pathlib.Path(__file__).resolve().parents[2] / ".build" / "debug" / "tollgate"
    return os.environ.get("TOLLGATE_BIN", str(default))


class Schemas:
    """Judges answers by the discovery document."""

    def __init__(self, name="androidpublisher.v3"):
        folder = pathlib.Path(googleapiclient.__file__).parent / "discovery_cache/documents"
        self.document = json.loads((folder / f"{name}.json").read_text())
        self.methods = {}
        self._collect(self.document)

    def _collect(self, node):
        for method in node.get("methods", {}).values():
            self.methods[method["id"].removeprefix("androidpublisher.")] = method
        for resource in node.get("resources", {}).values():
            self._collect(resource)

    def check_answer(self, method_id, answer):
        response = self.methods[method_id].get("response")
        if response is None:
            assert not answer, f"{method_id} answers nothing, not {answer!r}"
        else:
            self.check(answer, {"$ref": response["$ref"]}, response["$ref"])

    def check(self, value, schema, place):
        if "$ref" in schema:
            return self.check(value, self.document["schemas"][schema["$ref"]], place)
        kind = schema.get("type")
        if kind == "object":
            assert isinstance(value, dict), f"{place} is no object: {value!r}"
            properties = schema.get("properties", {})
            if "additionalProperties" in schema:
                for name, member in value.items():
                    self.check(member, schema["additionalProperties"], f"{place}.{name}")
                return
            unknown = set(value) - set(properties)
            assert not unknown, f"{place} has fields that Google does not know: {unknown}"
            for name, member in value.items():
                self.check(member, properties[name], f"{place}.{name}")
        elif kind == "array":
            assert isinstance(value, list) and value, f"{place} is no list, or an empty one"
            for index, item in enumerate(value):
                self.check(item, schema["items"], f"{place}[{index}]")
        elif kind == "string":
            assert isinstance(value, str), f"{place} is no string: {value!r}"
            if "enum" in schema:
                assert value in schema["enum"], f"{place}: {value} is none of {schema['enum']}"
            pattern = {
                "int64": r"-?\d+", "uint64": r"\d+", "google-duration": r"\d+(\.\d+)?s",
                "google-datetime": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z",
            }.get(schema.get("format"), ".*")
            assert re.fullmatch(pattern, value, re.S), f"{place}: {value}"
        elif kind == "integer":
            assert isinstance(value, int) and not isinstance(value, bool), f"{place}: {value!r}"
        elif kind == "boolean":
            assert isinstance(value, bool), f"{place}: {value!r}"
        elif kind == "number":
            assert isinstance(value, (int, float)), f"{place}: {value!r}"
        else:
            raise AssertionError(f"{place}: a type that nobody thought of, {kind}")


SCHEMAS = Schemas()


class Play:
    """The simulator, the app's server that it tells, and a client of the Developer API."""

    def __init__(self, directory, *options, push=True):
        self.pushed = []
        self.status = 204
        self.called = set()
        self.directory = directory
        self.options = options
        self.inbox = self._listen()
        self.endpoint = f"http://127.0.0.1:{self.inbox.server_port}/push"
        self.push_options = ["--push-endpoint", self.endpoint] if push else []
        self.start()
        self.control("PUT", "catalog", CATALOG)

    def start(self):
        self.key_file = self.directory / "service-account.json"
        self.process = subprocess.Popen(
            [
                tollgate(), "sandbox", "google-play", "--listen", "127.0.0.1:0",
                "--control", "127.0.0.1:0", "--package-name", PACKAGE,
                "--service-account-out", str(self.key_file), *self.push_options, *self.options,
            ],
            stdout=subprocess.PIPE, text=True,
        )
        self.base = self.control_base = None
        while not (self.base and self.control_base):
            line = self.process.stdout.readline()
            assert line, "the simulator ended before it listened"
            if line.startswith("google-play control listening on "):
                self.control_base = line.split()[-1]
            elif line.startswith("google-play listening on "):
                self.base = line.split()[-1]
        self.credentials = service_account.Credentials.from_service_account_file(
            str(self.key_file), scopes=[SCOPE])
        self.api = self.client("androidpublisher", "v3")

    def client(self, name, version, credentials=None, path=""):
        """Google's own client, with the discovery document that it brings along."""
        return build(
            name, version, credentials=credentials or self.credentials,
            client_options={"api_endpoint": self.base + path}, static_discovery=True)

    def scoped(self, *scopes):
        return service_account.Credentials.from_service_account_file(
            str(self.key_file), scopes=list(scopes))

    def _listen(self):
        play = self

        class Inbox(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                play.pushed.append((dict(self.headers), body))
                self.send_response(play.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Inbox)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=20)
        self.inbox.shutdown()

    def kill(self):
        self.process.kill()
        self.process.wait(timeout=20)

    # The control API

    def control(self, method, path, body=None):
        request = urllib.request.Request(
            f"{self.control_base}/sandbox/{path}", method=method,
            data=None if method == "GET" else json.dumps(body or {}).encode())
        with urllib.request.urlopen(request, timeout=120) as response:
            return json.loads(response.read())

    def refused(self, method, path, body=None):
        try:
            answer = self.control(method, path, body)
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())["error"]["message"]
        raise AssertionError(f"not refused: {answer}")

    def post(self, path, **body):
        return self.control("POST", path, body)

    def advance(self, milliseconds):
        return self.post("clock/advance", by=milliseconds)["now"]

    def now(self):
        return self.control("GET", "clock")["now"]

    def account(self, **properties):
        return self.post("accounts", **properties)["id"]

    def buy(self, product, acknowledge=True, **options):
        bought = self.post("purchases", product_id=product, **options)
        if acknowledge and bought["state"] not in ("PENDING",):
            self.post(f"purchases/{bought['purchase_token']}/acknowledge")
        return bought["purchase_token"]

    # The Developer API

    def call(self, method_id, **parameters):
        """Calls a method by its id in the discovery document, and judges the answer."""
        *resources, name = method_id.split(".")
        node = self.api
        for resource in resources:
            node = getattr(node, resource)()
        path_of_package = "parent" if method_id.startswith("externaltransactions.create") else None
        if method_id.startswith("externaltransactions."):
            if path_of_package:
                parameters["parent"] = f"applications/{PACKAGE}"
        else:
            parameters["packageName"] = PACKAGE
        answer = getattr(node, name)(**parameters).execute()
        SCHEMAS.check_answer(method_id, answer)
        self.called.add(method_id)
        return answer

    def read(self, token):
        return self.call("purchases.subscriptionsv2.get", token=token)

    def state(self, token):
        return self.read(token)["subscriptionState"].removeprefix("SUBSCRIPTION_STATE_")

    def read_product(self, token):
        return self.call("purchases.productsv2.getproductpurchasev2", token=token)

    def control_token(self):
        """An access token, for requests without Google's client."""
        import google.auth.transport.requests

        self.credentials.refresh(google.auth.transport.requests.Request())
        return self.credentials.token

    @staticmethod
    def hammer(url, headers, times):
        """The statuses of so many requests."""
        codes = []
        for _ in range(times):
            try:
                with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as answer:
                    codes.append(answer.status)
            except urllib.error.HTTPError as error:
                codes.append(error.code)
        return codes

    def certificates(self):
        with urllib.request.urlopen(f"{self.base}/oauth2/v1/certs") as answer:
            return json.loads(answer.read())

    # What was pushed

    def notifications(self):
        data = [base64.b64decode(json.loads(body)["message"]["data"]) for _, body in self.pushed]
        return [json.loads(one) for one in data if one.startswith(b"{")]

    def hints(self, token):
        # An answer of the API leaves before the push it causes; an act waits for all of them.
        self.advance(0)
        return [
            one["subscriptionNotification"]["notificationType"] for one in self.notifications()
            if one.get("subscriptionNotification", {}).get("purchaseToken") == token]
