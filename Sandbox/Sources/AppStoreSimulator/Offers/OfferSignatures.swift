import Crypto
import Foundation

/// The signatures of the app's server on offers
/// (<https://developer.apple.com/documentation/storekit/generating-a-signature-for-promotional-offers>).
struct OfferSignatures {
    /// The app's keys.
    let keys: [SimulatedAppStore.APIKey]

    /// Checks what the app's server signed for an offer, as Apple does before it sells.
    ///
    /// - Returns: what the server says about the introductory offer, if it says so.
    /// - Throws: a refusal where it does not cover this purchase.
    func check(
        _ proof: SimulatedAppStore.OfferProof?,
        in world: inout World,
        offer: String?,
        productID: String,
        customer: String,
        appAccountToken: String?
    ) throws -> Bool? {
        guard let proof else {
            let kind = world.products[productID]?.offers.first { $0.id == offer }?.kind
            guard kind != .promotional || !world.behaviour.requiresOfferSignatures else {
                throw Refusal.invalid(
                    "A promotional offer needs the signature of the app's server."
                )
            }
            return nil
        }
        let buyer = try world.customer(customer)
        switch proof {
        case .signature(let keyID, let nonce, let timestamp, let signature):
            let token = (appAccountToken ?? buyer.appAccountToken ?? "").lowercased()
            let key = try publicKey(keyID)
            let text = [
                world.bundleID, keyID, productID, offer ?? "", token, nonce.lowercased(),
                String(timestamp),
            ].joined(separator: "\u{2063}")
            guard let der = Data(base64Encoded: signature),
                let parsed = try? P256.Signing.ECDSASignature(derRepresentation: der),
                key.isValidSignature(parsed, for: Data(text.utf8))
            else { throw Refusal.invalid("The offer's signature does not cover this purchase.") }
            // The store signs and checks by real time.
            let age = Int64(Date().timeIntervalSince1970 * 1000) - timestamp
            guard (-60_000...86_400_000).contains(age) else {
                throw Refusal.invalid("The offer's signature is older than 24 hours.")
            }
            try use(nonce: nonce, in: &world)
            return nil
        case .compactJWS(let jws):
            return try check(jws, in: &world, offer: offer, productID: productID, buyer: buyer)
        }
    }

    private struct Header: Decodable {
        var alg: String
        var kid: String
    }

    private struct Claims: Decodable {
        var iss: String
        var iat: Int64
        var aud: String
        var bid: String
        var nonce: String
        var productId: String
        var offerIdentifier: String?
        var allowIntroductoryOffer: Bool?
        var transactionId: String?
    }

    private func check(
        _ jws: String,
        in world: inout World,
        offer: String?,
        productID: String,
        buyer: Customer
    ) throws -> Bool? {
        let parts = jws.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3,
            let header: Header = Self.part(parts[0]), header.alg == "ES256",
            let claims: Claims = Self.part(parts[1]),
            let raw = Data(base64URL: parts[2]),
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: raw),
            try publicKey(header.kid)
                .isValidSignature(signature, for: Data("\(parts[0]).\(parts[1])".utf8)),
            keys.contains(where: { $0.keyID == header.kid && $0.issuerID == claims.iss })
        else { throw Refusal.invalid("The offer's JWS is not signed by a key of this app.") }
        guard claims.bid == world.bundleID, claims.productId == productID else {
            throw Refusal.invalid("The offer's JWS is for another app or product.")
        }
        let age = Int64(Date().timeIntervalSince1970) - claims.iat
        guard (-60...86_400).contains(age) else {
            throw Refusal.invalid("The offer's JWS is older than 24 hours.")
        }
        if let transaction = claims.transactionId {
            guard
                transaction == buyer.appTransactionID
                    || world.transactionsOf(buyer.id).contains(where: {
                        $0.id == transaction || $0.originalID == transaction
                    })
            else { throw Refusal.invalid("The offer's JWS is for another customer.") }
        }
        switch claims.aud {
        case "promotional-offer":
            guard offer != nil, claims.offerIdentifier == offer else {
                throw Refusal.invalid("The offer's JWS is for another offer.")
            }
            try use(nonce: claims.nonce, in: &world)
            return nil
        case "introductory-offer-eligibility":
            guard let isAllowed = claims.allowIntroductoryOffer, claims.transactionId != nil else {
                throw Refusal.invalid("The JWS does not say whether the offer is allowed.")
            }
            try use(nonce: claims.nonce, in: &world)
            return isAllowed
        default:
            throw Refusal.invalid("The JWS is for something else: \(claims.aud).")
        }
    }

    private static func part<Part: Decodable>(_ text: String) -> Part? {
        Data(base64URL: text).flatMap { try? JSONDecoder().decode(Part.self, from: $0) }
    }

    private func publicKey(_ keyID: String) throws -> P256.Signing.PublicKey {
        guard let key = keys.first(where: { $0.keyID == keyID }),
            let parsed = try? P256.Signing.PublicKey(pemRepresentation: key.publicKeyPEM)
        else { throw Refusal.invalid("There is no key \(keyID).") }
        return parsed
    }

    private func use(nonce: String, in world: inout World) throws {
        guard UUID(uuidString: nonce) != nil else { throw Refusal.invalid("A nonce is a UUID.") }
        let used = world.usedNonces ?? []
        guard !used.contains(nonce.lowercased()) else {
            throw Refusal.invalid("The nonce was used before; sign each attempt anew.")
        }
        world.usedNonces = used + [nonce.lowercased()]
    }
}
