#!/usr/bin/env bash
# `swift build` or `swift test` with the flags that every debug build here shares:
#
#   scripts/swift.sh build|test [OPTION…]
#
# Compiling whole modules takes the compiler two thirds of the time. BoringSSL's C is optimised: it
# costs the build little, and without it an eighth of the tests' time is spent in it. Other flags in the
# same scratch path compile everything again, so scripts and people use this one.
set -uo pipefail
command="$1"
shift
# A build does not notice by itself that a package below got or lost a file; it does when a manifest is
# younger than its plan.
root="$(cd "$(dirname "$0")/.." && pwd)"
package=.
for ((index = 1; index < $#; index++)); do
    [ "${!index}" = --package-path ] && next=$((index + 1)) && package="${!next}"
done
mkdir -p "$package/.build"
files="$(cd "$root" && find Sources Shared/Sources Sandbox/Sources -name '*.swift' 2>/dev/null | sort)"
if [ "$files" != "$(cat "$package/.build/files-below" 2>/dev/null)" ]; then
    [ ! -e "$package/.build/debug.yaml" ] || touch "$package/Package.swift"
    printf '%s\n' "$files" >"$package/.build/files-below"
fi
# The compiler remarks for each module that it is not compiled in pieces.
swift "$command" -Xswiftc -wmo -Xswiftc -num-threads -Xswiftc 2 \
    -Xswiftc -no-emit-module-separately-wmo -Xcc -O1 -Xcc -g0 \
    --explicit-target-dependency-import-check error "$@" |
    { grep --line-buffered -vE 'Incremental compilation has been disabled|-enable-batch-mode' || true; }
