"""The OpenAPI document, judged by the public validator."""

import json
import pathlib

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

DOCUMENT = (
    pathlib.Path(__file__).parents[2] / "Sources" / "TollgateServer" / "Pages" / "openapi.json"
)


@pytest.fixture(scope="module")
def document():
    return json.loads(DOCUMENT.read_text(encoding="utf-8"))


def operations(document):
    for path, item in document["paths"].items():
        for method, operation in item.items():
            yield f"{method.upper()} {path}", operation


def test_the_document_is_valid_openapi_3_1(document):
    assert document["openapi"].startswith("3.1.")
    errors = [error.message for error in OpenAPIV31SpecValidator(document).iter_errors()]
    assert errors == []


def test_operation_ids_are_unique(document):
    ids = [operation["operationId"] for _, operation in operations(document)]
    assert len(ids) == len(set(ids))


def test_every_operation_says_who_may_call_it_and_what_it_answers(document):
    for name, operation in operations(document):
        assert "security" in operation, name
        assert operation["summary"], name
        # A form of a page is answered by leading on.
        assert any(status.startswith(("2", "303")) for status in operation["responses"]), name


def test_every_refusal_has_the_shape_of_the_error(document):
    for name, operation in operations(document):
        for status, response in operation["responses"].items():
            if status == "default" or status.startswith(("4", "5")):
                media = response["content"]
                if "text/html" in media:
                    continue
                schema = media["application/json"]["schema"]
                assert schema == {"$ref": "#/components/schemas/Error"}, f"{name} {status}"
