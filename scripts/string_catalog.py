"""Writes the sentences of BillingSDK's views as a String Catalog: string_catalog.py [--check]

The `.strings` files in Sources/BillingSDK/Resources are the source, since a build on Linux reads no
catalog. The catalog is for apps, which change sentences or add languages in Xcode
(Sources/BillingSDK/BillingSDK.docc/Languages.md). With --check nothing is written; exits 1 where the file
is not what this would write, or a language lacks a sentence.

Its form: https://developer.apple.com/documentation/xcode/localizing-and-varying-text-with-a-string-catalog
"""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
RESOURCES = ROOT / "Sources/BillingSDK/Resources"
CATALOG = ROOT / "Examples/Localization/BillingSDK.xcstrings"
LINE = re.compile(r'^"((?:[^"\\]|\\.)*)" = "((?:[^"\\]|\\.)*)";$')


def sentences(path):
    """The sentences of a `.strings` file, by their keys."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if match := LINE.match(line):
            key, text = (json.loads(f'"{part}"') for part in match.groups())
            found[key] = text
    return found


def main():
    languages = {
        path.parent.stem: sentences(path) for path in sorted(RESOURCES.glob("*.lproj/Localizable.strings"))
    }
    keys = sorted(languages["en"])
    for language, said in languages.items():
        if said.keys() != set(keys):
            sys.exit(f"{language} differs from en: {sorted(said.keys() ^ set(keys))}")
    catalog = {
        "sourceLanguage": "en",
        "strings": {
            key: {
                "extractionState": "manual",
                "localizations": {
                    language: {"stringUnit": {"state": "translated", "value": said[key]}}
                    for language, said in languages.items()
                },
            }
            for key in keys
        },
        "version": "1.0",
    }
    text = json.dumps(catalog, indent=2, separators=(",", " : "), ensure_ascii=False) + "\n"
    if "--check" in sys.argv[1:]:
        if not CATALOG.exists() or CATALOG.read_text(encoding="utf-8") != text:
            sys.exit(f"{CATALOG.relative_to(ROOT)} is not up to date: python3 scripts/string_catalog.py")
    else:
        CATALOG.write_text(text, encoding="utf-8")


main()
