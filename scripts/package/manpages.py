"""Writes a man page for each command: manpages.py DUMP FOLDER VERSION

DUMP is what `tollgate --experimental-dump-help` prints: every command with its options, as JSON. The page of
`tollgate report list` is tollgate-report-list.1. They are checked by `mandoc -T lint`.
"""

import datetime
import json
import os
import pathlib
import re
import sys

SECTION = 1
EXIT_CODES = [("0", "ok"), ("1", "a check failed"), ("2", "wrong usage")]


def escaped(text):
    """Text of ours as roff: no line begins a request, and a hyphen of an option stays one."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return "\n".join(r"\&" + line if line.startswith((".", "'")) else line for line in text.split("\n"))


def paragraphs(text):
    """Running text; an empty line begins a new paragraph."""
    parts = [" ".join(part.split()) for part in re.split(r"\n\s*\n", text.strip())]
    return "\n.PP\n".join(escaped(part) for part in parts if part)


def value(argument):
    return f"<{argument.get('valueName') or 'value'}>"


def spelled(argument):
    """An option's names, bold, and what follows them; or the name of a positional argument."""
    if argument["kind"] == "positional":
        return rf"\fI{escaped(value(argument))}\fR" + (" ..." if argument["isRepeating"] else "")
    dashes = {"long": "--", "short": "-", "longWithSingleDash": "-"}
    names = ", ".join(rf"\fB{escaped(dashes[name['kind']] + name['name'])}\fR" for name in argument["names"])
    return names + (rf" \fI{escaped(value(argument))}\fR" if argument["kind"] == "option" else "")


def synopsis(words, command):
    shown = []
    for argument in arguments(command):
        if argument["kind"] == "positional":
            text = spelled(argument)
        else:
            text = spelled(argument | {"names": [argument["preferredName"]]})
            text += " ..." if argument["isRepeating"] else ""
        shown.append(f"[{text}]" if argument["isOptional"] else text)
    if command.get("subcommands"):
        shown.append(r"\fI<subcommand>\fR")
    return " ".join([rf"\fB{escaped(' '.join(words))}\fR", *shown])


def arguments(command):
    return [one for one in command.get("arguments", []) if one["shouldDisplay"]]


def subcommands(command):
    return [
        one for one in command.get("subcommands", []) if one["shouldDisplay"] and one["commandName"] != "help"]


def described(argument):
    said = [paragraphs(text) for text in (argument.get("abstract"), argument.get("discussion")) if text]
    if argument.get("defaultValue"):
        said.append(f"Default: {escaped(argument['defaultValue'])}.")
    return "\n".join(said) or "See the description."


def page(words, command, version, day):
    """One command's page."""
    name, title = "-".join(words), "-".join(words).upper()
    lines = [
        rf'.TH "{escaped(title)}" {SECTION} "{day}" "Tollgate {escaped(version)}" "Tollgate"',
        ".SH NAME", rf"{escaped(name)} \- {escaped(command.get('abstract', '').rstrip('.'))}",
        ".SH SYNOPSIS", synopsis(words, command)]
    if command.get("discussion"):
        lines += [".SH DESCRIPTION", paragraphs(command["discussion"])]
    for heading, kinds in (("ARGUMENTS", ("positional",)), ("OPTIONS", ("option", "flag"))):
        found = [one for one in arguments(command) if one["kind"] in kinds]
        if found:
            lines.append(f".SH {heading}")
        for one in found:
            lines += [".TP", spelled(one), described(one)]
    below = subcommands(command)
    if below:
        lines.append(".SH COMMANDS")
    for one in below:
        lines += [".TP", rf"\fB{escaped(one['commandName'])}\fR", paragraphs(one.get("abstract", ""))]
    lines.append(".SH EXIT STATUS")
    for code, meaning in EXIT_CODES:
        lines += [".TP", code, meaning]
    related = [words[:-1]] if len(words) > 1 else []
    related += [[*words, one["commandName"]] for one in below]
    if related:
        names = sorted("-".join(one) for one in related)
        lines += [
            ".SH SEE ALSO", ",\n".join(rf".BR {escaped(one)} ({SECTION})" for one in names).replace("),", ") ,")]
    return "\n".join(lines) + "\n"


def write(words, command, folder, version, day):
    (folder / f"{'-'.join(words)}.{SECTION}").write_text(page(words, command, version, day), encoding="utf-8")
    for one in subcommands(command):
        write([*words, one["commandName"]], one, folder, version, day)


def main():
    dump, folder, version = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    folder.mkdir(parents=True, exist_ok=True)
    # The same bytes from the same commit.
    now = int(os.environ.get("SOURCE_DATE_EPOCH") or datetime.datetime.now().timestamp())
    day = datetime.datetime.fromtimestamp(now, datetime.timezone.utc).date().isoformat()
    command = json.loads(dump.read_text(encoding="utf-8"))["command"]
    write([command["commandName"]], command, folder, version, day)


if __name__ == "__main__":
    main()
