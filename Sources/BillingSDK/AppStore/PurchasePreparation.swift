import Foundation
internal import TollgateAPI

/// Asks the server before anything is bought in the App Store.
struct PurchasePreparation: Sendable {
    let client: BillingClient

    /// The token that ties the purchase of `productID` to the customer who is signed in; where nobody is
    /// and the app sells to visitors, to who signs in next.
    ///
    /// While the server cannot be reached, the token that it said last will do: the App Store itself
    /// sells no plan twice. Without one nothing is sold.
    /// - Throws: ``BillingSDKError/requestRefused(status:code:message:)`` with `already_active`,
    ///   ``BillingSDKError/notFound(_:)`` for a product that the catalog lacks; as every call for a
    ///   customer does.
    func accountToken(for productID: String) async throws -> UUID {
        if client.configuration.allowsPurchasesBeforeSignIn, try await client.session() == nil {
            return VisitorPurchases(client: client).accountToken()
        }
        let tokens = AccountTokens(storage: client.storage)
        do {
            let asked = Locked("")
            let answer = try await client.customerCall(API.AppStorePurchase.self) { session in
                asked.withLock { $0 = session.customer }
                return try client.request(
                    "POST",
                    APIPath.appStorePurchases.path,
                    key: session.clientSecret,
                    body: API.AppStorePurchaseRequest(product: productID)
                )
            }
            guard let token = UUID(uuidString: answer.appAccountToken) else {
                throw BillingSDKError.invalidResponse("not a token: \(answer.appAccountToken)")
            }
            tokens.keep(token, of: asked.withLock { $0 })
            return token
        } catch let error as BillingSDKError where error.isTemporary {
            guard let customer = client.guarded.withLock({ $0.state.customer }),
                let token = tokens.token(of: customer)
            else { throw error }
            return token
        }
    }

    /// The server's signature for a promotional offer to the customer who is signed in.
    func offerSignature(product: String, offer: String) async throws -> API.OfferSignature {
        let body = API.OfferSignatureRequest(
            type: .promotionalOffer,
            product: product,
            offer: offer
        )
        return try await client.customerCall(API.OfferSignature.self) { session in
            try client.request(
                "POST",
                APIPath.appStoreOfferSignatures.path,
                key: session.clientSecret,
                body: body
            )
        }
    }
}
