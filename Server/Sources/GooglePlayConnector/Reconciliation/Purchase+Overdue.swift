internal import Storage
internal import TollgateCore

extension Purchase {
    /// The time by which Google Play should have said something of a purchase; `nil`: nothing is awaited.
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

    /// From when on, and how long, a purchase looks overdue if nothing more is said.
    private var overdue: (since: Instant, until: Instant)? {
        guard let play = googlePlay else { return nil }
        guard let read = play.subscription else {
            guard let read = play.purchase, read.value.state == Self.pending else { return nil }
            return Self.overdue(pendingSince: read.stated.instant, until: release)
        }
        // Nothing follows a token that another one replaced.
        guard play.replaced == nil else { return nil }
        switch read.value.state {
        case "ACTIVE", "IN_GRACE_PERIOD", "CANCELED", "ON_HOLD":
            guard let end = play.awaitedEnd, let latest = play.latestEnd else { return nil }
            // What was read after its end and says canceled says all.
            if read.value.state == "CANCELED", read.stated.instant > end { return nil }
            return (end.advanced(by: Overdue.patience), latest.advanced(by: Overdue.horizon))
        case Self.paused:
            // The buyer may end a pause at any time; it lasts three months at most.
            let daily = read.stated.instant.advanced(by: Overdue.day)
            let end = read.value.resumes ?? daily.advanced(by: 92 * Overdue.day)
            return (min(daily, resumption ?? daily), end.advanced(by: Overdue.horizon))
        case Self.pending: return Self.overdue(pendingSince: read.stated.instant)
        default: return nil
        }
    }

    /// The span in which a payment is awaited: cash is paid within days, or never, and a pre-order is
    /// charged at its release, which the developer may move.
    ///
    /// The next look at a pending purchase: once paid it has to be acknowledged within three days, and a
    /// one-time purchase may have no notification.
    private static func overdue(
        pendingSince read: Instant,
        until release: Instant? = nil
    ) -> (since: Instant, until: Instant) {
        let last = release.map { max(read, $0).advanced(by: Overdue.longestMove) }
        let until = last ?? read.advanced(by: Overdue.payment)
        return (read.advanced(by: Overdue.hour), until)
    }

    private static let pending = "PENDING"

    /// The instant from which a pause should be over, as the newest read says; `nil`: it is not paused, or
    /// has no end.
    ///
    /// A look before it says nothing about it, so the first look after it waits for no other.
    var resumption: Instant? {
        guard let read = googlePlay?.subscription?.value, read.state == Self.paused else {
            return nil
        }
        return read.resumes?.advanced(by: Overdue.patience)
    }

    private static let paused = "PAUSED"

    /// The instant from which a pre-order should be released, as the newest read says; `nil`: it is none,
    /// or is not pending any more.
    var release: Instant? {
        guard let read = googlePlay?.purchase?.value, read.state == Self.pending else { return nil }
        return read.lines.compactMap(\.release).max()?.advanced(by: Overdue.patience)
    }

    /// Returns `true` if it may have been renewed, and half of the time is over for which its access
    /// lasts without news (RULES §18.2).
    ///
    /// - Parameter leeway: the renewal window, in milliseconds.
    func isNearItsLapse(at now: Instant, leeway: Int64) -> Bool {
        guard leeway > 0, let play = googlePlay, let read = play.subscription else { return false }
        let half = max(leeway / 2, 15 * 60_000)
        let heard = max(read.stated.instant, play.outage?.stated.instant ?? read.stated.instant)
        return play.renewableEnds.contains { end in
            max(end, heard).advanced(by: half) <= now
                && now < end.advanced(by: GooglePlayRecord.longestOutage + half)
        }
    }

    /// The pause after a read of a purchase that looks overdue, in milliseconds.
    ///
    /// Google tries a renewal for up to two days. Later its buyer may still mend the payment of a plan on
    /// hold, for weeks. A plan that is paused is charged by its end, or when its buyer resumes it.
    func pauseBetweenReads(at now: Instant) -> Int64 {
        let read = googlePlay?.subscription?.value
        switch read?.state {
        case Self.paused:
            return resumption.map { $0 <= now } == true ? Overdue.hour : Overdue.day
        // A one-time purchase is awaited only while it is pending.
        case Self.pending, nil:
            guard let release, now < release || release.advanced(by: Overdue.payment) < now else {
                return 6 * Overdue.hour
            }
            return Overdue.day
        default:
            let end = googlePlay?.awaitedEnd ?? now
            return now < end.advanced(by: 2 * Overdue.day) ? Overdue.hour : 6 * Overdue.hour
        }
    }
}

private enum Overdue {
    static let hour: Int64 = 3_600_000
    static let day = 24 * hour
    /// A renewal's notification takes a moment.
    static let patience: Int64 = 300_000
    /// Within this time cash is paid, and what is released is charged.
    static let payment = 30 * day
    /// The time after the stated release of a pre-order within which it may come out all the same: whether
    /// reads state a release that was moved is not documented.
    static let longestMove = 366 * day
    /// As long as a token answers.
    static let horizon = 60 * day
}
