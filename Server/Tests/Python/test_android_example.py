"""The Android example: it is Kotlin, and it asks what the API answers.

It is not compiled: that needs Android's tools and the Billing Library.
"""

import json
import re
from pathlib import Path

import pytest
import tree_sitter
import tree_sitter_kotlin

ROOT = Path(__file__).resolve().parents[3]
FILES = sorted((ROOT / "Examples/Android").glob("*.kt"))
API = json.loads((ROOT / "Server/Sources/TollgateServer/Pages/openapi.json").read_text())
KOTLIN = tree_sitter.Parser(tree_sitter.Language(tree_sitter_kotlin.language()))


def faults(node):
    """The lines on which the parser stumbles."""
    if node.type == "ERROR" or node.is_missing:
        yield node.start_point.row + 1
    for child in node.children:
        yield from faults(child)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_the_files_are_kotlin(file):
    assert list(faults(KOTLIN.parse(file.read_bytes()).root_node)) == []


def test_a_file_that_is_no_kotlin_is_noticed():
    assert list(faults(KOTLIN.parse(b"fun f() = if (\n").root_node)) != []


def operation(method, path):
    wanted = re.sub(r"\$\{[^}]*\}", "{id}", path)
    return API["paths"][wanted][method.lower()]


def schema(reference):
    return API["components"]["schemas"][reference["$ref"].rsplit("/", 1)[1]]


def test_every_call_and_every_field_is_in_the_description_of_the_api():
    text = (ROOT / "Examples/Android/Tollgate.kt").read_text()
    calls = re.findall(r'call\("(\w+)", "([^"]+)"', text)
    assert len(calls) == 3
    sent, known = set(re.findall(r'\.put\("(\w+)"', text)), set()
    for method, path in calls:
        body = operation(method, path).get("requestBody")
        if body is None:
            continue
        one = schema(body["content"]["application/json"]["schema"])
        known |= one["properties"].keys()
        for part in one["properties"].values():
            nested = schema(part) if "$ref" in part else part
            known |= nested.get("properties", {}).keys()
        assert set(one["required"]) <= sent
    assert sent <= known
    read = set(re.findall(r'(?:one|answer)\.(?:getString|getLong|isNull)\("(\w+)"\)', text))
    answers = [
        schema(operation(method, path)["responses"]["200"]["content"]["application/json"]["schema"])
        for method, path in calls
    ]
    stated = {name for one in answers for name in one["properties"]}
    assert read <= stated | API["components"]["schemas"]["Entitlement"]["properties"].keys()
