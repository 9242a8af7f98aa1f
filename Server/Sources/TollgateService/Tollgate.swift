public import AppStoreAPI
public import AppStoreConnector
public import Logging
public import Storage
public import Stores
public import StripeAPI
public import StripeConnector

/// The application, without HTTP: its features, put together from what is handed in.
public final class Tollgate: Sendable {
    public let configuration: Configuration
    public let store: RecordStore
    public let appStore: AppStoreConnector
    public let stripe: StripeConnector
    /// Every store's room.
    public let connectors: [any StoreConnector]
    /// The services that every connector shares: record, clocks, leases, counters.
    public let house: House
    public let signer: AnswerSigner
    /// How often each caller may have Stripe asked.
    public let callLimits: CallLimits
    public let workAges = WorkAges()
    /// The warning that a proxy in front of the server is not believed about who is behind it.
    public let proxyWarning = Once()
    public let directory: CustomerDirectory
    public let customers: Customers
    public let sessions: Sessions
    public let entitlements: Entitlements
    public let explanations: Explanations
    public let grants: Grants
    public let coins: Coins
    public let purchases: Purchases
    public let freeSubscriptions: FreeSubscriptions
    public let consents: Consents
    public let publishedCatalog: PublishedCatalog
    public let buyButtons: BuyButtons
    public let replies: IdempotentReplies
    public let secretKeys: SecretKeys
    public let signingKeys: SigningKeys
    public let events: Events
    public let deliveryLog: DeliveryLog
    public let webhookEndpoints: WebhookEndpoints
    public let webhookDeliveries: WebhookDeliveries
    public let staff: Staff
    public let signIns: SignIns
    public let passwords: Passwords
    public let secondFactors: SecondFactors
    public let openIDSignIn: OpenIDSignIn
    public let auditLog: AuditLog
    public let accounts: Accounts
    public let customerFiles: CustomerFiles
    public let figures: Figures
    public let reporting: Reporting
    public let journalExport: JournalExport
    package let accessChecks: AccessChecks
    public let metrics: Metrics

    /// - Parameter others: the rooms of further stores; one of a store that has a room here already takes
    ///   its place.
    public init(
        configuration: Configuration,
        store: RecordStore,
        appStore: AppStore.SignedDataVerifier?,
        appStoreClients: AppStoreClients? = nil,
        appStoreOptions: AppStoreOptions = AppStoreOptions(),
        stripe: Stripe.Client?,
        webhooks: WebhookTransport? = nil,
        openID: OpenIDClient? = nil,
        clocks: Clocks,
        randomBytes: @escaping @Sendable (Int) -> [UInt8],
        signer: AnswerSigner,
        logger: Logger,
        connectors others: (House) -> [any StoreConnector] = { _ in [] }
    ) {
        self.configuration = configuration
        self.store = store
        let (random, counters) = (RandomSource(randomBytes), Counters())
        house = House(
            records: store,
            clocks: clocks,
            random: random,
            counters: counters,
            logger: logger
        )
        self.appStore = AppStoreConnector(
            house,
            verifier: appStore,
            clients: appStoreClients,
            options: appStoreOptions
        )
        self.stripe = StripeConnector(
            house,
            client: stripe,
            webhookSecrets: configuration.stripeWebhookSecrets,
            defaultEnvironment: configuration.defaultEnvironment
        )
        let others = others(house)
        connectors =
            ([self.appStore, self.stripe] as [any StoreConnector]).filter { own in
                !others.contains { $0.store == own.store }
            } + others
        self.signer = signer
        callLimits = CallLimits()
        let parts = Assembly(
            configuration: configuration,
            records: store,
            clocks: clocks,
            random: random,
            leases: house.leases,
            sealing: SealingKeys(configuration),
            signer: signer,
            counters: counters,
            workAges: workAges,
            bundleIDs: appStore?.bundleIDs ?? [],
            connectors: connectors,
            webhooks: webhooks,
            openID: openID,
            logger: logger
        )
        directory = parts.directory
        customers = parts.customers
        sessions = parts.sessions
        entitlements = parts.entitlements
        explanations = parts.explanations
        grants = parts.grants
        coins = parts.coins
        purchases = parts.purchases
        freeSubscriptions = parts.freeSubscriptions
        consents = parts.consents
        publishedCatalog = parts.publishedCatalog
        buyButtons = parts.buyButtons
        replies = parts.replies
        auditLog = parts.auditLog
        secretKeys = parts.secretKeys
        signingKeys = parts.signingKeys
        events = parts.events
        deliveryLog = parts.deliveryLog
        webhookEndpoints = parts.webhookEndpoints
        webhookDeliveries = parts.webhookDeliveries
        staff = parts.staff
        passwords = parts.passwords
        secondFactors = parts.secondFactors
        signIns = parts.signIns
        openIDSignIn = parts.openIDSignIn
        accounts = parts.accounts
        customerFiles = parts.customerFiles
        figures = parts.figures
        reporting = parts.reporting
        journalExport = parts.journalExport
        accessChecks = parts.accessChecks
        metrics = parts.metrics
    }
}

extension Tollgate {
    public var clocks: Clocks { house.clocks }
    public var random: RandomSource { house.random }
    public var counters: Counters { house.counters }
    public var logger: Logger { house.logger }
    var leases: Leases { house.leases }
}

// Features that have a store do something.
extension Tollgate {
    public var checkouts: Checkouts {
        Checkouts(
            records: store,
            clocks: clocks,
            random: random,
            directory: directory,
            customers: customers,
            purchases: purchases,
            stripe: stripe,
            claims: callLimits.claims,
            publicURL: configuration.publicURL,
            defaultEnvironment: configuration.defaultEnvironment,
            logger: logger
        )
    }

    public var portal: Portal {
        Portal(
            records: store,
            clocks: clocks,
            random: random,
            directory: directory,
            coins: coins,
            checkouts: checkouts,
            stripe: stripe,
            connectors: connectors,
            links: callLimits.portalLinks,
            publicURL: configuration.publicURL,
            portalReturnURL: configuration.portalReturnURL,
            logger: logger
        )
    }

    package var deviceObservations: DeviceObservations {
        DeviceObservations(
            records: store,
            clocks: clocks,
            appStore: appStore,
            limit: callLimits.observations,
            counters: counters
        )
    }
}
