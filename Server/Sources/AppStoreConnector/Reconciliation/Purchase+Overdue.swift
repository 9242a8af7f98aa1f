internal import Storage
internal import TollgateCore

extension Purchase {
    /// Whether the App Store should have said something by now that has not come.
    ///
    /// That is so of a subscription whose last period has ended where nothing that was said since
    /// explains it: no later period, no word that it expired, was revoked or has failed.
    ///
    /// - Parameter now: the stores' time.
    func looksOverdue(at now: Instant) -> Bool {
        guard let overdue else { return false }
        return overdue.since <= now && now <= overdue.until
    }

    /// From when on, and how long, it looks overdue if nothing more is said; `nil`: never.
    var overdue: (since: Instant, until: Instant)? {
        guard let end = awaitedPeriod?.end else { return nil }
        let due = max(end, renewal?.value.graceEnd ?? end)
        // The store charges up to some minutes late; older ones it no longer knows the notices of.
        var since = due.advanced(by: Overdue.patience)
        var until = due.advanced(by: Overdue.horizon)
        let lastWord = max(status?.stated.instant, renewal?.stated.instant)
        if let lastWord, lastWord >= due {
            switch status?.value.value {
            case SubscriptionStatus.expired?, SubscriptionStatus.revoked?:
                return nil
            case SubscriptionStatus.billingRetry?:
                // Up to 60 days, and the notice of the recovery may have been lost.
                since = max(since, lastWord.advanced(by: Overdue.dayLength))
                until = min(until, due.advanced(by: Overdue.longestRetry))
            default:
                // It was said to go on, yet no period came: ask again, but not all the time.
                since = max(since, lastWord.advanced(by: Overdue.hourLength))
            }
        }
        return since <= until ? (since, until) : nil
    }

    /// What is awaited of the App Store, and in which pass it is asked about.
    var awaited: Awaited? {
        guard key.store == .appStore, !key.isOfXcode, let overdue else { return nil }
        return Awaited(
            scope: Self.awaitedScope(key.environment, application: key.application),
            since: overdue.since,
            until: overdue.until
        )
    }

    /// The purchases that one pass asks about.
    static func awaitedScope(_ environment: StoreEnvironment, application: String) -> RowKey {
        RowKey("awaited", Store.appStore.rawValue, environment.rawValue, application)
    }

    /// From when on the store is asked what was bought, in milliseconds: the start of the period that
    /// has ended.
    var overdueStart: Int64? { awaitedPeriod?.start.milliseconds }
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
