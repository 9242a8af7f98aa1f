/// Finds what is wrong with a server's keys and addresses before it starts.
package struct ServeCheck: Sendable {
    /// The first counts; former ones are still taken.
    package var secretKeys: [String]
    package var publishableKeys: [String]
    /// Whether the keys of the demo, and other short test keys, are taken.
    package var isDemo = false
    /// The host that the server listens on.
    package var listenHost = "127.0.0.1"
    /// The addresses that are set, by their variables.
    package var urls: [(variable: String, url: String)] = []
    /// The subjects of the trusted root certificates.
    package var rootNames: [String] = []
    /// Whether the stores' time comes from a sandbox.
    package var hasSandboxClock = false
    package var stripeKey: String?
    package var stripeWebhookSecrets: [String] = []

    package init(secretKeys: [String], publishableKeys: [String]) {
        self.secretKeys = secretKeys
        self.publishableKeys = publishableKeys
    }

    /// How many characters a key has at least after its prefix: `openssl rand -hex 32` gives 64.
    static let shortestKey = 32
    /// How many different ones are among them at least; 32 random hexadecimal digits have fewer once
    /// in ten million draws.
    static let fewestCharacters = 8

    /// Keys that everybody can read in this program's sources.
    static let demoKeys: Set<String> = ["sk_test_demo", "pk_test_demo", "sk_test_sandbox"]

    /// One sentence or two for each problem: what is wrong, and what to do.
    package var problems: [String] {
        keyProblems(secretKeys, "TOLLGATE_SECRET_KEY", "sk", other: "pk")
            + keyProblems(publishableKeys, "TOLLGATE_PUBLISHABLE_KEY", "pk", other: "sk")
            + pairProblems + demoProblems + liveProblems + stripeProblems
    }

    /// What the log says at each start: it serves, but not for ever.
    package var warnings: [String] {
        [("TOLLGATE_SECRET_KEY", secretKeys), ("TOLLGATE_PUBLISHABLE_KEY", publishableKeys)]
            .filter { !isDemo && $0.1.dropFirst().contains(where: Self.isWeak) }
            .map {
                "\($0.0): a former key has fewer than \(Self.shortestKey) random characters. Remove it as soon as nothing uses it."
            }
    }

    private var isLive: Bool {
        (secretKeys + publishableKeys).contains {
            $0.hasPrefix("sk_live_") || $0.hasPrefix("pk_live_")
        }
    }

    // MARK: - Keys

    private func keyProblems(
        _ keys: [String],
        _ variable: String,
        _ kind: String,
        other: String
    ) -> [String] {
        guard let first = keys.first else {
            return [
                "\(variable) is not set. Make a key: echo \(kind)_test_$(openssl rand -hex 32)"
            ]
        }
        var problems: [String] = []
        for key in keys {
            if key.hasPrefix(other + "_") {
                problems.append(
                    "\(variable) holds a key that begins with \(other)_. Its keys begin with \(kind)_test_ or \(kind)_live_; were the two keys swapped?"
                )
            } else if !key.hasPrefix(kind + "_test_"), !key.hasPrefix(kind + "_live_") {
                problems.append(
                    "\(variable) holds a key that begins with neither \(kind)_test_ nor \(kind)_live_."
                )
            } else if Self.demoKeys.contains(key) {
                if !isDemo {
                    problems.append(
                        "\(variable): \(key) is the demo's key, which everybody knows. Make a key of your own: echo \(kind)_test_$(openssl rand -hex 32), or try the server out on this machine with --demo."
                    )
                }
            } else if !key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
                problems.append(
                    "\(variable) holds a key with a space or another character that no HTTP header carries."
                )
            }
        }
        if !isDemo, problems.isEmpty, Self.isWeak(first) {
            let count = Self.random(first).count
            problems.append(
                count < Self.shortestKey
                    ? "\(variable): \(Self.shown(first)) has \(count) characters after the prefix; use at least \(Self.shortestKey) random ones (openssl rand -hex 32)."
                    : "\(variable): \(Self.shown(first)) repeats a few characters; use at least \(Self.shortestKey) random ones (openssl rand -hex 32)."
            )
        }
        if Set(keys).count < keys.count {
            problems.append("\(variable) holds the same key twice. Remove one.")
        }
        return problems
    }

    private var pairProblems: [String] {
        var problems: [String] = []
        let shared = Set(secretKeys.map(Self.random))
            .intersection(publishableKeys.map(Self.random))
        if !isDemo, !shared.isEmpty {
            problems.append(
                "TOLLGATE_SECRET_KEY and TOLLGATE_PUBLISHABLE_KEY are equal but for the prefix, and the publishable key is public. Make a new secret key: openssl rand -hex 32"
            )
        }
        let kinds = Set((secretKeys + publishableKeys).compactMap(Self.mode))
        if kinds.count > 1 {
            problems.append(
                "TOLLGATE_SECRET_KEY and TOLLGATE_PUBLISHABLE_KEY mix live and test keys. Use keys of one kind; a test server has a database of its own."
            )
        }
        return problems
    }

    private var demoProblems: [String] {
        guard isDemo else { return [] }
        var problems: [String] = []
        if isLive {
            problems.append("--demo takes test keys only, not sk_live_… or pk_live_….")
        }
        if !Loopback.isHost(listenHost) {
            problems.append(
                "--demo takes keys that everybody knows, so it listens on this machine only: --listen 127.0.0.1:8080, not \(listenHost)."
            )
        }
        for (variable, url) in urls
        where variable == "TOLLGATE_PUBLIC_URL" && !Loopback.isURL(url) {
            problems.append(
                "\(variable) is \(url), and --demo takes keys that everybody knows. Use keys of your own, without --demo."
            )
        }
        return problems
    }

    // MARK: - Surroundings

    private var liveProblems: [String] {
        guard isLive else { return [] }
        var problems = urls.filter { Loopback.isInTheClear($0.url) }.map {
            "\($0.variable) is \($0.url); with live keys it must begin with https://."
        }
        for name in rootNames where !name.contains("O=Apple Inc.") {
            problems.append(
                "TOLLGATE_APP_STORE_ROOTS holds a root certificate that is not Apple's (\(name)). With live keys use Apple Root CA - G3 only: whoever has the key of another root can sign purchases."
            )
        }
        if hasSandboxClock {
            problems.append(
                "TOLLGATE_CLOCK is the clock of a sandbox. With live keys leave it out: access would end whenever somebody moves that clock."
            )
        }
        return problems
    }

    private var stripeProblems: [String] {
        guard let stripeKey else { return [] }
        var problems: [String] = []
        if stripeWebhookSecrets.isEmpty {
            problems.append(
                "TOLLGATE_STRIPE_SECRET_KEY is set without TOLLGATE_STRIPE_WEBHOOK_SECRETS, so every webhook of Stripe's would be refused. Copy the endpoint's signing secret (whsec_…) from Stripe's dashboard."
            )
        }
        let isLiveStripe = stripeKey.hasPrefix("sk_live_") || stripeKey.hasPrefix("rk_live_")
        let isTestStripe = stripeKey.hasPrefix("sk_test_") || stripeKey.hasPrefix("rk_test_")
        if isLive && isTestStripe || !isLive && isLiveStripe {
            problems.append(
                "TOLLGATE_STRIPE_SECRET_KEY is a \(isLiveStripe ? "live" : "test") key and TOLLGATE_SECRET_KEY is not. Use keys of one kind."
            )
        }
        return problems
    }

    // MARK: - Unknown variables

    /// A sentence for each variable that no setting reads.
    ///
    /// Kubernetes sets `TOLLGATE_SERVICE_HOST`, `TOLLGATE_PORT` and the like in every container beside
    /// a service named `tollgate`; these are nobody's mistake.
    ///
    /// - Parameters:
    ///   - variables: the names in the environment.
    ///   - known: the names of settings, with their prefix.
    package static func unknown(_ variables: some Sequence<String>, known: [String]) -> [String] {
        variables.sorted().compactMap { name in
            guard name.hasPrefix("TOLLGATE_"), !known.contains(name),
                name != "TOLLGATE_PORT",
                !["TOLLGATE_PORT_", "TOLLGATE_SERVICE_"].contains(where: name.hasPrefix)
            else { return nil }
            let guess = NearMiss.of(name, among: known)
            return "\(name) is not a setting of this version."
                + (guess.map { " Did you mean \($0)?" } ?? " Unset it.")
        }
    }

    // MARK: - Words of a key

    private static func mode(_ key: String) -> String? {
        ["_test_", "_live_"].first { key.dropFirst(2).hasPrefix($0) }
    }

    /// What follows the prefix.
    private static func random(_ key: String) -> String {
        mode(key).map { String(key.dropFirst(2 + $0.count)) } ?? key
    }

    private static func isWeak(_ key: String) -> Bool {
        let random = random(key)
        return random.count < shortestKey || Set(random).count < fewestCharacters
    }

    private static func shown(_ key: String) -> String {
        String(key.dropLast(random(key).count)) + "…"
    }
}
