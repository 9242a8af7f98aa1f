public import Reports
public import Storage
public import TollgateAPI
public import TollgateCore
internal import Traces

/// One store's side of the context: the only code that knows the store by name.
public protocol StoreConnector: Sendable {
    var store: Store { get }
    /// The store's name on pages for staff: `App Store`.
    var name: String { get }
    /// The store's name on pages for customers.
    var shopName: String { get }
    /// The same in a sentence: `in the App Store`.
    var inShop: String { get }
    var context: StoreContext { get }
    /// Whether keys are configured, without which nothing of this store can be believed or asked.
    var isSetUp: Bool { get }
    /// The apps as the store's purchases name them, the first one first; `-` where they name none.
    var applications: [String] { get }
    /// The address at which the store reports.
    var webhook: StoreWebhook { get }

    /// Recalls what servers before this one have kept; once, before anything is served.
    func begin() async throws

    /// Asks whoever has to be asked before a message can be believed, such as whether a certificate
    /// was revoked.
    func check(_ message: ReceivedMessage) async throws

    /// Verifies and translates one message, without network or database.
    ///
    /// - Throws: a `StoreFault` for what the store did not sign for us; a refusal.
    func translate(_ message: ReceivedMessage, at now: Instant) throws -> Translation

    /// Takes in a message, however it came here.
    ///
    /// Durable when this returns.
    ///
    /// `verifyAndJournal` does it for a store whose messages raise no questions of the record. It is no
    /// default: in a file that does not import the store's module, a default hides the store's own.
    ///
    /// - Throws: as `translate`; `StorageError` where it could not be kept, so that the store sends it
    ///   again.
    func receive(_ message: ReceivedMessage) async throws -> MessageOutcome

    /// Asks the store what its messages did not carry, as far as it may be asked now.
    ///
    /// It is called again and again, while any question waits in the record.
    ///
    /// - Returns: `false` while asking fails.
    func askWhatIsWanted() async -> Bool

    /// How often `listen` is called; `nil` where the store tells by itself.
    var listening: WorkRhythm? { get }

    /// Fetches what waits for us in a queue of the store's.
    ///
    /// - Returns: `false` while fetching fails.
    func listen() async -> Bool

    /// Numbers for `/metrics` that only this store has.
    func gauges() async throws -> [StoreGauge]

    /// The nearest deadline of each kind of act that waits to be done at the store.
    func deadlines() async throws -> [StoreDeadline]

    /// Keeps for servers after this one what was learned since the last time.
    func keepWhatIsKnown() async throws

    /// How often `reconcileIfDue` is called.
    var reconciling: WorkRhythm { get }

    /// The names under which its passes keep their places, by the settings of now.
    var passes: [String] { get }

    /// Looks for what no message carried, if a pass is due and no other server is at it.
    ///
    /// - Returns: whether nothing failed; what did is in the log.
    /// - Throws: what failed and is not in the log.
    func reconcileIfDue() async throws -> Bool

    /// The sales and periods of this store's purchases.
    var rows: any StoreRows { get }
    /// How they stand, as customers and staff see them.
    var standings: any StoreStandings { get }
    /// The store's own reports, and how they match our sales.
    var books: any StoreBooks { get }

    /// The keys under which the journal may have a message that the store calls so.
    func messageKeys(named id: String) -> [RowKey]

    /// The known purchases of what the store's receipts call an order, where the store has to be asked
    /// for them.
    func purchases(ofOrder id: String) async -> [Purchase.Key]

    /// The page of the store's own on which staff find something; `nil` where it has none.
    func consoleURL(of object: StoreObject, in environment: StoreEnvironment) -> String?

    /// The page of the store's own on which a customer manages a plan; `nil` where it is managed here.
    var managementURL: String? { get }

    /// The same for one plan, where the store has a page for each.
    func managementURL(of purchase: Purchase) -> String?

    /// What this server's own pages show and change of the store's plans; `nil` where the store does
    /// that.
    var billing: (any StoreBilling)? { get }
}

