extension AppStore {
    /// A line of FINANCIAL: what Apple pays for one product, in one country, at one price.
    public struct FinancialRow: Hashable, Codable, Sendable {
        public var startDate: ReportDay
        public var endDate: ReportDay
        /// The product's id.
        public var vendorIdentifier: String
        public var quantity: Int64
        /// Per unit.
        public var partnerShare: ReportAmount
        /// For the quantity.
        public var extendedPartnerShare: ReportAmount
        public var partnerShareCurrency: String
        /// `R` and not `S`.
        public var isReturn: Bool
        public var appleIdentifier: String
        public var title: String?
        public var productType: String?
        public var countryOfSale: String
        public var promoCode: String?
        public var customerPrice: ReportAmount
        public var customerCurrency: String?

        init(_ row: TabularReport.Row) throws(ConnectReportError) {
            startDate = try row.day("Start Date")
            endDate = try row.day("End Date")
            vendorIdentifier = try row.required("Vendor Identifier")
            quantity = try row.count("Quantity")
            partnerShare = try row.amount("Partner Share")
            extendedPartnerShare = try row.amount("Extended Partner Share")
            partnerShareCurrency = try row.required("Partner Share Currency")
            isReturn = try row.required("Sales or Return") == "R"
            appleIdentifier = try row.required("Apple Identifier")
            title = row.textIfAny("Title")
            productType = row.textIfAny("Product Type Identifier")
            countryOfSale = try row.required("Country Of Sale")
            promoCode = row.textIfAny("Promo Code")
            customerPrice = try row.amount("Customer Price")
            customerCurrency = row.textIfAny("Customer Currency")
        }
    }
}
