#!/usr/bin/env bash
# `make bench`: measures Tollgate beside a reference receiver and prints one table of the goals.
# Arguments go to Server/Benchmarks/bench.py (--quick, --only PART, --help, …).
set -euo pipefail
cd "$(dirname "$0")/.."

requirements=Server/Benchmarks/requirements.txt
environment=.venv-bench
command -v cc >/dev/null || { echo "bench: a C compiler (cc) is missing" >&2; exit 2; }

# The system's Python first: distributions build it with profile-guided optimisation, and the
# reference receiver should be at its best.
python=
for candidate in ${TOLLGATE_BENCH_PYTHON:-} /usr/bin/python3 python3; do
    if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        python=$candidate
        break
    fi
done
[ -n "$python" ] || { echo "bench: Python 3.11 or newer with venv is missing" >&2; exit 2; }
if ! cmp -s "$requirements" "$environment/installed.txt"; then
    echo "bench: installing the reference receiver's packages into $environment" >&2
    rm -rf "$environment"
    "$python" -m venv "$environment"
    "$environment/bin/python" -m pip install --quiet --disable-pip-version-check -r "$requirements"
    cp "$requirements" "$environment/installed.txt"
fi
exec "$environment/bin/python" Server/Benchmarks/bench.py "$@"
