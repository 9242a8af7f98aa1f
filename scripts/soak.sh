#!/usr/bin/env bash
# The long tests, in pieces that add up: soak.sh [PART…], for example soak.sh worlds,planted
#
# Every part has a number to reach. A run does one piece of each part after the other until all have
# it, and goes on where the last one was broken off: what was done stands in output/soak/PART.tsv
# (remove it to begin anew). Every piece has a seed of its own. A part that fails stops; the others
# go on. TOLLGATE_SOAK_MINUTES ends the run after the piece during which they are over.
#
# Worlds, servers that die and what is measured are a release build (or TOLLGATE_BIN); the tests, and
# worlds with a planted bug, are debug builds: a release build cannot plant one.
# Two runs with different parts may go side by side.
set -uo pipefail
cd "$(dirname "$0")/.."

out=output/soak
mkdir -p "$out"
commit="$(git rev-parse --short HEAD 2>/dev/null || echo unknown)"

#          part     number  a piece  of what
parts=(
    "worlds      100    20  worlds of 50 customers and 2 years, all faults, on SQLite"
    "worlds-pg   100    20  worlds of 50 customers and 2 years, all faults, on PostgreSQL"
    "calm        100    20  worlds of 50 customers and 2 years, no faults, on SQLite"
    "calm-pg     100    20  worlds of 50 customers and 2 years, no faults, on PostgreSQL"
    "large       100    10  worlds of 200 customers and 2 years, all faults, on SQLite"
    "sqlite     1000    50  SIGKILLs on SQLite"
    "postgres   1000    50  SIGKILLs on PostgreSQL"
    "failovers    20     4  failovers to a synchronous standby"
    "planted      69     5  planted bugs, each in whole worlds"
    "orders      200    20  random orders of every scenario, on both databases"
    "mutants       6     1  parts in which nine of ten changed operators are noticed"
    "facts   1000000 250000 random orders of random facts"
    "outside       1     1  time every scenario over HTTP, every report on PostgreSQL, many requests of each kind"
    "apple         4     1  systems for which the SDK's Apple-only code is checked"
    "statements    1     1  time a fault at every statement of every write, on both databases"
    "cuts       5000   500  power cuts"
    "races   1000000 100000 spends that race for the same coins, on each database"
    "fuzz        900    60  seconds for each of the fuzzers"
    "package       1     1  time the packages, installed where no Swift is (as root)"
    "scaling       1     1  time up to 10 million customers, where the disk is large enough"
)

swift_test() {
    Server/.build/debug/ServerPackageTests.xctest --testing-library swift-testing "$@"
}
crash_test() {
    .venv/bin/python -m pytest Server/Tests/Python/test_crash.py -p no:cacheprovider -q -s "$@"
}

# Parts may be separated by commas too.
read -ra chosen <<<"$(tr "," " " <<<"$*")"
set -- ${chosen[@]+"${chosen[@]}"}
names="$(printf '%s\n' "${parts[@]}" | awk '{ printf "%s ", $1 }')"
for name in "$@"; do
    [[ " $names" == *" $name "* ]] && continue
    echo "tollgate: the soak has no part '$name'. The parts are: $names" >&2
    exit 2
done

# worlds DATABASE CUSTOMERS SEED COUNT FAULTS: half of them beside the other half.
worlds() {
    local half=$(($4 / 2)) first=0
    [ "$half" -gt 0 ] || { simulate "$@"; return; }
    simulate "$1" "$2" "$3" "$half" "$5" &
    simulate "$1" "$2" $(($3 + half)) $(($4 - half)) "$5" || first=1
    wait $! && return $first
}
simulate() {
    "$TOLLGATE_BIN" simulate --database "$1" --customers "$2" --seed "$3" --worlds "$4" \
        --faults "$5" --scenario "$out/world-$1-$2-$3-$5.yaml"
}

