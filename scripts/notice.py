"""Writes NOTICE from the licences of what the server is linked with: notice.py [--check] [CHECKOUTS]

CHECKOUTS is where the package manager put the dependencies (Server/.build/checkouts). Each is named with
its licence and the notices that it asks to pass on. The text of a licence other than Apache-2.0 is quoted
in full; that one is in LICENSE. `--check` writes nothing and exits with 1 if NOTICE is not what would be
written; it needs no network. A licence that is not known here ends with an error: somebody has to read it.
"""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
NOTICE = ROOT / "NOTICE"
HEAD = """\
Tollgate
Licensed under the Apache License, Version 2.0; see LICENSE.

BillingSDK has no dependencies. The server and the command line are linked with the packages below, and a
program with a static standard library also with Swift's (https://www.swift.org, Apache-2.0 with the Runtime
Library Exception), which contains ICU (https://icu.unicode.org, Unicode-3.0). This file is made by
scripts/notice.py.
"""
KNOWN = [
    ("Apache-2.0 with the Swift Runtime Library Exception", r"Runtime Library Exception to the Apache"),
    ("Apache-2.0", r"Apache License\s+Version 2\.0"),
    ("MIT", r"Permission is hereby granted, free of charge"),
]


def addresses(checkouts):
    """Where each package comes from, by the name of its folder."""
    state = checkouts.parent / "workspace-state.json"
    if not state.exists():
        return {}
    found = json.loads(state.read_text())["object"]["dependencies"]
    return {one["subpath"]: one["packageRef"]["location"].removesuffix(".git") for one in found}


def licence(package):
    """The name and the text of a package's licence."""
    files = sorted(package.glob("LICEN[SC]E*"))
    if not files:
        sys.exit(f"{package.name} has no file LICENSE: look for its licence by hand")
    text = files[0].read_text(encoding="utf-8")
    for name, words in KNOWN:
        if re.search(words, text):
            return name, text
    sys.exit(f"{files[0]} is none of {', '.join(name for name, _ in KNOWN)}: read it, and add it to {__file__}")


def section(package, address):
    name, text = licence(package)
    said = [f"{package.name}: {name}" + (f", {address}" if address else "")]
    if not name.startswith("Apache"):
        said.append(text.strip())
    for notice in sorted(package.glob("NOTICE*")):
        said.append(notice.read_text(encoding="utf-8").strip())
    return "\n\n".join(said)


def made(checkouts):
    known = addresses(checkouts)
    packages = sorted((one for one in checkouts.iterdir() if one.is_dir()), key=lambda one: one.name.lower())
    rule = "\n\n" + "-" * 100 + "\n\n"
    text = rule.join([HEAD.strip(), *(section(one, known.get(one.name)) for one in packages)]) + "\n"
    return "\n".join(line.rstrip() for line in text.split("\n"))


def named(text):
    """The packages that a NOTICE names, each with its licence."""
    return set(re.findall(r"^-{100}\n\n([\w.-]+: [^,\n]+)", text, re.MULTILINE))


def main():
    arguments = [word for word in sys.argv[1:] if word != "--check"]
    checkouts = pathlib.Path(arguments[0]) if arguments else ROOT / "Server/.build/checkouts"
    if not checkouts.is_dir():
        sys.exit(f"{checkouts}: nothing was fetched there yet; build the server first")
    text = made(checkouts)
    if "--check" not in sys.argv:
        NOTICE.write_text(text, encoding="utf-8")
        return 0
    present = NOTICE.read_text(encoding="utf-8")
    now, then = named(text), named(present)
    for line in sorted(now - then):
        print(f"NOTICE lacks {line}: run python3 scripts/notice.py")
    for line in sorted(then - now):
        print(f"NOTICE names {line}, which is not linked any more: run python3 scripts/notice.py")
    if now == then and text != present:
        print("NOTICE has other words than its packages: run python3 scripts/notice.py")
    return 0 if text == present else 1


if __name__ == "__main__":
    sys.exit(main())
