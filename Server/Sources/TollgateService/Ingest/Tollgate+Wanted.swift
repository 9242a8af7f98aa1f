internal import Logging
internal import Storage
internal import StripeAPI
internal import TollgateCore

extension Tollgate {
    /// Asks the stores what messages did not carry.
    ///
    /// Call it again and again; it returns when nothing is left that can be answered now.
    public func fetchWanted() async {
        questionRetries.forgetGone(at: clocks.wall())
        await answerConsumptionRequests()
        await fetchWantedFromAppStore()
        await fetchWantedOfStripe()
    }

    /// The oldest hundred questions of a kind whose turn it is.
    ///
    /// Those whose answer could not be read wait for theirs and hold up none that was raised later.
    ///
    /// - Parameter mayAsk: whether a question can be asked at all.
    func questions(
        _ kind: Wanted.Kind,
        where mayAsk: (WantedRow) -> Bool = { _ in true }
    ) async throws -> [WantedRow] {
        let (most, page) = (100, 500)
        let wall = clocks.wall()
        var found: [WantedRow] = []
        var last: WantedRow?
        while found.count < most {
            let rows = try await store.wanted(kind, after: last, limit: Int64(page))
            found += rows.filter {
                mayAsk($0) && questionRetries.isDue($0.key, raised: $0.raised, at: wall)
            }
            guard rows.count == page else { break }
            last = rows.last
        }
        return Array(found.prefix(most))
    }

    /// Drops a question that was answered, or is refused for good.
    func settle(_ wanted: WantedRow) async throws {
        try await store.settle(wanted)
        questionRetries.forget(wanted.key)
    }

    private func fetchWantedOfStripe() async {
        guard stripe != nil else { return }
        do {
            for wanted in try await questions(.checkoutLines) {
                try await answer(wanted) { wanted in
                    try await fulfil(checkoutSession: wanted.object)
                    return true
                }
            }
            for wanted in try await questions(.subscription) {
                try await answer(wanted) { wanted in
                    try await wanted.raised <= read(subscription: wanted.object)
                }
            }
            for wanted in try await questions(.invoice) {
                try await answer(wanted) { wanted in
                    // A paid invoice stays as it is, so any read of it will do.
                    _ = try await read(invoice: wanted.object)
                    return true
                }
            }
            for wanted in try await questions(.payment) {
                try await answer(wanted) { wanted in
                    try await wanted.raised <= read(payment: wanted.object).instant
                }
            }
            for wanted in try await questions(.entitlements) {
                try await answer(wanted) { wanted in
                    try await compareEntitlements(
                        ofStripeCustomer: wanted.object,
                        in: wanted.purchase?.environment ?? configuration.defaultEnvironment
                    )
                    return true
                }
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
    /// behind it; an error that may pass ends this round. An answer that cannot be read, such as half
    /// of one, is no refusal: the question stays and waits a while, and those behind it are asked.
    private func answer(
        _ wanted: WantedRow,
        _ ask: (WantedRow) async throws -> Bool
    ) async throws {
        do {
            if try await ask(wanted) {
                try await settle(wanted)
            } else {
                questionRetries.forget(wanted.key)
            }
        } catch Stripe.RequestError.unreadable(let error) {
            questionRetries.failed(wanted.key, raised: wanted.raised, at: clocks.wall())
            logger.warning(
                "Stripe's answer cannot be read; it will be asked again",
                metadata: ["object": "\(wanted.object)", "error": "\(error)"]
            )
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
            try await settle(wanted)
        }
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
