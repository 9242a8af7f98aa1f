public import StrictJSON

extension GooglePlay {
    /// `SubscriptionPurchaseV2`: the present state of one purchase token of a subscription.
    ///
    /// It carries no version; the moment of the read is the only one there is.
    public struct SubscriptionPurchase: Hashable, Sendable {
        public let state: State
        /// One for each product: several where the subscription has add-ons, or where a change of plan
        /// is deferred.
        public let lineItems: [SubscriptionLineItem]
        /// The start of the subscription; absent while the payment is pending.
        public let startTime: Int64?
        /// The token that this one replaces: of a change of plan, a top-up or a re-signup.
        public let linkedPurchaseToken: String?
        public let acknowledgementState: AcknowledgementState?
        /// The account that the app named at the purchase: `obfuscatedExternalAccountId`.
        public let obfuscatedAccountID: String?
        public let obfuscatedProfileID: String?
        /// Present where the subscription was bought in Play after an earlier one expired.
        ///
        /// Google leaves it out once the purchase is acknowledged.
        public let outOfAppPurchase: OutOfAppPurchase?
        /// The cause of its end; present in the states canceled and expired.
        public let cancellation: Cancellation?
        /// The time at which a paused subscription resumes by itself.
        public let autoResumeTime: Int64?
        /// The order whose payment failed; present in grace period and account hold.
        public let pendingOrderID: String?
        /// The payer's country, ISO 3166-1 alpha-2.
        public let regionCode: String?
        /// `true` for a purchase by a licence tester: no money is behind it.
        public let isTest: Bool
        /// Opaque; a deferral must name the newest one.
        public let etag: String?
        public let json: JSON

        public init(_ json: JSON) throws(DecodingError) {
            let fields = try Fields(json, "SubscriptionPurchaseV2")
            guard let state: State = try fields.word("subscriptionState") else {
                throw fields.error("subscriptionState", "a state")
            }
            self.state = state
            lineItems = try fields.list("lineItems") { item throws(DecodingError) in
                try SubscriptionLineItem(item)
            }
            startTime = try fields.optionalTime("startTime")
            linkedPurchaseToken = try fields.optionalString("linkedPurchaseToken")
            acknowledgementState = try fields.word("acknowledgementState")
            let account = try fields.optional("externalAccountIdentifiers") {
                account throws(DecodingError) in try AccountIdentifiers(account)
            }
            obfuscatedAccountID = account?.account
            obfuscatedProfileID = account?.profile
            outOfAppPurchase = try fields.optional("outOfAppPurchaseContext") {
                context throws(DecodingError) in try OutOfAppPurchase(context)
            }
            cancellation = try fields.optional("canceledStateContext") {
                context throws(DecodingError) in try Cancellation(context)
            }
            autoResumeTime =
                try fields.optional("pausedStateContext") {
                    context throws(DecodingError) in try context.optionalTime("autoResumeTime")
                } ?? nil
            let inGrace = try Self.pendingOrder(fields, "inGracePeriodStateContext")
            let onHold = try Self.pendingOrder(fields, "onHoldStateContext")
            pendingOrderID = inGrace ?? onHold
            regionCode = try fields.optionalString("regionCode")
            isTest = fields.has("testPurchase")
            etag = try fields.optionalString("etag")
            self.json = json
        }

        private static func pendingOrder(
            _ fields: Fields,
            _ context: StaticString
        ) throws(DecodingError) -> String? {
            let declined = try fields.optional(context) { context throws(DecodingError) in
                try context.optional("renewalDeclined") { declined throws(DecodingError) in
                    try declined.optionalString("pendingOrderId")
                }
            }
            return declined??.flatMap(\.self)
        }

        /// `subscriptionState`.
        public struct State: OpenEnum {
            public let rawValue: String
            public init(rawValue: String) { self.rawValue = rawValue }

            public static let pending = Self(rawValue: "SUBSCRIPTION_STATE_PENDING")
            public static let active = Self(rawValue: "SUBSCRIPTION_STATE_ACTIVE")
            public static let paused = Self(rawValue: "SUBSCRIPTION_STATE_PAUSED")
            public static let inGracePeriod = Self(rawValue: "SUBSCRIPTION_STATE_IN_GRACE_PERIOD")
            public static let onHold = Self(rawValue: "SUBSCRIPTION_STATE_ON_HOLD")
            public static let canceled = Self(rawValue: "SUBSCRIPTION_STATE_CANCELED")
            public static let expired = Self(rawValue: "SUBSCRIPTION_STATE_EXPIRED")
            public static let pendingPurchaseCanceled = Self(
                rawValue: "SUBSCRIPTION_STATE_PENDING_PURCHASE_CANCELED"
            )
        }

        /// `canceledStateContext`: who cancelled.
        public enum Cancellation: Hashable, Sendable {
            /// The user, at this time.
            case user(at: Int64?)
            /// Google, for example because payments failed.
            case system
            /// The developer.
            case developer
            /// Another subscription took its place.
            case replacement
            /// A context that Google added later.
            case unknown

            init(_ fields: Fields) throws(DecodingError) {
                let byUser = try fields.optional("userInitiatedCancellation") {
                    user throws(DecodingError) in try user.optionalTime("cancelTime")
                }
                self =
                    if let byUser {
                        .user(at: byUser)
                    } else if fields.has("systemInitiatedCancellation") {
                        .system
                    } else if fields.has("developerInitiatedCancellation") {
                        .developer
                    } else if fields.has("replacementCancellation") {
                        .replacement
                    } else {
                        .unknown
                    }
            }
        }

        /// `outOfAppPurchaseContext`: the expired subscription that the buyer resubscribed to.
        public struct OutOfAppPurchase: Hashable, Sendable {
            public let expiredPurchaseToken: String?
            public let expiredObfuscatedAccountID: String?

            init(_ fields: Fields) throws(DecodingError) {
                expiredPurchaseToken = try fields.optionalString("expiredPurchaseToken")
                expiredObfuscatedAccountID =
                    try fields.optional("expiredExternalAccountIdentifiers") {
                        account throws(DecodingError) in try AccountIdentifiers(account)
                    }?.account
            }
        }

        private struct AccountIdentifiers {
            let account: String?
            let profile: String?

            init(_ fields: Fields) throws(DecodingError) {
                account = try fields.optionalString("obfuscatedExternalAccountId")
                profile = try fields.optionalString("obfuscatedExternalProfileId")
            }
        }
    }

    /// `acknowledgementState` of a purchase.
    public struct AcknowledgementState: OpenEnum {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let pending = Self(rawValue: "ACKNOWLEDGEMENT_STATE_PENDING")
        public static let acknowledged = Self(rawValue: "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED")
    }
}
