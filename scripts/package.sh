#!/usr/bin/env bash
# Makes what is installed elsewhere, in output/packages:
#
#   package.sh [--binary FILE] [--version VERSION] [--out FOLDER] [--compress TYPE]
#
#   tollgate_VERSION_ARCH.deb       user, folders, unit, man pages, completions
#   tollgate-VERSION-ARCH.tar.gz    the same files without an installer
#   SHA256SUMS
#
# The program is built for release with Swift's standard library in it, stripped. `--binary` takes one that
# is built already, of any kind: tests of everything else need no release build. `--compress` is what
# `dpkg-deb -Z` takes; with `none` the tarball is packed quickly too.
set -euo pipefail
cd "$(dirname "$0")/.."

binary="" out=output/packages compress=xz
version="$(sed -n 's/^    static let number = "\(.*\)"$/\1/p' Server/Sources/TollgateCLI/Version.swift)"
while [ $# -gt 0 ]; do
    case "$1" in
        --binary) binary="$2" ;;
        --version) version="$2" ;;
        --out) out="$2" ;;
        --compress) compress="$2" ;;
        *) echo "tollgate: package.sh does not know '$1'" >&2; exit 2 ;;
    esac
    shift 2
done

commit="$(git rev-parse --short=12 HEAD 2>/dev/null || true)"
[ -z "$commit" ] || git diff --quiet HEAD || commit="$commit-dirty"
SOURCE_DATE_EPOCH="$(git log -1 --format=%ct 2>/dev/null || date +%s)"
export SOURCE_DATE_EPOCH

if [ -z "$binary" ]; then
    # A scratch path of its own: other flags compile everything again.
    build=(--package-path Server --scratch-path Server/.build-package -c release --static-swift-stdlib)
    TOLLGATE_COMMIT="$commit" swift build "${build[@]}" --product tollgate
    binary="$(TOLLGATE_COMMIT="$commit" swift build "${build[@]}" --show-bin-path)/tollgate"
    python3 scripts/notice.py --check Server/.build-package/checkouts
fi

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
root="$work/root"
doc="$root/usr/share/doc/tollgate"
mkdir -p "$out" "$root/DEBIAN" "$doc/examples"

install -D -m 755 "$binary" "$root/usr/bin/tollgate"
strip --strip-all "$root/usr/bin/tollgate"

# What the commands say of themselves.
"$binary" --experimental-dump-help >"$work/help.json"
python3 scripts/package/manpages.py "$work/help.json" "$root/usr/share/man/man1" "$version"
gzip -9n "$root/usr/share/man/man1/"*.1
complete() { # SHELL FILE
    mkdir -p "$(dirname "$root/$2")"
    "$binary" --generate-completion-script "$1" >"$root/$2"
}
complete bash usr/share/bash-completion/completions/tollgate
complete zsh usr/share/zsh/vendor-completions/_tollgate
complete fish usr/share/fish/vendor_completions.d/tollgate.fish

mkdir -p "$root/usr/lib/systemd/system"
install -m 644 deploy/systemd/* "$root/usr/lib/systemd/system/"
# Samples: postinst makes the machine's own of them, once.
install -D -m 644 scripts/package/tollgate.env "$root/usr/share/tollgate/tollgate.env"
install -D -m 644 catalog.yaml "$root/usr/share/tollgate/catalog.yaml"
install -m 644 docs/deploy.md docs/operations.md docs/releases.md "$doc/"
cp -r deploy/. "$doc/examples/"
gzip -9nc CHANGELOG.md >"$doc/CHANGELOG.md.gz"
gzip -9nc NOTICE >"$doc/NOTICE.gz"
cat >"$doc/copyright" <<END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: tollgate

Files: *
Copyright: the authors of Tollgate
License: Apache-2.0
 On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.
 NOTICE.gz beside this file names what the program is linked with.
END
chmod -R u=rwX,go=rX "$root"

# As a package.
mkdir -p "$work/source/debian"
printf 'Source: tollgate\n\nPackage: tollgate\nArchitecture: any\n' >"$work/source/debian/control"
# A program that is not made here finds Swift's libraries where the compiler is, in no package.
mapfile -t found < <(ldd "$binary" | sed -n 's|.* => \(/.*\)/[^/]* (.*|-l\1|p' | sort -u)
(cd "$work/source" && dpkg-shlibdeps --ignore-missing-info "${found[@]}" -O -e "$root/usr/bin/tollgate") \
    >"$work/depends" 2>"$work/depends.log" || { cat "$work/depends.log" >&2; exit 1; }
depends="$(sed -n 's/^shlibs:Depends=//p' "$work/depends")"
architecture="$(dpkg --print-architecture)"
for script in preinst postinst prerm postrm; do
    install -m 755 "scripts/package/debian/$script" "$root/DEBIAN/$script"
done
sed -e "s/@VERSION@/$version/" -e "s/@ARCHITECTURE@/$architecture/" -e "s/@DEPENDS@/$depends/" \
    -e "s/@SIZE@/$(du -sk --exclude=DEBIAN "$root" | cut -f1)/" \
    scripts/package/debian/control.in >"$root/DEBIAN/control"
(cd "$root" && find . -path ./DEBIAN -prune -o -type f -printf '%P\0' | sort -z | xargs -0 md5sum) \
    >"$root/DEBIAN/md5sums"
dpkg-deb --root-owner-group -Z"$compress" --build "$root" "$out/tollgate_${version}_$architecture.deb" >/dev/null

# As plain files, for any Linux with these libraries.
name="tollgate-$version-$architecture"
mkdir -p "$work/$name"
cp "$root/usr/bin/tollgate" catalog.yaml LICENSE NOTICE CHANGELOG.md scripts/package/tollgate.env "$work/$name/"
cp -r deploy "$root/usr/share/man" "$work/$name/"
mkdir "$work/$name/completions"
cp "$root/usr/share/bash-completion/completions/tollgate" "$work/$name/completions/tollgate.bash"
cp "$root/usr/share/zsh/vendor-completions/_tollgate" "$root/usr/share/fish/vendor_completions.d/tollgate.fish" \
    "$work/$name/completions/"
cp docs/deploy.md "$work/$name/INSTALL.md"
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -C "$work" -c "$name" |
    gzip "$([ "$compress" = none ] && echo -1 || echo -9)" -n >"$out/$name.tar.gz"

(cd "$out" && sha256sum -- "tollgate_${version}_$architecture.deb" "$name.tar.gz" >SHA256SUMS)
du -h --apparent-size "$out/tollgate_${version}_$architecture.deb" "$out/$name.tar.gz" "$root/usr/bin/tollgate" |
    sed "s|$work/root||"
