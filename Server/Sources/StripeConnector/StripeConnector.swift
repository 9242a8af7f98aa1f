public import Reports
public import Storage
public import Stores
public import StripeAPI
internal import TollgateAPI
public import TollgateCore
internal import Traces

/// Stripe's room: what it sends, what it is asked, and what its account holds.
public final class StripeConnector: StoreConnector {
    public let store = Store.stripe
    public let name = "Stripe"
    public let shopName = "Web"
    public let inShop = "on the web"
    public static let webhook = StoreWebhook(
        .stripeWebhook,
        limit: 1 << 20,
        signature: "Stripe-Signature"
    )
    public var webhook: StoreWebhook { Self.webhook }
    public let reconciling = WorkRhythm(every: .seconds(600), afterFailure: .seconds(60))
    public let rows: any StoreRows = StripeRows()
    public let standings: any StoreStandings = StripeStandings()
    public let books: any StoreBooks
    public let context: StoreContext
    public let reads: StripeReads
    public let opinions: StripeOpinions
    public let checkouts: Checkouts
    public let billing: (any StoreBilling)?
    let messages: StripeMessages
    let customers: StripeCustomers
    private let questions: StripeQuestions

    /// - Parameters:
    ///   - client: `nil` where no secret key is configured.
    ///   - webhookSecrets: of the webhook endpoint; while one is rolled, both.
    ///   - defaultEnvironment: of what is asked about no purchase.
    ///   - publicURL: where people's browsers reach this server.
    public init(
        _ context: StoreContext,
        client: Stripe.Client?,
        webhookSecrets: [String],
        defaultEnvironment: StoreEnvironment,
        publicURL: String
    ) {
        self.context = context
        books = StripeBooks(context.records, client: client)
        reads = StripeReads(context, client)
        opinions = StripeOpinions(context: context, reads: reads)
        messages = StripeMessages(context, secrets: webhookSecrets)
        customers = StripeCustomers(context: context, reads: reads)
        checkouts = Checkouts(
            context: context,
            reads: reads,
            publicURL: publicURL,
            defaultEnvironment: defaultEnvironment
        )
        billing = StripeBilling(context: context, reads: reads)
        questions = StripeQuestions(reads, opinions, defaultEnvironment: defaultEnvironment)
    }

    /// Takes another secret key, and other signing secrets of the webhook endpoint, from now on.
    ///
    /// - Returns: `false` where the first key or none would replace what is there, or a key of the
    ///   other mode: then nothing is replaced, since events of that mode are about other objects.
    public func replaceKeys(_ secretKey: String?, webhookSecrets: [String]) -> Bool {
        guard (client == nil) == (secretKey == nil) else { return false }
        if let client, let secretKey, !client.secretKey.replace(with: secretKey) { return false }
        messages.secrets.replace(with: webhookSecrets)
        return true
    }

    /// Speaks to Stripe; `nil` where no secret key is configured.
    public var client: Stripe.Client? { reads.client }

    public func translate(_ message: ReceivedMessage, at now: Instant) throws -> Translation {
        messages.translate(try messages.event(message), from: message)
    }

    public func receive(_ message: ReceivedMessage) async throws -> MessageOutcome {
        let (event, translation) = try await Traces.span("verify and translate") {
            let event = try messages.event(message)
            var translation = messages.translate(event, from: message)
            let wanted = try await reads.rereads(for: event)
            if case .nothing(let reason) = translation.meaning {
                translation.meaning = StripeTranslator.hint(
                    wanted,
                    livemode: event.livemode,
                    reason: reason
                )
            } else {
                translation.questions = wanted
            }
            return (event, translation)
        }
        let receipt = try await context.journal(translation, of: store, from: message)
        // Told twice, it is done twice: a crash may have come between the two.
        if event.type == .customerDeleted, let customer = event.objectID {
            try await customers.retire(customer)
        }
        return receipt
    }

    public var isSetUp: Bool { client != nil }

    public func messageKeys(named id: String) -> [RowKey] {
        ["live", "test"].map { RowKey("event", $0, id) }
    }

    /// Asks at start, and every ten minutes, for what the record lacks.
    public func reconcileIfDue() async throws -> Bool {
        if isSetUp { _ = try await reconcile() }
        return true
    }

    public func consoleURL(of object: StoreObject, in environment: StoreEnvironment) -> String? {
        let path: String
        switch object {
        case .purchase(let purchase) where purchase.subscription == nil:
            path = "payments/\(purchase.key.id)"
        case .purchase(let purchase): path = "subscriptions/\(purchase.key.id)"
        case .customer(let id): path = "customers/\(id)"
        // The record names prices.
        case .products: return nil
        }
        let mode = environment == .production ? "" : "test/"
        return "https://dashboard.stripe.com/\(mode)\(path)"
    }

    public func askWhatIsWanted() async -> Bool { await questions.ask() }

    /// Asks all that waits: Stripe answers, as somebody else has found.
    func askAll() async {
        questions.succeeded()
        _ = await questions.ask()
    }
}
