#!/usr/bin/env bash
# Fuzzes what strangers send: fuzz.sh [SECONDS]   (for each reader; 30 unless given; 0 only builds)
#
# TOLLGATE_FUZZERS run at a time, two unless given. For ten seconds or less the readers are not optimised:
# that is built in a third of the time.
#
# The readers and what they read with are compiled with libFuzzer's instrumentation; everything below
# (cryptography, certificates, YAML) comes from the server's debug build as it is, which saves minutes.
# A finding lies in output/fuzz-found/; put it into Server/Fuzzing/Corpus/READER/ once it is mended.
# What leads to new paths is kept in output/fuzz-corpus/, so that the next run goes on from there.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds="${1:-30}"
products=Server/.build/debug
out=output/fuzz optimise=-O
[ "$seconds" -gt 10 ] || out=output/fuzz-quick optimise=-Onone
corpus=output/fuzz-corpus
found=output/fuzz-found
mkdir -p "$out" "$found"

# C modules that the modules below import.
clang=()
for name in CCryptoBoringSSL CCryptoBoringSSLShims CXKCP CXKCPShims CYaml; do
    for include in "$PWD"/Server/.build/checkouts/*/Sources/$name/include; do
        clang+=(-Xcc "-fmodule-map-file=$include/module.modulemap" -Xcc -I -Xcc "$include")
    done
done
clang+=(-Xcc "-fmodule-map-file=$PWD/Server/Sources/CZlib/module.modulemap")

compile() { # MODULE FLAGS… -- FILES…
    local module="$1"
    shift
    swiftc "$optimise" -wmo -parse-as-library -sanitize=fuzzer -swift-version 6 -package-name tollgate \
        -enable-testing -suppress-warnings -DSWIFT_PACKAGE "${clang[@]}" -I "$out" -I "$products/Modules" \
        -module-name "$module" -emit-module -emit-module-path "$out/$module.swiftmodule" \
        -c -o "$out/$module.o" "$@"
}
features=(-enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault
    -enable-upcoming-feature MemberImportVisibility)
sources() { find "$1" -name '*.swift' | sort; }

build() {
    rm -rf "$out"
    mkdir -p "$out"
    compile TollgateCore $(sources Sources/TollgateCore) &
    core=$!
    compile StrictJSON "${features[@]}" $(sources Server/Sources/StrictJSON)
    compile TextFormats "${features[@]}" $(sources Server/Sources/TextFormats)
    compile AppStoreAPI "${features[@]}" $(sources Server/Sources/AppStoreAPI)
    compile GooglePlayAPI "${features[@]}" $(sources Server/Sources/GooglePlayAPI)
    wait $core
    compile StripeAPI "${features[@]}" $(sources Server/Sources/StripeAPI)
    compile TollgateAPI $(sources Sources/TollgateAPI)
    # The readers of the service, without the service.
    service=Server/Sources/TollgateService
    # shellcheck disable=SC2046
    compile Fuzzing Server/Fuzzing/Fuzzing.swift $service/StrictBody.swift $service/NeverNull.swift \
        $service/Deliveries/IPAddress.swift $service/Deliveries/WebhookAddress.swift \
        $(sources $service/Catalog | grep -v PublishedCatalog)

    # A source file that is gone leaves its object behind. Generated sources lie beside the objects.
    for object in "$products"/*.build/*.swift.o; do
        target="$(basename "${object%/*}" .build)"
        [ -d "Server/Sources/$target" ] || continue
        [ -n "$(find "Server/Sources/$target" "${object%/*}" -name "$(basename "$object" .o)" -print -quit)" ] ||
            rm -f "$object"
    done
    rm -f "$out/below.a"
    find -L "$products" -path '*.build/*' -name '*.o' \
        -not -path '*Tests.build/*' -not -path '*/StrictJSON.build/*' -not -path '*/TextFormats.build/*' \
        -not -path '*/AppStoreAPI.build/*' \
        -not -path '*/StripeAPI.build/*' -not -path '*/GooglePlayAPI.build/*' -not -path '*/Tollgate*.build/*' -not -path '*-tool.build/*' \
        -print0 | xargs -0 ar rcsP "$out/below.a"
    swiftc -sanitize=fuzzer -use-ld=lld -o "$out/fuzzing" "$out"/*.o "$out/below.a" -lstdc++ -lz
}

began=$SECONDS
if [ ! -x "$out/fuzzing" ] || [ -n "$(find scripts/fuzz.sh Sources Server/Sources Server/Fuzzing \
    -name '*.s[wh]*' -newer "$out/fuzzing" -print -quit)" ]; then
    build
    printf 'built in %d s\n' $((SECONDS - began))
fi
[ "$seconds" -gt 0 ] || exit 0

readers=(signed_data chain receipt form signature json token catalog report
    play_hint play_token play_pull play_error play_report)
run() {
    local reader="$1"
    mkdir -p "$corpus/$reader"
    local corpora=("$corpus/$reader")
    [ -d "Server/Fuzzing/Corpus/$reader" ] && corpora+=("Server/Fuzzing/Corpus/$reader")
    [ "$reader" = catalog ] && cp catalog.yaml "$corpus/$reader/"
    # The crash handler of Swift waits for minutes under the fuzzer.
    if SWIFT_BACKTRACE=enable=no TOLLGATE_FUZZ="$reader" \
        TOLLGATE_FUZZ_ROOT=Server/Fuzzing/Corpus/root.der \
        "$out/fuzzing" -max_total_time="$seconds" -max_len=16384 -timeout=5 -rss_limit_mb=1024 \
        -print_final_stats=1 -artifact_prefix="$found/$reader-" "${corpora[@]}" \
        >"$out/$reader.log" 2>&1; then
        stat() { sed -n "s/^stat::$1: *//p" "$out/$reader.log"; }
        printf '%-12s %9d executions, the slowest took %d s, %d MB at most, no finding\n' \
            "$reader" "$(stat number_of_executed_units)" "$(stat slowest_unit_time_sec)" \
            "$(stat peak_rss_mb)"
    else
        tail -40 "$out/$reader.log"
        printf '%-12s FOUND something: output/fuzz-found/%s-*\n' "$reader" "$reader"
        return 1
    fi
}
export -f run
export out corpus found seconds
printf '%s\n' "${readers[@]}" | xargs -P "${TOLLGATE_FUZZERS:-2}" -I{} bash -c 'run {}'
