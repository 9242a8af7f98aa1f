#if canImport(StoreKit)
    import Foundation
    import StoreKit

    extension PurchasePreparation {
        /// What StoreKit needs to sell `product` with a promotional offer, signed by the server.
        func options(
            for product: Product,
            with offer: String
        ) async throws -> Set<Product.PurchaseOption> {
            _ = try await accountToken(for: product.id)
            let answer = try await offerSignature(product: product.id, offer: offer)
            guard let signed = answer.promotionalOffer,
                let nonce = UUID(uuidString: signed.nonce),
                let signature = Data(base64Encoded: signed.signature),
                let timestamp = Int(exactly: signed.timestamp),
                let token = UUID(uuidString: answer.appAccountToken)
            else { throw BillingSDKError.invalidResponse("not an offer's signature") }
            return [
                // The token is part of what was signed.
                .appAccountToken(token),
                .promotionalOffer(
                    offerID: signed.offerID,
                    keyID: signed.keyID,
                    nonce: nonce,
                    signature: signature,
                    timestamp: timestamp
                ),
            ]
        }
    }
#endif
