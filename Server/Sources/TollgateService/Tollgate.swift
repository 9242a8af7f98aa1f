public import AppStoreAPI
public import Logging
public import Storage
public import StripeAPI
internal import Synchronization

/// The application, without HTTP: its features, put together from what is handed in.
public final class Tollgate: Sendable {
    public let configuration: Configuration
    public let store: RecordStore
    /// Checks what the App Store signs; `nil` where no trusted root is configured.
    public let appStore: AppStore.SignedDataVerifier?
    /// Speaks to the App Store; `nil` where no key of App Store Connect is configured.
    public let appStoreClients: AppStoreClients?
    /// What else the App Store may be asked.
    public let appStoreOptions: AppStoreOptions
    /// Speaks to Stripe; `nil` where no secret key is configured.
    public let stripe: Stripe.Client?
    public let clocks: Clocks
    public let random: RandomSource
    public let counters: Counters
    public let signer: AnswerSigner
    public let logger: Logger
    /// How often each caller may have Stripe asked.
    public let callLimits: CallLimits
    public let workAges = WorkAges()
    /// The warning that a proxy in front of the server is not believed about who is behind it.
    public let proxyWarning = Once()
    let leases: Leases
    /// The digests of certificate chains that this server has kept.
    let keptChains = Mutex<Set<[UInt8]>>([])
    let readOrder = ReadOrder()
    let consumptionPace = RetryPace()
    let appStorePaces = QuestionPaces()
    let stripePaces = QuestionPaces()
    let questionRetries = QuestionRetries()
    /// How often a store's signature may have us say that our clock is wrong.
    let clockPace = WorkPace()

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
    public let customerFiles: CustomerFiles
    public let figures: Figures
    public let reporting: Reporting
    public let journalExport: JournalExport
    package let accessChecks: AccessChecks
    public let metrics: Metrics

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
        logger: Logger
    ) {
        self.configuration = configuration
        self.store = store
        self.appStore = appStore
        self.appStoreClients = appStoreClients
        self.appStoreOptions = appStoreOptions
        self.stripe = stripe
        self.clocks = clocks
        random = RandomSource(randomBytes)
        counters = Counters()
        self.signer = signer
        self.logger = logger
        callLimits = CallLimits()
        leases = Leases(records: store, clocks: clocks, random: random)
        let parts = Assembly(
            configuration: configuration,
            records: store,
            clocks: clocks,
            random: random,
            leases: leases,
            sealing: SealingKeys(configuration),
            signer: signer,
            counters: counters,
            workAges: workAges,
            bundleID: appStore?.bundleID,
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
        customerFiles = parts.customerFiles
        figures = parts.figures
        reporting = parts.reporting
        journalExport = parts.journalExport
        accessChecks = parts.accessChecks
        metrics = parts.metrics
    }
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
            stripe: self,
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
            stripe: self,
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
            appStore: self,
            limit: callLimits.observations,
            counters: counters
        )
    }
}
