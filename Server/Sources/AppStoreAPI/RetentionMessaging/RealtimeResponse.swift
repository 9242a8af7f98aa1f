internal import StrictJSON
public import Foundation

extension AppStore {
    /// The reply to a realtime request, `RealtimeResponseBody`: one of the choices that a customer
    /// who is about to cancel can be shown.
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
