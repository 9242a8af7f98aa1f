"""H8: a command whose output cannot be written says so and ends with 1, whatever it prints."""

import json
import os
import pathlib
import re
import subprocess

import pytest

from tollgate_world import Apple, BINARY, ROOT, SECRET, Server

SOURCES = ROOT / "Server/Sources"


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    """One customer with a purchase, and a member of the staff."""
    folder = tmp_path_factory.mktemp("output")
    apple = Apple()
    root = folder / "root.der"
    root.write_bytes(apple.root_der)
    location = f"sqlite:{folder}/output.sqlite"
    server = Server(location, root)
    customer = server.call("/v1/customers", json.dumps({"app_user_id": "user-1"}).encode())
    for number in range(3):
        server.call("/webhooks/app_store", apple.coins_bought(number, customer["app_account_token"]))
    server.stop()
    run(["staff", "add", "ann", "--role", "admin"], location, subprocess.DEVNULL)
    return location


def run(arguments, location, stdout, **options):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("TOLLGATE_")} | {
        "TOLLGATE_SECRET_KEY": SECRET, "TOLLGATE_DATABASE": location}
    return subprocess.run(
        [BINARY, *arguments], stdout=stdout, stderr=subprocess.PIPE, env=environment, text=True,
        timeout=120, **options)


COMMANDS = [
    ["help"], ["--help"], ["help", "export"], ["export", "--help"],
    ["catalog", "check", str(ROOT / "catalog.yaml")],
    ["scenario", "check", str(ROOT / "Server/Scenarios/app-store/billing-grace-recovery.yaml")],
    ["sandbox", "stripe", "trigger", "--list"],
    ["sandbox", "stripe", "trigger", "--list", "--json"],
    ["export", "journal"], ["export", "journal", "--format", "ndjson"], ["export", "sales"],
    ["export", "coins"], ["report", "list"], ["report", "sales"],
    ["report", "sales", "--format", "csv"], ["report", "sales", "--json"],
    ["staff", "list"], ["staff", "list", "--json"], ["audit"], ["audit", "--json"],
    ["parked", "list"], ["webhooks", "list", "--json"], ["keys", "list"], ["keys", "list", "--json"],
    ["explain", "user-1", "pro"], ["explain", "user-1", "pro", "--json"], ["rebuild", "--verify"],
    ["rebuild", "--verify", "--json"], ["check-access"], ["check-access", "--json"],
    ["parked", "list", "--json"], ["parked", "retry"], ["webhooks", "list"],
    ["keys", "rotate"], ["staff", "password", "ann"],
    ["scenario", "run", str(ROOT / "Server/Scenarios/app-store/billing-grace-recovery.yaml")],
    ["simulate", "--years", "0.1", "--customers", "2"],
]


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_h8_a_full_disk_is_said_and_ends_with_1(database, arguments):
    works = run(arguments, database, subprocess.PIPE)
    assert works.returncode == 0, works.stderr
    if works.stdout == "":
        return
    with open("/dev/full", "wb") as full:
        ended = run(arguments, database, full)
    assert ended.returncode == 1, (ended.returncode, ended.stderr)
    assert "The output could not be written: there is no space left." in ended.stderr


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_h8_a_closed_pipe_is_said_and_ends_with_1(database, arguments):
    if run(arguments, database, subprocess.PIPE).stdout == "":
        return
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ended = run(arguments, database, writing)
    finally:
        os.close(writing)
    assert ended.returncode == 1, (ended.returncode, ended.stderr)
    assert "The output could not be written: its reader has gone." in ended.stderr


def leaves(*names):
    """The names of each command that has no commands below it."""
    said = run([*names, "--help"], "sqlite:/none", subprocess.PIPE).stdout
    below = re.findall(r"^  ([a-z-]+)(?: \(default\))?(?: |$)", said.partition("\nSUBCOMMANDS:\n")[2], re.MULTILINE)
    return [leaf for name in below for leaf in leaves(*names, name)] if below else [names]


def test_h8_the_help_of_every_command_is_said_to_be_lost():
    found = leaves()
    assert len(found) > 50, found
    with open("/dev/full", "wb") as full:
        ended = {names: run([*names, "--help"], "sqlite:/none", full) for names in found}
    assert {names for names, end in ended.items() if end.returncode != 1 or "no space left" not in end.stderr} == set()


def test_h8_an_export_that_nobody_got_does_not_move_its_place(database, tmp_path):
    place = tmp_path / "place"
    arguments = ["export", "journal", "--cursor-file", str(place)]
    with open("/dev/full", "wb") as full:
        assert run(arguments, database, full).returncode == 1
    assert not place.exists()
    given = run(arguments, database, subprocess.PIPE)
    assert given.returncode == 0 and len(given.stdout.splitlines()) > 3 and place.exists()


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_h8_a_story_that_nobody_can_read_did_not_come_true(tmp_path, more):
    arguments = ["demo", "--script", "--catalog", str(ROOT / "catalog.yaml"), *more]
    with open("/dev/full", "wb") as full:
        ended = run(arguments, f"sqlite:{tmp_path}/story.sqlite", full)
    assert ended.returncode == 1, ended.stderr
    assert "The output could not be written: there is no space left." in ended.stderr


def test_h8_complaints_that_nobody_reads_change_no_exit_code(database):
    with open("/dev/full", "wb") as full:
        ended = subprocess.run(
            [BINARY, "catalog", "check", "/none.yaml"], stdout=full, stderr=full, timeout=60)
    assert ended.returncode == 1


def test_h8_all_that_commands_print_goes_one_way():
    """What traps where a write fails, or forgets that it did, is used in one file only."""
    found = [
        f"{path.relative_to(SOURCES)}:{number}"
        for path in sorted(SOURCES.rglob("*.swift"))
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if re.search(r"FileHandle\.standard(Output|Error)\.write\(Data|(?<![\w.])print\(|\bfputs\(", line)
    ]
    assert found == []
