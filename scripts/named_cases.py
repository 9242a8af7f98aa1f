#!/usr/bin/env python3
"""Where each invariant, case and attack of docs/reliability.md is named by a test.

    named_cases.py            fails if one of them is named by none
    named_cases.py --table    prints where each one is
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PLACES = ["Server/Tests", "Server/Scenarios", "Tests", "AppleStubs/Tests"]
KINDS = {".swift", ".py", ".yaml"}
NAME = re.compile(r"\b[A-Z]\d{1,2}\b")


def numbered(letter, count):
    return [f"{letter}{number}" for number in range(1, count + 1)]


CASES = (
    numbered("I", 15) + numbered("A", 19) + numbered("S", 17)
    + numbered("J", 14) + numbered("W", 2) + numbered("H", 5) + numbered("K", 2)
    + ["T1", "R1"] + numbered("B", 4) + numbered("D", 5) + ["C1", "O1"]
)


def main():
    where = {case: [] for case in CASES}
    for place in PLACES:
        for path in sorted((ROOT / place).rglob("*")):
            if path.suffix not in KINDS or ".build" in path.parts or not path.is_file():
                continue
            for case in set(NAME.findall(path.read_text(encoding="utf-8"))) & where.keys():
                where[case].append(path.relative_to(ROOT))
    if "--table" in sys.argv:
        for case, paths in where.items():
            print(f"{case:4}", ", ".join(path.name for path in paths) or "-")
    missing = [case for case, paths in where.items() if not paths]
    for case in missing:
        print(f"{case} is named by no test", file=sys.stderr)
    sys.exit(1 if missing else 0)


main()
