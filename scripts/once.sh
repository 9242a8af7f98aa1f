#!/usr/bin/env bash
# Runs a check unless it has passed before with the same files, the same command and the same compiler:
#
#   once.sh NAME PATH… -- COMMAND…
#
# Only for checks that depend on nothing else. What has passed is kept in output/once/; `make clean`
# forgets it.
set -euo pipefail
cd "$(dirname "$0")/.."

name="$1"
shift
paths=()
while [ "$1" != -- ]; do
    paths+=("$1")
    shift
done
shift

stamp="output/once/$name"
files() { find "$@" -type f -not -path '*/.build*' -print0 | sort -z | xargs -0 sha256sum; }
now="$({ swift --version 2>/dev/null && echo "$@" && files "${paths[@]}" "$0"; } | sha256sum)"
if [ "$(cat "$stamp" 2>/dev/null)" = "$now" ]; then
    echo "passed before, with the same files"
    exit
fi
rm -f "$stamp"
"$@"
mkdir -p "${stamp%/*}"
echo "$now" >"$stamp"
