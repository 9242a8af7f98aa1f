#!/bin/bash
# Fails when BillingSDK's public API is not the one in docs/public-api/BillingSDK.txt.
#
#   scripts/public-api.sh            compare
#   scripts/public-api.sh --accept   take the new API over; the diff then belongs into the review
#
# Read from the build against the stand-ins, so that Apple-only API is listed too.
set -euo pipefail
cd "$(dirname "$0")/.."
list=docs/public-api/BillingSDK.txt
graphs=$(mktemp -d)
trap 'rm -rf "$graphs"' EXIT
bash scripts/symbol-graph.sh "$graphs"
python3 scripts/public-api.py "$graphs/BillingSDK.symbols.json" > "$graphs/list"
if [ "${1:-}" = --accept ]; then
  cp "$graphs/list" "$list"
else
  diff -u "$list" "$graphs/list" \
    || { echo "the public API has changed: run $0 --accept if that is meant" >&2; exit 1; }
fi
