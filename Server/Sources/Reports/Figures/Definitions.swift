extension Reports.Report {
    /// What its figures mean.
    public var definitions: [Reports.Definition] {
        typealias Definition = Reports.Definition
        switch self {
        case .overview:
            return [.active, .mrr, .gross, .proceeds, .churn, .coins]
        case .sales: return [.units, .gross, .refunds, .proceeds, .days]
        case .revenue: return [.gross, .refunds, .proceeds, .reported, .days]
        case .downloads: return [.downloads]
        case .subscriptions: return [.active, .states, .days]
        case .events: return [.events, .days]
        case .mrr: return [.active, .mrr, .days]
        case .mrrMovement: return [.mrr, .movement, .days]
        case .churn: return [.active, .churn, .days]
        case .trials: return [.trials, .days]
        case .retention: return [.retention, .days]
        case .ltv: return [.ltv, .days]
        case .refunds: return [.refundRate, .days]
        case .coins: return [.coins, .days]
        case .placements: return [.placements, .days]
        }
    }
}

extension Reports.Definition {
    static let days = Self(
        "Days",
        "Days are UTC. What is counted at a day holds in its last millisecond. A week begins on Monday."
    )
    static let active = Self(
        "Active subscriptions",
        "Paid periods with start ≤ D < effective end: no trials, nothing shared by a family, nothing granted for free. The effective end is the period's end, cut by a refund, an upgrade or the next period, and extended by grace, which stays in the past. Of Stripe's periods those that were paid. Cancelled but not yet expired counts; one customer may count twice."
    )
    static let states = Self(
        "States",
        "Trials run a free introductory offer; grace is inside Active; billing retry is tried again without access; granted pays nothing by a promotional offer or code; a price that is not stated is not zero. Retry is as known now: its past is not kept."
    )
    static let mrr = Self(
        "MRR",
        "Sum over active subscriptions of price × factor by the product's duration: 1 day 30, 3 days 10, 1 week 4, 2 weeks 2, 4 weeks 1, 1 month 1, 2 months 1/2, 3 months 1/3, 6 months 1/6, 1 year 1/12; introductory offers, offers that are paid up front and unknown durations by real days (27–33: 1, 363–375: 1/12, else 28 / days). Per currency. ARR = 12 × MRR."
    )
    static let movement = Self(
        "MRR movement",
        "From one day's end to the next: new (first paid period, or a trial that converted), expansion and contraction (the subscription stayed and is worth more, or less), churned (nothing of it is active any more), returned (it was active before, or follows one of the same Stripe customer that had ended). The five add up to the change exactly."
    )
    static let churn = Self(
        "Churn rate",
        "(Subscriptions that ended in the period − those that came back in it) / active at its start."
    )
    static let trials = Self(
        "Trials",
        "By the day on which a trial began. Converted: the next period was paid and not given back. Pending: neither, and it has not ended yet. Abandoned: the rest. Conversion = converted / started."
    )
    static let retention = Self(
        "Retention",
        "Subscriptions with a payment in period n / subscriptions of the cohort that had the chance to pay for it. The cohort is the day of the first standard payment for the product; period 0 is that payment. Introductory periods are out, grace counts for nothing, and a refund is no payment."
    )
    static let ltv = Self(
        "Realized LTV",
        "(Charges − refunds up to the age in days) / customers first seen in the cohort; per payer: / those who had paid something by then. Ages that part of the cohort has not reached are not shown. Filters choose customers by what they bought first."
    )
    static let units = Self(
        "Units",
        "What was sold, at whatever price; transactions are those that cost something."
    )
    static let gross = Self(
        "Gross",
        "What customers were charged, tax included, by the day of the charge. Prices in App Store transactions are no accounting source; its sales and financial reports are."
    )
    static let refunds = Self(
        "Refunds",
        "What went back, disputes that are open or lost included, by the day on which it did. Net = gross − refunds."
    )
    static let refundRate = Self(
        "Refund rate",
        "Refunded transactions / paid transactions. By purchase date: of the period's charges, those refunded since; this changes later. By refund date: refunds of the period / charges of the period; this does not."
    )
    static let proceeds = Self(
        "Estimated proceeds",
        "An estimate: App Store gross less refunds × 70 %, × 85 % after a year of paid service (free, extended and refunded days add none; after a gap of more than 60 days they count from 0) and in the Small Business Program; Stripe gross × 97.1 %, less 0.30 per payment in USD, less refunds; Google Play as its orders state the developer's revenue, which is without tax, else gross less refunds × 85 %. Other taxes are not taken off. What a store reports outranks it."
    )
    static let reported = Self(
        "Reported proceeds",
        "Developer proceeds of the App Store's imported sales reports, by their currency, and what Google Play's imported earnings reports pay, by the currency of the payout: both without taxes and fees, by days in Pacific time; empty where no report is here."
    )
    static let downloads = Self(
        "Downloads",
        "Units of the App Store's imported sales reports by product type: first downloads 1…, re-downloads 3…, updates 7…. Days are Apple's (Pacific time)."
    )
    static let events = Self(
        "Events",
        "In the words of Apple's Subscription Event report, for both stores: what each period is after the one before it, its refund, and its end where nothing followed."
    )
    static let placements = Self(
        "Placements",
        "Customers saw the placement for the first time in the range; each counts for the variant that they saw first. Bought: they paid for something, renewals included, at any store within 30 days (30 × 24 hours) after that and by the end of the report's last day. A free trial counts once it is paid for; a purchase that was refunded counts. Conversion = bought / customers. Still open: their 30 days are not over at the end of the last day. Net: what they paid in that time less what of it went back in that time, per currency. A variant with several currencies has a row for each, with the same counts. A difference between few customers may be chance."
    )
    static let coins = Self(
        "Coins",
        "Sold: credited by purchases. Refunded: clawed back. Spent: accepted spends. Outstanding = sold − refunded − spent: the liability. Spends are drawn from no pack in particular, so outstanding is for all packs together."
    )
}
