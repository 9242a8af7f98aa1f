public import StrictJSON

extension Stripe {
    /// Somebody who pays.
    ///
    /// Read also when deleted, with little left.
    public struct Customer: IdentifiedObject {
        public static let objectName = "customer"

        public let id: String
        /// When Stripe made it; nil if it was deleted.
        public let created: Int64?
        public let email: String?
        public let name: String?
        /// Whether real money is behind it; nil if it was deleted.
        public let livemode: Bool?
        /// The clock it lives by, in tests.
        public let testClock: IDOrObject<TestClock>?
        public let metadata: [String: String]
        /// Whether the customer was deleted; its subscriptions ended at that moment.
        public let isDeleted: Bool
        public let json: JSON

        public init(_ json: JSON) throws(DecodingError) {
            let fields = try Fields(json, of: Self.self)
            id = try fields.string("id")
            created = try fields.optionalInteger("created")
            email = try fields.optionalString("email")
            name = try fields.optionalString("name")
            livemode = try fields.optionalBool("livemode")
            testClock = try fields.optionalReference("test_clock")
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
        public let status: String
        public let json: JSON

        public init(_ json: JSON) throws(DecodingError) {
            let fields = try Fields(json, of: Self.self)
            id = try fields.string("id")
            frozenTime = try fields.integer("frozen_time")
            status = try fields.string("status")
            self.json = json
        }
    }
}
