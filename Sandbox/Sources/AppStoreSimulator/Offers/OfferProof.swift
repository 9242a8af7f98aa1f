extension SimulatedAppStore {
    /// What the app hands to StoreKit with a purchase, so that it may redeem an offer.
    public enum OfferProof: Hashable, Sendable {
        /// The first form of a promotional offer's signature.
        case signature(keyID: String, nonce: String, timestamp: Int64, signature: String)
        /// The second form of a promotional offer's signature, or the signed word on the
        /// introductory offer: a compact JWS.
        case compactJWS(String)
    }
}

extension SimulatedAppStore.OfferProof: Codable {
    private enum CodingKeys: String, CodingKey {
        case nonce, timestamp, signature
        case keyID = "key_id"
        case compactJWS = "compact_jws"
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        if let jws = try values.decodeIfPresent(String.self, forKey: .compactJWS) {
            self = .compactJWS(jws)
            return
        }
        self = .signature(
            keyID: try values.decode(String.self, forKey: .keyID),
            nonce: try values.decode(String.self, forKey: .nonce),
            timestamp: try values.decode(Int64.self, forKey: .timestamp),
            signature: try values.decode(String.self, forKey: .signature)
        )
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .compactJWS(let jws):
            try values.encode(jws, forKey: .compactJWS)
        case .signature(let keyID, let nonce, let timestamp, let signature):
            try values.encode(keyID, forKey: .keyID)
            try values.encode(nonce, forKey: .nonce)
            try values.encode(timestamp, forKey: .timestamp)
            try values.encode(signature, forKey: .signature)
        }
    }
}
