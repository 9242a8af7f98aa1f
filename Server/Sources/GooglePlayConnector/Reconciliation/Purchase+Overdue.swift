internal import Storage
internal import TollgateCore

extension Purchase {
    /// What Google Play should have said of a subscription; `nil`: nothing is awaited.
    var awaited: Awaited? {
        guard let overdue else { return nil }
        return Awaited(
            scope: Self.awaitedScope(of: key.application),
            since: overdue.since,
            until: overdue.until
        )
    }

    /// The purchases that one pass reads.
    static func awaitedScope(of package: String) -> RowKey {
        RowKey("awaited", Store.googlePlay.rawValue, package)
    }

    /// From when on, and how long, a subscription looks overdue if nothing more is said.
    private var overdue: (since: Instant, until: Instant)? {
        guard let play = googlePlay, let read = play.subscription else { return nil }
        // Nothing follows a token that another one replaced.
        guard play.replaced == nil else { return nil }
        switch read.value.state {
        case "ACTIVE", "IN_GRACE_PERIOD", "CANCELED", "ON_HOLD":
            guard let end = read.value.items.compactMap(\.expiry).max() else { return nil }
            // What was read after its end and says canceled says all.
            if read.value.state == "CANCELED", read.stated.instant > end { return nil }
            return (end.advanced(by: Overdue.patience), end.advanced(by: Overdue.horizon))
        case "PAUSED":
            guard let resumes = read.value.resumes else { return nil }
            return (resumes.advanced(by: Overdue.patience), resumes.advanced(by: Overdue.horizon))
        case "PENDING":
            // Cash is paid within days, or never.
            let since = read.stated.instant
            return (
                since.advanced(by: 3 * Overdue.day),
                since.advanced(by: 30 * Overdue.day)
            )
        default: return nil
        }
    }

    /// How long a purchase that looks overdue is left alone after it was read, in milliseconds.
    var pauseBetweenReads: Int64 {
        switch googlePlay?.subscription?.value.state {
        case "ON_HOLD", "PAUSED", "PENDING": Overdue.day
        default: Overdue.hour
        }
    }
}

private enum Overdue {
    static let hour: Int64 = 3_600_000
    static let day = 24 * hour
    /// A renewal's notification takes a moment.
    static let patience: Int64 = 300_000
    /// As long as a token answers.
    static let horizon = 60 * day
}
