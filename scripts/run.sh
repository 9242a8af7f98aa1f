#!/usr/bin/env bash
# Installs what is missing, builds, and starts the demo. Arguments go to `tollgate demo`.
set -euo pipefail
cd "$(dirname "$0")/.."

bash scripts/bootstrap.sh run
if [ ! -x Server/.build/debug/tollgate ]; then
    echo "Building Tollgate. The first build takes about five minutes on two cores."
fi
bash scripts/swift.sh build --package-path Server --product tollgate
exec Server/.build/debug/tollgate demo "$@"
