public import AppStoreAPI
public import Reports
public import Storage
public import Stores
internal import Synchronization
internal import TollgateAPI
public import TollgateCore

/// The App Store's room: what it signs, what it is asked, and what it is told.
public final class AppStoreConnector: StoreConnector {
    public let store = Store.appStore
    public let name = "App Store"
    public static let webhook = StoreWebhook(.appStoreWebhook, limit: 128 << 10)
    public var webhook: StoreWebhook { Self.webhook }
    public let reconciling = WorkRhythm(
        // Whatever starts together with the server is there by then.
        after: .seconds(3),
        every: .seconds(10),
        afterFailure: .seconds(120)
    )
    public let rows: any StoreRows = AppStoreRows()
    public let standings: any StoreStandings = AppStoreStandings()
    public let books: any StoreBooks
    public let managementURL: String? = "https://apps.apple.com/account/subscriptions"
    public let context: StoreContext
    /// Speaks to the App Store; `nil` where no key of App Store Connect is configured.
    public let clients: AppStoreClients?
    let messages: AppStoreMessages
    let reads: AppStoreReads
    public let devices: DeviceTransactions
    public let receipts: AppStoreReceipts
    public let offers: AppStoreOffers
    public let retentionMessages: RetentionMessages
    private let questions: AppStoreQuestions
    private let consumption: ConsumptionAnswers
    /// After how many seconds another pass is due.
    ///
    /// At first at once, whenever the last pass was: this may be a restored database.
    let dueAfter = Mutex<Int64>(0)
    /// Overdue purchases that the App Store does not know; passes leave each alone for a day.
    let unknownPurchases = RecentlyUnknown<Purchase.Key>()
    /// The digests of certificate chains that this server has kept.
    let keptChains = Mutex<Set<[UInt8]>>([])

    /// - Parameters:
    ///   - verifier: checks what the App Store signs; `nil` where no trusted root is configured.
    ///   - clients: `nil` where no key of App Store Connect is configured.
    ///   - options: receipts, revocation checks, reports, retention rules.
    public init(
        _ context: StoreContext,
        verifier: AppStore.SignedDataVerifier?,
        clients: AppStoreClients?,
        options: AppStoreOptions
    ) {
        self.context = context
        self.clients = clients
        books = AppStoreBooks(context.records, connect: options.connect, terms: options.terms)
        messages = AppStoreMessages(context, verifier, options)
        reads = AppStoreReads(
            context: context,
            messages: messages,
            clients: clients,
            journalsInTurn: options.journalsInTurn
        )
        devices = DeviceTransactions(context: context, messages: messages, reads: reads)
        receipts = AppStoreReceipts(
            context: context,
            messages: messages,
            reads: reads,
            client: options.receipts
        )
        offers = AppStoreOffers(context: context, clients: clients)
        retentionMessages = RetentionMessages(
            context: context,
            messages: messages,
            offers: offers,
            rules: options.retentionRules
        )
        questions = AppStoreQuestions(context, reads)
        consumption = ConsumptionAnswers(context, clients)
    }

    public var isSetUp: Bool { verifier != nil }

    /// The verifier of signed data; `nil` where no trusted root is configured.
    public var verifier: AppStore.SignedDataVerifier? { messages.verifier }

    /// The environments in which the App Store Server API can be asked, production first.
    public var environments: [StoreEnvironment] { reads.environments }

    /// The bundle ids of the apps, the first one first; empty where no trusted root is configured.
    public var applications: [String] { messages.verifier?.bundleIDs ?? [] }

    public func messageKeys(named id: String) -> [RowKey] {
        applications.map { RowKey("notification", $0, id.lowercased()) }
    }

    /// The lookups and changes that support makes for one app.
    ///
    /// - Parameter application: its bundle id; `nil`: the first app's.
    /// - Throws: a refusal 503 `store_unavailable` where the App Store is not set up for it.
    public func support(of application: String? = nil) throws -> AppStoreSupport {
        AppStoreSupport(
            app: try offers.configured(application).app,
            verifier: try messages.configured(),
            now: context.clocks.now
        )
    }

    public func check(_ message: ReceivedMessage) async throws {
        try await messages.checkRevocation(
            of: try? AppStore.NotificationBody(message.body).signedPayload
        )
    }

    public func translate(_ message: ReceivedMessage, at now: Instant) throws -> Translation {
        try messages.translate(message, at: now)
    }

    public func receive(_ message: ReceivedMessage) async throws -> MessageOutcome {
        try await verifyAndJournal(message)
    }

    public func askWhatIsWanted() async -> Bool {
        let isAnswered = await consumption.answer()
        return await questions.ask() && isAnswered
    }
}
