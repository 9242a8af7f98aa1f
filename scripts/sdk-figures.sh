#!/usr/bin/env bash
# What BillingSDK costs an app: the time of a cached check, of a cold start with its cache, and the size
# that it adds to a stripped, statically linked program.
#
# Scratch paths of its own: a release build with other flags would rebuild everything, twice.
set -euo pipefail
cd "$(dirname "$0")/.."

swift build -c release --build-tests -Xswiftc -enable-testing --scratch-path .build-figures/tests \
    2>&1 | tail -1
swift test -c release --skip-build -Xswiftc -enable-testing --scratch-path .build-figures/tests \
    --disable-xctest --filter FigureTests 2>&1 | grep -E '^figure|Test run|✘'

# URLSession needs libcurl. Where its development package is missing, the library itself will do.
mkdir -p .build-figures/lib
if ! [ -e /usr/lib/x86_64-linux-gnu/libcurl.so ]; then
    ln -sf "$(ldconfig -p | sed -n 's/.*libcurl\.so\.4 .*=> //p' | head -1)" \
        .build-figures/lib/libcurl.so
fi
size=(-c release --static-swift-stdlib -Xlinker "-L$PWD/.build-figures/lib"
    --package-path Tests/Figures --scratch-path .build-figures/size)
swift build "${size[@]}" 2>&1 | tail -3
programs=$(swift build "${size[@]}" --show-bin-path)
for program in WithSDK WithoutSDK; do
    strip -o ".build-figures/$program" "$programs/$program"
done
".build-figures/WithSDK" >/dev/null
with=$(stat -c %s .build-figures/WithSDK)
without=$(stat -c %s .build-figures/WithoutSDK)
echo "figure: BillingSDK adds $(((with - without) / 1024)) KB to a stripped static program" \
    "($((with / 1024)) KB with, $((without / 1024)) KB without)"
