/// The failed renewal of the newest period, and what of it is tolerated (RULES §2.3).
struct FailedRenewal {
    let record: AppStoreRecord
    let period: PeriodRecord

    /// Whether the status says that billing has failed.
    ///
    /// One from before the newest period began was about an older one: that period has been paid
    /// since.
    var hasFailed: Bool {
        standingFailure.map { $0.instant >= period.period.start } ?? false
    }

    /// The clock of a status 2, 3 or 5 that nothing newer has made void.
    private var standingFailure: Stated? {
        guard let status = record.status, status.value.isFailed else { return nil }
        if status.value.value == SubscriptionStatus.revoked, record.revokedByStatus(period) == nil {
            return nil
        }
        return status.stated
    }

    /// Until when a failed payment is tolerated, and who says so (RULES §2.3).
    var grace: (Instant, String)? {
        guard let end = period.period.end else { return nil }
        var graceEnd: Instant
        let evidence: String
        let stated: Stated
        if let renewal = record.renewal, let granted = renewal.value.graceEnd, granted > end,
            renewal.stated.instant >= period.period.start
        {
            (graceEnd, evidence, stated) = (granted, renewal.source, renewal.stated)
        } else if let status = record.status,
            status.value.value == SubscriptionStatus.billingGrace,
            status.stated.instant >= period.period.start
        {
            graceEnd = Self.undatedEnd(status.stated)
            (evidence, stated) = (status.source, status.stated)
        } else {
            return nil
        }
        if let failure = standingFailure, stated < failure {
            graceEnd = min(graceEnd, failure.instant)
        }
        return graceEnd > end ? (graceEnd, evidence) : nil
    }

    /// Until when a status 4 without a date tolerates: three days, Apple's shortest grace period.
    static func undatedEnd(_ stated: Stated) -> Instant {
        stated.instant.advanced(by: 3 * 86_400_000)
    }
}
