extension SimulatedAppStore {
    /// What the reports of App Store Connect say otherwise than the purchase itself would lead one
    /// to expect: a settlement that takes days, a tax, a correction.
    public struct ReportDifference: Codable, Hashable, Sendable {
        /// What happens to the line.
        public enum Kind: String, Codable, Hashable, Sendable, CaseIterable {
            /// The sale is booked `days` later.
            case settlementDate = "settlement_date"
            /// It is booked on its day in Cupertino.
            case timeZone = "time_zone"
            /// It is paid out in `currency`, at `rate`.
            case exchangeRate = "exchange_rate"
            /// `share` of tax is in the price.
            case tax
            /// The developer gets `share` of the price.
            case commissionRate = "commission_rate"
            /// The refund is booked `days` later.
            case refundTiming = "refund_timing"
            /// An offer is booked at zero.
            case freeOffer = "free_offer"
            /// `days` later the sale is taken back and booked again at `price`.
            case lateCorrection = "late_correction"
            /// The sale is missing.
            case missing
            /// There is another sale like this one, `days` later, that nobody made.
            case unknown
            /// The sale is booked at `price`.
            case amount
        }

        public var kind: Kind
        /// Whose line it is; nil: everybody's.
        public var transactionID: String?
        public var days: Int64?
        /// Thousandths: 1080 pays 1.08 for each unit of the customer's currency.
        public var rate: Int64?
        public var currency: String?
        /// Hundredths of a percent.
        public var share: Int64?
        /// Milliunits, of one unit.
        public var price: Int64?

        public init(
            _ kind: Kind,
            transactionID: String? = nil,
            days: Int64? = nil,
            rate: Int64? = nil,
            currency: String? = nil,
            share: Int64? = nil,
            price: Int64? = nil
        ) {
            self.kind = kind
            self.transactionID = transactionID
            self.days = days
            self.rate = rate
            self.currency = currency
            self.share = share
            self.price = price
        }

        enum CodingKeys: String, CodingKey {
            case kind
            case transactionID = "transaction_id"
            case days, rate, currency, share, price
        }
    }

    /// What the reports say otherwise from now on, also of what was sold before.
    public func setReportDifferences(_ differences: [ReportDifference]) {
        world.reportDifferences = differences
        save()
    }
}
