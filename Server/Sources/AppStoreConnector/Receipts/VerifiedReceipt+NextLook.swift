internal import AppStoreAPI
internal import TollgateCore

extension AppStore.VerifiedReceipt {
    private static let minute: Int64 = 60_000
    private static let hour = 60 * minute
    private static let day = 24 * hour

    /// When to ask about a customer again: soon after the next period or grace period ends, often while
    /// a renewal is late, else once a day.
    ///
    /// The App Store may charge some minutes after the end, or later around an outage of its own.
    ///
    /// - Parameter leeway: how long access continues without the renewal, in milliseconds (RULES §3).
    func nextLook(after now: Instant, leeway: Int64) -> Instant {
        let ends =
            purchases.compactMap(\.expiresDate) + renewals.compactMap(\.gracePeriodExpiresDate)
        var next = ends.map { Instant(milliseconds: $0).advanced(by: Self.minute) }
            .filter { now < $0 }
            .reduce(now.advanced(by: Self.day), min)
        for end in renewals.compactMap(endBeforeRenewal)
        where end <= now && now < end.advanced(by: Self.day) {
            let isInLeeway = now < end.advanced(by: leeway)
            next = min(next, now.advanced(by: isInLeeway ? 10 * Self.minute : Self.hour))
        }
        return next
    }

    /// The end of a subscription's newest period; `nil` where nothing says that it renews.
    private func endBeforeRenewal(_ renewal: Renewal) -> Instant? {
        guard renewal.willRenew, renewal.expirationIntent == nil, !renewal.isInBillingRetryPeriod
        else { return nil }
        let periods = purchases.filter {
            $0.originalTransactionID == renewal.originalTransactionID && !$0.isUpgraded
                && $0.expiresDate != nil
        }
        let newest = periods.max { ($0.expiresDate ?? 0) < ($1.expiresDate ?? 0) }
        guard let newest, newest.cancellationDate == nil else { return nil }
        return newest.expiresDate.map { Instant(milliseconds: $0) }
    }
}
