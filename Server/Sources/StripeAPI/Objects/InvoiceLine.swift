public import StrictJSON

extension Stripe {
    /// One line of an invoice: a period of one item, a proration, or something bought once.
    public struct InvoiceLine: IdentifiedObject {
        public static let objectName = "line_item"

        public let id: String
        /// Negative for a credit.
        public let amount: Int64
        public let quantity: Int64?
        /// What the line is for: [start, end) in UNIX seconds.
        ///
        /// The two are equal for what was bought once.
        public let period: Range<Int64>
        /// The id of the price.
        public let price: String?
        /// The id of the item of that subscription.
        public let subscriptionItem: String?
        /// Whether it only corrects for a change in the middle of a period.
        public let isProration: Bool
        /// What discounts take off `amount`, together; nil where the line does not say.
        public let discountAmount: Int64?
        /// The tax on top of `amount`; what is included in the price is none of it.
        public let exclusiveTax: Int64
        public let json: JSON

        public init(_ json: JSON) throws(DecodingError) {
            let fields = try Fields(json, of: Self.self)
            id = try fields.string("id")
            amount = try fields.integer("amount")
            quantity = try fields.optionalInteger("quantity")
            guard let periodFields = try fields.optionalFields("period") else {
                throw fields.error("period", "an object")
            }
            let start = try periodFields.integer("start")
            let end = try periodFields.integer("end")
            guard start <= end else { throw fields.error("period", "in order") }
            period = start..<end
            // `pricing` and `parent` since `basil`; `price`, `proration` and the rest before.
            let pricing = try fields.optionalFields("pricing")
            let details = try pricing?.optionalFields("price_details")
            let oldPrice: IDOrObject<Price>? = try fields.optionalReference("price")
            let newPrice: IDOrObject<Price>? = try details?.optionalReference("price")
            price = newPrice?.id ?? oldPrice?.id
            let parent = try fields.optionalFields("parent")
            let planned = try parent?.optionalFields("subscription_item_details")
            let single = try parent?.optionalFields("invoice_item_details")
            let source = planned ?? single ?? fields
            subscriptionItem = try source.optionalString("subscription_item")
            isProration = try source.optionalBool("proration") ?? false
            discountAmount = try fields.optionalSum("discount_amounts") { _ in true }
            // `taxes` since `basil`; `tax_amounts` before.
            let taxes = try fields.optionalSum("taxes") { tax throws(DecodingError) in
                try tax.optionalString("tax_behavior") == "exclusive"
            }
            let oldTaxes = try fields.optionalSum("tax_amounts") { tax throws(DecodingError) in
                try tax.optionalBool("inclusive") == false
            }
            exclusiveTax = taxes ?? oldTaxes ?? 0
            self.json = json
        }
    }
}

extension Fields {
    /// The sum of `amount` over those elements of a list that `counts` picks; nil without a list.
    fileprivate func optionalSum(
        _ field: StaticString,
        _ counts: (Fields) throws(Stripe.DecodingError) -> Bool
    ) throws(Stripe.DecodingError) -> Int64? {
        guard let list = value(field) else { return nil }
        guard list.kind == .array else { throw error(field, "a list") }
        var sum: Int64 = 0
        for element in list.elements {
            let fields = try Fields(element, of: "\(object).\(field)")
            guard try counts(fields) else { continue }
            let (next, overflow) = sum.addingReportingOverflow(try fields.integer("amount"))
            guard !overflow else { throw error(field, "amounts that can be added") }
            sum = next
        }
        return sum
    }
}
