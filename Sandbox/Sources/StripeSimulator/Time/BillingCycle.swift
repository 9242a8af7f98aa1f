import SandboxClock

/// The boundaries of billing periods, counted from the anchor and not from the period before, so
/// that Jan 31 → Feb 28 → Mar 31. https://docs.stripe.com/billing/subscriptions/billing-cycle
struct BillingCycle: Hashable, Sendable {
    /// UNIX seconds.
    var anchor: Int
    var interval: String
    var intervalCount: Int

    init(anchor: Int, recurring: JSON) {
        self.anchor = anchor
        interval = recurring["interval"].string ?? "month"
        intervalCount = max(1, recurring["interval_count"].int ?? 1)
    }

    /// The `n`-th boundary; the 0th is the anchor itself.
    func boundary(_ n: Int) -> Int {
        switch interval {
        case "day": anchor + n * intervalCount * 86_400
        case "week": anchor + n * intervalCount * 7 * 86_400
        case "year": Self.adding(months: n * intervalCount * 12, to: anchor)
        default: Self.adding(months: n * intervalCount, to: anchor)
        }
    }

    private static func adding(months: Int, to instant: Int) -> Int {
        let offset = Int(SandboxCalendar.offset / 1_000)
        return CalendarDate(instant - offset).adding(months: months).instant + offset
    }

    /// The first boundary after `instant`.
    func next(after instant: Int) -> Int {
        guard instant >= anchor else { return anchor }
        // A first guess that is never too late, then single steps.
        let longest =
            ["day": 86_400, "week": 604_800, "year": 366 * 86_400][interval] ?? 31 * 86_400
        var n = max(0, (instant - anchor) / (longest * intervalCount) - 1)
        while boundary(n) <= instant { n += 1 }
        return boundary(n)
    }

    /// The start of the whole period that ends at `end`; `nil` if the cycle has no boundary there.
    func start(ofPeriodEndingAt end: Int) -> Int? {
        var n = 0
        while boundary(n) < end { n += 1 }
        return boundary(n) == end ? boundary(n - 1) : nil
    }
}