# Builds the package of the version before: of the newest tag before this commit, or of the commit that made
# packages first. It is kept; TOLLGATE_PACKAGE_BEFORE names another one.
package_before() {
    [ -z "${TOLLGATE_PACKAGE_BEFORE:-}" ] || return 0
    local before folder source
    before="$(git describe --tags --abbrev=0 --match 'v*' HEAD^ 2>/dev/null ||
        git log -1 --format=%h --diff-filter=A -- scripts/package.sh)"
    folder="$PWD/output/package-before/$before"
    source="$folder/source"
    if ! compgen -G "$folder/*.deb" >/dev/null; then
        git worktree prune && git worktree add --force --detach "$source" "$before" &&
            # A lower number than any, so that today's package is an upgrade.
            bash "$source/scripts/package.sh" --version 0.0.1 --out "$folder" --compress gzip || return
        git worktree remove --force "$source"
    fi
    TOLLGATE_PACKAGE_BEFORE="$(compgen -G "$folder/*.deb")"
    export TOLLGATE_PACKAGE_BEFORE
}

# piece PART COUNT SEED
piece() {
    local part="$1" count="$2"
    export TOLLGATE_SEED="$3"
    case "$part" in
        worlds) worlds sqlite 50 $((1 + $3)) "$count" all ;;
        worlds-pg) worlds postgres 50 $((1 + $3)) "$count" all ;;
        calm) worlds sqlite 50 $((1 + $3)) "$count" none ;;
        calm-pg) worlds postgres 50 $((1 + $3)) "$count" none ;;
        large) worlds sqlite 200 $((1000 + $3)) "$count" all ;;
        sqlite | postgres) TOLLGATE_KILLS="$count" crash_test -k "sigkill and $part" ;;
        failovers) TOLLGATE_FAILOVERS="$count" crash_test -k "that_is_replaced" ;;
        orders) TOLLGATE_SCENARIO_ORDERS="$count" swift_test --filter ScenarioTests ;;
        mutants)
            local changed=(core app_store stripe ledger stripe_reads google_play)
            python3 scripts/mutants/mutants.py "${changed[$3]}"
            ;;
        planted) TOLLGATE_PLANTED="$3+$count" swift_test --filter plantedInWholeWorlds ;;
        facts)
            bash scripts/swift.sh build --build-tests &&
                TOLLGATE_ORDERS="$count" .build/debug/BillingSDKPackageTests.xctest \
                    --testing-library swift-testing --filter OrderTests
            ;;
        outside)
            TOLLGATE_SOAK=1 .venv/bin/python -m pytest -p no:cacheprovider -q --numprocesses 2 \
                Server/Tests/Python/test_{scenario_on_a_server,scenarios,reports,schemathesis}.py \
                Server/Tests/Python/test_{retention_messaging,google_play_import}.py
            ;;
        apple)
            local systems=(macos ios26 macos26 catalyst)
            bash scripts/apple-typecheck.sh "${systems[$3]}"
            ;;
        statements) TOLLGATE_EVERY_STATEMENT=1 swift_test --filter InterruptionTests ;;
        cuts) TOLLGATE_CUTS="$count" swift_test --filter PowerCutTests ;;
        races) TOLLGATE_RACES="$count" swift_test --filter RaceTests ;;
        fuzz) bash scripts/fuzz.sh "$count" ;;
        package)
            rm -rf output/packages
            bash scripts/bootstrap.sh package && bash scripts/package.sh && package_before &&
                TOLLGATE_PACKAGES="$PWD/output/packages" .venv/bin/python -m pytest \
                    -p no:cacheprovider -q -s Server/Tests/Python/test_{package,installed}.py
            ;;
        scaling)
            .venv/bin/python Server/Tests/Python/measure_scaling.py 10000 1000000 10000000
            ;;
    esac
}

# The sum of what went well.
reached() { awk -F'\t' '$5 == "ok" { sum += $4 } END { print sum + 0 }' "$out/$1.tsv" 2>/dev/null || echo 0; }
pieces() { [ -f "$out/$1.tsv" ] && wc -l <"$out/$1.tsv" || echo 0; }

# Changed operators are compiled in a copy of their own, and packages with flags of their own.
if [ "$*" != mutants ] && [ "$*" != package ]; then
    bash scripts/swift.sh build --package-path Server --build-tests || exit
    if [ -z "${TOLLGATE_BIN:-}" ]; then
        swift build --package-path Server -c release --product tollgate || exit
        TOLLGATE_BIN="$(swift build --package-path Server -c release --show-bin-path)/tollgate"
    fi
    export TOLLGATE_BIN
fi

until=$((SECONDS + ${TOLLGATE_SOAK_MINUTES:-1000000} * 60))
stopped=" "
going=1
while [ "$going" = 1 ]; do
    going=0
    for line in "${parts[@]}"; do
        read -r part number count what <<<"$line"
        [ $# = 0 ] || [[ " $* " == *" $part "* ]] || continue
        [[ "$stopped" == *" $part "* ]] && continue
        done="$(reached "$part")"
        [ "$done" -lt "$number" ] || continue
        [ "$SECONDS" -lt "$until" ] || break 2
        going=1
        [ $((number - done)) -lt "$count" ] && count=$((number - done))
        seed="$(pieces "$part")"
        # What is counted follows what is done; elsewhere each piece has the next seed.
        [[ "$part" = worlds* || "$part" = calm* || "$part" = large || "$part" = mutants ||
            "$part" = planted ]] && seed="$done"
        log="$out/$part-$seed.log"
        begun=$SECONDS
        result=ok
        piece "$part" "$count" "$seed" >"$log" 2>&1 || result=failed
        printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$(date -u +%FT%TZ)" "$commit" "$seed" "$count" \
            "$result" $((SECONDS - begun)) >>"$out/$part.tsv"
        if [ "$result" = ok ]; then
            [ "$part" = mutants ] && grep -E 'SURVIVED|changes noticed' "$log"
            printf '%s: %d of %d %s (%d s)\n' \
                "$part" $((done + count)) "$number" "$what" $((SECONDS - begun))
        else
            tail -30 "$log"
            printf '%s: FAILED with seed %d, see %s\n' "$part" "$seed" "$log"
            stopped="$stopped$part "
        fi
    done
done

printf '\n'
status=0
for line in "${parts[@]}"; do
    read -r part number count what <<<"$line"
    failures="$(awk -F'\t' '$5 != "ok"' "$out/$part.tsv" 2>/dev/null | wc -l)"
    seconds="$(awk -F'\t' '{ sum += $6 } END { print sum + 0 }' "$out/$part.tsv" 2>/dev/null || echo 0)"
    printf '%9d of %-9d %s; %d pieces failed, %d s\n' \
        "$(reached "$part")" "$number" "$what" "$failures" "$seconds"
    [ "$failures" = 0 ] || status=1
done
exit $status
