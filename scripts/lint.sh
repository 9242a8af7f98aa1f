#!/usr/bin/env bash
# Formatting, links in the documents, and the few house rules that the compiler cannot hold.
set -uo pipefail
cd "$(dirname "$0")/.."

status=0
problem() {
    echo "lint: $1" >&2
    status=1
}

bash scripts/swift-files.sh | xargs -0 swift format lint --strict --parallel ||
    problem "not formatted; 'make format' does it"

python3 scripts/check_links.py || problem "a link in a document leads nowhere"

python3 scripts/named_cases.py || problem "a case and its tests do not match (docs/cases.md, docs/attacks.md)"

python3 scripts/sizes.py || problem "too long to be read at once"

python3 scripts/stand_ins.py || problem "a stand-in is not what Apple documents (AppleStubs/apple-api.tsv)"

python3 scripts/string_catalog.py --check || problem "the String Catalog differs from the SDK's sentences"

# The guide's app compiles: all of it but `@main`, of which a library has none.
if ! awk '/^```swift/ { on = !seen++ } /^```$/ { on = 0 } on && !/^```|^@main/' \
    Sources/BillingSDK/BillingSDK.docc/GettingStarted.md |
    diff - AppleStubs/Sources/DocSamples/GettingStarted.swift; then
    problem "GettingStarted.md differs from the sample that compiles"
fi

python3 scripts/mutants/mutants.py --named || problem "a named survivor is gone (docs/reliability.md)"

# Before the first build there is nothing to compare with; test_release.py checks it after each build.
if [ -d Server/.build/checkouts ]; then
    python3 scripts/notice.py --check || problem "NOTICE does not name what the server is linked with"
fi

# Swift Testing only: the test run does not look for XCTest cases.
if bash scripts/swift-files.sh | xargs -0 grep -n '^import XCTest' | grep -v '/AppleStubs/'; then
    problem "XCTest; write the test with 'import Testing'"
fi

# The store's parts say nothing of us, and share no code with our reading of them.
if grep -rnE '^ *(public |internal |package |private )?import ((AppStore|GooglePlay|Stripe)(API|Connector)|Reports|SecondOpinion|Storage|Stores|StrictJSON|TextFormats|Tollgate|Traces|BillingSDK)' \
    Sandbox/Sources Shared/Sources; then
    problem "a simulator imports our side"
fi

# A second opinion that asked the engine would be the first one again.
if grep -nwE '(Purchase|PurchaseAccess|Timeline|Fact|Statement|AccessInterval|Explanation|Holder)' \
    Server/Sources/SecondOpinion/*.swift | grep -v ':[0-9]*: *//'; then
    problem "the second opinion reads what the engine makes of the evidence"
fi
if [ "$(cat Server/Sources/SecondOpinion/*.swift | wc -l)" -ge 1500 ]; then
    problem "the second opinion is meant to stay small: fewer than 1,500 lines"
fi

# A comparison stays silent about the next store; an exhaustive switch does not. A store's own files may
# pick out what is theirs.
own='Reconciliation/(AppStoreReconciliation[+]Purchases|Purchase[+]Overdue)|Reads/StripeOpinions'
own="$own|Reconciliation/GooglePlayReconciliation[+](Orders|Purchases)"
own="$own|Offers/AppStoreOffers|Devices/DeviceTransactions|Dashboard/Pages/AppStorePages|Demo/DemoStory"
if grep -rnE '[!=]= \.(appStore|stripe|googlePlay|tollgate)\b' --include='*.swift' \
    Sources Server/Sources/{Storage,Reports,Stores,{AppStore,GooglePlay,Stripe}Connector,Tollgate{Service,Assembly,Server,CLI}} |
    grep -vE "/($own)[.]swift:"; then
    problem "a store is compared with; write a switch, or ask a property of Store"
fi

python3 scripts/exhaustive.py || problem "a switch over Store hides the next store, or too many files have one"

# Where a file does not import a store's module, a default of the protocol hides what the store itself does.
for room in appStore:AppStoreConnector stripe:StripeConnector googlePlay:GooglePlayConnector; do
    grep -rlE "\btollgate\.${room%%:*}\b" --include='*.swift' Server/{Benchmarks,Fuzzing,Sources,Tests} |
        xargs -r grep -LE "^([@a-z]+ )?import ${room##*:}$" |
        grep . && problem "this file uses tollgate.${room%%:*}; import ${room##*:}"
done

# Swift 6.3.1 with -O returns another number from such a closure; only release builds crash.
if grep -rnE 'do \{ return \(' --include='*.swift' Sources Sandbox/Sources Shared/Sources Server/Sources; then
    problem "a tuple returned from 'do' and 'catch'; ask a function for the result (Batches.swift)"
fi

# What is true of every store asks the connectors.
if grep -rnE '\.(appStore|stripe|googlePlay)\b|\b(Apple|AppStore|Stripe|GooglePlay)[A-Z]' \
    Server/Sources/{Reports,Stores} |
    grep -v ':[0-9]*: *//'; then
    problem "Reports and Stores know no store by name; let its connector say it"
fi

for script in scripts/*.sh .ci/run; do
    bash -n "$script" || problem "$script does not parse"
done

exit $status
