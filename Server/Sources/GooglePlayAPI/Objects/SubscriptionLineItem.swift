extension GooglePlay {
    /// One product of a subscription purchase: `SubscriptionPurchaseLineItem`.
    public struct SubscriptionLineItem: Hashable, Sendable {
        public let productID: String
        /// The end of access; absent for an item whose start is deferred.
        public let expiryTime: Int64?
        /// The newest order that was paid; absent while the item is not owned yet.
        public let latestSuccessfulOrderID: String?
        public let basePlanID: String?
        public let offerID: String?
        /// The phase of its offer that runs now.
        public let phase: Phase?
        /// The terms of renewal; `nil` for a prepaid plan.
        public let autoRenewingPlan: AutoRenewingPlan?
        /// Present for a prepaid plan: the time from which it may be topped up.
        public let prepaid: Prepaid?
        /// The product that takes this one's place at its end.
        public let deferredReplacementProductID: String?
        /// `true` where the item is removed at its end.
        public let isRemovalDeferred: Bool
        /// The product that this one replaced; Google tells it for 60 days.
        public let replaced: Replacement?

        init(_ fields: Fields) throws(DecodingError) {
            productID = try fields.string("productId")
            expiryTime = try fields.optionalTime("expiryTime")
            latestSuccessfulOrderID = try fields.optionalString("latestSuccessfulOrderId")
            let offer = try fields.optional("offerDetails") { offer throws(DecodingError) in
                (try offer.optionalString("basePlanId"), try offer.optionalString("offerId"))
            }
            basePlanID = offer?.0
            offerID = offer?.1
            phase =
                try fields.optional("offerPhase") { phase throws(DecodingError) in
                    Phase(phase)
                } ?? nil
            autoRenewingPlan = try fields.optional("autoRenewingPlan") {
                plan throws(DecodingError) in try AutoRenewingPlan(plan)
            }
            prepaid = try fields.optional("prepaidPlan") { plan throws(DecodingError) in
                Prepaid(allowExtendAfterTime: try plan.optionalTime("allowExtendAfterTime"))
            }
            deferredReplacementProductID =
                try fields.optional("deferredItemReplacement") {
                    item throws(DecodingError) in try item.optionalString("productId")
                } ?? nil
            isRemovalDeferred = fields.has("deferredItemRemoval")
            replaced = try fields.optional("itemReplacement") { item throws(DecodingError) in
                try Replacement(item)
            }
        }

        /// `offerPhase`.
        public enum Phase: Hashable, Sendable {
            case basePrice, freeTrial, introductoryPrice, prorationPeriod

            // An order names them with ‘Details’ behind.
            init?(_ fields: Fields) {
                if fields.has("freeTrial") || fields.has("freeTrialDetails") {
                    self = .freeTrial
                } else if fields.has("introductoryPrice") || fields.has("introductoryPriceDetails")
                {
                    self = .introductoryPrice
                } else if fields.has("prorationPeriod") || fields.has("prorationPeriodDetails") {
                    self = .prorationPeriod
                } else if fields.has("basePrice") || fields.has("baseDetails") {
                    self = .basePrice
                } else {
                    return nil
                }
            }
        }

        /// `prepaidPlan`.
        public struct Prepaid: Hashable, Sendable {
            public let allowExtendAfterTime: Int64?
        }

        /// `itemReplacement`.
        public struct Replacement: Hashable, Sendable {
            public let productID: String?
            public let basePlanID: String?
            public let mode: Mode?

            init(_ fields: Fields) throws(DecodingError) {
                productID = try fields.optionalString("productId")
                basePlanID = try fields.optionalString("basePlanId")
                mode = try fields.word("replacementMode")
            }

            /// `replacementMode`.
            public struct Mode: OpenEnum {
                public let rawValue: String
                public init(rawValue: String) { self.rawValue = rawValue }

                public static let withTimeProration = Self(rawValue: "WITH_TIME_PRORATION")
                public static let chargeProratedPrice = Self(rawValue: "CHARGE_PRORATED_PRICE")
                public static let withoutProration = Self(rawValue: "WITHOUT_PRORATION")
                public static let chargeFullPrice = Self(rawValue: "CHARGE_FULL_PRICE")
                public static let deferred = Self(rawValue: "DEFERRED")
                public static let keepExisting = Self(rawValue: "KEEP_EXISTING")
            }
        }

        /// `autoRenewingPlan`.
        public struct AutoRenewingPlan: Hashable, Sendable {
            /// `true` where it renews; Google leaves out `false`.
            public let autoRenewEnabled: Bool
            /// The price of a period, without discount and tax.
            public let recurringPrice: Money?
            public let priceChange: PriceChange?
            /// A higher price after a trial or an introductory price, to which the buyer has to agree.
            public let stepUp: PriceStepUp?
            /// Payments that an instalment plan still commits to; `nil` for other plans.
            public let remainingCommittedPayments: Int64?
            /// `true` where an instalment plan ends after its committed payments.
            public let isCancellationPending: Bool

            init(_ fields: Fields) throws(DecodingError) {
                autoRenewEnabled = try fields.bool("autoRenewEnabled")
                recurringPrice = try fields.money("recurringPrice")
                priceChange = try fields.optional("priceChangeDetails") {
                    change throws(DecodingError) in try PriceChange(change)
                }
                stepUp = try fields.optional("priceStepUpConsentDetails") {
                    step throws(DecodingError) in try PriceStepUp(step)
                }
                let installments = try fields.optional("installmentDetails") {
                    plan throws(DecodingError) in
                    (
                        try plan.optionalInteger("remainingCommittedPaymentsCount") ?? 0,
                        plan.has("pendingCancellation")
                    )
                }
                remainingCommittedPayments = installments?.0
                isCancellationPending = installments?.1 ?? false
            }
        }

        /// `priceChangeDetails`.
        public struct PriceChange: Hashable, Sendable {
            public let newPrice: Money?
            /// `PRICE_DECREASE`, `PRICE_INCREASE` or `OPT_OUT_PRICE_INCREASE`.
            public let mode: String?
            /// `OUTSTANDING`, `CONFIRMED`, `APPLIED` or `CANCELED`.
            public let state: String?
            public let expectedChargeTime: Int64?

            init(_ fields: Fields) throws(DecodingError) {
                newPrice = try fields.money("newPrice")
                mode = try fields.optionalString("priceChangeMode")
                state = try fields.optionalString("priceChangeState")
                expectedChargeTime = try fields.optionalTime("expectedNewPriceChargeTime")
            }
        }

        /// `priceStepUpConsentDetails`, in South Korea.
        public struct PriceStepUp: Hashable, Sendable {
            public let newPrice: Money?
            /// `PENDING`, `CONFIRMED` or `COMPLETED`.
            public let state: String?
            /// The time by which the buyer has to agree, in UNIX milliseconds.
            public let deadline: Int64?

            init(_ fields: Fields) throws(DecodingError) {
                newPrice = try fields.money("newPrice")
                state = try fields.optionalString("state")
                deadline = try fields.optionalTime("consentDeadlineTime")
            }
        }
    }
}
