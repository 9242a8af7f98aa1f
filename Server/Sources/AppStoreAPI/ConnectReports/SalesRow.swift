extension AppStore {
    /// A line of SALES: units of one product sold in one country at one price.
    ///
    /// Of a refund, units and price are negative and the proceeds positive.
    public struct SalesRow: Hashable, Codable, Sendable {
        public var sku: String
        public var title: String
        /// Apple's code of it, as `IAY` for an auto-renewable.
        public var productType: String
        public var units: Int64
        /// Per unit.
        public var developerProceeds: ReportAmount
        public var proceedsCurrency: String?
        /// What the customer paid per unit, with tax.
        public var customerPrice: ReportAmount
        public var customerCurrency: String?
        public var beginDate: ReportDay
        public var endDate: ReportDay
        /// ISO 3166-1 alpha-2.
        public var country: String
        /// The product's number.
        public var appleID: String
        public var parentIdentifier: String?
        /// `New` or `Renewal`, of auto-renewables.
        public var subscription: String?
        public var period: String?
        public var promoCode: String?
        public var device: String?
        /// `Rate After One Year`, or nothing.
        public var proceedsReason: String?
        public var preservedPricing: String?
        public var client: String?
        public var orderType: String?

        init(_ row: TabularReport.Row) throws(ConnectReportError) {
            sku = try row.required("SKU")
            title = try row.text("Title") ?? ""
            productType = try row.required("Product Type Identifier")
            units = try row.count("Units")
            developerProceeds = try row.amount("Developer Proceeds")
            proceedsCurrency = try row.text("Currency of Proceeds")
            customerPrice = try row.amount("Customer Price")
            customerCurrency = try row.text("Customer Currency")
            beginDate = try row.day("Begin Date")
            endDate = try row.day("End Date")
            country = try row.text("Country Code") ?? ""
            appleID = try row.text("Apple Identifier") ?? ""
            parentIdentifier = row.textIfAny("Parent Identifier")
            subscription = row.textIfAny("Subscription")
            period = row.textIfAny("Period")
            promoCode = row.textIfAny("Promo Code")
            device = row.textIfAny("Device")
            proceedsReason = row.textIfAny("Proceeds Reason")
            preservedPricing = row.textIfAny("Preserved Pricing")
            client = row.textIfAny("Client")
            orderType = row.textIfAny("Order Type")
        }
    }
}
