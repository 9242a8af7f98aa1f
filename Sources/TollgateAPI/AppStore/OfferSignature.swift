import Foundation

extension API {
    /// The body of `POST /v1/app_store/offer_signatures`: a promotional offer for the customer who is
    /// signed in.
    public struct OfferSignatureRequest: Hashable, Codable, Sendable {
        /// The App Store product's id, or the catalog's.
        public var product: String
        /// The offer's id in App Store Connect.
        public var offer: String

        public init(product: String, offer: String) {
            self.product = product
            self.offer = offer
        }
    }

    /// What StoreKit wants beside a promotional offer.
    public struct OfferSignature: Hashable, Codable, Sendable {
        /// The App Store product's id.
        public var product: String
        public var offer: String
        /// The id of the key in App Store Connect.
        public var keyID: String
        /// A lowercase UUID, used once.
        public var nonce: String
        /// UNIX milliseconds; the App Store takes it for a day.
        public var timestamp: Milliseconds
        /// Base64.
        public var signature: String
        /// The customer's token, which is part of what is signed: the purchase must carry it.
        public var appAccountToken: String?

        public init(
            product: String,
            offer: String,
            keyID: String,
            nonce: String,
            timestamp: Milliseconds,
            signature: String,
            appAccountToken: String? = nil
        ) {
            self.product = product
            self.offer = offer
            self.keyID = keyID
            self.nonce = nonce
            self.timestamp = timestamp
            self.signature = signature
            self.appAccountToken = appAccountToken
        }

        private enum CodingKeys: String, CodingKey {
            case product, offer, nonce, timestamp, signature
            case keyID = "key_id"
            case appAccountToken = "app_account_token"
        }
    }
}
