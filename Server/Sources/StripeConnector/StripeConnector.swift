internal import Storage
public import Stores
public import StripeAPI
internal import TollgateAPI
public import TollgateCore

/// Stripe's room: what it sends, what it is asked, and what its account holds.
public final class StripeConnector: StoreConnector {
    public let store = Store.stripe
    public let house: House
    public let reads: StripeReads
    public let opinions: StripeOpinions
    let messages: StripeMessages
    let customers: StripeCustomers
    private let questions: StripeQuestions

    /// - Parameters:
    ///   - client: `nil` where no secret key is configured.
    ///   - webhookSecrets: of the webhook endpoint; while one is rolled, both.
    ///   - defaultEnvironment: of what is asked about no purchase.
    public init(
        _ house: House,
        client: Stripe.Client?,
        webhookSecrets: [String],
        defaultEnvironment: StoreEnvironment
    ) {
        self.house = house
        reads = StripeReads(house, client)
        opinions = StripeOpinions(house: house, reads: reads)
        messages = StripeMessages(house, secrets: webhookSecrets)
        customers = StripeCustomers(house: house, reads: reads)
        questions = StripeQuestions(reads, opinions, defaultEnvironment: defaultEnvironment)
    }

    /// Speaks to Stripe; `nil` where no secret key is configured.
    public var client: Stripe.Client? { reads.client }

    public func translate(
        _ message: ReceivedMessage,
        at now: Instant
    ) throws -> Translation {
        messages.translate(try messages.event(message), from: message)
    }

    public func receive(_ message: ReceivedMessage) async throws -> Receipt {
        let event = try messages.event(message)
        var translation = messages.translate(event, from: message)
        translation.questions = try await reads.rereads(for: event)
        let receipt = try await house.journal(translation, of: store)
        // Told twice, it is done twice: a crash may have come between the two.
        if event.type == .customerDeleted, let customer = event.objectID {
            try await customers.retire(customer)
        }
        return receipt
    }

    public func askWhatIsWanted() async { await questions.ask() }

    /// Asks all that waits: Stripe answers, as somebody else has found.
    func askAll() async {
        questions.succeeded()
        await questions.ask()
    }
}
