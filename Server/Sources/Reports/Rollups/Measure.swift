extension Reports {
    /// What is added up, day by day.
    ///
    /// The numbers are kept in the database and never change their meaning.
    public enum Measure: Int64, CaseIterable, Codable, Hashable, Sendable {
        /// At the day of the charge; `items` are transactions that cost something; `detail` is 1
        /// after a year of paid service, `extra` 1 for a further line of a payment that is counted
        /// already.
        case charge = 1
        /// The same at the day it went back; `items` counts each transaction once, at its first
        /// refund; `extra` is 1 for a dispute.
        case refund = 2
        /// What went back, at the day of its charge.
        case refundByPurchase = 3
        /// At the day of a charge or refund of which the store states what it pays: `amount` is that, of the
        /// `units` milliunits that moved; `items` counts payments. `detail` is the charge's, `extra` 1 for a
        /// refund.
        case statedProceeds = 4

        // Changes of the active subscriptions from one day's end to the next: `items` of their
        // number, `amount` of their monthly value in `detail`ths of a milliunit.
        case newSubscriptions = 10
        case expansion = 11
        case contraction = 12
        case churned = 13
        case returned = 14

        // Changes, from one day's end to the next, of how many are
        /// in a trial,
        case trials = 15
        /// in grace,
        case grace = 16
        /// tried to be collected again,
        case retry = 17
        /// given for nothing by an offer.
        case granted = 18

        // By the day on which the trial began.
        case trialStarted = 20
        case trialConverted = 21
        /// `detail` is the day on which it ended, or will; up to the end of that day it may convert.
        case trialUnconverted = 22

        // By the day of the first standard payment for the product.
        /// Subscriptions with a payment in period `detail`; `extra` is the period's length.
        case retained = 30

        // By the day on which a customer was first seen; the dimensions are those of the first row.
        case customers = 40
        /// Who has paid something by the age `detail` in days, the least of the standard ones.
        case payers = 41
        /// What they paid, less what went back, up to that age and after the one before.
        case lifetimeValue = 42

        /// `units` are coins.
        case coinsSold = 50
        case coinsRefunded = 51
        case coinsSpent = 52

        /// `detail` says what happened: `SubscriptionEvent`.
        case event = 60

        /// Whether only the sum of all days up to one says something.
        public var isCumulative: Bool {
            switch self {
            case .newSubscriptions, .expansion, .contraction, .churned, .returned, .trials,
                .grace, .retry, .granted, .coinsSold, .coinsRefunded, .coinsSpent:
                true
            default: false
            }
        }

        /// Whether it adds up money, which means nothing without its currency; what only counts is
        /// added up over all of them.
        public var hasCurrency: Bool {
            switch self {
            case .charge, .refund, .refundByPurchase, .statedProceeds, .newSubscriptions,
                .expansion,
                .contraction, .churned, .returned, .lifetimeValue:
                true
            default: false
            }
        }

        /// Whether what is made of it depends on the store even where stores are not kept apart:
        /// each leaves another share of a price.
        public var dependsOnStore: Bool { Self.money.contains(self) }

        /// Those that proceeds are made from.
        public static let money: [Measure] = [.charge, .refund, .statedProceeds]

        /// Those whose sum is the active subscriptions.
        public static let movements: [Measure] = [
            .newSubscriptions, .expansion, .contraction, .churned, .returned,
        ]
    }
}
