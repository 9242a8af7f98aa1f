internal import Logging
internal import Storage
public import Stores
internal import TollgateCore

/// The features: each is a value, made of what it needs whenever it is asked for.
///
/// So none may hold state of its own. What has to be remembered between two uses is handed to it from
/// the properties of `Tollgate`, of which there is one.
extension Tollgate {
    public var directory: CustomerDirectory {
        CustomerDirectory(records: store)
    }

    public var customers: Customers {
        Customers(
            records: store,
            clocks: clocks,
            random: random,
            directory: directory,
            names: CustomerNames(
                records: store,
                random: random,
                secretKey: configuration.secretKey
            )
        )
    }

    public var sessions: Sessions {
        Sessions(
            records: store.sessions,
            clocks: clocks,
            random: random,
            directory: directory,
            apps: store.history.current.apps,
            defaultEnvironment: configuration.defaultEnvironment,
            lifetime: configuration.sessionLifetime
        )
    }

    public var entitlements: Entitlements {
        Entitlements(
            records: store,
            clocks: clocks,
            directory: directory,
            signer: signer,
            defaultEnvironment: configuration.defaultEnvironment
        )
    }

    public var grants: Grants {
        Grants(
            records: store,
            clocks: clocks,
            random: random,
            directory: directory,
            defaultEnvironment: configuration.defaultEnvironment
        )
    }

    public var coins: Coins {
        Coins(
            records: store,
            clocks: clocks,
            directory: directory,
            defaultEnvironment: configuration.defaultEnvironment
        )
    }

    public var purchases: Purchases {
        Purchases(records: store, clocks: clocks, directory: directory)
    }

    public var standings: Standings { Standings(connectors.map(\.standings)) }

    public var customerPurchases: CustomerPurchases {
        CustomerPurchases(
            records: store,
            clocks: clocks,
            directory: directory,
            standings: standings,
            connectors: connectors,
            defaultEnvironment: configuration.defaultEnvironment
        )
    }

    public var freeSubscriptions: FreeSubscriptions {
        FreeSubscriptions(
            records: store,
            clocks: clocks,
            directory: directory,
            defaultEnvironment: configuration.defaultEnvironment
        )
    }

    public var consents: Consents {
        Consents(records: store, clocks: clocks, random: random)
    }

    public var publishedCatalog: PublishedCatalog {
        PublishedCatalog(records: store, clocks: clocks, signer: signer)
    }

    public var offerings: Offerings {
        Offerings(records: store, clocks: clocks)
    }

    public var buyButtons: BuyButtons {
        BuyButtons(records: store, publicURL: configuration.publicURL)
    }

    public var replies: IdempotentReplies {
        IdempotentReplies(
            records: store.replies,
            clocks: clocks,
            sealing: sealing,
            logger: logger
        )
    }

    public var auditLog: AuditLog {
        AuditLog(records: store.audit, clocks: clocks, logger: logger)
    }

    public var secretKeys: SecretKeys {
        SecretKeys(
            records: store.secretKeys,
            clocks: clocks,
            random: random,
            auditLog: auditLog,
            logger: logger,
            uses: keyUses,
            prefix: configuration.secretKey.hasPrefix("sk_live_") ? "sk_live_" : "sk_test_"
        )
    }

    public var signingKeys: SigningKeys {
        SigningKeys(
            signer: signer,
            clocks: clocks,
            auditLog: auditLog,
            logger: logger
        )
    }

    public var events: Events {
        Events(records: store, clocks: clocks, leases: leases, logger: logger)
    }

    public var deliveryLog: DeliveryLog {
        DeliveryLog(records: store)
    }

    public var webhookEndpoints: WebhookEndpoints {
        WebhookEndpoints(
            records: store,
            log: deliveryLog,
            clocks: clocks,
            random: random,
            sealing: sealing,
            allowsPrivate: configuration.allowsPrivateWebhooks
        )
    }

    public var webhookDeliveries: WebhookDeliveries {
        WebhookDeliveries(
            records: store,
            clocks: clocks,
            random: random,
            leases: leases,
            endpoints: webhookEndpoints,
            transport: webhooks,
            counters: counters,
            logger: logger,
            pace: deliveryPace
        )
    }

    public var staff: Staff {
        Staff(records: store.staff, clocks: clocks)
    }

    public var savedViews: SavedViews { SavedViews(records: store.staff) }

    var limits: SignInLimits {
        SignInLimits(records: store.staff, clocks: clocks, random: random, sealing: sealing)
    }

