public import AppStoreAPI
public import Logging
public import Storage
public import Stores
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
    /// What this server hands to each store's room.
    public let house: House
    public let signer: AnswerSigner
    /// How often each caller may have Stripe asked.
    public let callLimits: CallLimits
    /// The warning that a proxy in front of the server is not believed about who is behind it.
    public let proxyWarning = Once()
    /// The digests of certificate chains that this server has kept.
    let keptChains = Mutex<Set<[UInt8]>>([])
    let readOrder = ReadOrder()
    let consumptionPace = RetryPace()
    let appStoreQuestions: Questions
    let stripeQuestions: Questions
    /// Restores by who does not have the purchase, per customer and purchase: each is kept, because
    /// the latest may own it.
    let restores = CallLimit(calls: 10, seconds: 86_400)
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
        let (random, counters) = (RandomSource(randomBytes), Counters())
        house = House(
            records: store,
            clocks: clocks,
            random: random,
            counters: counters,
            logger: logger
        )
        let leases = house.leases
        appStoreQuestions = Questions(house)
        stripeQuestions = Questions(house)
        self.signer = signer
        callLimits = CallLimits()
        let sealing = SealingKeys(configuration)
        let (environment, url) = (configuration.defaultEnvironment, configuration.publicURL)
        directory = CustomerDirectory(records: store)
        customers = Customers(
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
        sessions = Sessions(
            records: store,
            clocks: clocks,
            random: random,
            directory: directory,
            defaultEnvironment: environment,
            lifetime: configuration.sessionLifetime
        )
        entitlements = Entitlements(
            records: store,
            clocks: clocks,
            directory: directory,
            signer: signer,
            defaultEnvironment: environment
        )
        explanations = Explanations(
            records: store,
            clocks: clocks,
            defaultEnvironment: environment
        )
        grants = Grants(
            records: store,
            clocks: clocks,
            random: random,
            directory: directory,
            defaultEnvironment: environment
        )
        coins = Coins(
            records: store,
            clocks: clocks,
            directory: directory,
            defaultEnvironment: environment
        )
        purchases = Purchases(records: store, clocks: clocks, directory: directory)
        freeSubscriptions = FreeSubscriptions(
            records: store,
            clocks: clocks,
            directory: directory,
            defaultEnvironment: environment
        )
        consents = Consents(records: store, clocks: clocks, random: random)
        publishedCatalog = PublishedCatalog(records: store, clocks: clocks, signer: signer)
        buyButtons = BuyButtons(records: store, publicURL: url)
        replies = IdempotentReplies(
            records: store,
            clocks: clocks,
            sealing: sealing,
            logger: logger
        )
        auditLog = AuditLog(records: store, clocks: clocks, logger: logger)
        secretKeys = SecretKeys(
            records: store,
            clocks: clocks,
            random: random,
            auditLog: auditLog,
            logger: logger,
            prefix: configuration.secretKey.hasPrefix("sk_live_") ? "sk_live_" : "sk_test_"
        )
        signingKeys = SigningKeys(
            signer: signer,
            clocks: clocks,
            auditLog: auditLog,
            logger: logger
        )
        events = Events(records: store, clocks: clocks, leases: leases, logger: logger)
        deliveryLog = DeliveryLog(records: store)
        webhookEndpoints = WebhookEndpoints(
            records: store,
            log: deliveryLog,
            clocks: clocks,
            random: random,
            sealing: sealing,
            allowsPrivate: configuration.allowsPrivateWebhooks
        )
        webhookDeliveries = WebhookDeliveries(
            records: store,
            clocks: clocks,
            random: random,
            leases: leases,
            endpoints: webhookEndpoints,
            transport: webhooks,
            counters: counters,
            logger: logger
        )
        staff = Staff(records: store, clocks: clocks)
        let limits = SignInLimits(records: store, clocks: clocks, random: random, sealing: sealing)
        passwords = Passwords(
            records: store,
            random: random,
            staff: staff,
            limits: limits,
            rounds: configuration.passwordRounds
        )
        secondFactors = SecondFactors(
            records: store,
            clocks: clocks,
            random: random,
            sealing: sealing,
            staff: staff,
            limits: limits,
            passwords: passwords,
            publicURL: url,
            logger: logger
        )
        signIns = SignIns(
            records: store,
            clocks: clocks,
            random: random,
            staff: staff,
            limits: limits,
            passwords: passwords,
            secondFactors: secondFactors,
            publicURL: url
        )
        openIDSignIn = OpenIDSignIn(
            records: store,
            clocks: clocks,
            random: random,
            openID: openID,
            sealing: sealing,
            staff: staff,
            signIns: signIns,
            auditLog: auditLog,
            publicURL: url,
            logger: logger
        )
        customerFiles = CustomerFiles(
            records: store,
            clocks: clocks,
            directory: directory,
            bundleID: appStore?.bundleID,
            defaultEnvironment: environment
        )
        figures = Figures(records: store, clocks: clocks, leases: leases)
        reporting = Reporting(
            records: store,
            clocks: clocks,
            figures: figures,
            defaultEnvironment: environment,
            financeTerms: configuration.financeTerms
        )
        journalExport = JournalExport(records: store)
        accessChecks = AccessChecks(records: store, clocks: clocks, leases: leases, logger: logger)
        metrics = Metrics(
            records: store,
            clocks: clocks,
            counters: counters,
            accessChecks: accessChecks,
            logger: logger
        )
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
