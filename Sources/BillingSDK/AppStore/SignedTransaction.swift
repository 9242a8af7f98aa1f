import Foundation
internal import TollgateAPI

/// A transaction as StoreKit gives it, without StoreKit.
struct SignedTransaction: Sendable {
    let id: UInt64
    let jwsRepresentation: String
    var productID: String?
    /// Whether it was bought with an offer code, outside the app.
    var isCodeRedemption = false
    /// Tells StoreKit that the app has delivered what was bought.
    let finish: @Sendable () async -> Void

    init(
        id: UInt64,
        jwsRepresentation: String,
        productID: String? = nil,
        isCodeRedemption: Bool = false,
        finish: @escaping @Sendable () async -> Void
    ) {
        self.id = id
        self.jwsRepresentation = jwsRepresentation
        self.productID = productID
        self.isCodeRedemption = isCodeRedemption
        self.finish = finish
    }

    /// Tells this statement from others about the same transaction, such as its refund.
    var signature: String { String(jwsRepresentation.suffix(86)) }

    /// The account token that it bears.
    var accountToken: UUID? {
        let parts = jwsRepresentation.split(separator: ".")
        guard parts.count == 3, let payload = Base64URL.decode(parts[1]) else { return nil }
        return StoreKitIntake.purchase(in: StoreKitStatement(transaction: payload))?.token
    }
}
