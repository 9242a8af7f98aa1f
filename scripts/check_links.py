"""Checks that every relative link in our Markdown files leads to a file, and to a heading if it names one."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SKIPPED = {".build", ".git", ".venv", ".venv-bench", ".build-docs", ".build-package", ".pytest_cache", "output", "checkouts", "node_modules"}
LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


def documents():
    for path in sorted(ROOT.rglob("*.md")):
        if not SKIPPED.intersection(path.relative_to(ROOT).parts):
            yield path


def anchors(path):
    """The anchors that GitHub gives the headings of a document."""
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for heading in re.findall(r"^#+ +(.*?)\s*$", text, flags=re.MULTILINE):
        yield re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def problem(document, link):
    if re.match(r"[a-z][a-z+.-]*:", link):
        return None  # an address on the network
    target, _, fragment = link.partition("#")
    path = (document.parent / target).resolve() if target else document
    if not path.exists():
        return "no such file"
    if fragment and path.suffix == ".md" and fragment not in anchors(path):
        return "no such heading"
    return None


def main():
    found = 0
    for document in documents():
        # Emptied, not cut, so that line numbers stay.
        text = CODE.sub(
            lambda match: "\n" * match.group().count("\n"), document.read_text(encoding="utf-8")
        )
        for number, line in enumerate(text.split("\n"), start=1):
            for link in LINK.findall(line):
                reason = problem(document, link)
                if reason:
                    print(f"{document.relative_to(ROOT)}:{number}: {link}: {reason}")
                    found += 1
    sys.exit(1 if found else 0)


main()
