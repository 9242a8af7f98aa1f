public import TollgateCore

extension Finance {
    /// Why our figures and a store's are not the same.
    public enum Reason: String, Hashable, Codable, Sendable, CaseIterable, Comparable {
        // What nobody can explain; listed first.
        case missingHere = "missing_here"
        case missingThere = "missing_there"
        case amountDiffers = "amount_differs"
        // What is known to happen.
        case settlementDate = "settlement_date"
        case timeZone = "time_zone"
        case exchangeRate = "exchange_rate"
        case tax
        case commissionRate = "commission_rate"
        case refundTiming = "refund_timing"
        case familySharing = "family_sharing"
        case freeOffer = "free_offer"
        case sandbox
        case lateCorrection = "late_correction"

        /// Whether it needs nobody's attention.
        public var isExplained: Bool {
            switch self {
            case .missingHere, .missingThere, .amountDiffers: false
            default: true
            }
        }

        /// What it means, for people.
        public var explanation: String {
            switch self {
            case .missingHere: "The store reports it and our record does not have it."
            case .missingThere: "Our record has it and the store's reports do not."
            case .amountDiffers: "Both have it, with different amounts."
            case .settlementDate: "The store booked the sale on a later day than it was made."
            case .timeZone:
                "It is one day in Pacific time, by which Apple counts, and another here."
            case .exchangeRate: "The store converted it into another currency."
            case .tax: "The store has taken tax out of the price, or on its fee."
            case .commissionRate: "The store kept another share than was expected."
            case .refundTiming: "The store booked the refund on another day than it was granted."
            case .familySharing:
                "A member of the family uses it; the store counts the one who paid."
            case .freeOffer: "The store booked an offer at zero."
            case .sandbox: "It was bought in the other environment, of which no report tells."
            case .lateCorrection: "The store corrected later what it had booked before."
            }
        }

        private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }

        public static func < (left: Reason, right: Reason) -> Bool { left.rank < right.rank }
    }

    /// What is strange about a movement, or about the line that reports it.
    package struct Finding: Sendable {
        package var reason: Reason
        package var detail: String
        package var expected: Money?
        package var reported: Money?

        package init(
            _ reason: Reason,
            _ detail: String,
            _ expected: Money? = nil,
            _ reported: Money? = nil
        ) {
            (self.reason, self.detail) = (reason, detail)
            (self.expected, self.reported) = (expected, reported)
        }
    }

    /// One difference between our record and a store's report.
    public struct Difference: Hashable, Codable, Sendable {
        public var reason: Reason
        public var store: Store
        /// Which of the store's reports it was found in: `SALES`, `FINANCIAL`, `STRIPE_BALANCE`.
        public var source: String
        /// The store's id of what was bought.
        public var product: String
        /// Our side: the transaction, invoice, payment, refund or dispute; nil where we have none.
        public var movement: String?
        /// Their side: a line of a report or a balance transaction; nil where they have none.
        public var line: String?
        /// When it happened, as our record has it, by the day in UTC.
        public var day: Day?
        /// The store's day of it.
        public var reportedDay: Day?
        public var units: Int64
        /// What was expected by our record, and what the store says: prices where the sale itself
        /// differs, proceeds or fees where only these do.
        public var expected: Money?
        public var reported: Money?
        /// What exactly, in a sentence.
        public var detail: String

        public init(
            _ reason: Reason,
            store: Store,
            source: String,
            product: String,
            movement: Movement? = nil,
            line: String? = nil,
            reportedDay: Day? = nil,
            units: Int64,
            expected: Money? = nil,
            reported: Money? = nil,
            detail: String
        ) {
            self.reason = reason
            self.store = store
            self.source = source
            self.product = product
            self.movement = movement?.id
            self.line = line
            day = movement?.day
            self.reportedDay = reportedDay
            self.units = units
            self.expected = expected
            self.reported = reported
            self.detail = detail
        }

        /// What was found about a movement, and about the line that reports it.
        package init(
            _ finding: Finding,
            store: Store,
            source: String,
            _ movement: Movement,
            line: String? = nil,
            on day: Day? = nil
        ) {
            self.init(
                finding.reason,
                store: store,
                source: source,
                product: movement.product,
                movement: movement,
                line: line,
                reportedDay: day,
                units: movement.quantity,
                expected: finding.expected,
                reported: finding.reported,
                detail: finding.detail
            )
        }

        /// Whether it is about the time from `first` to `last`.
        func isWithin(_ first: Day, _ last: Day) -> Bool {
            [day, reportedDay].contains { $0.map { (first...last).contains($0) } ?? false }
        }

        enum CodingKeys: String, CodingKey {
            case reason, store, source, product, movement, line, day
            case reportedDay = "reported_day"
            case units, expected, reported, detail
        }
    }
}
