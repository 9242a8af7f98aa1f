import GooglePlaySimulator
import TollgateCore

/// A recording told again in another order, with repetitions, up to one of its checks.
struct Retelling: Sendable {
    private let recording: Recording
    private let how: String
    /// The check that is made at the end.
    let check: Recording.Check?
    private let messages: [Recording.Message]
    /// The app's name in Google Play.
    var package: String { recording.package }

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
                case .hint, .reading, .posting:
                    isTaken = try await tellGooglePlay(message, backend)
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

    /// Tells what came from Google Play: a hint, which the server reads at once, as it was then.
    ///
    /// - Returns: whether it was taken.
    private func tellGooglePlay(
        _ message: Recording.Message,
        _ backend: TollgateBackend
    ) async throws -> Bool {
        guard let (at, moment) = message.moment else { return false }
        // A copy: what the server does there is nothing to the next telling.
        let play = await recording.moments[moment].still()
        backend.connect(play)
        return try await TollgateBackend.$now.withValue(at) {
            var isTaken = true
            switch message {
            case .hint(let body, _, _): isTaken = await backend.take(hint: body)
            case .reading(let reading, _, _):
                if let told = hint(about: reading, at: at) {
                    isTaken = await backend.take(hint: told)
                }
            case .posting(let posting, let customer, _, _):
                try await backend.post(posting, by: customer)
            case .notification, .event, .post, .receipt: break
            }
            await backend.readHints()
            // Until it was read: the line holds it weakly.
            return withExtendedLifetime(play) { isTaken }
        }
    }

    /// A hint that leads to what was read; `nil` where other reads lead to it.
    private func hint(about reading: GooglePlayReading, at: Int64) -> [UInt8]? {
        guard let isSubscription = reading.isSubscription else { return nil }
        let kind = isSubscription ? "subscriptionNotification" : "oneTimeProductNotification"
        let text = """
            {"version":"1.0","packageName":"\(recording.package)","eventTimeMillis":"\(at)",\
            "\(kind)":{"version":"1.0","notificationType":0,"purchaseToken":"\(reading.token)"}}
            """
        return Array(text.utf8)
    }

    /// Whether Google Play has to be read before the check.
    var readsGooglePlay: Bool { check?.googlePlay != nil }

    /// Lets the server read Google Play as it is at the check.
    func settleGooglePlay(_ backend: TollgateBackend) async {
        guard let check, let play = await check.googlePlay?.still() else { return }
        backend.connect(play)
        await TollgateBackend.$now.withValue(check.at) {
            await backend.readGooglePlay(isWhole: true)
        }
        withExtendedLifetime(play) {}
    }

    /// Makes the check.
    func ask(_ backend: TollgateBackend) async -> ScenarioFailure? {
        guard let check else { return nil }
        do {
            let answer = try await TollgateBackend.$now.withValue(check.at) {
                try await check.ask(
                    backend,
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

extension Recording.Message {
    /// When something of Google Play's came, and which moment of the store that is; `nil` for others.
    fileprivate var moment: (at: Int64, index: Int)? {
        switch self {
        case .hint(_, let at, let index), .reading(_, let at, let index): (at, index)
        case .posting(_, _, let at, let index): (at, index)
        case .notification, .event, .post, .receipt: nil
        }
    }
}
