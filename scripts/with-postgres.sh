#!/usr/bin/env bash
# Runs a command with a PostgreSQL server of its own, on loopback and with its defaults; the
# server and all that it held are gone afterwards. The command finds it in TOLLGATE_DATABASE.
#
#   with-postgres.sh COMMAND…
#
# POSTGRES_OPTIONS are further options of the server.
set -euo pipefail

binaries="$(dirname "$(compgen -G '/usr/lib/postgresql/*/bin/initdb' | sort -V | tail -1)" 2>/dev/null || true)"
if [ ! -x "$binaries/initdb" ]; then
    binaries="$(dirname "$(command -v initdb)")" || { echo "PostgreSQL is not installed" >&2; exit 2; }
fi

folder="$(mktemp -d)"
as_owner=()
if [ "$(id -u)" -eq 0 ]; then # PostgreSQL refuses to run as root
    chown postgres "$folder"
    as_owner=(runuser -u postgres --)
fi
stop() {
    (cd / && "${as_owner[@]}" "$binaries/pg_ctl" -D "$folder/data" -m immediate stop) >/dev/null 2>&1 || true
    rm -rf "$folder"
}
trap stop EXIT

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
start() {
    "${as_owner[@]}" "$binaries/pg_ctl" -D "$folder/data" -w -l "$folder/log" \
        -o "-c listen_addresses=127.0.0.1 -p $1 -k $folder ${POSTGRES_OPTIONS:-}" start
}
(
    cd /
    "${as_owner[@]}" "$binaries/initdb" -D "$folder/data" -U postgres -A trust -E UTF8 \
        --locale=C.UTF-8 --no-sync
    # A port that was free when it was asked for may be somebody else's when it is used.
    for try in 1 2 3; do
        port="$(free_port)"
        if start "$port"; then
            echo "$port" >"$folder/port"
            exit
        fi
        echo "PostgreSQL did not start on port $port (try $try)"
        cat "$folder/log"
    done
    exit 1
) >"$folder.setup" 2>&1 || { cat "$folder.setup" >&2; rm -f "$folder.setup"; exit 2; }
rm -f "$folder.setup"
port="$(cat "$folder/port")"

TOLLGATE_DATABASE="postgres://postgres@127.0.0.1:$port/postgres" "$@"
