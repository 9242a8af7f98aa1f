#!/bin/bash
# Fails when BillingSDK's public API is not the one in docs/public-api/BillingSDK.txt.
#
#   scripts/public-api.sh            compare
#   scripts/public-api.sh --accept   take the new API over; the diff then belongs into the review
#
# Read from the build against the stand-ins, so that Apple-only API is listed too.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
list=$root/docs/public-api/BillingSDK.txt
cd "$root/AppleStubs"
graphs=$(swift package dump-symbol-graph --minimum-access-level public 2>/dev/null \
  | sed -n 's/^Files written to //p')
[ -f "$graphs/BillingSDK.symbols.json" ] || { echo "no symbol graph was written" >&2; exit 1; }
if [ "${1:-}" = --accept ]; then
  python3 "$root/scripts/public-api.py" "$graphs/BillingSDK.symbols.json" > "$list"
else
  python3 "$root/scripts/public-api.py" "$graphs/BillingSDK.symbols.json" > /dev/null
  diff -u "$list" <(python3 "$root/scripts/public-api.py" "$graphs/BillingSDK.symbols.json") \
    || { echo "the public API has changed: run $0 --accept if that is meant" >&2; exit 1; }
fi
