internal import StrictJSON
extension AppStore {
    /// What we tell Apple about a purchase whose refund was asked for (version 2).
    ///
    /// Only with the customer's consent; without it nothing may be sent.
    public struct ConsumptionRequest: Hashable, Sendable {
        /// Whether what was bought was delivered.
        public var deliveryStatus: DeliveryStatus
        /// Whether the customer could try it before.
        public var sampleContentProvided: Bool
        /// The share that was used, 100000 for all; absent for auto-renewable subscriptions.
        public var consumptionPercentage: Int64?
        /// What we would prefer.
        public var refundPreference: RefundPreference?

        /// An answer for a customer who consented.
        public init(
            deliveryStatus: DeliveryStatus,
            sampleContentProvided: Bool,
            consumptionPercentage: Int64? = nil,
            refundPreference: RefundPreference? = nil
        ) {
            self.deliveryStatus = deliveryStatus
            self.sampleContentProvided = sampleContentProvided
            self.consumptionPercentage = consumptionPercentage
            self.refundPreference = refundPreference
        }

        var json: JSONText {
            .object([
                ("customerConsented", .bool(true)),
                ("consumptionPercentage", consumptionPercentage.json),
                ("deliveryStatus", .string(deliveryStatus.rawValue)),
                ("refundPreference", (refundPreference?.rawValue).json),
                ("sampleContentProvided", .bool(sampleContentProvided)),
            ])
        }

        /// Whether what was bought was delivered.
        public enum DeliveryStatus: String, Hashable, Sendable {
            case delivered = "DELIVERED"
            case undeliveredQualityIssue = "UNDELIVERED_QUALITY_ISSUE"
            case undeliveredWrongItem = "UNDELIVERED_WRONG_ITEM"
            case undeliveredServerOutage = "UNDELIVERED_SERVER_OUTAGE"
            case undeliveredOther = "UNDELIVERED_OTHER"
        }

        /// What we would prefer.
        public enum RefundPreference: String, Hashable, Sendable {
            case decline = "DECLINE"
            case grantFull = "GRANT_FULL"
            case grantProrated = "GRANT_PRORATED"
        }
    }
}
