internal import AppStoreAPI
internal import Logging
internal import Storage
internal import StripeAPI
internal import TollgateCore

extension Tollgate {
    /// Asks the stores what messages did not carry.
    ///
    /// Call it again and again; each time it asks what may be asked now.
    public func fetchWanted() async {
        await answerConsumptionRequests()
        await fetchWantedFromAppStore()
        await fetchWantedOfStripe()
    }

    /// Asks a store in two rounds: what never failed, then what did and is due again.
    ///
    /// A round in which there was no answer lets the next one of its kind wait.
    func ask(
        _ paces: QuestionPaces,
        _ questions: (_ again: Bool, _ round: inout QuestionRound) async throws -> Void
    ) async {
        for (again, pace) in [(false, paces.first), (true, paces.again)]
        where pace.isDue(at: clocks.wall()) {
            var round = QuestionRound()
            var isInTrouble = false
            do {
                try await questions(again, &round)
                isInTrouble = round.faults > 0 && round.answers == 0
            } catch {
                isInTrouble =
                    error is Stripe.RequestError || error is AppStore.ServerAPIError
                    || error is AppStore.VerificationError
                logger.warning(
                    "asking for what is missing will be tried again",
                    metadata: ["error": "\(error)"]
                )
            }
            if round.answers > 0 { pace.succeeded() }
            if isInTrouble { pace.failed(at: clocks.wall()) }
        }
    }

    /// A hundred questions of a kind whose turn it is: the oldest, or of those that failed before those
    /// that are due for longest.
    ///
    /// - Parameters:
    ///   - again: whether those are meant that failed before.
    ///   - mayAsk: whether a question can be asked at all.
    func questions(
        _ kind: Wanted.Kind,
        again: Bool,
        where mayAsk: (WantedRow) -> Bool = { _ in true }
    ) async throws -> [WantedRow] {
        let (most, page) = (100, 500)
        let wall = clocks.wall()
        if again, !questionRetries.hasDue(kind, at: wall) { return [] }
        var found: [WantedRow] = []
        var there: Set<RowKey> = []
        var last: WantedRow?
        while again || found.count < most {
            let rows = try await store.wanted(kind, after: last, limit: Int64(page))
            found += rows.filter {
                mayAsk($0) && questionRetries.hasFailed($0.key, raised: $0.raised) == again
                    && questionRetries.isDue($0.key, raised: $0.raised, at: wall)
            }
            if again { there.formUnion(rows.map(\.key)) }
            guard rows.count == page else { break }
            last = rows.last
        }
        if again {
            questionRetries.keepOnly(there, of: kind)
            found = questionRetries.inOrder(found)
        }
        return Array(found.prefix(most))
    }

    /// Drops a question that was answered, or is refused for good.
    func settle(_ wanted: WantedRow) async throws {
        try await store.settle(wanted)
        questionRetries.forget(wanted.key)
    }

    /// Takes note of an error in place of an answer.
    ///
    /// A question that is refused for good is dropped and logged. An answer that cannot be read, such as
    /// half of one, or a fault that may be this object's is no refusal: the question stays and waits a
    /// while, and those behind it are asked.
    ///
    /// - Throws: the error, where it says that the store cannot be asked at all now.
    func take(
        _ error: any Error,
        _ meaning: ErrorMeaning,
        of wanted: WantedRow,
        _ kind: Wanted.Kind,
        _ round: inout QuestionRound
    ) async throws {
        if case .unwilling = meaning { throw error }
        if case .final = meaning {
            logger.error(
                "a store does not answer a question and will not be asked again",
                metadata: ["object": "\(wanted.object)", "error": "\(error)"]
            )
            try await settle(wanted)
            return round.answered()
        }
        questionRetries.failed(wanted.key, kind, raised: wanted.raised, at: clocks.wall())
        logger.warning(
            "a store gave no answer to a question; it will be asked again",
            metadata: ["object": "\(wanted.object)", "error": "\(error)"]
        )
        switch meaning {
        case .fault: round.failed()
        case .unreachable: throw error
        case .final, .unreadable, .unwilling: break
        }
    }

    private func fetchWantedOfStripe() async {
        guard stripe != nil else { return }
        await ask(stripePaces) { again, round in
            for kind in [
                Wanted.Kind.checkoutLines, .subscription, .invoice, .payment, .entitlements,
            ] {
                round.beginKind()
                for wanted in try await questions(kind, again: again) where round.goesOn {
                    try await answer(wanted, kind, &round)
                }
            }
        }
    }

    /// Asks one question.
    ///
    /// - Throws: whatever says that Stripe cannot be asked at all now.
    private func answer(
        _ wanted: WantedRow,
        _ kind: Wanted.Kind,
        _ round: inout QuestionRound
    ) async throws {
        do {
            if try await isAnswered(wanted, kind) {
                try await settle(wanted)
            } else {
                questionRetries.forget(wanted.key)
            }
            round.answered()
        } catch let refusal as Refusal where refusal.status == 404 {
            try await take(refusal, .final, of: wanted, kind, &round)
        } catch let error as Stripe.RequestError {
            try await take(error, error.meaning, of: wanted, kind, &round)
        }
    }

    /// Reads what a question is about; says whether what was read is later than the question.
    private func isAnswered(_ wanted: WantedRow, _ kind: Wanted.Kind) async throws -> Bool {
        switch kind {
        case .checkoutLines:
            try await fulfil(checkoutSession: wanted.object)
        case .subscription:
            return try await wanted.raised <= read(subscription: wanted.object)
        case .invoice:
            // A paid invoice stays as it is, so any read of it will do.
            _ = try await read(invoice: wanted.object)
        case .payment:
            return try await wanted.raised <= read(payment: wanted.object).instant
        case .entitlements:
            try await compareEntitlements(
                ofStripeCustomer: wanted.object,
                in: wanted.purchase?.environment ?? configuration.defaultEnvironment
            )
        default:
            // The App Store is asked elsewhere.
            return false
        }
        return true
    }
}

extension Stripe.RequestError {
    fileprivate var meaning: ErrorMeaning {
        switch self {
        case .refused(let error):
            switch error.status {
            case 401, 403, 429: .unwilling
            // Whatever `Stripe-Should-Retry` says: that is about asking again at once.
            case 409, 500...: .fault
            default: error.isRetryable ? .fault : .final
            }
        case .unreachable: .unreachable
        case .cancelled: .unwilling
        case .unreadable: .unreadable
        case .endlessList: .final
        }
    }
}
