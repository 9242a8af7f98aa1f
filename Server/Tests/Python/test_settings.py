"""K3, K4: `tollgate serve` and `tollgate keys` refuse settings that would give keys away, and say all that
is wrong at once."""

import os
import pathlib
import re
import subprocess
import urllib.error
import urllib.request

import pytest

from keys import key
from ports import free_port

ROOT = pathlib.Path(__file__).resolve().parents[3]
TOLLGATE = os.environ.get("TOLLGATE_BIN", str(ROOT / "Server/.build/debug/tollgate"))
CATALOG = str(ROOT / "catalog.yaml")
KEYS = {
    "TOLLGATE_SECRET_KEY": key("sk", "settings"), "TOLLGATE_PUBLISHABLE_KEY": key("pk", "settings"),
}


def environment(given):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TOLLGATE_")}
    return kept | given


def refusal(folder, given, *arguments):
    """Exit code and standard error of `tollgate serve`, or of another command, that does not start."""
    ended = subprocess.run(
        [TOLLGATE, *(arguments or ("serve", "--listen", "127.0.0.1:0", "--catalog", CATALOG))],
        cwd=folder, env=environment(given), text=True, capture_output=True, timeout=60)
    return ended.returncode, ended.stderr


def test_k3_one_message_says_all_that_is_wrong(tmp_path):
    (tmp_path / "no.der").write_bytes(b"")
    code, said = refusal(tmp_path, {
        "TOLLGATE_SECRET_KEY": "sk_live_short", "TOLLGATE_PUBLISHABLE_KEY": "pk_test_demo",
        "TOLLGATE_PUBLIC_URL": "http://billing.example.com", "TOLLGATE_STRIPE_SECRET_KEY": "sk_live_x",
        "TOLLGATE_CLOCK": "http://127.0.0.1:9/clock", "TOLLGATE_STRIPE_WEBHOOK_SECRET": "whsec_x",
        "TOLLGATE_APP_STORE_ENVIRONMENT": "Xcode", "TOLLGATE_APP_STORE_APP_APPLE_ID": "one",
        "TOLLGATE_APP_STORE_ROOTS": "missing.der", "TOLLGATE_LOG_LEVEL": "loud",
        "TOLLGATE_WEBHOOKS_ALLOW_PRIVATE": "perhaps", "TOLLGATE_DATABASE": "mysql://x",
        "TOLLGATE_CATALOG": "none.yaml",
    }, "serve", "--listen", "127.0.0.1:0")
    assert code == 2
    for words in [
            "sk_live_… has 5 characters", "pk_test_demo is the demo's key", "mix live and test",
            "TOLLGATE_PUBLIC_URL is http://", "TOLLGATE_CLOCK is the clock of a sandbox",
            "without TOLLGATE_STRIPE_WEBHOOK_SECRETS", "Did you mean TOLLGATE_STRIPE_WEBHOOK_SECRETS?",
            "Xcode", "'one' is not a number", "missing.der cannot be read", "'loud' is none of",
            "'perhaps' is neither true nor false", "mysql://x", "none.yaml"]:
        assert words in said, (words, said)
    assert re.match(r"\d+ settings are wrong:\n", said)
    assert said.count("\n  - ") == int(said.split()[0])
    assert not (tmp_path / ".tollgate").exists(), "nothing was begun"


@pytest.mark.parametrize("location", [
    "postgresq://tollgate:S3CRET@db/tollgate", "postgres:tollgate:S3CRET@db", "postgresq://db/x?password=S3CRET",
    "postgresq://tollgate:S3CRET?S3CRET@db/x?password=S3CRET"])
def test_k3_a_wrong_database_is_named_without_its_password(tmp_path, location):
    code, said = refusal(tmp_path, KEYS | {"TOLLGATE_DATABASE": location})
    assert code == 2 and "is neither sqlite:PATH nor postgres://" in said
    assert "S3CRET" not in said, said


