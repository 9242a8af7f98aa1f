#!/usr/bin/env python3
"""Fails where a `switch` over `Store` has a `default`, and where too many files decide by store.

A `default` stays silent about the next store. Without one, a case of `Store` that is taken out or
added makes the compiler list every decision. A store's own files may pick out what is theirs.

A further store touches twelve files that are there already. Four put it together (Package.swift,
Tollgate+Rooms.swift, RunningServer.swift and StoreSettings.swift); so eight others may decide.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PLACES = ["Sources", "Server/Sources"]
MOST = 8

SWITCH = re.compile(r"( *)(?:.*[^\w.])?switch .*\{$")
# A case of `Store` has nothing in parentheses; that of a record or statement has.
STORE = re.compile(r"\.(?:appStore|stripe|googlePlay|tollgate)\b(?![(.])")
SELLING = re.compile(r"\.(appStore|stripe|googlePlay)\b")
# Rooms, what is played, and what another system exported.
ELSEWHERE = re.compile(
    r"(?:AppStore|GooglePlay|Stripe)(?:API|Connector)/|/Purchase/(?:AppStore|GooglePlay|Stripe)/"
    r"|/TollgateSimulation/|/TollgateCLI/Demo/|/RevenueCat/|/StoreSettings\.swift"
)


def switches(lines):
    """Each switch: its line's number, the labels of its cases, and whether it has a `default`."""
    for start, line in enumerate(lines):
        if not (match := SWITCH.match(line)):
            continue
        indent, is_label, labels, has_default = match[1], False, "", False
        for inside in lines[start + 1 :]:
            if inside.startswith(indent + "}"):
                break
            if inside.startswith((indent + "case ", indent + "default:", indent + "@unknown ")):
                is_label = True
                has_default |= not inside.startswith(indent + "case ") or inside.startswith(
                    indent + "case _"
                )
            if is_label:
                label, colon, _ = inside.partition(":")
                labels += label + "\n"
                is_label = not colon
        yield start + 1, labels, has_default


def silent(lines):
    """The numbers of the lines at which a switch over `Store` begins that has a `default`."""
    return [number for number, labels, has_default in switches(lines) if has_default and STORE.search(labels)]


def decides(lines):
    """Whether a switch names every store that sells."""
    return any(len(set(SELLING.findall(labels))) == 3 for _, labels, _ in switches(lines))


def main():
    # The rules themselves are looked at first.
    example = ["switch store {", "case .appStore,", "    .stripe: 1", "default: 2", "}"]
    exhaustive = example[:3] + ["case .googlePlay, .tollgate: 2", "}"]
    assert silent(example) == [1] and not decides(example)
    assert not silent(exhaustive) and decides(exhaustive)
    assert not silent(["switch self {", "case .stripe(let own): own", "default: nil", "}"])
    status, deciding = 0, []
    for place in PLACES:
        for path in sorted((ROOT / place).rglob("*.swift")):
            name, lines = path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8").split("\n")
            for number in silent(lines):
                print(f"{name}:{number}: a switch over Store with a default")
                status = 1
            if not ELSEWHERE.search(name) and decides(lines):
                deciding.append(name)
    if len(deciding) > MOST:
        print(f"{len(deciding)} files decide by store, at most {MOST} may; ask a property of Store instead:")
        print("\n".join(deciding))
        status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
