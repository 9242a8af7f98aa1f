#!/usr/bin/env bash
# `make bench`: measures Tollgate beside a reference receiver and prints one table of the goals.
# Arguments go to Server/Benchmarks/bench.py (--quick, --only PART, --help, …).
set -euo pipefail
cd "$(dirname "$0")/.."

requirements=Server/Benchmarks/requirements.txt
environment=.venv-bench
for tool in python3 cc; do
    command -v "$tool" >/dev/null || { echo "bench: $tool is missing" >&2; exit 2; }
done
if ! cmp -s "$requirements" "$environment/installed.txt"; then
    echo "bench: installing the reference receiver's packages into $environment" >&2
    python3 -m venv "$environment"
    "$environment/bin/python" -m pip install --quiet --disable-pip-version-check -r "$requirements"
    cp "$requirements" "$environment/installed.txt"
fi
exec "$environment/bin/python" Server/Benchmarks/bench.py "$@"
