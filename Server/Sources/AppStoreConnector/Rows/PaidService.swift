internal import Reports
internal import TollgateCore

/// The days of paid service of one subscription; after a year of them the App Store takes less.
///
/// What nobody paid for adds none: free offers and extensions
/// (https://developer.apple.com/documentation/externalpurchaseserverapi/subscriptiondaysofpaidservice),
/// and periods that were refunded in whole
/// (https://developer.apple.com/forums/thread/704554).
struct PaidService {
    private static let year = 365 * Reports.Day.length
    /// The days resume after a shorter gap
    /// (https://developer.apple.com/app-store/subscriptions/#revenue-after-one-year).
    private static let longestGap = 60 * Reports.Day.length
    /// A plan that was bought on the 31st has months of up to three days more than those of the 28th.
    private static let monthEnds = 3 * Reports.Day.length

    /// In milliseconds.
    private var length: Int64 = 0
    /// The end of the service so far, paid or free; `nil`: there was none.
    private var end: Instant?

    var isAfterOneYear: Bool { length >= Self.year }

    /// Takes note that a period begins: after a long gap the days count from 0.
    mutating func begin(at start: Instant) {
        guard let end else { return }
        let gap = start.milliseconds.subtractingReportingOverflow(end.milliseconds)
        if gap.overflow ? end < start : gap.partialValue > Self.longestGap { length = 0 }
    }

    /// Adds a period that was not refunded in whole.
    ///
    /// - Parameters:
    ///   - until: its end, cut by what ended it earlier.
    ///   - duration: how long the plan lasts, where it was sold at the standard price: what lies beyond
    ///     is an extension.
    mutating func add(_ period: Period, until: Instant, duration: CalendarDuration?) {
        end = end.map { max($0, until) } ?? until
        guard !period.isFree, !period.isFamilyShared else { return }
        var paid = until
        if let sold = duration?.adding(to: period.start.milliseconds) {
            let latest = Instant(milliseconds: sold).advanced(by: Self.monthEnds)
            if latest < until { paid = Instant(milliseconds: sold) }
        }
        let days = paid.milliseconds.subtractingReportingOverflow(period.start.milliseconds)
        if !days.overflow { length += max(0, min(days.partialValue, 2 * Self.year)) }
    }
}

extension Period {
    /// Whether the store says that it cost nothing; a legacy receipt says so of trials only.
    var isFree: Bool { price == 0 || discount == "FREE_TRIAL" }

    /// Whether the store does not say what it cost, as in a legacy receipt.
    var isUnpriced: Bool { price == nil && !isFree }
}
