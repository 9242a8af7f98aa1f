internal import Intake
internal import Logging
internal import Storage
public import StripeAPI
internal import StrictJSON
internal import TollgateAPI
internal import TollgateCore

extension Tollgate {
    /// Takes in the body of a Stripe webhook.
    ///
    /// Durable when this returns.
    ///
    /// - Parameter signature: the header `Stripe-Signature`.
    /// - Throws: `Stripe.WebhookSignature.Refusal`; a refusal `malformed_body` for what is no
    ///   event; `StorageError` where it could not be kept, so that Stripe sends it again.
    public func receiveStripeEvent(_ body: [UInt8], signature: String?) async throws -> Receipt {
        try Stripe.WebhookSignature.verify(
            header: signature,
            body: body,
            secrets: configuration.stripeWebhookSecrets,
            now: clocks.wall().milliseconds / 1000
        )
        let event: Stripe.Event
        do {
            event = try Stripe.Event(bytes: body)
        } catch {
            throw Refusal(
                400,
                .invalidRequestError,
                .malformedBody,
                "This is no Stripe event: \(error)."
            )
        }
        return try await journal(
            StripeIntake.message(event),
            source: event.id,
            dedupeKey: RowKey("event", event.livemode ? "live" : "test", event.id),
            stated: Instant(seconds: event.created),
            kind: .delivered,
            body: body,
            store: .stripe
        )
    }

    /// Fulfils a Checkout Session by reading it from Stripe.
    ///
    /// Called from the return page and for every `wanted` session; whichever comes first, coins are
    /// credited once.
    @discardableResult
    public func fulfil(checkoutSession id: String) async throws -> Stripe.CheckoutSession {
        guard let stripe else {
            throw Refusal(
                503,
                .apiError,
                .storeUnavailable,
                "Stripe is not configured: set TOLLGATE_STRIPE_SECRET_KEY."
            )
        }
        let answer = try await read(checkoutSession: id, with: stripe)
        let session = answer.value
        guard session.status == .complete else { return session }
        let instant = await instantOfRead(answer.date)
        var items = session.lineItems?.data
        if session.lineItems?.hasMore == true {
            items = []
            for try await item in stripe.lineItems(ofCheckoutSession: id) { items?.append(item) }
        }
        let message = StripeIntake.message(
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
        _ = try await journal(
            message,
            source: "read:\(id)",
            dedupeKey: key,
            stated: instant,
            kind: .fetched,
            body: Array(session.json.rawBytes),
            store: .stripe
        )
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

    /// Whether a Checkout Session is paid for, by Stripe's word; what it bought is then fulfilled.
    public func fulfilment(ofCheckoutSession id: String) async throws -> Bool {
        let session = try await fulfil(checkoutSession: id)
        return session.status == .complete && session.paymentStatus != .unpaid
    }

    /// Asks the stores what messages did not carry.
    ///
    /// Call it again and again; it returns when nothing is left that can be answered now.
    public func fetchWanted() async {
        await answerConsumptionRequests()
        guard stripe != nil else { return }
        do {
            for wanted in try await store.wanted(.checkoutLines, limit: 100) {
                try await answer(wanted) { wanted in
                    try await fulfil(checkoutSession: wanted.object)
                    return true
                }
            }
            for wanted in try await store.wanted(.subscription, limit: 100) {
                try await answer(wanted) { try await read(subscription: $0) }
            }
        } catch {
            logger.warning(
                "asking for what is missing will be tried again",
                metadata: ["error": "\(error)"]
            )
        }
    }

    /// Asks one question.
    ///
    /// One that Stripe refuses for good is dropped and logged, so that it does not hold up those
    /// behind it; an error that may pass ends this round.
    private func answer(
        _ wanted: WantedRow,
        _ ask: (WantedRow) async throws -> Bool
    ) async throws {
        do {
            if try await ask(wanted) { try await store.settle(wanted) }
        } catch {
            let isFinal =
                switch error {
                case let refusal as Refusal: refusal.status == 404
                case let error as Stripe.RequestError: !error.isRetryable && !error.isForbidden
                default: false
                }
            guard isFinal else { throw error }
            logger.error(
                "Stripe does not answer a question and will not be asked again",
                metadata: ["object": "\(wanted.object)", "error": "\(error)"]
            )
            try await store.settle(wanted)
        }
    }

    /// Reads a subscription of which two events of one second disagree.
    ///
    /// - Returns: whether the read is late enough to outrank both (RULES §4.2, §4.3).
    private func read(subscription wanted: WantedRow) async throws -> Bool {
        guard let stripe else { return false }
        let answer = try await stripe.subscription(wanted.object)
        let instant = await instantOfRead(answer.date)
        let key = RowKey("read", wanted.object, "\(instant.milliseconds)")
        _ = try await journal(
            StripeIntake.message(
                reading: answer.value,
                at: instant,
                livemode: answer.value.livemode
            ),
            source: "read:\(wanted.object)",
            dedupeKey: key,
            stated: instant,
            kind: .fetched,
            body: Array(answer.value.json.rawBytes),
            store: .stripe
        )
        return wanted.raised <= instant
    }

    /// As of when a read speaks: the second before it was sent, by Stripe's `Date`.
    ///
    /// Where the stores live on a clock of their own, `Date` is not on it, and the clock stands
    /// still while we read, so the read speaks of this very second.
    private func instantOfRead(_ date: Int64?) async -> Instant {
        let now = await clocks.now()
        let wall = clocks.wall()
        let isVirtual = abs(now.milliseconds - wall.milliseconds) > 60_000
        if isVirtual { return Instant(seconds: now.milliseconds / 1000) }
        return Instant(seconds: (date ?? wall.milliseconds / 1000) - 1)
    }
}

extension Stripe.RequestError {
    /// Whether our key was refused: then every question fails until somebody mends it.
    fileprivate var isForbidden: Bool {
        if case .refused(let error) = self {
            error.status == 401 || error.status == 403
        } else {
            false
        }
    }
}
