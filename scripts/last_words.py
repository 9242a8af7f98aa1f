"""What a test runner's log tells of its end: the tests that began and did not end, where it crashed, and its last lines."""

import pathlib
import re
import sys

MARK = re.compile(r"[◇✔✘➜] Test (?P<name>.+?) (?P<what>started|passed|failed|skipped)\b")


def unfinished(lines):
    running = {}
    for line in lines:
        if found := MARK.search(line):
            name = found["name"].split(" with ")[0]
            if found["what"] == "started":
                running[name] = None
            else:
                running.pop(name, None)
    return list(running)


def crash(lines):
    for number, line in enumerate(lines):
        if "rogram crashed" in line or "Fatal error" in line:
            return lines[number : number + 60]
    return []


def main():
    lines = pathlib.Path(sys.argv[1]).read_text(errors="replace").splitlines()
    for name in unfinished(lines):
        print(f"not ended: {name}")
    print(*crash(lines), sep="\n")
    print("its last lines:")
    print(*lines[-15:], sep="\n")


main()
