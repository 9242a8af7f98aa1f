"""schemathesis against the running server: for each operation of the OpenAPI document, requests that it
allows and requests that it forbids, with a secret key or with a customer's session.

No answer is 5xx, none is undocumented (status, content type, shape of the body, code of a refusal), and
nothing that the document forbids is accepted. The examples are few and the same in every run; with
`TOLLGATE_SOAK=1` they are many.
"""

import datetime
import itertools
import json
import os
import re
import subprocess
import zlib

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi import checks

from ports import free_port
from tollgate_world import BINARY, ROOT

KEY = "sk_test_demo"


def strict_document():
    """The document without its `default` answers, which any status would fit."""
    path = ROOT / "Server/Sources/TollgateServer/Pages/openapi.json"
    document = json.loads(path.read_text("utf-8"))
    for methods in document["paths"].values():
        for operation in methods.values():
            operation["responses"].pop("default", None)
    return document


def code_is_described(_context, response, case):
    """The code of a refusal stands in the description of its status."""
    is_refusal = response.status_code >= 400 and "json" in response.headers["content-type"][0]
    # What 405 answers is a method that the document does not have.
    if not is_refusal or response.status_code == 405:
        return
    code = response.json()["error"]["code"]
    responses = case.operation.definition.raw["responses"]
    described = responses.get(str(response.status_code), {}).get("description", "")
    assert f"`{code}`" in described, f"{response.status_code} {code} is not described"


CHECKS = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
    checks.negative_data_rejection,
    code_is_described,
]
DOCUMENT = schemathesis.openapi.from_dict(
    strict_document(), config=SchemathesisConfig.from_dict({"generation": {
        # The server ignores parameters that it does not know, and the key is the test's.
        "allow-extra-parameters": False, "with-security-parameters": False,
    }}))
# `make test` asks with one of them, on the next day with the other.
CALLERS = ["secret key", "session"]
if not os.environ.get("TOLLGATE_SOAK"):
    CALLERS = [CALLERS[datetime.date.today().toordinal() % 2]]
BOUND = settings(
    max_examples=200 if os.environ.get("TOLLGATE_SOAK") else 6,
    derandomize=True, deadline=None, database=None,
    suppress_health_check=list(HealthCheck))


class World:
    """`tollgate demo`, so that all stores answer, and things that paths may name."""

    def __init__(self, folder):
        self.process = subprocess.Popen(
            [BINARY, "demo", "--database", f"sqlite:{folder}/demo.sqlite",
             "--catalog", ROOT / "catalog.yaml", "--listen", f"127.0.0.1:{free_port()}",
             "--app-store-listen", f"127.0.0.1:{free_port()}",
             "--stripe-listen", f"127.0.0.1:{free_port()}",
             "--google-play-listen", f"127.0.0.1:{free_port()}"],
            stdout=subprocess.PIPE, text=True, cwd=folder)
        self.url = None
        while not self.url:
            line = self.process.stdout.readline()
            assert line, "the demo ended before it listened"
            if found := re.search(r"(http://\S+)/demo$", line.strip()):
                self.url = found[1]
        self.customers = itertools.count()
        self.endpoint = self.made(
            "/v1/webhook_endpoints", url="https://example.com/hooks")["id"]

    def made(self, path, **body):
        answer = httpx.post(
            self.url + path, json=body, headers={"Authorization": f"Bearer {KEY}"}, timeout=60)
        assert answer.status_code < 300, answer.text
        return answer.json()

    def customer(self):
        return self.made("/v1/customers", app_user_id=f"user {next(self.customers)}")["id"]

    def session(self, customer):
        enabled = {"enabled": True}
        return self.made("/v1/customer_sessions", customer=customer, components={
            "buy_button": enabled, "active_entitlements": enabled, "customer_portal": enabled,
        })["client_secret"]

    def ids(self, path, customer):
        """What `{id}` and `{name}` name in two of three examples: things that there are."""
        if path.startswith("/v1/customers"):
            return [customer]
        if path.startswith("/v1/webhook_endpoints"):
            return [self.endpoint]
        if "buy_buttons" in path or path.startswith("/buy/"):
            return ["buy_coins_100"]
        if "placements" in path:
            return ["paywall"]
        return ["revenue", "mrr", "rows-sales", "sales"] if path.startswith("/v1/reports") else []


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("schemathesis"))
    yield world
    world.process.terminate()
    world.process.wait(timeout=30)


@pytest.fixture
def callers(world):
    """A customer of this operation's own, whom it may erase, and who asks."""
    customer = world.customer()
    return customer, {"secret key": KEY, "session": world.session(customer)}


@pytest.mark.parametrize("caller", CALLERS)
@DOCUMENT.parametrize()
@BOUND
def test_every_answer_is_as_the_document_says(case, caller, world, callers):
    customer, keys = callers
    known = world.ids(case.operation.path, customer)
    for name, drawn in (case.path_parameters or {}).items():
        # By what was drawn, so that an example that fails fails again.
        turn = zlib.crc32(str(drawn).encode())
        if known and turn % 3:
            case.path_parameters[name] = known[turn // 3 % len(known)]
    case.call_and_validate(
        base_url=world.url, headers={"Authorization": f"Bearer {keys[caller]}"}, checks=CHECKS,
        timeout=60)
