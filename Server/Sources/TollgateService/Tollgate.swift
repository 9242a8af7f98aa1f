public import Logging
public import Storage
public import Stores

/// The application, without HTTP: its features, put together from what is handed in.
public final class Tollgate: Sendable {
    public let configuration: Configuration
    public let store: RecordStore
    /// Every store's room.
    public let connectors: [any StoreConnector]
    /// The rooms whose places others have taken in `connectors`, too.
    package let rooms: [any StoreConnector]
    /// The services that every connector shares: record, clocks, leases, counters.
    public let context: StoreContext
    public let signer: AnswerSigner
    /// How often each caller may have Stripe asked.
    public let callLimits: CallLimits
    public let workAges = WorkAges()
    /// When secret keys were used, until that is written.
    let keyUses = KeyUses()
    /// When old deliveries were forgotten last.
    let deliveryPace = WorkPace()
    let sealing: SealingKeys
    let webhooks: WebhookTransport?
    let mails: MailTransport?
    let openID: OpenIDClient?
    /// The warning that a proxy in front of the server is not believed about who is behind it.
    public let proxyWarning = Once()

    /// - Parameters:
    ///   - context: what every room was built with.
    ///   - rooms: a room for each store.
    ///   - others: the rooms of further stores; one of a store that has a room already takes its place.
    package init(
        configuration: Configuration,
        context: StoreContext,
        rooms: [any StoreConnector],
        others: [any StoreConnector] = [],
        webhooks: WebhookTransport? = nil,
        mails: MailTransport? = nil,
        openID: OpenIDClient? = nil,
        signer: AnswerSigner
    ) {
        self.configuration = configuration
        self.context = context
        store = context.records
        self.rooms = rooms
        connectors =
            rooms.filter { room in !others.contains { $0.store == room.store } } + others
        self.signer = signer
        callLimits = CallLimits()
        sealing = SealingKeys(configuration)
        self.webhooks = webhooks
        self.mails = mails
        self.openID = openID
    }
}

extension Tollgate {
    public var clocks: Clocks { context.clocks }
    public var random: RandomSource { context.random }
    public var counters: Counters { context.counters }
    public var logger: Logger { context.logger }
    var leases: Leases { context.leases }
}
