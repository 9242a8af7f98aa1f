import AppStoreAPI
import AppStoreConnector
import TollgateCore
import TollgateService

/// Everything that `tollgate serve` is told, read and checked.
struct ServeSettings: Sendable {
    let address: ListenAddress
    /// Where `/metrics` and `/readyz` are; `nil`: with everything else.
    let metricsAddress: ListenAddress?
    /// How many connections one address may hold; `nil`: as many as usual.
    let connectionsPerAddress: Int?
    let location: DatabaseLocation
    private(set) var catalog: TollgateCore.Catalog
    /// The catalog's file.
    private(set) var catalogPath: String
    private(set) var configuration: Configuration
    /// Where browsers and stores reach the server, as it is set; `nil`: it is not.
    let publicURL: String?
    private(set) var stores: StoreSettings
    let verifier: AppStore.SignedDataVerifier?
    /// What customers are shown who are about to cancel.
    let retentionRules: [RetentionRule]
    /// Where staff may sign in besides.
    let openID: OpenIDSettings?
    let clock: ClockSetting
    /// The bounds of alarms and the webhook that is told; `nil` where none is set.
    private(set) var alerts: AlertSettings?
    /// Emails to customers; `nil`: none are sent.
    private(set) var emails: LetterSetUp?
    /// Where spans are sent; `nil`: nothing is measured.
    let traces: TraceSettings?
    /// What is to be said in the log.
    let warnings: [String]

    /// - Parameters:
    ///   - listens: `false` beside a server, which has its ports already.
    ///   - started: the settings with which this server has started; `nil`: it starts with these.
    /// - Throws: `WrongSettings` with everything that is wrong.
    init(_ options: ServeCommand, listens: Bool = true, after started: ServeSettings? = nil) throws
    {
        Settings.refuseUnknownVariables()
        var problems = SettingProblems()
        let address = problems.take {
            try ListenAddress(
                Settings.text(options.listen, "LISTEN") ?? "127.0.0.1:8080",
                option: "--listen"
            )
        }
        let metricsText = Settings.text(options.metricsListen, "METRICS_LISTEN")
        metricsAddress = metricsText.flatMap { text in
            problems.take { try ListenAddress(text, option: "--metrics-listen") }
        }
        if let address, listens {
            let others: [(address: ListenAddress, option: String)] =
                metricsAddress.map { [($0, "--metrics-listen")] } ?? []
            _ = problems.take {
                try ListenAddress.requireFree([(address, "--listen")] + others)
            }
        }
        connectionsPerAddress =
            problems.take { try Settings.count("CONNECTIONS_PER_ADDRESS") } ?? nil
        let location = problems.take {
            try DatabaseLocation(option: options.database)
        }
        let catalogPath = Settings.text(options.catalog, "CATALOG") ?? "catalog.yaml"
        let catalog = problems.take { try CatalogFile.read(catalogPath) }
        let stores = problems.take { try StoreSettings(catalog) }
        retentionRules =
            catalog.flatMap { catalog in
                problems.take {
                    try StoreSettings.retentionRules(
                        catalog,
                        canSign: stores.map { $0.appStoreKey != nil } ?? true
                    )
                }
            } ?? []
        verifier = stores.flatMap { stores in problems.take { try stores.verifier() } } ?? nil
        let clock = problems.take { try ClockSetting(Settings.text(nil, "CLOCK")) }
        openID = problems.take { try OpenIDSettings.configured() } ?? nil
        traces = problems.take { try TraceSettings.configured() } ?? nil
        _ = problems.take { try Settings.logLevel() }
        let allowsPrivate = problems.take {
            try started?.configuration.allowsPrivateWebhooks
                ?? Settings.flag("WEBHOOKS_ALLOW_PRIVATE")
        }
        alerts =
            problems.take {
                try AlertSettings.configured(allowsPrivate: allowsPrivate ?? true)
            } ?? nil
        emails = problems.take { try LetterSetUp.configured() } ?? nil
        publicURL = Settings.text(options.publicURL, "PUBLIC_URL")
        if emails != nil, publicURL == nil {
            problems.add(["Emails to customers need TOLLGATE_PUBLIC_URL for their links; set it."])
        }
        let isDemo = problems.take { try options.demo || Settings.flag("DEMO") } ?? false

        var check = Self.check(options, address, catalog?.apps ?? [], isDemo: isDemo)
        check.rootNames = verifier?.rootNames ?? []
        check.hasSandboxClock = clock?.isVirtual ?? false
        check.trustsXcode = stores?.xcode != nil
        problems.add(check.problems)
        problems.add(Settings.unknownVariables)
        try problems.throwIfAny()
        guard let address, let location, let catalog, let stores, let clock, let allowsPrivate,
            let secretKey = check.secretKeys.first,
            let publishableKey = check.publishableKeys.first
        else { throw WrongSettings(problems: ["A setting cannot be read."], isUsage: true) }

        warnings = check.warnings
        (self.address, self.location, self.catalog) = (address, location, catalog)
        self.catalogPath = catalogPath
        (self.stores, self.clock) = (stores, clock)
        configuration = Self.configuration(
            options,
            check,
            publicURL: "http://\(address.host):\(address.port)",
            (secretKey, publishableKey),
            stores,
            allowsPrivateWebhooks: allowsPrivate
        )
    }

