internal import SandboxClock

extension SimulatedAppStore {
    /// How long subscriptions' periods last.
    public enum Renewals: Codable, Hashable, Sendable {
        /// By the calendar, as in production.
        case real
        /// Minutes for months, as in Apple's sandbox.
        case compressed(Rate)

        /// The sandbox's `subscriptionRenewalRate`, as a tester sets it in App Store Connect.
        public enum Rate: String, Codable, Sendable, CaseIterable {
            case everyThreeMinutes = "MONTHLY_RENEWAL_EVERY_THREE_MINUTES"
            case everyFiveMinutes = "MONTHLY_RENEWAL_EVERY_FIVE_MINUTES"
            case everyFifteenMinutes = "MONTHLY_RENEWAL_EVERY_FIFTEEN_MINUTES"
            case everyThirtyMinutes = "MONTHLY_RENEWAL_EVERY_THIRTY_MINUTES"
            case everyHour = "MONTHLY_RENEWAL_EVERY_ONE_HOUR"

            /// Milliseconds that stand for a month.
            var month: Int64 {
                switch self {
                case .everyThreeMinutes: 180_000
                case .everyFiveMinutes: 300_000
                case .everyFifteenMinutes: 900_000
                case .everyThirtyMinutes: 1_800_000
                case .everyHour: 3_600_000
                }
            }

            /// Milliseconds that stand for a week; it is not a fraction of the month.
            var week: Int64 {
                switch self {
                case .everyThreeMinutes: 120_000
                case .everyFiveMinutes: 180_000
                case .everyFifteenMinutes: 300_000
                case .everyThirtyMinutes: 600_000
                case .everyHour: 900_000
                }
            }

            /// Grace of a weekly plan in milliseconds.
            var weeklyGrace: Int64 {
                switch self {
                case .everyThreeMinutes: 102_000
                case .everyFiveMinutes: 154_000
                case .everyFifteenMinutes: 257_000
                case .everyThirtyMinutes: 514_000
                case .everyHour: 771_000
                }
            }
        }

        /// The end of the `times`-th period counted from `anchor`.
        func end(of period: Period, times: Int, from anchor: Int64) -> Int64 {
            switch self {
            case .real: period.adding(times, to: anchor)
            case .compressed(let rate): anchor + Int64(times) * length(of: period, at: rate)
            }
        }

        /// The end of the first period of a plan, which an offer may make shorter or longer.
        func endOfFirstPeriod(of product: Product, offer: Offer?, from start: Int64) -> Int64 {
            guard let offer, offer.discount != .payAsYouGo else {
                return end(of: product.period ?? .month, times: 1, from: start)
            }
            return end(of: offer.period, times: offer.count, from: start)
        }

        /// Milliseconds of grace after a period's end.
        func grace(of period: Period, days: Int) -> Int64 {
            let isWeekly = period.months < 0.5
            switch self {
            case .real:
                return Int64(isWeekly ? min(days, 6) : days) * CivilDate.millisecondsPerDay
            case .compressed(let rate):
                return isWeekly ? rate.weeklyGrace : rate.month / 2
            }
        }

        /// Milliseconds after a period's end in which the store retries billing.
        var billingRetry: Int64 {
            switch self {
            case .real: 60 * CivilDate.millisecondsPerDay
            case .compressed(let rate): 2 * rate.month
            }
        }

        /// The longest gap that `recentSubscriptionStartDate` ignores, in milliseconds.
        var ignoredGap: Int64 {
            switch self {
            case .real: 60 * CivilDate.millisecondsPerDay
            case .compressed: 600_000
            }
        }

        /// How far an extension by `days` moves the renewal date, in milliseconds.
        func extensionLength(days: Int) -> Int64 {
            switch self {
            case .real: Int64(days) * CivilDate.millisecondsPerDay
            case .compressed: Int64(days) * 60_000
            }
        }

        private func length(of period: Period, at rate: Rate) -> Int64 {
            switch period.unit {
            case .week where period.count == 1: rate.week
            case .day, .week: max(60_000, Int64(period.months * Double(rate.month)))
            case .month: Int64(period.count) * rate.month
            case .year: Int64(period.count) * 12 * rate.month
            }
        }
    }
}
