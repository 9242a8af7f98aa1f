internal import Stores

/// Finds what is wrong with a server's keys and addresses before it starts.
package struct ServeCheck: Sendable {
    /// The secret keys: the present one, then former ones, which are still taken.
    package var secretKeys: [String]
    /// The publishable keys, in the same order.
    ///
    /// Where there are several apps, each has keys of its own, and they are listed app by app.
    package var publishableKeys: [String]
    /// The apps of the catalog, by their ids; one or none: the keys name no app.
    package let apps: [String]
    /// The app of each publishable key, where there are several apps.
    package private(set) var appsOfKeys: [String: String] = [:]
    /// What is wrong with the apps that the keys name.
    private var appProblems: [String] = []
    /// Each app's publishable keys, where there are several apps and all is well with their names.
    private var keysOfApps: [[String]] = []
    /// True where the keys of the demo, and other short test keys, are taken.
    package var isDemo = false
    /// The host that the server listens on.
    package var listenHost = "127.0.0.1"
    package var listenPort = 8080
    /// The addresses that are set, by their variables.
    package var urls: [(variable: String, url: String)] = []
    /// The subjects of the trusted root certificates.
    package var rootNames: [String] = []
    /// True if the stores' time comes from a sandbox.
    package var hasSandboxClock = false
    /// True if transactions are taken that Xcode signs on a developer's machine.
    package var trustsXcode = false
    package var stripeKey: String?
    package var stripeWebhookSecrets: [String] = []

    /// - Parameter publishableKeys: as they are set: `pk_…`, or with several apps `APP:pk_…`.
    package init(secretKeys: [String], publishableKeys: [String], apps: [String] = []) {
        self.secretKeys = secretKeys
        self.publishableKeys = publishableKeys
        self.apps = apps
        readApps()
    }

    /// Takes the keys apart from the apps that they name.
    private mutating func readApps() {
        let variable = "TOLLGATE_PUBLISHABLE_KEY"
        var keys: [(app: String?, key: String)] = []
        for entry in publishableKeys {
            guard let colon = entry.firstIndex(of: ":") else {
                keys.append((apps.count == 1 ? apps[0] : nil, entry))
                if apps.count > 1 {
                    appProblems.append(
                        "\(variable): \(Self.shown(entry)) names no app, and the catalog lists several. Write one of \(apps.joined(separator: ", ")) before it: \(apps[0]):\(Self.shown(entry))."
                    )
                }
                continue
            }
            let (app, key) = (String(entry[..<colon]), String(entry[entry.index(after: colon)...]))
            keys.append((app, key))
            if apps.isEmpty {
                appProblems.append(
                    "\(variable) names the app '\(app)', and the catalog lists no ‘apps’. List them there, or write the key alone."
                )
            } else if !apps.contains(app) {
                appProblems.append(
                    "\(variable) names the app '\(app)', which the catalog does not list. Its apps are \(apps.joined(separator: ", "))."
                )
            }
        }
        if apps.count > 1, !keys.isEmpty, appProblems.isEmpty {
            for app in apps where !keys.contains(where: { $0.app == app }) {
                appProblems.append(
                    "\(variable) has no key of the app '\(app)'. Make one: echo \(app):pk_test_$(openssl rand -hex 32)"
                )
            }
        }
        // The first key of the first app comes first.
        keys =
            apps.flatMap { app in keys.filter { $0.app == app } }
            + keys.filter { $0.app.map { !apps.contains($0) } ?? true }
        publishableKeys = keys.map(\.key)
        guard apps.count > 1, !keys.isEmpty else { return }
        for (app, key) in keys { appsOfKeys[key] = app }
        guard appProblems.isEmpty else { return }
        keysOfApps = apps.map { app in keys.filter { $0.app == app }.map(\.key) }
    }

    /// The publishable keys that belong together: each app's, its present one first.
    private var publishableKeyGroups: [[String]] {
        keysOfApps.isEmpty ? [publishableKeys] : keysOfApps
    }

    /// How many characters a key has at least after its prefix: `openssl rand -hex 32` gives 64.
    static let shortestKey = 32
    /// How many different ones are among them at least; 32 random hexadecimal digits have fewer once
    /// in ten million draws.
    static let fewestCharacters = 8

    /// Keys that everybody can read in this program's sources.
    static let demoKeys: Set<String> = ["sk_test_demo", "pk_test_demo", "sk_test_sandbox"]

    private static let publicURL = "TOLLGATE_PUBLIC_URL"
    private static let xcode = "TOLLGATE_APP_STORE_XCODE_CERTIFICATE_FILE"

    /// One sentence or two for each problem: what is wrong, and what to do.
    package var problems: [String] {
        keyProblems(secretKeys, "TOLLGATE_SECRET_KEY", "sk", other: "pk")
            + publishableKeyGroups.flatMap {
                keyProblems($0, "TOLLGATE_PUBLISHABLE_KEY", "pk", other: "sk")
            } + appProblems + sharedAppKeys + pairProblems + demoProblems + liveProblems
            + stripeProblems
    }

    /// One sentence or two for each former key that should be removed soon, and for the trust in Xcode.
    ///
    /// The server starts with them, and logs this at each start.
    package var warnings: [String] {
        xcodeWarnings + keyWarnings
    }

    private var xcodeWarnings: [String] {
        trustsXcode
            ? [
                "\(Self.xcode) is set: whoever has that Xcode can sign purchases of this server's sandbox. Leave it out where nobody tests with Xcode."
            ] : []
    }

    private var keyWarnings: [String] {
        guard !isDemo else { return [] }
        return
            ([("TOLLGATE_SECRET_KEY", secretKeys)]
            + publishableKeyGroups.map { ("TOLLGATE_PUBLISHABLE_KEY", $0) })
            .flatMap { variable, keys in
                keys.dropFirst().compactMap { former in
                    Self.flaw(former, after: keys[0]).map {
                        "\(variable): a former key \($0). Remove it as soon as nothing uses it."
                    }
                }
            }
    }

    /// What is wrong with a key that is still taken while it is changed.
    private static func flaw(_ former: String, after first: String) -> String? {
        if demoKeys.contains(former) { return "is the demo's, which everybody knows" }
        if isWeak(former) { return "has fewer than \(shortestKey) random characters" }
        if let kind = mode(former), kind != mode(first) {
            return kind == "_test_" ? "is a test key" : "is a live key"
        }
        return nil
    }

    /// The keys that count.
    private var first: [String] {
        ([secretKeys.first] + publishableKeyGroups.map(\.first)).compactMap(\.self)
    }

    private var isLive: Bool { first.contains { Self.mode($0) == "_live_" } }

    // MARK: - Keys

    private func keyProblems(
        _ keys: [String],
        _ variable: String,
        _ kind: String,
        other: String
    ) -> [String] {
        guard let first = keys.first else {
            return ["\(variable) is not set. Make a key: echo \(kind)_test_$(openssl rand -hex 32)"]
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
                if !isDemo, key == first {
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
                    ? "\(variable): \(Self.shown(first)) has \(count) characters after the prefix; use at least \(Self.shortestKey) random ones (openssl rand -hex 32). Put the new key before this one: \(variable)=NEW,OLD."
                    : "\(variable): \(Self.shown(first)) repeats a few characters; use at least \(Self.shortestKey) random ones (openssl rand -hex 32). Put the new key before this one: \(variable)=NEW,OLD."
            )
        }
        if Set(keys).count < keys.count {
            problems.append("\(variable) holds the same key twice. Remove one.")
        }
        return problems
    }

    /// One key cannot tell two apps apart.
    private var sharedAppKeys: [String] {
        guard apps.count > 1, Set(publishableKeys).count < publishableKeys.count,
            publishableKeyGroups.allSatisfy({ Set($0).count == $0.count })
        else { return [] }
        return [
            "TOLLGATE_PUBLISHABLE_KEY holds the same key for two apps. Each app needs one of its own: pk_test_$(openssl rand -hex 32)"
        ]
    }

    private var pairProblems: [String] {
        var problems: [String] = []
        // The demo's are public anyway: as former keys they have a warning of their own.
        let former = Set(
            (secretKeys.dropFirst() + publishableKeyGroups.flatMap { $0.dropFirst() })
                .map(Self.random)
        )
        .intersection(Self.demoKeys.map(Self.random))
        let shared = Set(secretKeys.map(Self.random))
            .intersection(publishableKeys.map(Self.random))
            .subtracting(former)
        if !isDemo, !shared.isEmpty {
            problems.append(
                "TOLLGATE_SECRET_KEY and TOLLGATE_PUBLISHABLE_KEY are equal but for the prefix, and the publishable key is public. Make a new secret key: openssl rand -hex 32"
            )
        }
        if Set(first.compactMap(Self.mode)).count > 1 {
            problems.append(
                "TOLLGATE_SECRET_KEY and TOLLGATE_PUBLISHABLE_KEY mix live and test keys. Put keys of one kind first; a test server has a database of its own."
            )
        }
        return problems
    }

    private var demoProblems: [String] {
        guard isDemo else { return [] }
        var problems: [String] = []
        if (secretKeys + publishableKeys).contains(where: { Self.mode($0) == "_live_" }) {
            problems.append("--demo takes test keys only, not sk_live_… or pk_live_….")
        }
        if !Loopback.isHost(listenHost) {
            problems.append(
                "--demo takes keys that everybody knows, so it listens on this machine only: --listen 127.0.0.1:8080, not \(listenHost)."
            )
        }
        for (variable, url) in urls
        where variable == Self.publicURL && !Loopback.isURL(url) {
            problems.append(
                "\(variable) is \(url), and --demo takes keys that everybody knows. Use keys of your own, without --demo."
            )
        }
        return problems
    }

    // MARK: - Surroundings

    private var liveProblems: [String] {
        guard isLive else { return xcodeProblems }
        // An app's own address may have a scheme of its own.
        var problems = urls.filter {
            $0.variable == "TOLLGATE_APP_URL"
                ? Loopback.isInTheClear($0.url) : !Loopback.isPrivate($0.url)
        }.map {
            "\($0.variable) is \($0.url); with live keys it must begin with https://."
        }
        if !Loopback.isHost(listenHost), !urls.contains(where: { $0.variable == Self.publicURL }) {
            problems.append(
                "\(Self.publicURL) is not set, so links would lead to http://\(listenHost):\(listenPort). Set it to the server's https:// address."
            )
        }
        // Its oldest root still has the company's former name.
        let organizations = ["O=Apple Inc.", "O=Apple Computer"]
        for name in rootNames where !organizations.contains(where: name.contains) {
            problems.append(
                "TOLLGATE_APP_STORE_ROOTS holds a root certificate that is not Apple's (\(name)). With live keys use Apple Root CA - G3 only: whoever has the key of another root can sign purchases."
            )
        }
        if hasSandboxClock {
            problems.append(
                "TOLLGATE_CLOCK is the clock of a sandbox. With live keys leave it out: access would end whenever somebody moves that clock."
            )
        }
        return problems + xcodeProblems
    }

    /// Of any key, not only the first: apps with an older live key are answered, too.
    private var xcodeProblems: [String] {
        guard trustsXcode,
            (secretKeys + publishableKeys).contains(where: { Self.mode($0) == "_live_" })
        else { return [] }
        return [
            "\(Self.xcode) trusts what Xcode signs on a developer's machine. With live keys, also in second place, leave it out, and test with Xcode on another server: test keys, a database of its own, TOLLGATE_APP_STORE_ENVIRONMENT=Sandbox."
        ]
    }

    private var stripeProblems: [String] {
        var problems: [String] = []
        for secret in stripeWebhookSecrets
        where ["sk_", "rk_", "pk_"].contains(where: secret.hasPrefix) {
            problems.append(
                "TOLLGATE_STRIPE_WEBHOOK_SECRETS holds a key that begins with \(secret.prefix(3)). Copy the endpoint's signing secret (whsec_…) from Stripe's dashboard."
            )
        }
        guard let stripeKey else { return problems }
        for prefix in ["pk_", "whsec_"] where stripeKey.hasPrefix(prefix) {
            problems.append(
                "TOLLGATE_STRIPE_SECRET_KEY begins with \(prefix). Use a secret or restricted key of Stripe's (sk_… or rk_…)."
            )
        }
        if stripeWebhookSecrets.isEmpty {
            problems.append(
                "TOLLGATE_STRIPE_SECRET_KEY is set without TOLLGATE_STRIPE_WEBHOOK_SECRETS, so every webhook of Stripe's would be refused. Copy the endpoint's signing secret (whsec_…) from Stripe's dashboard."
            )
        }
        let isLiveStripe = stripeKey.hasPrefix("sk_live_") || stripeKey.hasPrefix("rk_live_")
        let isTestStripe = stripeKey.hasPrefix("sk_test_") || stripeKey.hasPrefix("rk_test_")
        if !isLive, isLiveStripe, !secretKeys.isEmpty {
            problems.append(
                "TOLLGATE_STRIPE_SECRET_KEY is a live key, but TOLLGATE_SECRET_KEY is a test key. Use a Stripe test key (sk_test_…), or live keys for Tollgate."
            )
        }
        if isLive, isTestStripe {
            problems.append(
                "TOLLGATE_STRIPE_SECRET_KEY is a test key, but TOLLGATE_SECRET_KEY is a live key. Use a Stripe live key (sk_live_…), or test keys for Tollgate."
            )
        }
        return problems
    }

    // MARK: - Unknown variables

    /// A sentence for each variable that no setting reads.
    ///
    /// Kubernetes sets `TOLLGATE_PORT`, `TOLLGATE_POSTGRESQL_SERVICE_HOST` and the like in every
    /// container beside services named `tollgate` and `tollgate-postgresql`; these are nobody's mistake.
    ///
    /// - Parameters:
    ///   - variables: the names in the environment.
    ///   - known: the names of settings, with their prefix.
    package static func unknown(_ variables: some Sequence<String>, known: [String]) -> [String] {
        variables.sorted().compactMap { name in
            guard name.hasPrefix("TOLLGATE_"), !known.contains(name), !isOfService(name)
            else { return nil }
            let guess = NearMiss.of(name, among: known)
            return "\(name) is not a setting of this version."
                + (guess.map { " Did you mean \($0)?" } ?? " Unset it.")
        }
    }

    private static func isOfService(_ variable: String) -> Bool {
        let ports = #/TOLLGATE_([A-Z0-9_]+_)?PORT(_\d+_(TCP|UDP|SCTP)(_\w+)?)?/#
        let services = #/TOLLGATE_([A-Z0-9_]+_)?SERVICE_(HOST|PORT(_\w+)?)/#
        return variable.wholeMatch(of: ports) != nil || variable.wholeMatch(of: services) != nil
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
