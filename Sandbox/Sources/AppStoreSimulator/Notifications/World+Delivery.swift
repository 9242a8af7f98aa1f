extension SimulatedAppStore.World {
    /// Hours from each failed attempt of a version 2 notification to the next.
    static let retryHours: [Int64] = [1, 12, 24, 48, 72]
    /// The same for version 1.
    static let retryHoursOfVersionOne: [Int64] = [6, 24, 48]
    /// How long retries of version 1 go on after a switch to version 2, in milliseconds.
    static let versionOneAfterSwitch: Int64 = 3 * 24 * 3_600_000

    /// Writes down how an attempt went, and when the next one is.
    mutating func recordAttempt(
        _ id: String,
        at now: Int64,
        result: SimulatedAppStore.SendAttemptResult
    ) {
        guard var notification = notifications[id] else { return }
        notification.attempts.append(.init(attemptDate: now, sendAttemptResult: result))
        notification.nextAttempt = nil
        let failures = notification.attempts.count
        let ladder =
            notification.versionOneBody == nil ? Self.retryHours : Self.retryHoursOfVersionOne
        // The sandbox tries once.
        if result != .success, environment == .production, failures <= ladder.count {
            let next = now + ladder[failures - 1] * 3_600_000
            let isOver =
                notification.versionOneBody != nil
                && versionTwoSince.map { next > $0 + Self.versionOneAfterSwitch } ?? false
            if !isOver { notification.nextAttempt = next }
        }
        notifications[id] = notification
        if let next = notification.nextAttempt { dues.insert(.notification(id), at: next) }
    }

    /// Takes a notification off the queue for an attempt that begins now.
    mutating func beginAttempt(_ id: String) {
        notifications[id]?.nextAttempt = nil
    }
}
