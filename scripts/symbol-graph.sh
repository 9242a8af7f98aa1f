#!/usr/bin/env bash
# Writes BillingSDK's symbol graph into a folder: symbol-graph.sh FOLDER
#
# From the build against the stand-ins, so that Apple-only API is listed too.
set -euo pipefail
cd "$(dirname "$0")/../AppleStubs"
bash ../scripts/swift.sh build --build-tests >&2
modules="$(bash ../scripts/swift.sh build --show-bin-path)/Modules"
swift symbolgraph-extract -module-name BillingSDK -I "$modules" -output-dir "$1" \
    -target "$(swiftc -print-target-info | sed -n 's/^ *"unversionedTriple": "\(.*\)",/\1/p')" \
    -minimum-access-level public
