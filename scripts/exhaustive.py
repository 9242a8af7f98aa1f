#!/usr/bin/env python3
"""Fails where code stays silent about the next store, where too many files decide by store, and where the
application or its pages read a store's record.

Silent are a `default` in a `switch` over `Store` or `Purchase.Record`, and `if case .stripe = …` in all
its forms. Without them, a case that is taken out or added makes the compiler list every decision. A
store's own files may pick out what is theirs.

A further store touches twelve files that are there already. Four put it together (Package.swift,
Tollgate+Rooms.swift, RunningServer.swift and StoreSettings.swift); so eight others may decide.

The application and its pages ask the store's room (`StoreStandings`) what to show of a purchase. So they name
no type of a store's record, and ask a purchase for nothing that only one store knows.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PLACES = ["Sources", "Server/Sources"]
MOST = 8

SWITCH = re.compile(r"( *)(?:.*[^\w.])?switch .*\{$")
# A case of `Store` has nothing in parentheses, that of `Purchase.Record` its record.
STORE = re.compile(r"\.(?:appStore|stripe|googlePlay|tollgate)\b(?![(.])")
RECORD = re.compile(r"\.(?:appStore|stripe|googlePlay|own)\((?:let|var|_)\b")
PICKED = re.compile(
    r"\bcase (?:let |var )?\w*\.(?:appStore|stripe|googlePlay|playStore|tollgate|own)\b(?:\([^)]*\))?\?? (?:=|in) "
    r"|\.contains\(\.(?:appStore|stripe|googlePlay|playStore|tollgate)\)"
)
SELLING = re.compile(r"\.(appStore|stripe|googlePlay)\b")
# Rooms, and what is played.
ROOMS = re.compile(
    r"(?:AppStore|GooglePlay|Stripe)(?:API|Connector)/|/Purchase/(?:AppStore|GooglePlay|Stripe)/"
    r"|/TollgateSimulation/|/TollgateCLI/Demo/"
)
# What another system exported, and where settings become rooms.
ELSEWHERE = re.compile(r"/RevenueCat/|/StoreSettings\.swift")
# Where a purchase's record is taken for that of one store.
RECORDS = "Sources/TollgateCore/Purchase/Purchase+Records.swift"

APPLICATION = re.compile(r"Server/Sources/Tollgate(?:Service|Server)/")
# The sentence of each statement: a `switch` over all of them.
STATEMENTS = re.compile(r"/Dashboard/FactWords\.swift")
# Grants, corrections of coins and free subscriptions are the application's own.
OWN = {"own", "grant", "coins", "freeSubscription"}


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


def silent(lines, is_room=False):
    """The numbers of the lines that hide the next store: switches with a `default`, and stores picked out."""
    found = [
        number
        for number, labels, has_default in switches(lines)
        if has_default and (STORE.search(labels) or not is_room and RECORD.search(labels))
    ]
    if not is_room:
        found += [number for number, line in enumerate(lines, 1) if PICKED.search(line)]
    return found


def record_words():
    """What only a store's room reads: the types of the stores' records, and what a purchase has of them."""
    core = ROOT / "Sources/TollgateCore"
    # Our own grants are no store's.
    files = [file for file in core.glob("Fact/*Statements.swift") if file.name != "OurStatements.swift"]
    files += [file for file in core.glob("Purchase/*/*.swift") if file.parent.name != "Own"]
    types = {name for path in files for name in re.findall(r"^public struct (\w+)", path.read_text(), re.M)}
    parts = set(re.findall(r"^    public (?:var|func) (\w+)", (ROOT / RECORDS).read_text(), re.M)) - OWN
    purchase = r"(?:record|[pP]urchase|held)\??"
    return re.compile(
        rf"\b(?:{'|'.join(sorted(types))})\b|\b{purchase}\.(?:{'|'.join(sorted(parts))})\b"
        r"|^extension (?:TollgateCore\.)?Purchase \{"
    )


def reads(lines, words):
    """The numbers of the lines that read a store's record; comments may name it."""
    return [
        number
        for number, line in enumerate(lines, 1)
        if not line.lstrip().startswith("//") and words.search(line)
    ]


def decides(lines):
    """Whether a switch names every store that sells."""
    return any(len(set(SELLING.findall(labels))) == 3 for _, labels, _ in switches(lines))


def main():
    # The rules themselves are looked at first.
    example = ["switch store {", "case .appStore,", "    .stripe: 1", "default: 2", "}"]
    exhaustive = example[:3] + ["case .googlePlay, .tollgate: 2", "}"]
    assert silent(example) == [1] and not decides(example)
    assert not silent(exhaustive) and decides(exhaustive)
    planted = [
        ["switch self {", "case .stripe(let own): own", "default: nil", "}"],
        ["", "if case .stripe = store {"],
        ["guard case .appStore(let record) = purchase.record else { return }"],
        ["guard let day,", "    case .googlePlay? = key?.store,"],
        ["for case .own(let own) in records {"],
        ["if stores.contains(.stripe) {"],
    ]
    assert all(map(silent, planted)) and not any(silent(lines, is_room=True) for lines in planted)
    assert not silent(["switch store {", "case .stripe: stripe = new", "case .appStore: x = [.stripe]", "}"])
    words = record_words()
    record = ["if let plan = record.subscription {", "_ play: GooglePlayRecord", "$0.record.effectivePeriods.last"]
    assert reads(record + ["extension TollgateCore.Purchase {"], words) == [1, 2, 3, 4]
    assert not reads(["// A RenewalTerms says more.", "record.grant", "case .refunds: 1"], words)
    status, deciding = 0, []
    for place in PLACES:
        for path in sorted((ROOT / place).rglob("*.swift")):
            name, lines = path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8").split("\n")
            is_room = bool(ROOMS.search(name))
            for number in silent(lines, is_room or name == RECORDS):
                print(f"{name}:{number}: stays silent about the next store")
                status = 1
            if APPLICATION.match(name) and not STATEMENTS.search(name):
                for number in reads(lines, words):
                    print(f"{name}:{number}: reads a store's record; let its room say it (StoreStandings)")
                    status = 1
            if not is_room and not ELSEWHERE.search(name) and decides(lines):
                deciding.append(name)
    if len(deciding) > MOST:
        print(f"{len(deciding)} files decide by store, at most {MOST} may; ask a property of Store instead:")
        print("\n".join(deciding))
        status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
