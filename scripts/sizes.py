"""Says which functions, files and types are too long to be read at once: sizes.py

A function has at most 70 lines. A file has at most 500, unless its first lines give a reason that
begins with `// Long:`. A type, with all its extensions and without the types inside it, has at most a
tenth of its target's lines. In a target of fewer than 1,500 lines it has at most 400: such a target is
one idea (a parser, a driver, a second opinion), and a tenth of it would be a function or two. Exits 1 if
any is longer.
"""

import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
FUNCTION, FILE, TYPE, SMALL, SHARE = 70, 500, 400, 1_500, 0.1
WORDS = (
    r"(?:@\w+(?:\([^)]*\))? |public |internal |private |fileprivate |package |static |mutating |"
    r"nonmutating |nonisolated |final |override |convenience |required |class |indirect )*"
)
BEGIN = re.compile(rf"(\s*){WORDS}(?:func\b|init[?(<]|subscript\b|deinit\b|var \w+: [^=]*\{{$)")
KIND = re.compile(rf"(\s*){WORDS}(?:struct|class|enum|actor|protocol|extension) ([A-Z][\w.]*)")


def functions(lines):
    """Each function's name and length."""
    for start, line in enumerate(lines):
        if not (match := BEGIN.match(line)):
            continue
        indent = match.group(1)
        # The brace that opens the body ends a line that is not indented deeper than the head's end.
        for end in range(start, len(lines)):
            if lines[end].startswith(indent + "}"):
                yield line.strip(), end - start + 1
                break
            is_inside = lines[end].startswith((indent + " ", indent + ")")) or not lines[end].strip()
            if end > start and not is_inside:
                break


def types(lines):
    """How many lines of a file are each type's own."""
    own, around = collections.Counter(), []
    for line in lines:
        if (match := KIND.match(line)) and not line.endswith("}"):
            name = match.group(2)
            around.append((match.group(1), f"{around[-1][1]}.{name}" if around else name))
        if around:
            own[around[-1][1]] += 1
            if line.startswith(around[-1][0] + "}"):
                around.pop()
    return own


def too_large(target):
    """The types that are more than their share of a target, with their lines and the target's."""
    own, total = collections.Counter(), 0
    for path in target.rglob("*.swift"):
        lines = path.read_text().split("\n")
        total += len(lines) - 1
        own += types(lines)
    most = TYPE if total < SMALL else SHARE * total
    return [(name, count, total) for name, count in own.items() if count > most]


def main():
    status = 0
    for folder in ("Sources", "Server/Sources", "Sandbox/Sources", "Shared/Sources"):
        for path in sorted((ROOT / folder).rglob("*.swift")):
            lines = path.read_text().split("\n")
            name = path.relative_to(ROOT)
            is_explained = any(line.startswith("// Long:") for line in lines[:5])
            if len(lines) > FILE + 1 and not is_explained:
                print(f"{name}: {len(lines) - 1} lines; give a reason, or split it")
                status = 1
            for head, length in functions(lines):
                what = f"{name}: {re.split(r'[(<{:]', head)[0].split()[-1]}"
                if length > FUNCTION:
                    print(f"{what} has {length} lines; at most {FUNCTION} can be read at once")
                    status = 1
        for target in sorted(path for path in (ROOT / folder).iterdir() if path.is_dir()):
            for name, count, total in too_large(target):
                what = f"{target.relative_to(ROOT)}: {name}"
                print(f"{what} has {count} lines of {total}; at most a tenth is one type's")
                status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
