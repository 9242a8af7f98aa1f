#!/usr/bin/env bash
# Every test of the repository, in one run. All parts run even if one fails.
#
# The last line is `N passed, N failed`, summed over the reports that the test runners write
# (output/test-results/*.xml); a check without a report of its own counts as one. Exits 1 if any failed.
set -uo pipefail
cd "$(dirname "$0")/.."

results=output/test-results
rm -rf "$results"
mkdir -p "$results"

bash scripts/bootstrap.sh test || exit
bash scripts/python.sh || exit

checks_passed=0
failures=()

# check NAME COMMAND…: one check; it fails if the command does.
check() {
    local name="$1" begun=$SECONDS
    shift
    printf '\n== %s\n' "$name"
    if "$@" </dev/null; then
        checks_passed=$((checks_passed + 1))
        printf '== %s: ok (%d s)\n' "$name" $((SECONDS - begun))
    else
        failures+=("$name")
        printf '== %s: FAILED (%d s)\n' "$name" $((SECONDS - begun))
        return 1
    fi
}

# suite NAME REPORT COMMAND…: a test runner that writes its own report.
suite() {
    local name="$1" report="$2" begun=$SECONDS status=0
    shift 2
    printf '\n== %s\n' "$name"
    "$@" </dev/null || status=$?
    printf '== %s: exit %d (%d s)\n' "$name" "$status" $((SECONDS - begun))
    # A runner that crashed has not reported the test in which it did.
    if ! python3 scripts/count_results.py --status "$status" "$report"; then
        failures+=("$name: ended with $status and reported no failure")
    fi
}

strict=(--explicit-target-dependency-import-check error)

suite "BillingSDK" "$results/sdk.xml" \
    swift test "${strict[@]}" --disable-xctest --xunit-output "$results/sdk.xml"

check "BillingSDK under the thread sanitizer" bash scripts/tsan.sh

if [ -f AppleStubs/Package.swift ]; then
    suite "Apple-only code on stand-ins" "$results/apple.xml" \
        swift test --package-path AppleStubs --disable-xctest --xunit-output "$results/apple.xml"
fi
check "BillingSDK's public API is the one that was reviewed" bash scripts/public-api.sh
if command -v docc >/dev/null; then
    check "BillingSDK's reference has no broken link" bash scripts/docs.sh
fi
if [ -f scripts/apple-typecheck.sh ]; then
    check "Apple-only code for iOS 15" bash scripts/apple-typecheck.sh ios
    check "Apple-only code for macOS 12" bash scripts/apple-typecheck.sh macos
fi
if [ -f scripts/consumer-check.sh ]; then
    check "An app that links BillingSDK" bash scripts/consumer-check.sh
fi

if check "Build the server" \
    swift build --package-path Server --build-tests "${strict[@]}"; then
    suite "Server" "$results/server.xml" \
        swift test --package-path Server --skip-build "${strict[@]}" --disable-xctest \
        --xunit-output "$PWD/$results/server.xml"

    TOLLGATE_BIN="$(swift build --package-path Server --show-bin-path)/tollgate"
    TOLLGATE_TEST_OUTPUT="$PWD/output"
    export TOLLGATE_BIN TOLLGATE_TEST_OUTPUT

    # The same story that a newcomer clicks through, on both databases.
    check "The demo's story on SQLite" timeout 120 "$TOLLGATE_BIN" demo --script
    check "The demo's story on PostgreSQL" \
        timeout 120 bash scripts/with-postgres.sh "$TOLLGATE_BIN" demo --script
    suite "The running server, seen from outside" "$results/pytest.xml" \
        .venv/bin/python -m pytest Server/Tests/Python -p no:cacheprovider \
        --junitxml "$results/pytest.xml"
fi

printf '\n'
for failure in "${failures[@]}"; do printf 'FAILED: %s\n' "$failure"; done
python3 scripts/count_results.py --passed "$checks_passed" --failed "${#failures[@]}" "$results"/*.xml
