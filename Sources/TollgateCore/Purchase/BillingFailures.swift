/// What stores have said of renewals that failed, kept for figures about the past.
///
/// Access asks only the newest statement. A figure of March must not change in May because the
/// newest statement has forgotten that there was a grace period in March.
public struct BillingFailures: Hashable, Codable, Sendable {
    /// A grace period as the App Store stated it.
    public struct Grace: Hashable, Codable, Sendable {
        /// `gracePeriodExpiresDate`.
        public let end: Instant
        /// The earliest clock that stated it.
        public fileprivate(set) var stated: Instant
        /// `false` if only legacy receipts stated it.
        public fileprivate(set) var isSigned: Bool
    }

    /// Sorted by end.
    public private(set) var graces: [Grace] = []
    /// When billing had failed for good, or for now: the first clock of each day that states status 2
    /// or 3 in the App Store, `unpaid` or `paused` in Stripe, ON_HOLD or PAUSED in Google Play; sorted.
    public private(set) var lapses: [Instant] = []
    /// The same by legacy receipts, which end no grace period that was signed (RULES §2.8).
    public private(set) var receiptLapses: [Instant]?

    /// When billing had failed at `instant` or later.
    public func lapse(from instant: Instant) -> Instant? { lapses.first { $0 >= instant } }

    /// When billing had failed after a grace period was stated.
    ///
    /// A status of the same instant is the one that grants it.
    fileprivate func lapse(after grace: Grace) -> Instant? {
        let lapse = lapses.first { $0 > grace.stated }
        return grace.isSigned ? lapse : earlier(lapse, receiptLapses?.first { $0 > grace.stated })
    }

    fileprivate mutating func add(_ grace: Grace) {
        switch graces.position(of: grace.end, by: { $0.end }) {
        case .found(let index):
            graces[index].stated = min(graces[index].stated, grace.stated)
            graces[index].isSigned = graces[index].isSigned || grace.isSigned
        case .missing(let index): graces.insert(grace, at: index)
        }
    }

    fileprivate mutating func add(lapse instant: Instant, byReceipt: Bool) {
        guard byReceipt else { return Self.add(instant, to: &lapses) }
        var all = receiptLapses ?? []
        Self.add(instant, to: &all)
        receiptLapses = all
    }

    private static func add(_ instant: Instant, to lapses: inout [Instant]) {
        func day(_ instant: Instant) -> Int64 { instant.milliseconds / 86_400_000 }
        switch lapses.position(of: day(instant), by: day) {
        case .found(let index): lapses[index] = min(lapses[index], instant)
        case .missing(let index): lapses.insert(instant, at: index)
        }
    }
}

extension BillingFailures? {
    /// Takes in what a fact says of a renewal that failed, if it does.
    mutating func join(_ fact: Fact) {
        let instant = fact.stated.instant
        switch fact.statement {
        case .renewal(let terms):
            guard let end = terms.graceEnd else { return }
            var failures = self ?? BillingFailures()
            let isSigned = !fact.source.isOfReceipt
            failures.add(.init(end: end, stated: instant, isSigned: isSigned))
            self = failures
        case .status(let status):
            let isLapsed =
                status.value == SubscriptionStatus.expired
                || status.value == SubscriptionStatus.billingRetry
            if isLapsed { add(lapse: instant, byReceipt: fact.source.isOfReceipt) }
        case .subscription(let subscription):
            if subscription.status == "unpaid" || subscription.status == "paused" {
                add(lapse: instant)
            }
        case .googlePlaySubscription(let subscription):
            if subscription.isSuspended { add(lapse: instant) }
        default: break
        }
    }

    private mutating func add(lapse instant: Instant, byReceipt: Bool = false) {
        var failures = self ?? BillingFailures()
        failures.add(lapse: instant, byReceipt: byReceipt)
        self = failures
    }
}

extension AppStoreRecord {
    /// Until when the App Store tolerated the failed renewal of a period, as it stated it then: until
    /// billing failed for good or the next period began.
    func statedGrace(of record: PeriodRecord, in ordered: [PeriodRecord]) -> Instant? {
        guard record.period.kind == .autoRenewable, let end = record.period.end, let failures else {
            return nil
        }
        let next = ordered.first { $0.period.start >= end }?.period.start
        var until: Instant?
        for grace in failures.graces where grace.end > end {
            let failed = ordered.last { $0.period.start <= grace.stated }
            guard failed?.period.id == record.period.id else { continue }
            until = later(until, earlier(grace.end, failures.lapse(after: grace)))
        }
        return until.flatMap { earlier($0, next) }
    }
}
