public import StrictJSON

extension Stripe {
    /// What is in the account's balance right now: the sum of all that its transactions did to it.
    ///
    /// https://docs.stripe.com/api/balance/balance_object
    public struct Balance: Object {
        public static let objectName = "balance"

        /// What can be paid out, by currency (ISO 4217 in lower case), in minor units.
        public let available: [String: Int64]
        /// What cannot yet.
        public let pending: [String: Int64]
        /// Whether real money is behind it.
        public let livemode: Bool
        public let json: JSON

        public init(_ json: JSON) throws(DecodingError) {
            let fields = try Fields(json, of: Self.self)
            available = try fields.amounts("available")
            pending = try fields.amounts("pending")
            livemode = try fields.bool("livemode")
            self.json = json
        }

        /// Both together.
        public var total: [String: Int64] {
            available.merging(pending) { $0.addingReportingOverflow($1).partialValue }
        }
    }
}

extension Fields {
    /// A list of amounts of different currencies.
    fileprivate func amounts(
        _ field: StaticString
    ) throws(Stripe.DecodingError) -> [String: Int64] {
        guard let list = value(field), list.kind == .array else { throw error(field, "a list") }
        var amounts: [String: Int64] = [:]
        for element in list.elements {
            let fields = try Fields(element, of: "\(object).\(field)")
            amounts[try fields.string("currency"), default: 0] &+= try fields.integer("amount")
        }
        return amounts
    }
}
