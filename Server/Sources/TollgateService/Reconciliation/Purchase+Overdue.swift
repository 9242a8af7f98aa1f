internal import TollgateCore

extension Purchase {
    /// Whether the App Store should have said something by now that has not come.
    ///
    /// That is so of a subscription whose newest period has ended where nothing that was said since
    /// explains it: no later period, no word that it expired, was revoked or has failed.
    ///
    /// - Parameter now: the stores' time.
    func looksOverdue(at now: Instant) -> Bool {
        guard let end = newestEnd else { return false }
        let due = max(end, renewal?.value.graceEnd ?? end)
        // The store charges up to some minutes late; older ones it no longer knows the notices of.
        guard due.advanced(by: Overdue.patience) <= now, now <= due.advanced(by: Overdue.horizon)
        else { return false }
        let lastWord = max(status?.stated.instant, renewal?.stated.instant)
        guard let lastWord, lastWord >= due else { return true }
        switch status?.value.value {
        case SubscriptionStatus.expired?, SubscriptionStatus.revoked?:
            return false
        case SubscriptionStatus.billingRetry?:
            // Up to 60 days, and the notice of the recovery may have been lost.
            return lastWord.advanced(by: Overdue.dayLength) <= now
                && now <= due.advanced(by: Overdue.longestRetry)
        default:
            // It was said to go on, yet no period came: ask again, but not all the time.
            return lastWord.advanced(by: Overdue.hourLength) <= now
        }
    }

    /// When the newest paid period of a subscription begins, in milliseconds.
    var newestStart: Int64? {
        newestPeriod?.start.milliseconds
    }

    private var newestEnd: Instant? { newestPeriod?.end }

    private var newestPeriod: Period? {
        periods.map(\.period).filter { $0.kind == .autoRenewable }
            .max { ($0.start, $0.id) < ($1.start, $1.id) }
    }
}

private enum Overdue {
    static let hourLength: Int64 = 3_600_000
    static let dayLength: Int64 = 24 * hourLength
    static let patience: Int64 = 60_000
    static let longestRetry: Int64 = 62 * dayLength
    /// As far as the history of notifications reaches.
    static let horizon: Int64 = 180 * dayLength
}

private func max(_ left: Instant?, _ right: Instant?) -> Instant? {
    guard let left, let right else { return left ?? right }
    return Swift.max(left, right)
}
