#!/usr/bin/env python3
"""Fails where a `switch` over `Store` has a `default`.

Such a switch stays silent about the next store. Without one, a case of `Store` that is taken out or
added makes the compiler list every decision. A store's own files may pick out what is theirs.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PLACES = ["Sources", "Server/Sources"]

SWITCH = re.compile(r"( *)(?:.*[^\w.])?switch .*\{$")
# A case of `Store` has nothing in parentheses; that of a record or statement has.
STORE = re.compile(r"\.(?:appStore|stripe|googlePlay|tollgate)\b(?![(.])")


def silent(lines):
    """The numbers of the lines at which a switch over `Store` begins that has a `default`."""
    for start, line in enumerate(lines):
        if not (match := SWITCH.match(line)):
            continue
        indent, labels, names_a_store, has_default = match[1], False, False, False
        for inside in lines[start + 1 :]:
            if inside.startswith(indent + "}"):
                break
            if inside.startswith((indent + "case ", indent + "default:", indent + "@unknown ")):
                labels = True
                has_default |= not inside.startswith(indent + "case ") or inside.startswith(
                    indent + "case _"
                )
            if labels:
                label, colon, _ = inside.partition(":")
                names_a_store |= bool(STORE.search(label))
                labels = not colon
        if names_a_store and has_default:
            yield start + 1


def main():
    # The rule itself is looked at first: it finds a default, and lets an exhaustive switch be.
    example = ["switch store {", "case .appStore,", "    .stripe: 1", "default: 2", "}"]
    assert list(silent(example)) == [1]
    assert not list(silent(example[:3] + ["case .googlePlay, .tollgate: 2", "}"]))
    assert not list(silent(["switch self {", "case .stripe(let own): own", "default: nil", "}"]))
    status = 0
    for place in PLACES:
        for path in sorted((ROOT / place).rglob("*.swift")):
            for number in silent(path.read_text(encoding="utf-8").split("\n")):
                print(f"{path.relative_to(ROOT)}:{number}: a switch over Store with a default")
                status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
