#!/usr/bin/env bash
# A thousand concurrent calls of BillingSDK under the thread sanitizer.
#
# A scratch path of its own, since other flags in the same one would rebuild everything, twice. The
# sanitizer misses some runs of a race, so the calls are made several times.
set -euo pipefail
cd "$(dirname "$0")/.."

swift build --build-tests --sanitize thread --scratch-path .build-tsan 2>&1 | tail -3
for _ in 1 2 3; do
    swift test --skip-build --sanitize thread --scratch-path .build-tsan --disable-xctest \
        --filter 'ConcurrencyTests' 2>&1 | grep -E 'Test run|✘|WARNING: ThreadSanitizer' || exit 1
done
