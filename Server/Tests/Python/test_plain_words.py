"""M1: failures that once were told in the program's own words. Every other test's messages are looked at
too: see plain_words.py."""

import json
import os
import subprocess
import urllib.error

import pytest

import plain_words
from ports import free_port
from tollgate_world import BINARY, SECRET, Server


def fails(*arguments: str, **environment) -> str:
    """What a command says that fails; `messages_are_in_plain_words` looks at it as well."""
    ended = subprocess.run(
        [BINARY, *arguments], capture_output=True, text=True, timeout=120,
        env=os.environ | {"TOLLGATE_SECRET_KEY": SECRET} | environment)
    assert ended.returncode in (1, 2), (arguments, ended.returncode, ended.stderr)
    assert ended.stderr.strip(), arguments
    assert plain_words.dump(ended.stderr) is None
    return ended.stderr


def test_a_dump_is_noticed():
    for text in [
        "Refusal(reason: StripeAPI.Stripe.WebhookSignature.Refusal.Reason.mismatch, age: nil)",
        "No server answers: HTTPClientError.connectTimeout",
        "connect: Connection refused (errno: 111)",
        "cannot be read: keyNotFound(CodingKeys(stringValue: \"id\"), …",
        "Error Domain=NSCocoaErrorDomain Code=260",
    ]:
        assert plain_words.dump(text), text
    assert plain_words.dump("Stripe could not do this now; nothing was done here.") is None


def test_a_server_that_does_not_answer():
    address = f"http://127.0.0.1:{free_port()}"
    said = fails("check-access", "--database", "sqlite:/nowhere", TOLLGATE_CLOCK=address)
    assert "does not tell the time (Connection refused)" in said, said


def test_files_that_are_not_there_or_not_what_they_should_be(tmp_path):
    rubbish = tmp_path / "rubbish.json"
    rubbish.write_text('{"data": [{"product_id": 7}]}')
    said = fails("sandbox", "app-store", "--products", str(rubbish))
    assert "rubbish.json cannot be read: 'data.0.product_id' is not" in said, said
    assert "there is no such file" in fails(
        "serve", "--catalog", str(tmp_path / "none.yaml"), "--database", f"sqlite:{tmp_path}/a")
    fails("import", "reports", str(tmp_path / "none.txt"), "--database", f"sqlite:{tmp_path}/b")
    fails("scenario", "run", str(tmp_path / "none.yaml"))
    fails("explain", "jenny", "pro", "--database", f"sqlite:{tmp_path}/none.sqlite")
    fails("staff", "list", "--database", f"postgres://nobody@127.0.0.1:{free_port()}/none")


def test_a_webhook_that_stripe_did_not_sign(tmp_path):
    server = Server(
        f"sqlite:{tmp_path}/words.sqlite",
        environment={"TOLLGATE_STRIPE_WEBHOOK_SECRETS": "whsec_" + "a" * 32})
    try:
        for signature, words in [
            ("t=1,v1=" + "0" * 64, "not of this body"), ("v1=00", "no time"), ("t=1", "no signature")
        ]:
            with pytest.raises(urllib.error.HTTPError) as refused:
                server.call("/webhooks/stripe", b"{}", **{"Stripe-Signature": signature})
            message = json.load(refused.value)["error"]["message"]
            assert words in message, message
    finally:
        server.stop()
