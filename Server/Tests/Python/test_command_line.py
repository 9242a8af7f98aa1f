"""The command line helps whoever does not know it by heart."""

import contextlib
import json
import os
import pty
import re
import subprocess

import pytest

from tollgate_world import BINARY, SECRET, Server


def tollgate(*arguments):
    return subprocess.run([BINARY, *arguments], capture_output=True, text=True, timeout=60)


def test_help_groups_commands_by_what_people_want():
    said = tollgate("help").stdout
    groups = {}
    for line in said.splitlines():
        if heading := re.fullmatch(r"([A-Z]+) SUBCOMMANDS:", line):
            groups[heading[1]] = found = []
        elif groups and (command := re.match(r"  ([a-z][a-z-]*) ", line)):
            found.append(command[1])
    assert groups["CUSTOMER"] == ["explain", "check-access"]
    assert groups["DATABASE"] == ["backup", "restore", "rebuild", "database"]
    # Every command stands in one group.
    root = json.loads(tollgate("--experimental-dump-help").stdout)["command"]
    names = [one["commandName"] for one in root["subcommands"] if one["commandName"] != "help"]
    assert sorted(name for found in groups.values() for name in found) == sorted(names)


@pytest.mark.parametrize("words, meant", [
    (["serv"], "tollgate serve"), (["help", "explian"], "tollgate explain"), (["staff", "ad"], "tollgate staff add"),
    (["reconcile", "app_store", "--json"], "tollgate reconcile app-store"),
    (["sandbox", "gogle-play"], "tollgate sandbox google-play"),
])
def test_an_unknown_command_suggests_the_one_that_was_meant(words, meant):
    ended = tollgate(*words)
    assert ended.returncode == 2 and ended.stdout == ""
    assert f"Did you mean '{meant}'?" in ended.stderr, ended.stderr


def test_a_word_that_is_near_nothing_lists_the_commands():
    ended = tollgate("reconcile", "everything")
    assert ended.returncode == 2
    assert ended.stderr == (
        "Error: 'tollgate reconcile' has no command 'everything'. "
        "Its commands are app-store, google-play, stripe.\n"
        "  See 'tollgate reconcile --help' for more information.\n")


@pytest.mark.parametrize("words, sentence, usage", [
    (["explain", "jenny", "pro", "--datbase", "x"], "Did you mean '--database'?", "tollgate explain"),
    (["explain", "jenny"], "Missing expected argument", "tollgate explain"),
    # What a command finds out itself while it runs.
    (["backup", "--database", "sqlite:none.sqlite"], "Say --to FILE", "tollgate backup"),
    (["explain", "jenny", "pro", "--environment", "moon"], "--environment is production or sandbox", "tollgate explain"),
    (["reconcile", "stripe", "--since", "soon"], "neither a day", "tollgate reconcile stripe"),
])
def test_wrong_options_print_the_usage_of_their_command(words, sentence, usage):
    ended = tollgate(*words)
    assert ended.returncode == 2 and sentence in ended.stderr, ended.stderr
    assert f"\nUsage: {usage} " in ended.stderr, ended.stderr
    assert f"See '{usage} --help' for more information." in ended.stderr


def test_help_is_an_answer_and_no_complaint():
    for words in (["help"], ["--help"], ["help", "serve"], ["serve", "--help"], ["--version"]):
        ended = tollgate(*words)
        assert (ended.returncode, ended.stderr) == (0, ""), words
        assert ended.stdout


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    """A database with one customer."""
    location = f"sqlite:{tmp_path_factory.mktemp('command-line')}/one.sqlite"
    server = Server(location)
    server.call("/v1/customers", b'{"app_user_id": "jenny"}')
    server.stop()
    return location


@pytest.mark.parametrize("words, code, sentence", [
    # Nobody and nothing of that name: a check that failed.
    (["explain", "jenni", "pro"], 1, "o such customer"),
    (["explain", "jenny", "prp"], 1, "did you mean ‘pro’?"),
    (["webhooks", "dead", "we_nobody"], 1, "o such"),
    (["webhooks", "replay", "we_nobody", "--dead"], 1, "o such"),
    (["staff", "remove", "nobody"], 1, "nobody"),
    (["keys", "revoke", "key_nobody"], 1, "No such secret key"),
    # Days the wrong way round: a wrong usage.
    (["report", "revenue", "--from", "2026-02-01", "--to", "2026-01-31"], 2, "is after --to 2026-01-31"),
    (["report", "payments", "--from", "2026-02-01", "--to", "2026-01-31"], 2, "is after --to 2026-01-31"),
    (["export", "sales", "--from", "2026-02-01", "--to", "2026-01-31"], 2, "is after --to 2026-01-31"),
    # An empty list is an answer.
    (["audit", "--subject", "staff:nobody"], 0, ""),
    (["parked", "retry"], 0, ""),
    (["report", "revenue", "--from", "2020-01-01", "--to", "2020-01-31"], 0, ""),
])
def test_what_is_not_there_ends_with_the_documented_code(database, words, code, sentence):
    ended = subprocess.run(
        [BINARY, *words, "--database", database], capture_output=True, text=True, timeout=60,
        env=os.environ | {"TOLLGATE_SECRET_KEY": SECRET})
    assert ended.returncode == code, ended.stdout + ended.stderr
    assert sentence in ended.stderr


def on_a_screen(folder, **environment):
    """What `tollgate doctor` says there without any settings, which is a failure."""
    plain = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM")
             and not name.startswith("TOLLGATE_")}
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [BINARY, "doctor"], cwd=folder, env=plain | {"TERM": "xterm"} | environment, stdout=theirs,
        stderr=subprocess.DEVNULL)
    os.close(theirs)
    shown = b""
    # A terminal whose other side is closed ends in an error, not in nothing.
    with contextlib.suppress(OSError):
        while part := os.read(ours, 4096):
            shown += part
    os.close(ours)
    assert process.wait(timeout=60) == 1
    return shown.decode()


def test_what_failed_is_red_on_a_terminal_and_nowhere_else(tmp_path):
    red, plain = "\x1b[31mfailed  \x1b[0m settings", "failed   settings"
    # Set to nothing, NO_COLOR says nothing (https://no-color.org).
    for environment in ({}, {"NO_COLOR": ""}):
        assert red in on_a_screen(tmp_path, **environment), environment
    for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        shown = on_a_screen(tmp_path, **environment)
        assert plain in shown and "\x1b" not in shown, environment
    piped = subprocess.run(
        [BINARY, "doctor"], cwd=tmp_path, capture_output=True, text=True, timeout=60,
        env={"PATH": os.environ["PATH"], "TERM": "xterm"})
    assert plain in piped.stdout and "\x1b" not in piped.stdout
