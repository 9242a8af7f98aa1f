import StrictJSON

extension GooglePlay {
    /// `OrdersReviewRefundRequest`: how much of a disputed purchase was used.
    public struct RefundReview: Hashable, Sendable {
        /// From the notification.
        public var pendingRefundToken: String
        /// `true` where the app gives a sample or trial of its content.
        public var sampleContentProvided: Bool
        public var preference: Preference
        /// The used share, in thousandths of a per cent: 0 to 100,000.
        public var consumedMilliunits: Int64?
        /// The uses, with their times; at most 1,000.
        public var usage: [Usage]

        public init(
            pendingRefundToken: String,
            sampleContentProvided: Bool = false,
            preference: Preference,
            consumedMilliunits: Int64?,
            usage: [Usage] = []
        ) {
            self.pendingRefundToken = pendingRefundToken
            self.sampleContentProvided = sampleContentProvided
            self.preference = preference
            self.consumedMilliunits = consumedMilliunits
            self.usage = usage
        }

        /// `refundPreference`.
        public enum Preference: String, Hashable, Sendable {
            case decline = "DECLINE"
            case approve = "APPROVE"
            case neutral = "NEUTRAL"
        }

        /// `consumptionUsageEvents`.
        public struct Usage: Hashable, Sendable {
            /// UNIX milliseconds.
            public var time: Int64
            /// At most 5,000 characters.
            public var description: String
            public var obfuscatedAccountID: String?

            public init(time: Int64, description: String, obfuscatedAccountID: String?) {
                self.time = time
                self.description = description
                self.obfuscatedAccountID = obfuscatedAccountID
            }
        }

        var json: JSONText {
            let events = usage.prefix(1_000).map { event in
                JSONText.object([
                    ("consumptionTime", .string(Timestamp.text(of: event.time))),
                    (
                        "consumptionItemDescription",
                        .string(String(event.description.prefix(5_000)))
                    ),
                    ("obfuscatedAccountId", event.obfuscatedAccountID.map(JSONText.string)),
                ])
            }
            return .object([
                ("pendingRefundToken", .string(pendingRefundToken)),
                ("sampleContentProvided", .bool(sampleContentProvided)),
                ("refundPreference", .string(preference.rawValue)),
                (
                    "consumptionPercentageMilliunits",
                    consumedMilliunits.map { .integer(min(100_000, max(0, $0))) }
                ),
                ("consumptionUsageEvents", events.isEmpty ? nil : .list(events)),
            ])
        }
    }
}
