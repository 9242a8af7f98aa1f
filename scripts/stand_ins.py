"""Checks the stand-ins for Apple's frameworks against Apple's documentation: stand_ins.py

`AppleStubs/apple-api.tsv` says since when each type exists (`16.4`), since when it is deprecated
(`3-18`), where it does not exist (`-`), and its isolation, with the page that says so. Versions up to the
SDK's own (iOS and Mac Catalyst 15, macOS 12) are written as that. Members have a row where they differ
from their type. Where Apple's page does not name Mac Catalyst, iOS's version is written, but for promoted
products, which the SDK leaves out there. Exits 1 where a stand-in says otherwise, or a type has no row. SwiftUI's stand-ins are
all of iOS 15 and macOS 12.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1] / "AppleStubs"
FLOOR = {"iOS": 15.0, "macOS": 12.0, "macCatalyst": 15.0}
TYPE = re.compile(r"(?:open |final |indirect )*(?:struct|class|enum|protocol) (?!var|let|func)(\w+)")
MEMBER = re.compile(r"(?:open |static |class |final )*(?:var|let|func) `?(\w+)`?")
WORDS = r"(?:@\w+(?:\([^)]*\))? |public |nonisolated(?:\(unsafe\))? |open )*"


def declarations(path):
    """Each public declaration of a stand-in: its name, what stands before it, whether it is a type."""
    around, attributes = [], []
    lines = path.read_text().split("\n")
    for number, line in enumerate(lines):
        text, indent = line.strip(), len(line) - len(line.lstrip())
        if not text or text.startswith("//"):
            continue
        while around and indent <= around[-1][0] and text != "}":
            around.pop()
        if text.startswith("@available") or text == "@MainActor":
            attributes.append(text)
            continue
        words = re.match(WORDS, text).group(0)
        rest = text[len(words):]
        extension = re.match(r"extension ([\w.]+)", rest)
        if extension:
            around.append((indent, extension.group(1)))
        elif "public " in words or "open " in words or (around and around[-1][1] == "protocol"):
            kind = TYPE.match(rest)
            named = kind or MEMBER.match(rest)
            if named:
                name = ".".join([n for _, n in around] + [named.group(1)])
                if not kind and "func " in rest:
                    first = rest.partition("(")[2].strip() or lines[number + 1].strip()
                    # The label tells overloads apart; a row without one is for the others.
                    name += "(" + re.split(r"\W", first)[0] + ":"
                # What begins with an underscore, and what is in it, is the stand-ins' own.
                if not re.search(r"(^|\.)_", name):
                    yield name, " ".join(attributes) + " " + words, bool(kind)
                if kind and line.rstrip().endswith("{"):
                    around.append((indent, named.group(1)))
        attributes = []


def says(attributes, system):
    """What a stand-in says of a system, as the table would write it."""
    if f"@available({system}, unavailable)" in attributes:
        return "-"
    since = re.search(rf"{system} ([\d.]+)", attributes) or re.search(
        rf"{system}, introduced: ([\d.]+)", attributes
    )
    until = re.search(rf"@available\({system}, (?:introduced: [\d.]+, )?deprecated: ([\d.]+)", attributes)
    first = since.group(1) if since else f"{FLOOR[system]:g}"
    return f"{first}-{until.group(1)}" if until else f"{max(float(first), FLOOR[system]):g}"


def main():
    rows = {}
    for line in (ROOT / "apple-api.tsv").read_text().strip().split("\n")[1:]:
        module, symbol, *columns = line.split("\t")
        rows[module, symbol] = columns
    problems, found = [], set()
    files = [*ROOT.glob("Sources/*/*.swift"), *ROOT.glob("TypeCheckOnly/*/*.swift")]
    for path in files:
        module = path.parent.name
        if module not in {module for module, _ in rows}:
            continue
        enclosing = {}
        for name, attributes, is_type in declarations(path):
            above = enclosing.get(name.rpartition(".")[0], "")
            own = attributes if "nonisolated" in attributes else attributes + above.replace("@MainActor", "")
            if is_type:
                enclosing[name] = own
            if (module, name + ")") in rows:
                name += ")"
            elif not is_type:
                name = name.partition("(")[0]
            row = rows.get((module, name))
            if row is None:
                if is_type:
                    problems.append(f"{module}.{name} has no row in apple-api.tsv")
                continue
            found.add((module, name))
            ios, macos, catalyst, isolation, source = row
            systems = {"iOS": ios, "macOS": macos, "macCatalyst": catalyst}
            for system, documented in systems.items():
                # A framework that a system does not have is not compiled for it.
                if documented == "-" and system not in own:
                    if any(s != "-" for (m, _), (*s,) in rows.items() if m == module
                           for s in [s[list(systems).index(system)]]):
                        problems.append(f"{name}: {system} has none, the stand-in does")
                    continue
                # Mac Catalyst takes iOS's versions unless it is named.
                said = says(own, system) if system in own else says(own, "iOS")
                if system == "macOS" and "macOS" not in own:
                    said = f"{FLOOR['macOS']:g}"
                if system == "macCatalyst" and system not in own and "-" in said.strip("-"):
                    said = f"{FLOOR[system]:g}"
                if said != documented:
                    problems.append(f"{name}: {system} {documented} by {source}, the stand-in says {said}")
            is_main = "@MainActor" in attributes or (
                not is_type
                and "nonisolated" not in attributes
                and rows.get((module, name.rpartition(".")[0]), [""] * 5)[3] == "MainActor"
            )
            if (isolation == "MainActor") != is_main:
                problems.append(f"{name}: {isolation} by {source}, the stand-in differs")
    for module, symbol in rows.keys() - found:
        problems.append(f"{module}.{symbol} is in apple-api.tsv and has no stand-in")
    for problem in sorted(problems):
        print(problem, file=sys.stderr)
    sys.exit(1 if problems else 0)


main()
