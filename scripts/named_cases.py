#!/usr/bin/env python3
"""Compares the cases that docs/cases.md and docs/attacks.md define with those that tests name.

    named_cases.py            fails if a case has no test, no definition or two definitions
    named_cases.py --table    prints the tests of each case as well

A document defines the ids at the beginning of a table row or list item. A test names an id
- in a comment or docstring, except in `backquotes` and in ranges (A1 to A19),
- at the beginning of a string, before a colon: "A1: a refund of an old period leaves …",
- in parentheses at the end of a string: "A form of another site is refused (B3)",
- in the name of a Python test: test_h1_…,
- in a scenario's list `covers`.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
DOCUMENTS = ["docs/cases.md", "docs/attacks.md"]
PLACES = ["Server/Tests", "Server/Scenarios", "Tests", "AppleStubs/Tests"]

ID = re.compile(r"(?<![A-Za-z0-9])[A-Z]\d{1,2}(?![A-Za-z0-9])")
DEFINITION = re.compile(r"(?:\||[-*]) +\**([A-Z]\d{1,2}(?:, [A-Z]\d{1,2})*)(?![A-Za-z0-9])")
# The parts of a file that name cases.
NAMING = {
    ".swift": re.compile(r'(?:^|\s)//.*|"[A-Z]\d{1,2}:|\([A-Z]\d{1,2}\)"', re.MULTILINE),
    ".py": re.compile(r'(?:^|\s)#.*|"""[\s\S]*?"""|def test(?:_[a-z]\d{1,2})+_', re.MULTILINE),
    ".yaml": re.compile(r"^covers:.*(?:\n +- .*)*", re.MULTILINE),
}
SKIPPED = re.compile(r"`[^`\n]*`|[A-Z]\d{1,2} to [A-Z]\d{1,2}")


def definitions():
    """Each defined id, with the lines of the documents that define it."""
    found = {}
    for document in DOCUMENTS:
        for number, line in enumerate((ROOT / document).read_text(encoding="utf-8").split("\n"), 1):
            if row := DEFINITION.match(line):
                for case in ID.findall(row[1]):
                    found.setdefault(case, []).append(f"{document}:{number}")
    return found


def names():
    """Each id that a test names, with the files and lines of the tests."""
    found = {}
    for place in PLACES:
        for path in sorted((ROOT / place).rglob("*")):
            if path.suffix not in NAMING or ".build" in path.parts or not path.is_file():
                continue
            text = path.read_text(encoding="utf-8")
            for part in NAMING[path.suffix].finditer(text):
                # Blanked, not cut, so that positions stay.
                words = SKIPPED.sub(lambda skipped: " " * len(skipped[0]), part[0])
                for case in ID.finditer(words.upper() if words.startswith("def ") else words):
                    line = text.count("\n", 0, part.start() + case.start()) + 1
                    found.setdefault(case[0], []).append((path.relative_to(ROOT), line))
    return found


def problems(defined, named):
    for case, lines in defined.items():
        for line in lines[1:]:
            yield f"{line}: {case} is already defined at {lines[0]}; keep one of the two"
        if case not in named:
            yield f'{lines[0]}: no test names {case}; begin the title of its test with "{case}: ", or remove the row'
    for case in sorted(named.keys() - defined.keys()):
        for path, line in named[case]:
            yield (f"{path}:{line}: {case} is not defined; add a row to {' or '.join(DOCUMENTS)}, "
                   f"or correct the id (what is not a case goes into `backquotes`)")


def main():
    defined, named = definitions(), names()
    if "--table" in sys.argv:
        for case in defined:
            paths = dict.fromkeys(path.name for path, _ in named.get(case, []))
            print(f"{case:4}", ", ".join(paths) or "-")
    found = list(problems(defined, named))
    for problem in found:
        print(problem, file=sys.stderr)
    sys.exit(1 if found else 0)


main()
