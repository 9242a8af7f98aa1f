#!/usr/bin/env bash
# A thousand concurrent calls of BillingSDK under the thread sanitizer: tsan.sh build|test
#
# A scratch path of its own, since other flags in the same one would rebuild everything, twice. The
# sanitizer misses some runs of a race, so the calls are made several times.
set -euo pipefail
cd "$(dirname "$0")/.."

export TOLLGATE_TEST_TARGET=BillingSDKTests
flags=(--sanitize thread --scratch-path .build-tsan)
if [ "$1" = build ]; then
    exec bash scripts/swift.sh build --build-tests "${flags[@]}"
fi
for _ in 1 2 3; do
    .build-tsan/debug/BillingSDKPackageTests.xctest --testing-library swift-testing \
        --filter ConcurrencyTests 2>&1 | grep -E 'Test run|✘|WARNING: ThreadSanitizer' || exit 1
done