@pytest.mark.parametrize("given, words", [
    ({}, "TOLLGATE_SECRET_KEY is not set"),
    (KEYS | {"TOLLGATE_SECRET_KEY": KEYS["TOLLGATE_PUBLISHABLE_KEY"]}, "were the two keys swapped?"),
    (KEYS | {"TOLLGATE_DATABSE": "sqlite:x"}, "Did you mean TOLLGATE_DATABASE?"),
    (KEYS | {"TOLLGATE_URL": "https://billing.example.com"}, "TOLLGATE_URL is not a setting"),
    (KEYS | {"TOLLGATE_CONNECTIONS_PER_ADDRESS": "0"}, "'0' is not a number above 0"),
    (KEYS | {"TOLLGATE_TRACES_ENDPOINT": "collector:4318"}, "is not the address of a collector"),
    (KEYS | {"TOLLGATE_TRACES_SAMPLE_RATIO": "0.1"}, "TOLLGATE_TRACES_SAMPLE_RATIO: this needs"),
    (KEYS | {"TOLLGATE_TRACES_ENDPOINT": "http://127.0.0.1:4318", "TOLLGATE_TRACES_SAMPLE_RATIO": "1.5"},
     "a ratio is a number above 0 and up to 1"),
    (KEYS | {"TOLLGATE_TRACES_ENDPOINT": "http://127.0.0.1:4318", "TOLLGATE_TRACES_HEADERS": "S3CRET"},
     "write each header like ‘Authorization: Bearer KEY’"),
    ({"TOLLGATE_SECRET_KEY": "sk_test_demo", "TOLLGATE_PUBLISHABLE_KEY": "pk_test_demo"},
     "try the server out on this machine with --demo"),
])
def test_k3_serve_does_not_start_with(tmp_path, given, words):
    code, said = refusal(tmp_path, given)
    assert code == 2 and words in said, said


@pytest.mark.parametrize("command", [
    ("keys", "list"), ("check-access",), ("report", "list"), ("staff", "list"), ("reconcile", "stripe")])
def test_k3_other_commands_warn_of_what_no_setting_reads(tmp_path, command):
    given = KEYS | {"TOLLGATE_DATABASE": f"sqlite:{tmp_path}/none.sqlite"}
    code, said = refusal(tmp_path, given, *command)
    assert "Warning" not in said
    wrong = given | {"TOLLGATE_DATABSE": "sqlite:x", "TOLLGATE_PORT": "tcp://10.0.0.1:80"}
    again, complained = refusal(tmp_path, wrong, *command)
    sentence = (
        "Warning: TOLLGATE_DATABSE is not a setting of this version. "
        "Did you mean TOLLGATE_DATABASE?\n")
    expected = sentence + said if command != ("report", "list") else said
    assert (again, complained) == (code, expected)


