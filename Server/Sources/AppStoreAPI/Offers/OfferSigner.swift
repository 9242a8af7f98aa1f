internal import StrictJSON
import Crypto
public import Foundation

extension AppStore {
    /// Issues the signatures by which an app may redeem offers.
    ///
    /// Nonces and times come from outside; each nonce is good for one attempt to buy.
    public struct OfferSigner: Sendable {
        private let key: APIKey
        private let bundleID: String

        /// - Parameters:
        ///   - key: An "In-App Purchase" key of App Store Connect; the one of the Server API does.
        ///   - bundleID: The app.
        public init(key: APIKey, bundleID: String) {
            self.key = key
            self.bundleID = bundleID
        }

        /// A promotional offer, signed in the first form (StoreKit from iOS 12.2 on).
        ///
        /// - Parameters:
        ///   - applicationUsername: The `appAccountToken` or the `applicationUsername` with which
        ///     the app will buy; empty for none.
        ///   - timestamp: UNIX milliseconds by the wall clock; good for 24 hours from then.
        public func promotionalOffer(
            productID: String,
            offerID: String,
            applicationUsername: String,
            nonce: UUID,
            timestamp: Int64
        ) throws -> PromotionalOfferSignature {
            let parts = [
                bundleID, key.keyID, productID, offerID, applicationUsername.lowercased(),
                nonce.uuidString.lowercased(), String(timestamp),
            ]
            let text = parts.joined(separator: "\u{2063}")
            let signature = try key.privateKey.signature(for: Data(text.utf8))
            return PromotionalOfferSignature(
                keyID: key.keyID,
                nonce: nonce,
                timestamp: timestamp,
                signature: signature.derRepresentation.base64EncodedString()
            )
        }

        /// A promotional offer, signed in the second form: a JWS.
        ///
        /// - Parameters:
        ///   - transactionID: Any transaction of the customer, or the `appTransactionId`; with it
        ///     only this customer can redeem the offer.
        ///   - issuedAt: UNIX seconds by the wall clock.
        public func promotionalOfferJWS(
            productID: String,
            offerID: String,
            transactionID: String? = nil,
            nonce: UUID,
            issuedAt: Int64
        ) throws -> String {
            try jws(
                audience: "promotional-offer",
                [
                    ("productId", .string(productID)), ("offerIdentifier", .string(offerID)),
                    ("transactionId", transactionID.json),
                ],
                nonce: nonce,
                issuedAt: issuedAt
            )
        }

        /// Whether a customer may have the introductory offer, signed.
        ///
        /// - Parameters:
        ///   - transactionID: Any transaction of the customer, or the `appTransactionId`.
        ///   - issuedAt: UNIX seconds by the wall clock.
        public func introductoryOfferEligibilityJWS(
            productID: String,
            allowsIntroductoryOffer: Bool,
            transactionID: String,
            nonce: UUID,
            issuedAt: Int64
        ) throws -> String {
            try jws(
                audience: "introductory-offer-eligibility",
                [
                    ("productId", .string(productID)),
                    ("allowIntroductoryOffer", .bool(allowsIntroductoryOffer)),
                    ("transactionId", .string(transactionID)),
                ],
                nonce: nonce,
                issuedAt: issuedAt
            )
        }

        /// These tokens carry no `exp`; their nonce ends them.
        private func jws(
            audience: String,
            _ claims: [(String, JSONText?)],
            nonce: UUID,
            issuedAt: Int64
        ) throws -> String {
            try key.jws(
                [
                    ("iss", .string(key.issuerID)), ("iat", .integer(issuedAt)),
                    ("aud", .string(audience)), ("bid", .string(bundleID)),
                    ("nonce", .string(nonce.uuidString.lowercased())),
                ] + claims
            )
        }
    }

    /// What `Product.PurchaseOption.promotionalOffer` and `SKPaymentDiscount` take.
    public struct PromotionalOfferSignature: Hashable, Sendable {
        public var keyID: String
        public var nonce: UUID
        /// UNIX milliseconds.
        public var timestamp: Int64
        /// Base64 of an ECDSA signature in DER.
        public var signature: String
    }
}