extension StoreConnector {
    /// The names under which work is kept that is done again and again, by the settings of now.
    public var recurringWork: [String] { passes + (books.canFetch ? [books.roundName] : []) }

    public var shopName: String { name }

    public var applications: [String] { ["-"] }

    public func messageKeys(named id: String) -> [RowKey] { [] }

    public func purchases(ofOrder id: String) async -> [Purchase.Key] { [] }

    public var inShop: String { "in the \(shopName)" }

    public func begin() async throws {}

    public func check(_ message: ReceivedMessage) async throws {}

    /// Asks whom it has to ask, verifies, translates and journals one message.
    public func verifyAndJournal(_ message: ReceivedMessage) async throws -> MessageOutcome {
        let translation = try await Traces.span("verify and translate") {
            try await check(message)
            return try translate(message, at: await context.clocks.now())
        }
        return try await context.journal(translation, of: store, from: message)
    }

    /// Takes in again what was parked; what still cannot be used stays there.
    public func retry(_ body: [UInt8]) async throws -> MessageOutcome {
        do {
            return try await receive(ReceivedMessage(body, .parked))
        } catch is any StoreFault {
            // Another root or app is configured now.
            return .parked
        } catch let refusal as Refusal where refusal.status < 500 {
            return .parked
        }
    }

    public func askWhatIsWanted() async -> Bool { true }

    public var listening: WorkRhythm? { nil }

    public func listen() async -> Bool { true }

    public func gauges() async throws -> [StoreGauge] { [] }

    public func deadlines() async throws -> [StoreDeadline] { [] }

    public func keepWhatIsKnown() async throws {}

    public func consoleURL(of object: StoreObject, in environment: StoreEnvironment) -> String? {
        nil
    }

    public var managementURL: String? { nil }

    public func managementURL(of purchase: Purchase) -> String? { managementURL }

    public var billing: (any StoreBilling)? { nil }
}

/// An address at which a store reports.
public struct StoreWebhook: Hashable, Sendable {
    public var path: APIPath
    /// How many bytes a message has at most.
    public var limit: Int
    /// The header in which the store signs a message; `nil` where the body itself is signed.
    public var signature: String?

    public init(_ path: APIPath, limit: Int, signature: String? = nil) {
        self.path = path
        self.limit = limit
        self.signature = signature
    }
}

/// One number for `/metrics`.
public struct StoreGauge: Hashable, Sendable {
    /// `tollgate_store_act_deadline_seconds`.
    public var name: String
    /// `store="google_play",act="acknowledge"`: our words, never a caller's.
    public var labels: String
    public var value: Int64

    public init(_ name: String, _ labels: String, _ value: Int64) {
        (self.name, self.labels, self.value) = (name, labels, value)
    }
}

/// The deadline of an act at a store.
public struct StoreDeadline: Hashable, Sendable {
    public var kind: Wanted.Kind
    /// The act in one word: `acknowledge`.
    public var act: String
    /// The deadline, by the stores' time.
    public var instant: Instant
    /// The whole time that the store gives, in milliseconds.
    public var time: Int64
    /// `true` if the act waits for a customer; then the server is not at fault.
    public var waitsForCustomer: Bool

    public init(
        _ kind: Wanted.Kind,
        act: String,
        by instant: Instant,
        of time: Int64,
        waitsForCustomer: Bool
    ) {
        (self.kind, self.act, self.instant, self.time) = (kind, act, instant, time)
        self.waitsForCustomer = waitsForCustomer
    }
}

/// How often work is done that goes on as long as the server does.
public struct WorkRhythm: Sendable {
    /// How long after the start of the server it begins.
    public var start: Duration
    public var pause: Duration
    public var pauseAfterFailure: Duration

    public init(
        after start: Duration = .zero,
        every pause: Duration,
        afterFailure pauseAfterFailure: Duration
    ) {
        self.start = start
        self.pause = pause
        self.pauseAfterFailure = pauseAfterFailure
    }
}

/// Something that a store's own pages show.
public enum StoreObject: Sendable {
    case purchase(Purchase)
    /// The products that a purchase is of.
    case products(Purchase)
    /// By the store's id of the customer.
    case customer(String)
}
