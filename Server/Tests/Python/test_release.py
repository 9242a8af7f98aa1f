"""What a release is made of: its version, its licence and the licences that it passes on."""

import os
import re
import subprocess
import sys

import pytest

from tollgate_world import BINARY, ROOT

MANIFESTS = sorted(
    path for path in ROOT.rglob("Package.swift")
    if not any(part.startswith(".") for part in path.relative_to(ROOT).parts))


def numbers():
    """The versions of the changelog that have a date, newest first."""
    return re.findall(
        r"^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)


def test_the_program_says_the_newest_version_of_the_changelog():
    ended = subprocess.run([BINARY, "--version"], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    assert re.fullmatch(
        rf"{re.escape(numbers()[0])} \((built from source|[0-9a-f]{{12}}(-dirty)?)\)\n", ended.stdout)


def test_the_changelog_is_in_the_form_of_keep_a_changelog():
    text = (ROOT / "CHANGELOG.md").read_text()
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert headings[0] == "[Unreleased]"
    found = numbers()
    assert len(found) == len(headings) - 1, headings
    assert found == sorted(found, key=lambda one: [int(part) for part in one.split(".")], reverse=True)
    kinds = set(re.findall(r"^### (.*)$", text, re.MULTILINE))
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}, kinds


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_manifest_names_the_licence(manifest):
    # The first line says which version of the tools reads the file.
    assert manifest.read_text().splitlines()[1] == "// SPDX-License-Identifier: Apache-2.0"


def test_the_licence_is_the_standard_text():
    text = (ROOT / "LICENSE").read_text()
    assert re.search(r"Apache License\s+Version 2\.0, January 2004", text)
    assert "APPENDIX: How to apply the Apache License to your work." in text


def test_notice_names_every_dependency():
    checkouts = ROOT / "Server/.build/checkouts"
    if not checkouts.is_dir():
        pytest.skip("the program under test was built elsewhere")
    ended = subprocess.run(
        [sys.executable, ROOT / "scripts/notice.py", "--check", checkouts], capture_output=True,
        text=True, env=os.environ, timeout=60)
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.parametrize("words, other, said", [
    ("Permission is hereby granted", "Permission is not granted", "NOTICE has other words than its packages"),
    ("Yams: MIT", "Yams: BSD", "NOTICE lacks Yams: MIT"),
])
def test_a_notice_that_was_edited_is_found(tmp_path, words, other, said):
    checkouts = ROOT / "Server/.build/checkouts"
    if not checkouts.is_dir():
        pytest.skip("the program under test was built elsewhere")
    (tmp_path / "scripts").mkdir()
    script = tmp_path / "scripts/notice.py"
    script.write_text((ROOT / "scripts/notice.py").read_text())
    text = (ROOT / "NOTICE").read_text()
    assert words in text
    (tmp_path / "NOTICE").write_text(text.replace(words, other))
    ended = subprocess.run(
        [sys.executable, script, "--check", checkouts], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1 and said in ended.stdout, ended.stdout + ended.stderr
