public import Reports

extension Finance {
    /// A line of a sales or finance report of the App Store: units of one product at one price.
    public struct AppStoreLine: Hashable, Sendable {
        /// `SALES` or `FINANCIAL`.
        public var source: String
        /// Which report and where in it: `SALES DAILY 2026-06-01, line 3`.
        public var place: String
        public var isRefund: Bool
        public var product: String
        /// What time it covers, by Apple's days; of a daily report both are the same.
        public var first: Day
        public var last: Day
        /// Never negative.
        public var units: Int64
        /// What one unit cost the customer, never negative.
        public var price: Money
        /// What Apple pays for one unit, never negative.
        public var proceeds: Money
        /// ISO 3166-1 alpha-2.
        public var country: String

        public init(
            source: String,
            place: String,
            isRefund: Bool,
            product: String,
            first: Day,
            last: Day,
            units: Int64,
            price: Money,
            proceeds: Money,
            country: String
        ) {
            self.source = source
            self.place = place
            self.isRefund = isRefund
            self.product = product
            self.first = min(first, last)
            self.last = max(first, last)
            self.units = units
            self.price = price
            self.proceeds = proceeds
            self.country = country
        }
    }
}
