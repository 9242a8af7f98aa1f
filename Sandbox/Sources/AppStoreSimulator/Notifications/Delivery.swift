/// The delivery of notifications: what goes wrong on the way, and when a failed one is tried again
/// (<https://developer.apple.com/documentation/appstoreservernotifications/responding-to-app-store-server-notifications>).
struct Delivery {
    /// The body of one attempt, and the address that it is posted to.
    struct Attempt: Sendable {
        var url: String
        /// `nil`: it gets lost.
        var message: SimulatedAppStore.Message?
        var isTwice = false

        func send(_ deliver: SimulatedAppStore.Deliver) async -> SimulatedAppStore.SendAttemptResult
        {
            guard let message else { return .noResponse }
            let result = await deliver(message, url)
            if isTwice { _ = await deliver(message, url) }
            return result
        }
    }

    var faults: SimulatedAppStore.Faults
    private var random: SeededRandom

    init(_ configuration: SimulatedAppStore.Configuration) {
        faults = configuration.faults
        random = SeededRandom(seed: (configuration.faultSeed ?? configuration.seed) ^ 0xF4017)
    }

    private mutating func chance(_ share: Double) -> Bool {
        guard share > 0 else { return false }
        return Double(random.next() >> 11) / Double(1 << 53) < share
    }

    /// Returns `true` if this call of the App Store Server API is to fail.
    mutating func failsCall() -> Bool { chance(faults.apiErrors) }

    /// How late the first attempt comes, in milliseconds.
    mutating func delay() -> Int64 {
        if chance(faults.delay) {
            return 1 + Int64(random.next() % UInt64(max(1, faults.longestDelay)))
        }
        return chance(faults.reorder) ? 1 : 0
    }

    /// The next attempt to deliver a notification; `nil` where it has no address.
    mutating func attempt(
        _ notification: SimulatedAppStore.Notification,
        at now: Int64
    ) -> Attempt? {
        guard let url = notification.url else { return nil }
        guard !faults.isOutage(at: now), !chance(faults.drop) else { return Attempt(url: url) }
        var payload = notification.signedPayload
        if chance(faults.corrupt) { payload = Self.damaged(payload) }
        return Attempt(
            url: url,
            message: notification.versionOneBody.map(SimulatedAppStore.Message.versionOne)
                ?? .signedPayload(payload),
            isTwice: chance(faults.duplicate)
        )
    }

    /// An attempt's result as Apple sees it: an answer may come too late to count.
    mutating func seen(
        _ result: SimulatedAppStore.SendAttemptResult
    ) -> SimulatedAppStore.SendAttemptResult {
        result == .success && chance(faults.slow) ? .timedOut : result
    }

    /// The payload with one character of its signature changed.
    private static func damaged(_ payload: String) -> String {
        var characters = Array(payload)
        let index = max(0, characters.count - 20)
        characters[index] = characters[index] == "A" ? "B" : "A"
        return String(characters)
    }
}

/// The world's side of it: which attempts were made, and when the next one is.
extension Delivery {
    /// Hours from each failed attempt of a version 2 notification to the next.
    private static let retryHours: [Int64] = [1, 12, 24, 48, 72]
    /// The same for version 1.
    private static let retryHoursOfVersionOne: [Int64] = [6, 24, 48]
    /// How long retries of version 1 go on after a switch to version 2, in milliseconds.
    private static let versionOneAfterSwitch: Int64 = 3 * 24 * 3_600_000

    /// Writes down how an attempt went, and when the next one is.
    static func record(
        _ world: inout World,
        _ id: String,
        at now: Int64,
        result: SimulatedAppStore.SendAttemptResult
    ) {
        guard var notification = world.notifications[id] else { return }
        notification.attempts.append(.init(attemptDate: now, sendAttemptResult: result))
        notification.nextAttempt = nil
        let failures = notification.attempts.count
        let ladder =
            notification.versionOneBody == nil ? retryHours : retryHoursOfVersionOne
        // The sandbox tries once.
        if result != .success, world.environment == .production, failures <= ladder.count {
            let next = now + ladder[failures - 1] * 3_600_000
            let isOver =
                notification.versionOneBody != nil
                && world.versionTwoSince.map { next > $0 + versionOneAfterSwitch } ?? false
            if !isOver { notification.nextAttempt = next }
        }
        world.notifications[id] = notification
        if let next = notification.nextAttempt { world.dues.insert(.notification(id), at: next) }
    }

    /// Lets a notification wait.
    static func postpone(_ world: inout World, _ id: String, until instant: Int64) {
        world.notifications[id]?.nextAttempt = instant
        world.dues.insert(.notification(id), at: instant)
    }

    /// Takes a notification off the queue for an attempt that begins now.
    static func begin(_ world: inout World, _ id: String) {
        world.notifications[id]?.nextAttempt = nil
    }
}
