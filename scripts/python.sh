#!/usr/bin/env bash
# Makes `.venv/` from requirements.txt, or leaves it alone if it is up to date.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! cmp -s scripts/requirements.txt .venv/installed.txt; then
    echo "Installing the Python packages of the tests into .venv/"
    rm -rf .venv
    python3 -m venv .venv
    .venv/bin/pip install --quiet --disable-pip-version-check -r scripts/requirements.txt </dev/null
    cp scripts/requirements.txt .venv/installed.txt
fi
