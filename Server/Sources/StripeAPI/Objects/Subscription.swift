public import StrictJSON

extension Stripe {
    /// A plan that renews.
    public struct Subscription: IdentifiedObject {
        public static let objectName = "subscription"

        public let id: String
        public let status: Status
        public let customer: IDOrObject<Customer>
        /// At most the first page.
        public let items: List<SubscriptionItem>
        /// When it will end.
        public let cancelAt: Int64?
        /// Whether it ends with its period.
        ///
        /// With flexible billing the portal sets only `cancelAt`.
        public let cancelAtPeriodEnd: Bool
        /// When it ended.
        public let endedAt: Int64?
        /// `charge_automatically` or `send_invoice`.
        public let collectionMethod: String?
        /// How many days an invoice that is sent may stay unpaid.
        public let daysUntilDue: Int64?
        /// The clock it lives by, in tests.
        public let testClock: IDOrObject<TestClock>?
        /// Whether real money is behind it.
        public let livemode: Bool
        public let json: JSON

        public init(_ json: JSON) throws(DecodingError) {
            let fields = try Fields(json, of: Self.self)
            id = try fields.string("id")
            status = try fields.word("status")
            customer = try fields.reference("customer")
            items = try fields.list("items")
            cancelAt = try fields.optionalInteger("cancel_at")
            cancelAtPeriodEnd = try fields.bool("cancel_at_period_end")
            endedAt = try fields.optionalInteger("ended_at")
            collectionMethod = try fields.optionalString("collection_method")
            daysUntilDue = try fields.optionalInteger("days_until_due")
            testClock = try fields.optionalReference("test_clock")
            livemode = try fields.bool("livemode")
            self.json = json
        }

        /// Whether a subscription schedule changes it later.
        public var hasSchedule: Bool { json["schedule"].map { !$0.isNull } ?? false }

        /// `true` while collection is paused: its invoices are voided, kept as drafts or written off.
        ///
        /// https://docs.stripe.com/billing/subscriptions/pause-payment
        public var pausesCollection: Bool {
            json["pause_collection"].map { !$0.isNull } ?? false
        }

        /// Whether a coupon of its own applies; one of the customer is in the customer's object only.
        ///
        /// `discounts` since 2024-04-10, `discount` in older versions.
        public var hasDiscounts: Bool {
            json["discounts"]?.hasElements ?? false
                || json["discount"].map { !$0.isNull } ?? false
        }

        /// Whether Stripe Tax or a tax rate may add a tax.
        public var mayAddTax: Bool {
            json["automatic_tax"]?["enabled"]?.bool ?? false
                || json["default_tax_rates"]?.hasElements ?? false
        }

        /// Where in its life it is.
        public struct Status: OpenEnum {
            public let rawValue: String
            public init(rawValue: String) { self.rawValue = rawValue }

            public static let incomplete = Self(rawValue: "incomplete")
            public static let incompleteExpired = Self(rawValue: "incomplete_expired")
            public static let trialing = Self(rawValue: "trialing")
            public static let active = Self(rawValue: "active")
            public static let pastDue = Self(rawValue: "past_due")
            public static let canceled = Self(rawValue: "canceled")
        }

        /// The period of an item.
        ///
        /// Since `basil` each item has its own; before, the subscription had one for all.
        public func currentPeriod(of item: SubscriptionItem) -> Range<Int64>? {
            let start = item.currentPeriodStart ?? json["current_period_start"]?.int64
            let end = item.currentPeriodEnd ?? json["current_period_end"]?.int64
            guard let start, let end, start <= end else { return nil }
            return start..<end
        }
    }

    /// One product within a subscription.
    public struct SubscriptionItem: IdentifiedObject {
        public static let objectName = "subscription_item"

        public let id: String
        public let price: Price
        public let quantity: Int64?
        public let created: Int64?
        /// Nil before `basil`; see ``Subscription/currentPeriod(of:)``.
        public let currentPeriodStart: Int64?
        /// Nil before `basil`.
        public let currentPeriodEnd: Int64?
        public let json: JSON

        public init(_ json: JSON) throws(DecodingError) {
            let fields = try Fields(json, of: Self.self)
            id = try fields.string("id")
            price = try fields.object("price")
            quantity = try fields.optionalInteger("quantity")
            created = try fields.optionalInteger("created")
            currentPeriodStart = try fields.optionalInteger("current_period_start")
            currentPeriodEnd = try fields.optionalInteger("current_period_end")
            self.json = json
        }

        /// Whether a coupon of its own applies.
        public var hasDiscounts: Bool { json["discounts"]?.hasElements ?? false }

        /// Whether it has tax rates of its own.
        public var hasTaxRates: Bool { json["tax_rates"]?.hasElements ?? false }
    }
}

extension JSON {
    /// `true` for a list that is not empty.
    fileprivate var hasElements: Bool { kind == .array && count ?? 0 > 0 }
}
