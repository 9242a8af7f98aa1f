#!/bin/bash
# Shows that an app which depends on this repository for BillingSDK alone makes exactly one checkout.
#
# The working tree, as git would see it, becomes a repository with a version; `Tests/Consumer` depends
# on that version, resolves, is counted, built and run. Exit 0 only if all of it came true.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir "$work/tollgate"
tar -C "$root" --exclude=.git --exclude=.build --exclude=".build-*" --exclude=output --exclude=.tollgate --exclude=.venv -cf - . \
  | tar -C "$work/tollgate" -xf -
git -C "$work/tollgate" init --quiet
git -C "$work/tollgate" add --all
git -C "$work/tollgate" -c user.name=consumer-check -c user.email=consumer-check@localhost \
  -c commit.gpgsign=false commit --quiet --message 'The tree under test'
git -C "$work/tollgate" tag 1.0.0

cp -r "$root/Tests/Consumer" "$work/app"
rm -rf "$work/app/.build" "$work/app/Package.resolved"
cd "$work/app"
export TOLLGATE_REPOSITORY=file://$work/tollgate
swift package --cache-path "$work/cache" resolve
checkouts=$(find .build/checkouts -mindepth 1 -maxdepth 1 -type d | wc -l)
pins=$(grep -c '"identity"' Package.resolved)
echo "checkouts: $checkouts, pins: $pins"
[ "$checkouts" = 1 ] && [ "$pins" = 1 ] || { echo "expected one of each" >&2; exit 1; }
swift=$root/scripts/swift.sh
bash "$swift" build --cache-path "$work/cache"
"$(bash "$swift" build --show-bin-path)/ConsumerApp" | tee "$work/output"
grep -q '^signed out, entitlements: 0$' "$work/output"
