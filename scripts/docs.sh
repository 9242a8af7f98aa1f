#!/usr/bin/env bash
# The reference of BillingSDK as a static site in output/docs. A broken symbol link is an error.
set -euo pipefail
cd "$(dirname "$0")/.."

graphs="$(mktemp -d)"
trap 'rm -rf "$graphs"' EXIT
bash scripts/symbol-graph.sh "$graphs"

catalogs=()
[ -d Sources/BillingSDK/BillingSDK.docc ] && catalogs=(Sources/BillingSDK/BillingSDK.docc)
rm -rf output/docs
mkdir -p output
docc convert "${catalogs[@]}" --warnings-as-errors \
    --additional-symbol-graph-dir "$graphs" \
    --fallback-display-name BillingSDK --fallback-bundle-identifier tollgate.billing-sdk \
    --transform-for-static-hosting --output-path output/docs
echo "The reference is in output/docs. To read it: python3 -m http.server --directory output/docs"
