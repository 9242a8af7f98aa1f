"""`tollgate check-access`: a second opinion, beside a running server."""

import json
import os
import sqlite3
import subprocess

from tollgate_world import Apple, BINARY, Server


def check(location: str, *arguments: str) -> subprocess.CompletedProcess:
    environment = os.environ | {"TOLLGATE_DATABASE": location}
    environment.pop("TOLLGATE_CLOCK", None)
    return subprocess.run(
        [BINARY, "check-access", *arguments], env=environment, capture_output=True, text=True,
        timeout=120)


def test_a_payer_who_is_locked_out_is_named_with_the_evidence(tmp_path):
    apple = Apple()
    root = tmp_path / "root.der"
    root.write_bytes(apple.root_der)
    file = tmp_path / "access.sqlite"
    location = f"sqlite:{file}"
    server = Server(location, root)
    customer = server.call("/v1/customers", json.dumps({"app_user_id": "jenny"}).encode())
    body = apple.bought(
        "com.example.app.lifetime", "Non-Consumable", 1, customer["app_account_token"])
    server.call("/webhooks/app_store", body)

    beside = check(location)
    assert beside.returncode == 0, beside.stdout + beside.stderr
    assert "1 purchases looked at" in beside.stdout and "0 findings" in beside.stdout
    server.stop()

    # Behind the server's back: what is derived of the purchase is gone.
    database = sqlite3.connect(file)
    with database:
        assert database.execute("UPDATE customer SET answer = x''").rowcount == 1
    database.close()
    found = check(location)
    assert found.returncode == 1, found.stdout + found.stderr
    assert f"locked_out  {customer['id']}  pro  sandbox" in found.stdout
    assert "server:   nothing that this customer holds gives it" in found.stdout
    answer = check(location, "--json")
    assert answer.returncode == 1
    findings = json.loads(answer.stdout)["report"]["findings"]
    assert [(f["kind"], f["lookup_key"]) for f in findings] == [
        ("locked_out", "archive"), ("locked_out", "pro")]
    assert all(f["customer"] == customer["id"] and f["evidence"] for f in findings)
    assert findings[0]["purchase"] == "app_store/sandbox/com.example.app/9000001"

    # Before it was bought nobody had paid.
    assert check(location, "--at", "1000").returncode == 0
    wrong = check(location, "--at", "yesterday")
    assert wrong.returncode == 2 and "--at" in wrong.stderr
