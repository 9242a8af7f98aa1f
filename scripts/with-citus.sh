#!/usr/bin/env bash
# Runs a command with a Citus cluster of its own, on loopback: a coordinator and two workers. All
# three are gone afterwards. The command finds the coordinator in TOLLGATE_DATABASE.
#
#   with-citus.sh COMMAND…
#
# Where PostgreSQL has no extension citus, says so, runs nothing, and ends with 0.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"

# The version that with-postgres.sh starts.
newest="$(compgen -G '/usr/lib/postgresql/*/bin/initdb' | sort -V | tail -1 | cut -d/ -f5 || true)"
if ! [ -e "/usr/share/postgresql/$newest/extension/citus.control" ] &&
    ! [ -e "$(pg_config --sharedir 2>/dev/null)/extension/citus.control" ]; then
    echo "Skipped: this machine's PostgreSQL has no extension citus." >&2
    exit 0
fi

# Each of the three servers is started by one more of us, inside of the one before.
if [ "$(wc -w <<<"${CITUS_SERVERS:-}")" -lt 3 ]; then
    export POSTGRES_OPTIONS="-c shared_preload_libraries=citus"
    # shellcheck disable=SC2016 # the inner shell fills it in
    exec bash "$here/with-postgres.sh" bash -c \
        'CITUS_SERVERS="${CITUS_SERVERS:-} $TOLLGATE_DATABASE" exec bash "$@"' - "$0" "$@"
fi

read -r coordinator first second <<<"$CITUS_SERVERS"
unset CITUS_SERVERS POSTGRES_OPTIONS
port() { sed -E 's|.*:([0-9]+)/.*|\1|' <<<"$1"; }
run() { psql "$1" --quiet --no-psqlrc --tuples-only --set ON_ERROR_STOP=1 --command "$2" >/dev/null; }
for server in "$coordinator" "$first" "$second"; do run "$server" "CREATE EXTENSION citus"; done
run "$coordinator" "SELECT citus_set_coordinator_host('127.0.0.1', $(port "$coordinator"))"
for worker in "$first" "$second"; do
    run "$coordinator" "SELECT citus_add_node('127.0.0.1', $(port "$worker"))"
done

TOLLGATE_DATABASE="$coordinator" "$@"
