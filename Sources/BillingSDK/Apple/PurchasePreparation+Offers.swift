#if canImport(StoreKit)
    import Foundation
    import StoreKit
    internal import TollgateAPI

    extension PurchasePreparation {
        /// What StoreKit needs to sell `product` with a promotional offer, signed by the server.
        func options(
            for product: Product,
            with offer: String
        ) async throws -> Set<Product.PurchaseOption> {
            _ = try await accountToken(for: product.id)
            let answer = try await offerSignature(product: product.id, offer: offer)
            // The compact form is Apple's newer one; Xcode 26 brings it down to iOS 15:
            // <https://developer.apple.com/documentation/storekit/product/purchaseoption/promotionaloffer(_:compactjws:)>
            #if compiler(>=6.2)
                guard let token = UUID(uuidString: answer.appAccountToken) else {
                    throw BillingSDKError.invalidResponse("not a token: \(answer.appAccountToken)")
                }
                let options = Product.PurchaseOption.promotionalOffer(
                    offer,
                    compactJWS: answer.compactJWS
                )
                return Set(options).union([.appAccountToken(token)])
            #else
                return try signedOptions(answer)
            #endif
        }

        /// The same in StoreKit's first form, for Xcode before 26.
        func signedOptions(
            _ answer: API.OfferSignature
        ) throws -> Set<Product.PurchaseOption> {
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
