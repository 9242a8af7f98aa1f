public import StrictJSON

extension Stripe {
    /// Somebody who pays.
    ///
    /// Read also when deleted, with little left.
    public struct Customer: IdentifiedObject {
        public static let objectName = "customer"

        public let id: String
        public let email: String?
        public let metadata: [String: String]
        /// Whether the customer was deleted; its subscriptions ended at that moment.
        public let isDeleted: Bool
        public let json: JSON

        public init(_ json: JSON) throws(DecodingError) {
            let fields = try Fields(json, of: Self.self)
            id = try fields.string("id")
            email = try fields.optionalString("email")
            metadata = try fields.metadata()
            isDeleted = try fields.optionalBool("deleted") ?? false
            self.json = json
        }
    }

    /// A clock of a sandbox, which only tests move.
    public struct TestClock: IdentifiedObject {
        public static let objectName = "test_helpers.test_clock"

        public let id: String
        /// The present on this clock.
        public let frozenTime: Int64
        public let json: JSON

        public init(_ json: JSON) throws(DecodingError) {
            let fields = try Fields(json, of: Self.self)
            id = try fields.string("id")
            frozenTime = try fields.integer("frozen_time")
            self.json = json
        }
    }
}
