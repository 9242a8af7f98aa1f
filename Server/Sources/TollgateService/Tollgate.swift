public import AppStoreAPI
public import AppStoreConnector
public import Logging
public import Storage
public import Stores
public import StripeAPI
public import StripeConnector
public import TollgateCore

/// The application, without HTTP: everything it depends on is handed in.
public final class Tollgate: Sendable {
    public let configuration: Configuration
    public let store: RecordStore
    public let appStore: AppStoreConnector
    public let stripe: StripeConnector
    /// Carries what the app's backend is told; `nil` where nothing is sent.
    public let webhooks: WebhookTransport?
    /// What this server hands to each store's room.
    public let house: House
    public let signer: AnswerSigner
    /// How often each caller may have Stripe asked.
    public let callLimits = CallLimits()
    /// The warning that a proxy in front of the server is not believed about who is behind it.
    public let proxyWarning = Once()
    let webhookPace = WorkPace()
    let keyUses = KeyUses()
    let sealing: SealingKeys
    /// Where staff may sign in besides; `nil` where no issuer is configured.
    public let openID: OpenIDClient?

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
        self.webhooks = webhooks
        self.openID = openID
        sealing = SealingKeys(configuration)
        house = House(
            records: store,
            clocks: clocks,
            counters: Counters(),
            logger: logger,
            randomBytes: randomBytes
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
        self.signer = signer
    }

    public var clocks: Clocks { house.clocks }
    /// Unguessable bytes.
    public var randomBytes: @Sendable (Int) -> [UInt8] { house.randomBytes }
    public var counters: Counters { house.counters }
    public var logger: Logger { house.logger }

    /// A new identifier: the prefix and 24 random letters and digits.
    func newID(_ prefix: String, length: Int = 24) -> String {
        house.newID(prefix, length: length)
    }
}

extension Tollgate {
    /// An application that only answers questions about what is recorded, for commands.
    ///
    /// - Parameter now: the instant of questions that name none.
    public convenience init(reading store: RecordStore, now: @escaping @Sendable () -> Instant) {
        self.init(
            configuration: Configuration(
                secretKey: "",
                publishableKey: "",
                publicURL: "",
                defaultEnvironment: .sandbox
            ),
            store: store,
            appStore: nil,
            stripe: nil,
            clocks: Clocks(now: { now() }, wall: now),
            randomBytes: { Array(repeating: 0, count: $0) },
            signer: AnswerSigner(),
            logger: Logger(label: "tollgate")
        )
    }
}
