"""Secret keys with scopes, made and revoked by command: beside a server, and without one (Z1)."""

import json
import os
import subprocess
import urllib.error

import pytest

from tollgate_world import BINARY, SECRET, Server, sqlite


def keys(*arguments, database, **environment):
    done = subprocess.run(
        [BINARY, "keys", *arguments], capture_output=True, text=True, timeout=60,
        env=os.environ | {
            "TOLLGATE_DATABASE": database, "TOLLGATE_SECRET_KEY": SECRET} | environment)
    return done.returncode, done.stdout, done.stderr


def status(server, path, key, body=None):
    try:
        server.call(path, body, Authorization=f"Bearer {key}")
        return 200, None
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)["error"]["code"]


def test_a_key_is_made_used_and_revoked_by_command(tmp_path):
    with sqlite(tmp_path) as database:
        # Without a server the command opens the database itself.
        code, out, complaint = keys("create", "a job", "--scope", "read", database=database)
        assert code == 0, complaint
        early_id, early = out.split()[0], out.split()[-1]
        server = Server(database)
        try:
            beside = ("--server", server.url, "--json")
            code, out, complaint = keys(
                "create", "spender", "--scope", "coins", "--scope", "read", *beside,
                database=database)
            assert code == 0, complaint
            made = json.loads(out)
            assert made["scopes"] == ["read", "coins"] and made["secret"].startswith("sk_test_")
            customer = server.call("/v1/customers", b'{"app_user_id":"ann"}')["id"]
            path = f"/v1/customers/{customer}/entitlements"
            for key in (early, made["secret"]):
                assert status(server, path, key) == (200, None)
                assert status(server, f"/v1/customers/{customer}/grants", key, b"{}") == (
                    403, "customers_scope_required")
            assert status(server, f"/v1/customers/{customer}/coins/spend", early, b"{}") == (
                403, "coins_scope_required")
            code, out, _ = keys("revoke", early_id, *beside, database=database)
            assert code == 0 and json.loads(out)["revoked"]
            assert status(server, path, early) == (401, "invalid_key")
            assert status(server, path, made["secret"]) == (200, None)
        finally:
            server.stop()
        # The last use is written when the server ends, at the latest.
        code, out, _ = keys("secret", "--json", database=database)
        listed = {key["id"]: key for key in json.loads(out)}
        assert code == 0 and "secret" not in str(listed[made["id"]].keys())
        assert listed[made["id"]]["last_used"] and listed[early_id]["last_used"]
        assert listed[made["id"]]["created_by"] == "secret key"
        assert listed[early_id]["created_by"].startswith("cli:")
        code, out, _ = keys("secret", database=database)
        assert "revoked" in out and "spender" in out and made["secret"] not in out
    assert made["secret"].encode() not in (tmp_path / "crash.sqlite").read_bytes()


@pytest.mark.parametrize(("arguments", "code", "words"), [
    (("create", "x", "--scope", "write"), 2, "none of read, customers"),
    (("create", "x"), 2, "--scope"),
    (("revoke", "key_nobody"), 1, "No such secret key"),
    (("create", "x", "--scope", "read", "--server", "http://billing.example.com"), 2,
     "in the clear"),
    (("secret", "--server", "http://192.0.2.1:8080"), 2, "in the clear"),
])
def test_what_is_wrong_is_said(tmp_path, arguments, code, words):
    with sqlite(tmp_path) as database:
        status, _, complaint = keys(*arguments, database=database)
        assert status == code and words in complaint
