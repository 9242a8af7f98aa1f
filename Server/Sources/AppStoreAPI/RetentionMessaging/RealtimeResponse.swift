public import Foundation

extension AppStore {
    /// What a customer is shown who is about to cancel: `RealtimeResponseBody`, one of its choices.
    public enum RealtimeResponse: Hashable, Sendable {
        /// A text, with images or without.
        case message(UUID)
        /// Another plan of the same subscription group; the message has no image.
        case alternateProduct(UUID, productID: String, billingPlanType: BillingPlanType? = nil)
        /// A promotional offer, signed for this transaction (version 2); the message has no image.
        case promotionalOffer(UUID, compactJWS: String)

        /// The body, in JSON.
        public var body: [UInt8] {
            func identifier(_ message: UUID) -> (String, JSONText?) {
                ("messageIdentifier", .string(message.uuidString.lowercased()))
            }
            let choice: (String, JSONText?) =
                switch self {
                case .message(let message):
                    ("message", .object([identifier(message)]))
                case .alternateProduct(let message, let productID, let plan):
                    (
                        "alternateProduct",
                        .object([
                            identifier(message), ("productId", .string(productID)),
                            ("billingPlanType", (plan?.rawValue).json),
                        ])
                    )
                case .promotionalOffer(let message, let jws):
                    (
                        "promotionalOffer",
                        .object([
                            identifier(message), ("promotionalOfferSignatureV2", .string(jws)),
                        ])
                    )
                }
            return JSONText.object([choice]).bytes
        }
    }
}