    public var passwords: Passwords {
        Passwords(
            records: store.staff,
            random: random,
            staff: staff,
            limits: limits,
            rounds: configuration.passwordRounds
        )
    }

    public var secondFactors: SecondFactors {
        SecondFactors(
            records: store.staff,
            clocks: clocks,
            random: random,
            sealing: sealing,
            staff: staff,
            limits: limits,
            passwords: passwords,
            publicURL: configuration.publicURL,
            logger: logger
        )
    }

    public var signIns: SignIns {
        SignIns(
            records: store.staff,
            clocks: clocks,
            random: random,
            staff: staff,
            limits: limits,
            passwords: passwords,
            secondFactors: secondFactors,
            publicURL: configuration.publicURL
        )
    }

    public var openIDSignIn: OpenIDSignIn {
        OpenIDSignIn(
            records: store.staff,
            clocks: clocks,
            random: random,
            openID: openID,
            sealing: sealing,
            staff: staff,
            signIns: signIns,
            auditLog: auditLog,
            publicURL: configuration.publicURL,
            logger: logger
        )
    }

    public var customerFiles: CustomerFiles {
        CustomerFiles(
            records: store,
            clocks: clocks,
            directory: directory,
            standings: standings,
            connectors: connectors,
            defaultEnvironment: configuration.defaultEnvironment
        )
    }

    public var figures: Figures {
        Figures(records: store, clocks: clocks, leases: leases, rows: connectors.map(\.rows))
    }

    public var reporting: Reporting {
        Reporting(
            records: store,
            clocks: clocks,
            figures: figures,
            defaultEnvironment: configuration.defaultEnvironment,
            books: connectors.map(\.books)
        )
    }

    public var accounts: Accounts {
        Accounts(
            records: store,
            clocks: clocks,
            leases: leases,
            figures: figures,
            books: connectors.map(\.books),
            defaultEnvironment: configuration.defaultEnvironment,
            reportedEnvironment: configuration.reportedEnvironment,
            logger: logger
        )
    }

    public var journalExport: JournalExport {
        JournalExport(records: store)
    }

    package var accessChecks: AccessChecks {
        AccessChecks(records: store, clocks: clocks, leases: leases, logger: logger)
    }

    public var metrics: Metrics {
        Metrics(
            records: store,
            clocks: clocks,
            counters: counters,
            workAges: workAges,
            accessChecks: accessChecks,
            connectors: connectors,
            logger: logger
        )
    }

    package var lastMessages: LastMessages {
        LastMessages(records: store, clocks: clocks, heard: context.heard)
    }

    package func alerts(_ settings: AlertSettings, on machine: AlertMachine) -> Alerts {
        Alerts(
            records: store,
            clocks: clocks,
            random: random,
            leases: leases,
            heard: context.heard,
            accessChecks: accessChecks,
            connectors: connectors,
            server: configuration.publicURL,
            bounds: settings.bounds,
            quietHours: settings.quietHours,
            channels: channels(settings),
            machine: machine,
            logger: logger
        )
    }

    /// A test message to every channel of alarms.
    ///
    /// - Parameter settings: `nil`: there is no channel.
    package func alertTrial(_ settings: AlertSettings?) -> AlertTrial {
        AlertTrial(
            channels: settings.map(channels) ?? [],
            server: configuration.publicURL,
            random: random
        )
    }

    package var letterRefusals: LetterRefusals {
        LetterRefusals(
            records: store,
            clocks: clocks,
            random: random,
            secretKey: configuration.secretKey,
            publicURL: configuration.publicURL
        )
    }

    /// Emails to customers.
    ///
    /// - Parameter transport: the way to mail servers, if not the server's own.
    package func letters(_ setUp: LetterSetUp, over transport: MailTransport? = nil) -> Letters {
        Letters(
            records: store,
            clocks: clocks,
            leases: leases,
            refusals: letterRefusals,
            standings: standings,
            connectors: connectors,
            counters: counters,
            logger: logger,
            configuration: configuration,
            setUp: setUp,
            transport: transport ?? mails
        )
    }

    private func channels(_ settings: AlertSettings) -> [AlertChannel] {
        settings.channels(webhooks: webhooks, mails: mails, clocks: clocks)
    }

    public var portal: Portal {
        Portal(
            records: store,
            clocks: clocks,
            random: random,
            directory: directory,
            coins: coins,
            standings: standings,
            connectors: connectors,
            billing: connectors.lazy.compactMap(\.billing).first,
            links: callLimits.portalLinks,
            publicURL: configuration.publicURL,
            portalReturnURL: configuration.portalReturnURL
        )
    }
}
