internal import Storage
internal import Stores
public import StripeAPI
internal import StrictJSON
internal import TollgateAPI
internal import TollgateCore

/// What a Checkout Session came to.
public enum Fulfilment: Hashable, Sendable {
    /// Paid for, and what was bought is recorded.
    case fulfilled
    /// Complete, but the money is still on its way.
    case processing
    /// Complete, but the bank refused the payment.
    case failed
    /// The buyer has not paid yet and still may.
    case open
    /// Too late: it was left open for a day.
    case expired
}

extension StripeReads {
    /// Fulfils a Checkout Session by reading it from Stripe.
    ///
    /// Called from the return page and for every `wanted` session; whichever comes first, coins are
    /// credited once.
    @discardableResult
    public func fulfil(checkoutSession id: String) async throws -> Stripe.CheckoutSession {
        let stripe = try configured()
        let answer = try await read(checkoutSession: id, with: stripe)
        let session = answer.value
        guard session.status == .complete else { return session }
        let instant = await instantOfRead(answer.date)
        var items = session.lineItems?.data
        if session.lineItems?.hasMore == true {
            items = []
            for try await item in stripe.lists.lineItems(ofCheckoutSession: id) {
                items?.append(item)
            }
        }
        let message = StripeTranslator.message(
            reading: session,
            items: items,
            at: instant,
            livemode: session.livemode
        )
        // Reading twice what has not changed is no news.
        let key = RowKey(
            "read",
            id,
            session.paymentStatus.rawValue,
            session.paymentIntent?.id ?? ""
        )
        let evidence = Evidence(
            source: "read:\(id)",
            key: key,
            stated: instant,
            kind: .fetched,
            body: Array(session.json.rawBytes)
        )
        _ = try await context.journal(
            Translation(ofStripe: message, evidence: evidence),
            of: .stripe
        )
        // A plan's session says who bought it; what they may use stands in the subscription, whose
        // event may be hours away too.
        if let subscription = session.subscription?.id {
            _ = try await read(subscription: subscription)
        }
        if let invoice = session.invoice?.id { _ = try await read(invoice: invoice) }
        return session
    }

    private func read(
        checkoutSession id: String,
        with stripe: Stripe.Client
    ) async throws -> Stripe.Answer<Stripe.CheckoutSession> {
        do {
            return try await stripe.checkoutSession(id)
        } catch {
            if case .refused(let refused) = error, refused.status == 404 {
                throw Refusal.missing("checkout session", id, param: "session_id")
            }
            throw error
        }
    }

    /// How far a Checkout Session is, by Stripe's word; what was bought is recorded when this
    /// returns.
    public func fulfilment(ofCheckoutSession id: String) async throws -> Fulfilment {
        try await fulfilment(of: fulfil(checkoutSession: id))
    }

    /// How far a session is that was just read.
    public func fulfilment(of session: Stripe.CheckoutSession) async throws -> Fulfilment {
        switch session.status {
        case .complete? where session.paymentStatus != .unpaid: return .fulfilled
        case .complete?:
            // The session itself does not tell a refused payment from one under way; its event does.
            let key = StripeTranslator.key(
                session.paymentIntent?.id ?? session.id,
                livemode: session.livemode
            )
            let hasFailed = try await context.records.record(of: key)?.payment?.hasFailed
            return hasFailed == true ? .failed : .processing
        case .expired?: return .expired
        default: return .open
        }
    }
}
