internal import Storage
internal import Stores
internal import StripeAPI
internal import TollgateCore
internal import Traces

/// Asks Stripe what its events did not carry.
struct StripeQuestions: Sendable {
    let reads: StripeReads
    let opinions: StripeOpinions
    /// Of what is asked about no purchase.
    let defaultEnvironment: StoreEnvironment
    private let questions: Questions

    init(_ reads: StripeReads, _ opinions: StripeOpinions, defaultEnvironment: StoreEnvironment) {
        self.reads = reads
        self.opinions = opinions
        self.defaultEnvironment = defaultEnvironment
        questions = Questions(reads.context)
    }

    /// Stripe answers, as somebody else has found.
    func succeeded() { questions.succeeded() }

    /// Asks what may be asked now.
    ///
    /// - Returns: `false` while asking fails.
    func ask() async -> Bool {
        guard reads.client != nil else { return true }
        return await questions.ask { again, round in
            for kind in [
                Wanted.Kind.checkoutLines, .subscription, .invoice, .payment, .entitlements,
            ] {
                round.beginKind()
                for wanted in try await questions.due(kind, again: again) where round.goesOn {
                    try await Traces.span("answer a question") {
                        try await answer(wanted, kind, &round)
                    }
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
                try await questions.settle(wanted)
            } else {
                questions.keep(wanted)
            }
            round.answered()
        } catch let refusal as Refusal where refusal.status == 404 {
            try await questions.take(refusal, .final, of: wanted, kind, &round)
        } catch let error as Stripe.RequestError {
            try await questions.take(error, error.meaning, of: wanted, kind, &round)
        }
    }

    /// Reads what a question is about; says whether what was read is later than the question.
    private func isAnswered(_ wanted: WantedRow, _ kind: Wanted.Kind) async throws -> Bool {
        switch kind {
        case .checkoutLines:
            try await reads.fulfil(checkoutSession: wanted.object)
        case .subscription:
            return try await wanted.raised <= reads.read(subscription: wanted.object)
        case .invoice:
            // A paid invoice stays as it is, so any read of it will do.
            _ = try await reads.read(invoice: wanted.object)
        case .payment:
            return try await wanted.raised <= reads.read(payment: wanted.object).instant
        case .entitlements:
            try await opinions.compareEntitlements(
                ofStripeCustomer: wanted.object,
                in: wanted.purchase?.environment ?? defaultEnvironment
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