def serving(folder, given, *more):
    """What `tollgate serve` logs until it listens, and then ends."""
    process = subprocess.Popen(
        [TOLLGATE, "serve", "--listen", "127.0.0.1:0", "--catalog", CATALOG, *more], cwd=folder,
        env=environment(given), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.readline()
    process.stdout.readline()
    process.terminate()
    _, logged = process.communicate(timeout=30)
    return process.returncode, logged


def test_k3_a_short_key_is_changed_as_the_document_says(tmp_path):
    short = "sk_test_short"
    code, said = serving(tmp_path, {
        "TOLLGATE_SECRET_KEY": short, "TOLLGATE_PUBLISHABLE_KEY": "pk_test_short2"}, "--demo")
    assert code == 0, said
    # Where the old key is too short it cannot come first, and the message says what can.
    code, said = refusal(tmp_path, KEYS | {
        "TOLLGATE_SECRET_KEY": f"{short},{KEYS['TOLLGATE_SECRET_KEY']}"})
    assert code == 2 and "Put the new key before this one: TOLLGATE_SECRET_KEY=NEW,OLD" in said
    code, said = serving(tmp_path, KEYS | {
        "TOLLGATE_SECRET_KEY": f"{KEYS['TOLLGATE_SECRET_KEY']},{short}"})
    assert code == 0 and "a former key has fewer than 32 random characters" in said
    # What the old key had sealed was sealed anew at that start.
    code, said = serving(tmp_path, KEYS)
    assert code == 0, said
    document = (ROOT / "docs/operations.md").read_text()
    assert "cannot come first" in document.partition("## Keys that change")[2]


def test_k3_a_file_that_is_missing_is_no_wrong_usage(tmp_path):
    code, said = refusal(tmp_path, KEYS, "serve", "--listen", "127.0.0.1:0", "--catalog", "no.yaml")
    assert code == 1 and "no.yaml: cannot be read" in said


def test_k3_the_demos_keys_are_taken_on_this_machine_only(tmp_path):
    arguments = ["serve", "--demo", "--catalog", CATALOG, "--listen"]
    code, said = refusal(tmp_path, {}, *arguments, "0.0.0.0:0")
    assert code == 2 and "listens on this machine only" in said, said
    process = subprocess.Popen(
        [TOLLGATE, *arguments, "127.0.0.1:0"], cwd=tmp_path, env=environment({}), text=True,
        stdout=subprocess.PIPE)
    try:
        base = process.stdout.readline().rsplit(" ", 1)[1].strip()
        request = urllib.request.Request(
            base + "/v1/events", headers={"Authorization": "Bearer sk_test_demo"})
        with urllib.request.urlopen(request, timeout=20) as answer:
            assert answer.status == 200
    finally:
        process.terminate()
        process.wait(timeout=30)
        process.stdout.close()


@pytest.mark.parametrize(
    "option", ["--listen", "--app-store-listen", "--google-play-listen", "--stripe-listen"])
def test_k3_the_demo_listens_on_this_machine_only(tmp_path, option):
    code, said = refusal(
        tmp_path, {"TOLLGATE_CATALOG": CATALOG}, "demo", "--script", option, f"0.0.0.0:{free_port()}")
    assert code == 2 and f"{option}: everybody knows the demo's keys" in said, said


@pytest.mark.parametrize("server", ["http://billing.example.com", "http://10.0.0.1:8080", "HTTP://x"])
@pytest.mark.parametrize("command", [("keys", "list"), ("keys", "rotate")])
def test_k4_the_secret_key_is_not_sent_in_the_clear(tmp_path, command, server):
    code, said = refusal(tmp_path, KEYS, *command, "--server", server)
    assert code == 2 and "in the clear" in said, said


def test_k5_metrics_have_an_address_of_their_own(tmp_path):
    port, metrics = free_port(), free_port()
    process = subprocess.Popen(
        [TOLLGATE, "serve", "--listen", f"127.0.0.1:{port}", "--metrics-listen", f":{metrics}",
         "--catalog", CATALOG],
        cwd=tmp_path, env=environment(KEYS), text=True, stdout=subprocess.PIPE)
    try:
        # Two addresses, and the database.
        said = "".join(process.stdout.readline() for _ in range(3))
        assert f"metrics at http://127.0.0.1:{metrics}/metrics" in said, said

        def status(port, path):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=20) as answer:
                    return answer.status
            except urllib.error.HTTPError as error:
                return error.code

        found = {path: (status(port, path), status(metrics, path)) for path in (
            "/metrics", "/readyz", "/healthz", "/openapi.json", "/v1/events", "/dashboard",
            "/webhooks/app_store", "/v1/customers/x/entitlements")}
        assert found == {
            "/metrics": (404, 200), "/readyz": (404, 200), "/healthz": (200, 200),
            "/openapi.json": (200, 404), "/v1/events": (401, 404), "/dashboard": (200, 404),
            "/webhooks/app_store": (405, 404), "/v1/customers/x/entitlements": (401, 404)}
    finally:
        process.terminate()
        process.wait(timeout=30)
        process.stdout.close()


def test_d6_what_serve_makes_is_for_its_owner_only(tmp_path):
    old = os.umask(0)
    try:
        process = subprocess.Popen(
            [TOLLGATE, "serve", "--listen", "127.0.0.1:0", "--catalog", CATALOG], cwd=tmp_path,
            env=environment(KEYS), text=True, stdout=subprocess.PIPE)
    finally:
        os.umask(old)
    try:
        process.stdout.readline()
        folder = tmp_path / ".tollgate"
        assert folder.stat().st_mode & 0o777 == 0o700
        files = {path.name: oct(path.stat().st_mode & 0o777) for path in folder.iterdir()}
        assert set(files) >= {"tollgate.sqlite", "tollgate.sqlite-wal", "tollgate.sqlite-shm"}
        assert set(files.values()) == {"0o600"}, files
    finally:
        process.terminate()
        process.wait(timeout=30)
        process.stdout.close()
