extension SimulatedAppStore {
    /// A question what was consumed that the app has not answered yet.
    struct OpenConsumptionRequest: Codable, Hashable, Sendable {
        /// A `consumptionRequestReason`.
        var reason: String
        /// When an answer comes too late, UNIX milliseconds.
        var until: Int64
        /// When it is asked again, UNIX milliseconds.
        var next: Int64
    }
}

/// Apple asks until it is answered: each time a notification of its own, under another UUID.
extension SimulatedAppStore.World {
    /// How long an answer is of use, in milliseconds.
    static let consumptionWindow: Int64 = 12 * 3_600_000
    /// How long until a question is repeated, in milliseconds; Apple states no number.
    static let consumptionReminder: Int64 = 4 * 3_600_000

    /// The customer asks for a refund; Apple asks the app what was consumed.
    mutating func requestRefund(_ id: String, reason: String, at now: Int64) throws(Refusal) {
        _ = try transaction(id)
        askWhatWasConsumed(id, reason: reason)
        guard behaviour.repeatsConsumptionRequests else { return }
        awaitAnswer(
            .init(
                reason: reason,
                until: now + Self.consumptionWindow,
                next: now + Self.consumptionReminder
            ),
            about: id
        )
    }

    /// Asks once more, if nothing has been heard and it is not too late.
    mutating func repeatConsumptionRequest(_ id: String, at now: Int64) {
        guard var request = openConsumptionRequests?[id] else { return }
        askWhatWasConsumed(id, reason: request.reason)
        request.next = now + Self.consumptionReminder
        guard request.next < request.until else { return settleConsumptionRequest(id) }
        awaitAnswer(request, about: id)
    }

    /// It was answered, or the refund was decided.
    mutating func settleConsumptionRequest(_ id: String) {
        openConsumptionRequests?[id] = nil
    }

    private mutating func awaitAnswer(
        _ request: SimulatedAppStore.OpenConsumptionRequest,
        about id: String
    ) {
        openConsumptionRequests = (openConsumptionRequests ?? [:]).merging([id: request]) { $1 }
        dues.insert(.consumptionRequest(id), at: request.next)
    }

    private mutating func askWhatWasConsumed(_ id: String, reason: String) {
        announce(
            "CONSUMPTION_REQUEST",
            transaction: id,
            subscription: transactions[id].flatMap {
                subscriptions[$0.originalID]?.originalTransactionID
            },
            consumptionRequestReason: reason
        )
    }
}
