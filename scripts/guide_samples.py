"""guide_samples.py FOLDER: writes the Swift of the SDK's guides, of README and of docs/flutter.md as files
that a compiler reads: one for each block, with its lines' places in the guide.

A block that declares types is a file of its own. Others are the body of a function; what they take for
granted is in AppleStubs/TypeCheckOnly/Guides. `…` outside of texts and comments stands for what an app does.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGES = [
    *sorted((ROOT / "Sources/BillingSDK/BillingSDK.docc").glob("*.md")),
    ROOT / "README.md",
    ROOT / "docs/flutter.md",
]
DECLARES = re.compile(r"^(public |final )*(class|enum|extension|protocol|struct|@main)\b|^@main", re.M)
# The guides may use what is newer than the oldest system, and say so in words.
NEWEST = "@available(iOS 26.4, macOS 26.4, macCatalyst 26.4, *)"


def blocks(text):
    """The Swift blocks of a page, each with the number of its first line."""
    for match in re.finditer(r"^( *)```swift\n(.*?)^ *```$", text, re.M | re.S):
        yield text.count("\n", 0, match.start(2)) + 1, match[2]


def without_gaps(code):
    """`()` in the place of each `…` that the compiler would read."""
    parts = re.split(r'("(?:\\.|[^"\\\n])*"|//[^\n]*)', code)
    return "".join(part if index % 2 else part.replace("…", "()") for index, part in enumerate(parts))


def source(name, page, line, code):
    place = f'#sourceLocation(file: "{page.relative_to(ROOT)}", line: {line})\n'
    if DECLARES.search(code):
        return f"import BillingSDK\n{place}{without_gaps(code)}"
    imports = "".join(f"import {module}\n" for module in ("BillingSDK", "Foundation", "StoreKit", "SwiftUI"))
    body = re.sub(r"^import \w+$", "", without_gaps(code), flags=re.M)
    return f"{imports}{NEWEST} @MainActor func {name}() async throws {{\n{place}{body}}}\n"


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.swift"):
        old.unlink()
    count = 0
    for page in PAGES:
        for line, code in blocks(page.read_text()):
            name = re.sub(r"\W", "_", f"{page.stem}_{line}")
            (folder / f"{name}.swift").write_text(source(name, page, line, code))
            count += 1
    # Fewer would mean that this script reads the guides no more.
    assert count >= 12, f"only {count} blocks of Swift"


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
