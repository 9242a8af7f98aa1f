import Testing

@testable import TollgateService

/// K3: what `tollgate serve` refuses to start with.
@Suite("Keys and addresses of a server")
struct ServeCheckTests {
    private static let secret = "sk_test_3f9c1a7e5b2d8046f1e784d0c5a60b1f"
    private static let publishable = "pk_test_84d0c5a60b1f3e8d79243f9c1a7e5b2d"
    private static let other = "pk_test_e8d79243f9c1a7e5b2d84d0c5a60b1f3"
    private static let live = (
        "sk_live_3f9c1a7e5b2d8046f1e784d0c5a60b1f", "pk_live_84d0c5a60b1f3e8d79243f9c1a7e5b2d"
    )

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var change: @Sendable (inout ServeCheck) -> Void
        /// A part of each problem, in their order.
        var expected: [String]
        /// The same of each warning.
        var warnings: [String]

        init(
            _ description: String,
            _ expected: [String] = [],
            warnings: [String] = [],
            _ change: @escaping @Sendable (inout ServeCheck) -> Void
        ) {
            (testDescription, self.expected) = (description, expected)
            (self.warnings, self.change) = (warnings, change)
        }
    }

    static let keys: [Case] = [
        Case("keys as they should be") { _ in },
        Case("no keys", ["SECRET_KEY is not set", "PUBLISHABLE_KEY is not set"]) {
            ($0.secretKeys, $0.publishableKeys) = ([], [])
        },
        Case(
            "the demo's",
            [
                "sk_test_demo is the demo's key", "pk_test_demo is the demo's key",
                "are equal but for the prefix",
            ]
        ) {
            ($0.secretKeys, $0.publishableKeys) = (["sk_test_demo"], ["pk_test_demo"])
        },
        Case(
            "the demo's as former ones",
            warnings: [
                "SECRET_KEY: a former key is the demo's",
                "PUBLISHABLE_KEY: a former key is the demo's",
            ]
        ) {
            $0.secretKeys.append("sk_test_demo")
            $0.publishableKeys.append("pk_test_demo")
        },
        Case("swapped", ["SECRET_KEY holds a key that begins with pk_", "begins with sk_"]) {
            swap(&$0.secretKeys, &$0.publishableKeys)
        },
        Case("of another service", ["begins with neither sk_test_ nor sk_live_"]) {
            $0.secretKeys = ["whsec_3f9c1a7e5b2d8046f1e784d0c5a60b1f"]
        },
        Case("31 characters", ["sk_test_… has 31 characters after the prefix; use at least 32"]) {
            $0.secretKeys = [String(secret.dropLast())]
        },
        Case("and what to do", ["before this one: TOLLGATE_PUBLISHABLE_KEY=NEW,OLD."]) {
            $0.publishableKeys = [String(publishable.dropLast())]
        },
        Case("few characters", ["pk_test_… has 3 characters"]) {
            $0.publishableKeys = ["pk_test_app"]
        },
        Case("32 that are not random", ["sk_test_… repeats a few characters"]) {
            $0.secretKeys = ["sk_test_" + String(repeating: "01", count: 16)]
        },
        Case("a space", ["a space or another character"]) {
            $0.secretKeys = [secret + " x"]
        },
        Case("the same twice", ["SECRET_KEY holds the same key twice"]) {
            $0.secretKeys = [secret, secret]
        },
        Case("equal but for the prefix", ["are equal but for the prefix"]) {
            $0.publishableKeys = ["pk_test_" + secret.dropFirst(8)]
        },
        Case("live with test", ["mix live and test keys"]) { $0.secretKeys = [live.0] },
        Case(
            "test keys that live ones follow, as a server is upgraded",
            warnings: [
                "SECRET_KEY: a former key is a test key", "PUBLISHABLE_KEY: a former key is a",
            ]
        ) {
            ($0.secretKeys, $0.publishableKeys) = ([live.0, secret], [live.1, publishable])
            ($0.stripeKey, $0.stripeWebhookSecrets) = ("sk_live_stripe", ["whsec_x"])
        },
        Case(
            "live keys that test ones follow",
            warnings: ["SECRET_KEY: a former key is a live key"]
        ) {
            $0.secretKeys.append(live.0)
        },
        Case(
            "a short former key, so that it can be changed",
            warnings: ["SECRET_KEY: a former key has fewer than 32"]
        ) {
            $0.secretKeys.append("sk_test_short")
        },
    ]

    static let surroundings: [Case] = [
        Case("live keys as they should be") {
            goLive(&$0)
            $0.urls = [
                ("TOLLGATE_PUBLIC_URL", "https://billing.example.com"),
                ("TOLLGATE_STRIPE_API_BASE", "http://127.0.0.1:9000"),
                ("TOLLGATE_APP_URL", "app://x"),
            ]
            $0.rootNames = [
                "CN=Apple Root CA - G3,O=Apple Inc.,C=US",
                "CN=Apple Root Certificate Authority,O=Apple Computer\\, Inc.,C=US",
            ]
        },
        Case(
            "live keys over http://",
            [
                "PUBLIC_URL is http://billing.example.com; with live keys it must begin with https",
                "STRIPE_API_BASE is http://10.0.0.1",
            ]
        ) {
            goLive(&$0)
            $0.urls = [
                ("TOLLGATE_PUBLIC_URL", "http://billing.example.com"),
                ("TOLLGATE_STRIPE_API_BASE", "http://10.0.0.1"),
                ("TOLLGATE_APP_STORE_BASE_URL", "http://[::1]:8081"),
                ("TOLLGATE_CONNECT_BASE_URL", "http://localhost:8081"),
            ]
        },
        Case(
            "live keys and what is no address",
            [
                "PUBLIC_URL is billing", "RETURN_URL is htp", "API_BASE is https:",
                "APP_URL is http:",
            ]
        ) {
            goLive(&$0)
            $0.urls = [
                ("TOLLGATE_PUBLIC_URL", "billing.example.com"),
                ("TOLLGATE_PORTAL_RETURN_URL", "htp://example.com"),
                ("TOLLGATE_STRIPE_API_BASE", "https://"),
                ("TOLLGATE_APP_URL", "http://example.com"),
            ]
        },
        Case("live keys without an address", ["links would lead to http://0.0.0.0:8081. Set it"]) {
            goLive(&$0)
            ($0.listenHost, $0.listenPort) = ("0.0.0.0", 8081)
        },
        Case("live keys without an address, on this machine") { goLive(&$0) },
        Case("test keys without an address") { $0.listenHost = "0.0.0.0" },
        Case("test keys over http://") {
            $0.urls = [("TOLLGATE_PUBLIC_URL", "http://billing.example.com")]
        },
        Case("live keys with a sandbox's root and clock", ["not Apple's (CN=Sandbox", "CLOCK is"]) {
            goLive(&$0)
            $0.rootNames = [
                "CN=Apple Root CA - G3,O=Apple Inc.,C=US", "CN=Sandbox,O=Tollgate Sandbox",
            ]
            $0.hasSandboxClock = true
        },
        Case(
            "live keys with Xcode's certificate",
            ["XCODE_CERTIFICATE_FILE trusts what Xcode signs"],
            warnings: ["XCODE_CERTIFICATE_FILE is set"]
        ) {
            goLive(&$0)
            $0.trustsXcode = true
        },
        Case("test keys with Xcode's certificate", warnings: ["XCODE_CERTIFICATE_FILE is set"]) {
            $0.trustsXcode = true
        },
        Case("test keys with a sandbox's root and clock") {
            $0.rootNames = ["CN=Sandbox,O=Tollgate Sandbox"]
            $0.hasSandboxClock = true
        },
        Case("Stripe's key without a webhook secret", ["without TOLLGATE_STRIPE_WEBHOOK_SECRETS"]) {
            $0.stripeKey = "sk_test_stripe"
        },
        Case(
            "Stripe's keys in each other's place",
            ["WEBHOOK_SECRETS holds a key that begins with sk_", "with rk_", "begins with whsec_"]
        ) {
            $0.stripeKey = "whsec_x"
            $0.stripeWebhookSecrets = ["sk_test_x", "whsec_x", "rk_test_x", "x"]
        },
        Case("Stripe's publishable keys", ["that begins with pk_", "SECRET_KEY begins with pk_"]) {
            ($0.stripeKey, $0.stripeWebhookSecrets) = ("pk_test_x", ["pk_test_x"])
        },
        Case("a live key of Stripe's beside test keys", ["STRIPE_SECRET_KEY is a live key, but"]) {
            $0.stripeKey = "rk_live_stripe"
            $0.stripeWebhookSecrets = ["whsec_x"]
        },
        Case("a test key of Stripe's beside live keys", ["STRIPE_SECRET_KEY is a test key, but"]) {
            goLive(&$0)
            $0.stripeKey = "sk_test_stripe"
            $0.stripeWebhookSecrets = ["whsec_x"]
        },
        Case("--demo on this machine") {
            $0 = ServeCheck(secretKeys: ["sk_test_demo"], publishableKeys: ["pk_test_x"])
            ($0.isDemo, $0.listenHost) = (true, "localhost")
            $0.urls = [("TOLLGATE_PUBLIC_URL", "http://127.0.0.1:8080")]
        },
        Case("--demo beyond it", ["--demo takes keys that everybody knows", "PUBLIC_URL is https"])
        {
            ($0.isDemo, $0.listenHost) = (true, "0.0.0.0")
            $0.urls = [("TOLLGATE_PUBLIC_URL", "https://billing.example.com")]
        },
        Case("--demo with live keys", ["--demo takes test keys only"]) {
            goLive(&$0)
            $0.isDemo = true
        },
    ]

    private static func goLive(_ check: inout ServeCheck) {
        (check.secretKeys, check.publishableKeys) = ([live.0], [live.1])
    }

    @Test(
        "K3: a server starts with keys that are some, and says what else is wrong",
        arguments: keys
    )
    func aServerStartsWith(_ story: Case) {
        expect(story)
    }

    @Test(
        "K3: with several apps each publishable key names its app, and each app has one",
        arguments: [
            (["reader:\(publishable)"], ["reader"], []),
            ([publishable], ["reader"], []),
            (["reader:\(publishable)", "mac:\(other)"], ["reader", "mac"], []),
            (
                [publishable, "mac:\(other)"], ["reader", "mac"],
                ["pk_test_… names no app, and the catalog lists several. Write one of reader, mac"]
            ),
            (
                ["reader:\(publishable)"], ["reader", "mac"],
                ["has no key of the app 'mac'. Make one: echo mac:pk_test_"]
            ),
            (
                ["reader:\(publishable)", "watch:\(other)"], ["reader", "mac"],
                ["names the app 'watch', which the catalog does not list. Its apps are reader, mac"]
            ),
            (["reader:\(publishable)"], [], ["names the app 'reader', and the catalog lists no"]),
            (
                ["reader:\(publishable)", "mac:\(publishable)"], ["reader", "mac"],
                ["holds the same key for two apps"]
            ),
            (
                ["reader:\(publishable)", "mac:pk_test_short"], ["reader", "mac"],
                ["pk_test_… has 5 characters after the prefix"]
            ),
        ] as [([String], [String], [String])]
    )
    func apps(_ keys: [String], _ apps: [String], _ expected: [String]) {
        let check = ServeCheck(secretKeys: [Self.secret], publishableKeys: keys, apps: apps)
        #expect(check.problems.count == expected.count, "\(check.problems)")
        for (problem, part) in zip(check.problems, expected) {
            #expect(problem.contains(part), "\(problem)")
        }
        #expect(check.warnings.isEmpty)
    }

    @Test("The first key of the first app comes first, and each key tells its app")
    func keysOfApps() {
        let former = "pk_test_f3e8d79243f9c1a7e5b2d84d0c5a60b1"
        let check = ServeCheck(
            secretKeys: [Self.secret],
            publishableKeys: ["mac:\(Self.other)", "reader:\(Self.publishable)", "mac:\(former)"],
            apps: ["reader", "mac"]
        )
        #expect(check.problems.isEmpty)
        #expect(check.publishableKeys == [Self.publishable, Self.other, former])
        #expect(
            check.appsOfKeys == [Self.publishable: "reader", Self.other: "mac", former: "mac"]
        )
    }

    @Test("K3: and with surroundings that fit its keys", arguments: surroundings)
    func keysFit(_ story: Case) {
        expect(story)
    }

    private func expect(_ story: Case) {
        var check = ServeCheck(
            secretKeys: [Self.secret],
            publishableKeys: [Self.publishable]
        )
        story.change(&check)
        let problems = check.problems
        #expect(problems.count == story.expected.count, "\(problems)")
        for (problem, part) in zip(problems, story.expected) {
            #expect(problem.contains(part), "\(problem)")
            // A log may keep the message.
            for key in check.secretKeys + check.publishableKeys
            where !ServeCheck.demoKeys.contains(key) {
                #expect(!problem.contains(key))
            }
        }
        let warnings = check.warnings
        #expect(warnings.count == story.warnings.count, "\(warnings)")
        for (warning, part) in zip(warnings, story.warnings) { #expect(warning.contains(part)) }
    }

    @Test("K3: a variable that no setting reads is named, with the one that was meant")
    func unknown() {
        let known = ["TOLLGATE_SECRET_KEY", "TOLLGATE_STRIPE_WEBHOOK_SECRETS", "TOLLGATE_CLOCK"]
        let found = ServeCheck.unknown(
            [
                "PATH", "TOLLGATE_CLOCK", "TOLLGATE_STRIPE_WEBHOOK_SECRET", "TOLLGATE_SECRETKEY",
                "TOLLGATE_ENTIRELY_DIFFERENT", "TOLLGATE_PORT", "TOLLGATE_PORT_8080_TCP",
                "TOLLGATE_SERVICE_HOST", "TOLLGATE_SERVICE_PORT", "TOLLGATE_SERVICE_PORT_HTTP",
                "TOLLGATE_PORT_8080_TCP_ADDR", "TOLLGATE_PORT_53_UDP_PROTO",
                "TOLLGATE_POSTGRESQL_SERVICE_HOST",
                "TOLLGATE_POSTGRESQL_SERVICE_PORT_TCP_POSTGRESQL",
                "TOLLGATE_POSTGRESQL_PORT", "TOLLGATE_APP_2_PORT_5432_TCP_PORT",
                "TOLLGATE_PORTS", "TOLLGATE_SERVICE_NAME", "TOLLGATE_PORT_X_TCP",
            ],
            known: known
        )
        #expect(
            found == [
                "TOLLGATE_ENTIRELY_DIFFERENT is not a setting of this version. Unset it.",
                "TOLLGATE_PORTS is not a setting of this version. Unset it.",
                "TOLLGATE_PORT_X_TCP is not a setting of this version. Unset it.",
                "TOLLGATE_SECRETKEY is not a setting of this version. Did you mean TOLLGATE_SECRET_KEY?",
                "TOLLGATE_SERVICE_NAME is not a setting of this version. Unset it.",
                "TOLLGATE_STRIPE_WEBHOOK_SECRET is not a setting of this version. Did you mean TOLLGATE_STRIPE_WEBHOOK_SECRETS?",
            ]
        )
    }

    @Test(
        "What leaves this machine in the clear is told from what does not",
        arguments: [
            ("http://example.com", true), ("http://127.0.0.1.example.com", true),
            ("http://127.0.0.1@example.com", true), ("HTTP://EXAMPLE.COM", true),
            ("http://0.0.0.0:8080", true), ("http://10.0.0.1", true), ("http://[fd00::1]", true),
            ("http://127.0.0.1:8080", false), ("http://127.1.2.3", false),
            ("http://[::1]:8080/x", false), ("http://LOCALHOST", false),
            ("https://example.com", false),
        ]
    )
    func clear(_ url: String, _ expected: Bool) {
        #expect(Loopback.isInTheClear(url) == expected)
        #expect(Loopback.isPrivate(url) != expected)
    }
}
