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
        "Days are UTC. A value at the end of a day is that of its last millisecond. A week begins on Monday."
    )
    static let active = Self(
        "Active subscriptions",
        "Paid periods with start ≤ D < effective end. Trials, family sharing and free grants do not count. A refund, an upgrade or the next period brings the effective end forward; grace postpones it, also in figures of the past. For Stripe, only periods that were paid count. Cancelled subscriptions count until they expire. A customer with two subscriptions counts twice."
    )
    static let states = Self(
        "States",
        "Trials: in a free introductory offer. In grace: counted as active too. Billing retry: the store tries the payment again, without access; only the present number is known. Granted: a promotional offer or code without payment. A price that is not stated does not count as zero."
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
        "By the day on which a trial began. Converted: the next period was paid and not refunded. Pending: not converted, and not ended yet. Abandoned: the rest. Conversion = converted / started."
    )
    static let retention = Self(
        "Retention",
        "Subscriptions with a payment in period n / subscriptions of the cohort that had the chance to pay for it. The cohort is the day of the first standard payment for the product; period 0 is that payment. Introductory periods, grace and refunded payments do not count."
    )
    static let ltv = Self(
        "Realized LTV",
        "(Charges − refunds up to the age in days) / customers first seen in the cohort. Per payer: divided by those who had paid by then. Ages that part of the cohort has not reached are not shown. Filters choose customers by their first purchase."
    )
    static let units = Self(
        "Units",
        "Everything sold, at any price. Transactions are the paid ones."
    )
    static let gross = Self(
        "Gross",
        "What customers were charged, tax included, by the day of the charge. Do not use prices of App Store transactions for accounting; use its sales and financial reports."
    )
    static let refunds = Self(
        "Refunds",
        "Amounts that went back to customers, by the day of the refund. Open and lost disputes are included. Net = gross − refunds."
    )
    static let refundRate = Self(
        "Refund rate",
        "Refunded transactions / paid transactions. By purchase date: the period's charges that were refunded since; this may still change. By refund date: refunds of the period / charges of the period; this does not change."
    )
    static let proceeds = Self(
        "Estimated proceeds",
        "An estimate. App Store: (gross − refunds) × 70 %, or × 85 % in the Small Business Program and after a year of paid service; free, extended and refunded days do not count towards that year, and it begins anew after a gap of more than 60 days. Stripe: gross × 97.1 %, less 0.30 per payment in USD, less refunds. Google Play: the developer's revenue without tax, as its orders state it, else (gross − refunds) × 85 %. Other taxes are not deducted. A store's own report outranks the estimate."
    )
    static let reported = Self(
        "Reported proceeds",
        "Developer proceeds of the App Store's imported sales reports, in their currency, and payments of Google Play's imported earnings reports, in the currency of the payout. Both are without taxes and fees, by days in Pacific time. Empty where there is no report."
    )
    static let downloads = Self(
        "Downloads",
        "Units of the App Store's imported sales reports. Product types that begin with 1 are first downloads, with 3 re-downloads, with 7 updates. Days are Apple's (Pacific time)."
    )
    static let events = Self(
        "Events",
        "Events are named as in Apple's Subscription Event report, for every store: the start of each period (such as Subscribe, Renew, Upgrade), each refund, and each end without a following period."
    )
    static let placements = Self(
        "Placements",
        "Customers saw the placement for the first time in the range; each counts for the variant that they saw first. Bought: they paid for something, renewals included, at any store within 30 days (30 × 24 hours) after that and by the end of the report's last day. A free trial counts once it is paid for; a purchase that was refunded counts. Conversion = bought / customers. Still open: their 30 days are not over at the end of the last day. Net: what they paid in that time less what of it went back in that time, per currency. A variant with several currencies has a row for each, with the same counts. A difference between few customers may be chance."
    )
    static let coins = Self(
        "Coins",
        "Sold: credited by purchases. Refunded: taken back. Spent: accepted spends. Outstanding = sold − refunded − spent, the liability. A spend is not drawn from a particular pack, so outstanding is for all packs together."
    )
}
