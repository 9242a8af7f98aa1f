extension Reports {
    /// The reports that there are.
    public enum Report: String, CaseIterable, Codable, Hashable, Sendable {
        case overview
        case sales
        case revenue
        case downloads
        case subscriptions
        case events
        case mrr
        case mrrMovement = "mrr-movement"
        case churn
        case trials
        case retention
        case ltv
        case refunds
        case coins
        case placements

        public var title: String {
            switch self {
            case .overview: "Overview"
            case .sales: "Sales"
            case .revenue: "Revenue and proceeds"
            case .downloads: "Downloads"
            case .subscriptions: "Subscriptions by state"
            case .events: "Subscription events"
            case .mrr: "Monthly recurring revenue"
            case .mrrMovement: "MRR movement"
            case .churn: "Churn"
            case .trials: "Trials"
            case .retention: "Retention"
            case .ltv: "Realized lifetime value"
            case .refunds: "Refunds"
            case .coins: "Coins"
            case .placements: "Placements"
            }
        }

        /// One sentence for lists.
        public var summary: String {
            switch self {
            case .overview: "the figures one looks at in the morning"
            case .sales: "units, gross, refunds and estimated proceeds by product"
            case .revenue: "gross, refunds, net, and proceeds as estimated and as reported"
            case .downloads: "first downloads, re-downloads and updates of the app"
            case .subscriptions: "how many were active, in a trial, in grace, or tried again"
            case .events: "what happened to subscriptions"
            case .mrr: "MRR, ARR and active subscriptions"
            case .mrrMovement: "why MRR changed"
            case .churn: "how many subscriptions ended"
            case .trials: "how many trials became paid, by the day on which they began"
            case .retention: "who still pays in which period, by cohort and product"
            case .ltv: "what customers of a cohort have paid by which age"
            case .refunds: "how much went back, by purchase date and by refund date"
            case .coins: "coins sold, refunded, spent and outstanding"
            case .placements: "what customers bought after they saw an offering, by variant"
            }
        }

        /// The sums that it is made from.
        public var measures: [Measure] {
            switch self {
            case .overview:
                Measure.money + [.trials, .coinsSold, .coinsRefunded, .coinsSpent]
                    + Measure.movements
            case .sales, .revenue: Measure.money
            case .downloads, .placements: []
            case .subscriptions:
                Measure.movements + [.trials, .grace, .retry, .granted]
            case .events: [.event]
            case .mrr, .mrrMovement, .churn: Measure.movements
            case .trials: [.trialStarted, .trialConverted, .trialUnconverted]
            case .retention: [.retained]
            case .ltv: [.customers, .payers, .lifetimeValue]
            case .refunds: [.charge, .refund, .refundByPurchase]
            case .coins: [.coinsSold, .coinsRefunded, .coinsSpent]
            }
        }

        /// Whether it needs what the App Store itself reported.
        public var needsReported: Bool { self == .downloads || self == .revenue }

        /// `true`: the report counts showings at placements.
        public var needsShowings: Bool { self == .placements }

        /// `true`: the report has a row for each day, week or month, and can be grouped.
        public var hasPieces: Bool { self != .overview && self != .placements }

        /// Whether sums of longer stretches would hide what it has to tell apart: whose next
        /// payment is due by now depends on the day of the first.
        var needsDays: Bool { self == .retention }

        /// Whether it has amounts; numbers are added up over all currencies.
        public var hasAmounts: Bool {
            switch self {
            case .subscriptions, .events, .churn, .trials, .retention, .coins: false
            default: true
            }
        }

        /// The column that a plot of it shows; `nil`: the first one that has numbers.
        var plotted: String? {
            switch self {
            case .sales: "gross"
            case .mrrMovement: "closing"
            case .refunds: "rate_by_date"
            case .coins: "outstanding"
            case .trials: "started"
            case .retention: "retention"
            case .ltv: "ltv"
            default: nil
            }
        }

        /// Where a cohort has a row for each period or age: that column, and which of them a plot
        /// shows.
        var plottedPart: (column: String, value: Int64)? {
            switch self {
            case .retention: ("period", 1)
            case .ltv: ("age", 30)
            default: nil
            }
        }

        /// By what it can be kept apart: what people paid over time, and their coins, have many
        /// offers behind them or none.
        public var groups: [Dimension] {
            switch self {
            case .ltv, .coins: Dimension.allCases.filter { $0 != .offer }
            case .placements: []
            default: Dimension.allCases
            }
        }

        /// What it keeps apart if nothing else is asked for.
        public var dimensions: [Dimension] {
            switch self {
            case .sales: [.store, .product]
            case .retention: [.product]
            default: []
            }
        }
    }

    /// A table would have more lines than anybody reads.
    public struct TooManyLines: Error, CustomStringConvertible {
        static let most = 500_000

        public var description: String {
            "These would be more than \(Self.most) lines. Ask for fewer days, for weeks or months, or keep less apart."
        }
    }

    /// The figures that a request asks for.
    ///
    /// - Throws: `TooManyLines`.
    public static func table(
        _ request: Request,
        from material: Material
    ) throws(TooManyLines) -> Table {
        var table = Table(
            name: request.report.rawValue,
            title: request.report.title,
            columns: [],
            definitions: request.report.definitions
        )
        switch request.report {
        case .overview: CohortFigures.addOverview(request, material, to: &table)
        case .sales: SalesFigures.addSales(request, material, to: &table)
        case .revenue: try SalesFigures.addRevenue(request, material, to: &table)
        case .downloads: try SalesFigures.addDownloads(request, material, to: &table)
        case .subscriptions: try SubscriptionFigures.addSubscriptions(request, material, to: &table)
        case .events: SubscriptionFigures.addEvents(request, material, to: &table)
        case .mrr: try SubscriptionFigures.addMRR(request, material, to: &table)
        case .mrrMovement: try SubscriptionFigures.addMovement(request, material, to: &table)
        case .churn: try SubscriptionFigures.addChurn(request, material, to: &table)
        case .trials: try CohortFigures.addTrials(request, material, to: &table)
        case .retention: CohortFigures.addRetention(request, material, to: &table)
        case .ltv: CohortFigures.addLifetimeValue(request, material, to: &table)
        case .refunds: try SalesFigures.addRefunds(request, material, to: &table)
        case .coins: try CohortFigures.addCoins(request, material, to: &table)
        case .placements: PlacementFigures.addPlacements(material, to: &table)
        }
        return table
    }
}
