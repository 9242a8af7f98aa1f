/// Consumption requests: Apple asks until it is answered, each time by a notification of its own
/// under another UUID.
enum ConsumptionRequests {
    /// A question what was consumed that the app has not answered yet.
    struct Pending: Codable, Hashable, Sendable {
        /// A `consumptionRequestReason`.
        var reason: String
        /// When an answer comes too late, UNIX milliseconds.
        var until: Int64
        /// When it is asked again, UNIX milliseconds.
        var next: Int64
    }

    /// How long an answer is of use, in milliseconds.
    private static let window: Int64 = 12 * 3_600_000
    /// How long until a question is repeated, in milliseconds; Apple states no number.
    private static let reminder: Int64 = 4 * 3_600_000

    /// The customer asks for a refund; Apple asks the app what was consumed.
    static func open(_ world: inout World, _ id: String, reason: String, at now: Int64)
        throws(Refusal)
    {
        _ = try world.transaction(id)
        ask(&world, id, reason: reason)
        guard world.behaviour.repeatsConsumptionRequests else { return }
        awaitAnswer(
            &world,
            .init(reason: reason, until: now + window, next: now + reminder),
            about: id
        )
    }

    /// Asks once more, if nothing has been heard and it is not too late.
    static func repeatRequest(_ world: inout World, _ id: String, at now: Int64) {
        guard var request = world.openConsumptionRequests?[id] else { return }
        ask(&world, id, reason: request.reason)
        request.next = now + reminder
        guard request.next < request.until else { return settle(&world, id) }
        awaitAnswer(&world, request, about: id)
    }

    /// It was answered, or the refund was decided.
    static func settle(_ world: inout World, _ id: String) {
        world.openConsumptionRequests?[id] = nil
    }

    private static func awaitAnswer(_ world: inout World, _ request: Pending, about id: String) {
        world.openConsumptionRequests = (world.openConsumptionRequests ?? [:]).merging([id: request]
        ) { $1 }
        world.dues.insert(.consumptionRequest(id), at: request.next)
    }

    private static func ask(_ world: inout World, _ id: String, reason: String) {
        world.announce(
            "CONSUMPTION_REQUEST",
            transaction: id,
            subscription: world.transactions[id].flatMap {
                world.subscriptions[$0.originalID]?.originalTransactionID
            },
            consumptionRequestReason: reason
        )
    }
}
