public import AppStoreAPI
public import Logging
public import Storage
public import StripeAPI
internal import Synchronization
public import TollgateCore

/// The application, without HTTP: everything it depends on is handed in.
public final class Tollgate: Sendable {
    /// The two clocks, which must not be one (RULES §14).
    public struct Clocks: Sendable {
        /// The stores' time: evaluation, freshness of signed dates.
        ///
        /// Virtual in the sandbox.
        public var now: @Sendable () async -> Instant
        /// The same without suspension, where that is possible: lets the commonest question be
        /// answered at once.
        public var nowAtOnce: (@Sendable () -> Instant)?
        /// Real time: sessions, the tolerance of signatures, the end of signed answers.
        public var wall: @Sendable () -> Instant
        /// Whether `now` is a sandbox's clock, which stands still until it is moved: then much happens
        /// within one second.
        public var isVirtual: Bool

        public init(
            now: @escaping @Sendable () async -> Instant,
            wall: @escaping @Sendable () -> Instant,
            isVirtual: Bool = false,
            nowAtOnce: (@Sendable () -> Instant)? = nil
        ) {
            self.now = now
            self.nowAtOnce = nowAtOnce
            self.wall = wall
            self.isVirtual = isVirtual
        }
    }

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
    /// Carries what the app's backend is told; `nil` where nothing is sent.
    public let webhooks: WebhookTransport?
    public let clocks: Clocks
    /// Unguessable bytes.
    public let randomBytes: @Sendable (Int) -> [UInt8]
    public let counters: Counters
    public let signer: AnswerSigner
    public let logger: Logger
    /// How often each caller may have Stripe asked.
    public let callLimits = CallLimits()
    /// The warning that a proxy in front of the server is not believed about who is behind it.
    public let proxyWarning = Once()
    /// The digests of certificate chains that this server has kept.
    let keptChains = Mutex<Set<[UInt8]>>([])
    let readOrder = ReadOrder()
    let consumptionPace = RetryPace()
    let appStorePaces = QuestionPaces()
    let stripePaces = QuestionPaces()
    let questionRetries = QuestionRetries()
    let webhookPace = WorkPace()
    /// How often a store's signature may have us say that our clock is wrong.
    let clockPace = WorkPace()
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
        self.appStore = appStore
        self.appStoreClients = appStoreClients
        self.appStoreOptions = appStoreOptions
        self.stripe = stripe
        self.webhooks = webhooks
        self.openID = openID
        sealing = SealingKeys(configuration)
        self.clocks = clocks
        self.randomBytes = randomBytes
        counters = Counters()
        self.signer = signer
        self.logger = logger
    }

    /// A new identifier: the prefix and 24 random letters and digits.
    func newID(_ prefix: String, length: Int = 24) -> String {
        let alphabet = Array("0123456789abcdefghijklmnopqrstuvwxyz")
        return prefix
            + String(randomBytes(length).map { alphabet[Int($0) % alphabet.count] })
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
