import Foundation

extension API {
    /// The body of `POST /v1/app_store/offer_signatures`: what the app wants to show or redeem.
    public struct OfferSignatureRequest: Hashable, Codable, Sendable {
        /// What a signature is for.
        public enum Kind: String, Hashable, Codable, Sendable, CaseIterable {
            /// A promotional offer of the catalog.
            case promotionalOffer = "promotional_offer"
            /// Whether the customer may have the introductory offer.
            case introductoryOfferEligibility = "introductory_offer_eligibility"
        }

        public var type: Kind
        /// The product's id in the catalog, or its App Store product id.
        public var product: String
        /// The promotional offer's identifier in App Store Connect.
        public var offer: String?
        /// A transaction of the customer's own.
        public var transactionID: String?

        public init(
            type: Kind,
            product: String,
            offer: String? = nil,
            transactionID: String? = nil
        ) {
            self.type = type
            self.product = product
            self.offer = offer
            self.transactionID = transactionID
        }

        private enum CodingKeys: String, CodingKey {
            case type, product, offer
            case transactionID = "transaction_id"
        }
    }

    /// What StoreKit asks for before it redeems an offer: both forms of the signature of a
    /// promotional offer, or the signed word on the introductory one.
    public struct OfferSignature: Hashable, Codable, Sendable {
        public var type: OfferSignatureRequest.Kind
        /// The App Store product id.
        public var productID: String
        /// To be passed on with the purchase, for the signature covers it.
        public var appAccountToken: String
        /// The signature in StoreKit's first form; nil for introductory offers.
        public var promotionalOffer: PromotionalOffer?
        /// The signature in StoreKit's second form: a compact JWS.
        public var compactJWS: String
        /// Whether the customer may have the introductory offer; nil for promotional ones.
        public var allowsIntroductoryOffer: Bool?

        public init(
            type: OfferSignatureRequest.Kind,
            productID: String,
            appAccountToken: String,
            promotionalOffer: PromotionalOffer? = nil,
            compactJWS: String,
            allowsIntroductoryOffer: Bool? = nil
        ) {
            self.type = type
            self.productID = productID
            self.appAccountToken = appAccountToken
            self.promotionalOffer = promotionalOffer
            self.compactJWS = compactJWS
            self.allowsIntroductoryOffer = allowsIntroductoryOffer
        }

        private enum CodingKeys: String, CodingKey {
            case type
            case productID = "product_id"
            case appAccountToken = "app_account_token"
            case promotionalOffer = "promotional_offer"
            case compactJWS = "compact_jws"
            case allowsIntroductoryOffer = "allows_introductory_offer"
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(type, forKey: .type)
            try container.encode(productID, forKey: .productID)
            try container.encode(appAccountToken, forKey: .appAccountToken)
            try container.encode(promotionalOffer, forKey: .promotionalOffer)
            try container.encode(compactJWS, forKey: .compactJWS)
            try container.encode(allowsIntroductoryOffer, forKey: .allowsIntroductoryOffer)
        }

        /// `Product.PurchaseOption.promotionalOffer(offerID:keyID:nonce:signature:timestamp:)`.
        ///
        /// Good for one purchase, within 24 hours.
        public struct PromotionalOffer: Hashable, Codable, Sendable {
            public var offerID: String
            public var keyID: String
            /// A UUID in lower case.
            public var nonce: String
            /// Base64 of a signature in DER.
            public var signature: String
            public var timestamp: Milliseconds

            public init(
                offerID: String,
                keyID: String,
                nonce: String,
                signature: String,
                timestamp: Milliseconds
            ) {
                self.offerID = offerID
                self.keyID = keyID
                self.nonce = nonce
                self.signature = signature
                self.timestamp = timestamp
            }

            private enum CodingKeys: String, CodingKey {
                case nonce, signature, timestamp
                case offerID = "offer_id"
                case keyID = "key_id"
            }
        }
    }
}
