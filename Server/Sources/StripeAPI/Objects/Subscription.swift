public import StrictJSON

extension Stripe {
    /// A plan that renews.
    public struct Subscription: IdentifiedObject {
        public static let objectName = "subscription"

        public let id: String
        /// When Stripe made it.
        public let created: Int64
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
        /// When it was cancelled; that may be long before it ends.
        public let canceledAt: Int64?
        /// When it ended.
        public let endedAt: Int64?
        /// When it began.
        public let startDate: Int64?
        public let trialStart: Int64?
        public let trialEnd: Int64?
        /// What its periods are counted from.
        public let billingCycleAnchor: Int64?
        public let latestInvoice: IDOrObject<Invoice>?
        /// `charge_automatically` or `send_invoice`.
        public let collectionMethod: String?
        /// How many days an invoice that is sent may stay unpaid.
        public let daysUntilDue: Int64?
        /// Set while no money is collected; the status stays.
        public let pauseCollection: PauseCollection?
        /// The clock it lives by, in tests.
        public let testClock: IDOrObject<TestClock>?
        /// Whether real money is behind it.
        public let livemode: Bool
        public let metadata: [String: String]
        /// Why it was cancelled: `payment_failed`, `cancellation_requested`, ….
        public let cancellationReason: String?
        public let json: JSON

        public init(_ json: JSON) throws(DecodingError) {
            let fields = try Fields(json, of: Self.self)
            id = try fields.string("id")
            created = try fields.integer("created")
            status = try fields.word("status")
            customer = try fields.reference("customer")
            items = try fields.list("items")
            cancelAt = try fields.optionalInteger("cancel_at")
            cancelAtPeriodEnd = try fields.bool("cancel_at_period_end")
            canceledAt = try fields.optionalInteger("canceled_at")
            endedAt = try fields.optionalInteger("ended_at")
            startDate = try fields.optionalInteger("start_date")
            trialStart = try fields.optionalInteger("trial_start")
            trialEnd = try fields.optionalInteger("trial_end")
            billingCycleAnchor = try fields.optionalInteger("billing_cycle_anchor")
            latestInvoice = try fields.optionalReference("latest_invoice")
            collectionMethod = try fields.optionalString("collection_method")
            daysUntilDue = try fields.optionalInteger("days_until_due")
            pauseCollection = try fields.optionalObject("pause_collection")
            testClock = try fields.optionalReference("test_clock")
            livemode = try fields.bool("livemode")
            metadata = try fields.metadata()
            cancellationReason = try fields.optionalFields("cancellation_details")?
                .optionalString("reason")
            self.json = json
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
            public static let unpaid = Self(rawValue: "unpaid")
            public static let paused = Self(rawValue: "paused")
            public static let canceled = Self(rawValue: "canceled")
        }

        /// How invoices are treated while no money is collected.
        public struct PauseCollection: Object {
            public static let objectName = "subscription.pause_collection"

            /// `void`, `keep_as_draft` or `mark_uncollectible`.
            public let behavior: String
            /// When collection resumes; nil for never by itself.
            public let resumesAt: Int64?
            public let json: JSON

            public init(_ json: JSON) throws(DecodingError) {
                let fields = try Fields(json, of: Self.objectName)
                behavior = try fields.string("behavior")
                resumesAt = try fields.optionalInteger("resumes_at")
                self.json = json
            }
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
        public let subscription: String?
        public let metadata: [String: String]
        public let json: JSON

        public init(_ json: JSON) throws(DecodingError) {
            let fields = try Fields(json, of: Self.self)
            id = try fields.string("id")
            price = try fields.object("price")
            quantity = try fields.optionalInteger("quantity")
            created = try fields.optionalInteger("created")
            currentPeriodStart = try fields.optionalInteger("current_period_start")
            currentPeriodEnd = try fields.optionalInteger("current_period_end")
            subscription = try fields.optionalString("subscription")
            metadata = try fields.metadata()
            self.json = json
        }
    }
}
