#!/usr/bin/env bash
# `swift build` or `swift test` with the flags that every debug build here shares:
#
#   scripts/swift.sh build|test [OPTION…]
#
# Compiling whole modules takes the compiler two thirds of the time. Other flags in the same scratch
# path compile everything again, so scripts and people use this one.
set -uo pipefail
command="$1"
shift
# The compiler remarks for each module that it is not compiled in pieces.
swift "$command" -Xswiftc -wmo -Xswiftc -num-threads -Xswiftc 2 \
    -Xswiftc -no-emit-module-separately-wmo \
    --explicit-target-dependency-import-check error "$@" |
    { grep --line-buffered -vE 'Incremental compilation has been disabled|-enable-batch-mode' || true; }
