#!/usr/bin/env bash
# Installs, by name and only if missing, what the Swift toolchain does not bring.
#
#   bootstrap.sh run     what building and running needs
#   bootstrap.sh test    that, and what the tests need
#   bootstrap.sh bench   that, and what the benchmark needs
#   bootstrap.sh package what building packages needs, and making a root file system to try them in
#
# Prints nothing when nothing is missing. Calls apt-get only when something is.
set -euo pipefail

purpose="${1:-test}"

has() { command -v "$1" >/dev/null 2>&1; }
has_library() { has pkg-config && pkg-config --exists "$1"; }
has_postgres() { has initdb || compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null; }
has_browser() { has chromium || has chromium-browser || has google-chrome; }
has_cjk_font() { compgen -G '/usr/share/fonts/*/noto/NotoSansCJK-Regular*' >/dev/null; }
has_venv() { has python3 && python3 -c 'import ensurepip, venv' 2>/dev/null; }

missing=()
need() { # need PACKAGE TEST…: the Debian package that is missing if the test fails
    local package="$1"
    shift
    "$@" || missing+=("$package")
}

if ! has swift; then
    echo "tollgate: the Swift toolchain is missing; see https://www.swift.org/install/linux/" >&2
    exit 2
fi

need pkg-config has pkg-config
need git has git
need libsqlite3-dev has_library sqlite3
need libpq-dev has_library libpq
need zlib1g-dev has_library zlib
need libcurl4-openssl-dev has_library libcurl
if [ "$purpose" = test ] || [ "$purpose" = bench ]; then
    need postgresql has_postgres
    need python3-venv has_venv
    need chromium has_browser
    need fonts-noto-cjk has_cjk_font
fi
if [ "$purpose" = package ]; then
    need dpkg-dev has dpkg-shlibdeps
    need mandoc has mandoc
    need debootstrap has debootstrap
fi
if [ "$purpose" = bench ]; then
    need gcc has cc
    need libc6-dev test -e /usr/include/stdio.h
fi

[ ${#missing[@]} -eq 0 ] && exit 0

if ! has apt-get; then
    {
        echo "tollgate: these are missing: ${missing[*]}"
        echo "The names are Debian's. There is no apt-get here, so please install them by hand."
    } >&2
    exit 2
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! has sudo; then
        {
            echo "tollgate: these are missing: ${missing[*]}"
            echo "There is no sudo here. As root, please run: apt-get install ${missing[*]}"
        } >&2
        exit 2
    fi
    as_root=(sudo)
fi

log="$(mktemp)"
trap 'rm -f "$log"' EXIT
echo "Installing ${missing[*]}"
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@" </dev/null >>"$log" 2>&1; }
if ! apt update || ! apt install --no-install-recommends "${missing[@]}"; then
    cat "$log" >&2
    echo "tollgate: apt-get could not install ${missing[*]}; its output is above" >&2
    exit 2
fi