    /// These settings with those of `next` that a running server reloads.
    ///
    /// - Parameter takesStripeKeys: whether the keys of Stripe were replaced.
    func takingIn(_ next: ServeSettings, takesStripeKeys: Bool) -> ServeSettings {
        var result = self
        (result.catalog, result.catalogPath) = (next.catalog, next.catalogPath)
        (result.alerts, result.emails) = (next.alerts, next.emails)
        if takesStripeKeys {
            result.stores.stripeSecretKey = next.stores.stripeSecretKey
            result.configuration.stripeWebhookSecrets = next.configuration.stripeWebhookSecrets
        }
        return result
    }

    /// The keys and addresses that `ServeCheck` judges.
    private static func check(
        _ options: ServeCommand,
        _ address: ListenAddress?,
        _ apps: [TollgateCore.Catalog.App],
        isDemo: Bool
    ) -> ServeCheck {
        var check = ServeCheck(
            secretKeys: keys("SECRET_KEY", isDemo ? DemoWorld.secretKey : nil),
            publishableKeys: keys("PUBLISHABLE_KEY", isDemo ? DemoWorld.publishableKey : nil),
            apps: apps.map(\.id)
        )
        check.isDemo = isDemo
        if let address { (check.listenHost, check.listenPort) = (address.host, address.port) }
        check.urls = urls(options)
        check.stripeKey = Settings.text(nil, "STRIPE_SECRET_KEY")
        check.stripeWebhookSecrets = Settings.list("STRIPE_WEBHOOK_SECRETS")
        return check
    }

    private static func configuration(
        _ options: ServeCommand,
        _ check: ServeCheck,
        publicURL: String,
        _ keys: (secret: String, publishable: String),
        _ stores: StoreSettings,
        allowsPrivateWebhooks: Bool
    ) -> Configuration {
        var configuration = Configuration(
            secretKey: keys.secret,
            publishableKey: keys.publishable,
            publicURL: Settings.text(options.publicURL, "PUBLIC_URL")
                ?? publicURL,
            appURL: Settings.text(nil, "APP_URL"),
            portalReturnURL: Settings.text(nil, "PORTAL_RETURN_URL"),
            stripeWebhookSecrets: check.stripeWebhookSecrets,
            appleAppIDs: Settings.list("APPLE_APP_IDS"),
            appsOfKeys: check.appsOfKeys,
            defaultEnvironment: stores.defaultEnvironment(for: keys.secret),
            formerSecretKeys: Array(check.secretKeys.dropFirst()),
            formerPublishableKeys: Array(check.publishableKeys.dropFirst()),
            allowsPrivateWebhooks: allowsPrivateWebhooks
        )
        configuration.clientAddressHeader = Settings.text(
            options.clientAddressHeader,
            "CLIENT_ADDRESS_HEADER"
        )
        return configuration
    }

    /// The first key counts; those after it are still taken while a key is changed.
    private static func keys(_ name: String, _ fallback: String?) -> [String] {
        let keys = Settings.list(name)
        return keys.isEmpty ? fallback.map { [$0] } ?? [] : keys
    }

    private static func urls(_ options: ServeCommand) -> [(variable: String, url: String)] {
        var urls = [
            "APP_URL", "PORTAL_RETURN_URL", "EMAILS_ACCOUNT_URL", "APP_STORE_BASE_URL",
            "CONNECT_BASE_URL",
            "STRIPE_API_BASE", "GOOGLE_PLAY_API_BASE", "GOOGLE_PLAY_PUBSUB_BASE",
            "GOOGLE_PLAY_CERTS_URL",
        ].compactMap { name in
            Settings.text(nil, name).map { (variable: "TOLLGATE_" + name, url: $0) }
        }
        if let url = Settings.text(options.publicURL, "PUBLIC_URL") {
            urls.append((variable: "TOLLGATE_PUBLIC_URL", url: url))
        }
        return urls
    }
}
