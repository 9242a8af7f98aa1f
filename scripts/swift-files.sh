#!/usr/bin/env bash
# Lists our Swift files, separated by NUL: not what was built, not published samples kept verbatim.
set -euo pipefail
cd "$(dirname "$0")/.."

find . -name '*.swift' -type f \
    -not -path '*/.build*' -not -path './.venv*' -not -path './output/*' \
    -not -path './AppleStubs/Sources/DocSamples/*' -print0 | sort -z
