"""The guides for other frameworks: every request and answer is one of the API's, and every call of the
SDK is in its reviewed public API. Their Kotlin is parsed. scripts/apple-typecheck.sh compiles Flutter's
Swift, and test_objective_c_guides.py holds the Objective-C to the SDK's classes.
"""

import json
import re
from pathlib import Path

import pytest
import tree_sitter
import tree_sitter_kotlin

ROOT = Path(__file__).resolve().parents[3]
API = json.loads((ROOT / "Server/Sources/TollgateServer/Pages/openapi.json").read_text())
SDK = (ROOT / "docs/public-api/BillingSDK.txt").read_text()
PAGES = ["sdk-wrappers", "flutter", "react-native", "kotlin-multiplatform"]
KOTLIN = tree_sitter.Parser(tree_sitter.Language(tree_sitter_kotlin.language()))


def fences(page, language):
    text = (ROOT / "docs" / f"{page}.md").read_text()
    return re.findall(rf"```{language}\n(.*?)```", text, re.S)


def resolved(schema):
    while "$ref" in schema:
        schema = API["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    return schema


def alternatives(schema):
    schema = resolved(schema)
    for word in ("oneOf", "anyOf", "allOf"):
        for one in schema.get(word, []):
            yield from alternatives(one)
    yield schema


def strange(value, schema, at):
    """Where a value is not of its schema's types and names."""
    schemas = list(alternatives(schema))
    if isinstance(value, dict):
        named = {k: v for one in schemas for k, v in one.get("properties", {}).items()}
        others = [one["additionalProperties"] for one in schemas
                  if isinstance(one.get("additionalProperties"), dict)]
        for key, part in value.items():
            if key in named:
                yield from strange(part, named[key], f"{at}.{key}")
            elif others:
                yield from strange(part, others[0], f"{at}.{key}")
            elif named:
                yield f"{at}.{key}"
    elif isinstance(value, list):
        for one in schemas:
            for part in value if "items" in one else []:
                yield from strange(part, one["items"], f"{at}[]")
    else:
        words = [one["enum"] for one in schemas if "enum" in one]
        if words and value is not None and not any(value in one for one in words):
            yield f"{at} = {value}"


def exchange(block):
    """Method, path, status, the request's body and the answer's, as far as they are there."""
    method, path = block.split("\n", 1)[0].split()
    _, _, rest = block.partition("\n\n")
    body = answer = status = None
    for part in rest.strip().split("\n\n"):
        if said := re.match(r"(\d{3}) (.*)", part, re.S):
            status, answer = said[1], json.loads(said[2])
        elif part:
            body = json.loads(part)
    return method, path, body, status, answer


def operation(method, path):
    for template, methods in API["paths"].items():
        if re.fullmatch(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(template)), path):
            if method.lower() in methods:
                return methods[method.lower()]
    raise AssertionError(f"there is no {method} {path}")


def body_schema(described):
    for form in described.get("content", {}).values():
        return form["schema"]
    return {}


@pytest.mark.parametrize("page", PAGES)
def test_every_request_and_answer_is_one_of_the_api(page):
    blocks = fences(page, "http")
    assert blocks
    for block in blocks:
        method, path, body, status, answer = exchange(block)
        described = operation(method, path)
        if body is not None:
            schema = body_schema(described["requestBody"])
            assert list(strange(body, schema, path)) == []
            assert set(resolved(schema).get("required", [])) <= body.keys(), path
        if answer is not None:
            responses = described["responses"]
            schema = body_schema(resolved(responses.get(status, responses["default"])))
            assert schema, f"{path} answers nothing with {status}"
            assert list(strange(answer, schema, path)) == []
            assert set(resolved(schema).get("required", [])) <= answer.keys(), path


@pytest.mark.parametrize("page", PAGES[1:])
def test_every_call_that_is_listed_is_in_the_api(page):
    text = (ROOT / "docs" / f"{page}.md").read_text()
    calls = re.findall(r"`(GET|POST) (/v1/[^`]+)`", text)
    assert len(calls) > 6
    for method, path in calls:
        operation(method, path.replace("{id}", "x"))


@pytest.mark.parametrize("page", PAGES[1:])
def test_every_member_of_the_sdk_is_in_its_public_api(page):
    rows = re.findall(r"^\| `.*\|$", (ROOT / "docs" / f"{page}.md").read_text(), re.M)
    assert len(rows) > 5
    for row in rows:
        for member in re.findall(r"`([^`]+)`", row.split("|")[2]):
            name = re.sub(r"^(?:TGBilling|BillingSDK)\(", "init(", member)
            assert f".{name}:" in SDK, f"{page}: {member}"


def test_flutters_channel_has_the_names_of_its_table():
    text = (ROOT / "docs/flutter.md").read_text()
    table = {name: set(arguments.split(", ")) if arguments else set() for name, arguments in
             re.findall(r"^\| `(\w+)(?: \{([\w, ]+)\})?` \|", text, re.M)}
    (swift,), (dart,) = fences("flutter", "swift"), fences("flutter", "dart")
    handled = set(re.findall(r'case "(\w+)":', swift))
    assert handled and handled <= table.keys()
    assert set(re.findall(r'arguments\["(\w+)"\]', swift)) <= table["hasEntitlement"]
    for name, arguments in re.findall(r"invokeMethod<\w+>\('(\w+)', \{(.*?)\}\)", dart):
        assert set(re.findall(r"'(\w+)':", arguments)) == table[name]
    # The backend's answer, as BillingSDK decodes it.
    (session,) = re.findall(r"// \{([\w, ]+)\}, or null", dart)
    for key in session.split(", "):
        assert f"UBCustomerSessionDetails.{key}: " in SDK


def test_a_stranger_in_a_body_is_noticed():
    schema = {"$ref": "#/components/schemas/AppStoreTransactionRequest"}
    assert list(strange({"signed_transaction": "x", "mode": "bought", "token": 1}, schema, "")) == [
        ".mode = bought", ".token"]
    with pytest.raises(AssertionError):
        operation("PUT", "/v1/app_store/transactions")


def faults(node):
    """The lines on which the parser stumbles."""
    if node.type == "ERROR" or node.is_missing:
        yield node.start_point.row + 1
    for child in node.children:
        yield from faults(child)


@pytest.mark.parametrize("code", fences("kotlin-multiplatform", "kotlin"))
def test_the_kotlin_is_kotlin(code):
    assert list(faults(KOTLIN.parse(code.encode()).root_node)) == []
