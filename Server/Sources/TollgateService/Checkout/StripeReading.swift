internal import StripeAPI
internal import TollgateCore

/// What checkouts and the portal need of Stripe: its client, and reads that go into the journal.
///
/// Its room provides it; here nobody knows how a read becomes facts.
protocol StripeReading: Sendable {
    /// `nil` where no secret key is configured.
    var stripe: Stripe.Client? { get }

    /// - Throws: a refusal 503 where Stripe is not configured.
    func requireStripe() throws -> Stripe.Client
    /// Reads a Checkout Session and records what it sold.
    @discardableResult
    func fulfil(checkoutSession id: String) async throws -> Stripe.CheckoutSession
    /// How far a session is that was just read.
    func fulfilment(of session: Stripe.CheckoutSession) async throws -> Fulfilment
    /// Records a subscription that Stripe has just told us, as of `instant`.
    @discardableResult
    func record(_ subscription: Stripe.Subscription, at instant: Instant) async throws -> Bool
    /// As of when a read speaks that Stripe answered at `date`.
    func instantOfRead(_ date: Int64?, testClock: String?) async throws -> Instant
}

extension Tollgate: StripeReading {}
