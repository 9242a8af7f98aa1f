import TollgateCore

/// A recording told again in another order, with repetitions, up to one of its checks.
struct Retelling: Sendable {
    private let recording: Recording
    private let how: String
    /// The check that is made at the end.
    let check: Recording.Check?
    private let messages: [Recording.Message]

    /// - Parameter order: 0 is for the last check; the others take the checks by turns.
    init(_ recording: Recording, order: Int, seed: UInt64) {
        self.recording = recording
        how = "order \(order), seed \(seed), \(recording.variant) behaviour"
        let checks = recording.checks
        let check =
            checks.isEmpty ? nil : order == 0 ? checks.last : checks[(order - 1) % checks.count]
        self.check = check
        var random = SplitMix64(
            seed: Play.seed(recording.scenario.scenario.title, seed &* 1_000_003 &+ UInt64(order))
        )
        let said = Array(recording.messages.prefix(check?.messages ?? 0))
        let repeated = said.filter { _ in random.next() % 3 == 0 }
        messages = (said + repeated).shuffled(using: &random)
    }

    /// Tells it.
    ///
    /// - Returns: why it could not be told to the end, if so.
    func tell(_ backend: TollgateBackend) async -> ScenarioFailure? {
        guard let check else { return nil }
        do {
            for customer in recording.customers {
                try await backend.begin(customer)
                for object in recording.stripeCustomers[customer] ?? [] {
                    _ = try await TollgateBackend.$recordedCustomer.withValue(object) {
                        try await backend.registerAtStripe(customer)
                    }
                }
            }
            for message in messages {
                let isTaken: Bool
                switch message {
                case .notification(let payload):
                    isTaken = await TollgateBackend.$now.withValue(check.at) {
                        await backend.take(signedPayload: payload)
                    }
                case .event(let body, let signature):
                    isTaken = await TollgateBackend.$now.withValue(check.at) {
                        await backend.take(event: body, signature: signature)
                    }
                case .post(let transaction, let customer, let mode, let at):
                    try await TollgateBackend.$now.withValue(at) {
                        try await backend.post(transaction, by: customer, mode: mode)
                    }
                    isTaken = true
                case .receipt(let receipt, let answer, let customer, let mode, let at):
                    try await TollgateBackend.$now.withValue(at) {
                        try await backend.post(
                            receipt: receipt,
                            answered: answer,
                            by: customer,
                            mode: mode
                        )
                    }
                    isTaken = true
                }
                guard isTaken else {
                    return failure("a message of the store was refused")
                }
            }
            return nil
        } catch {
            return failure("\(error)")
        }
    }

    /// Makes the check.
    func ask(_ backend: TollgateBackend) async -> ScenarioFailure? {
        guard let check else { return nil }
        do {
            let answer = try await TollgateBackend.$now.withValue(check.at) {
                try await backend.answer(
                    check.customer,
                    lookupKeys: recording.scenario.catalog.entitlements.map(\.lookupKey)
                )
            }
            return check.objection(to: answer, unspent: check.spent).map { failure($0) }
        } catch {
            return failure("\(error)")
        }
    }

    private func failure(_ message: String) -> ScenarioFailure {
        ScenarioFailure(
            file: recording.scenario.scenario.file,
            line: check?.line ?? 1,
            message: message,
            how: how
        )
    }
}
