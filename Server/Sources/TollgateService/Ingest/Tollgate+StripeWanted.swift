internal import Storage
internal import Stores
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

    private func fetchWantedOfStripe() async {
        guard stripe != nil else { return }
        await stripeQuestions.ask { again, round in
            for kind in [
                Wanted.Kind.checkoutLines, .subscription, .invoice, .payment, .entitlements,
            ] {
                round.beginKind()
                for wanted in try await stripeQuestions.due(kind, again: again) where round.goesOn {
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
                try await stripeQuestions.settle(wanted)
            } else {
                stripeQuestions.keep(wanted)
            }
            round.answered()
        } catch let refusal as Refusal where refusal.status == 404 {
            try await stripeQuestions.take(refusal, .final, of: wanted, kind, &round)
        } catch let error as Stripe.RequestError {
            try await stripeQuestions.take(error, error.meaning, of: wanted, kind, &round)
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
