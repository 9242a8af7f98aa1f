internal import AppStoreAPI
internal import TollgateAPI
internal import TollgateCore

/// What device observations need of the App Store: transactions verified and taken in.
protocol AppStoreReceiving: Sendable {
    /// - Throws: a refusal 503 where no trusted root is configured.
    func verifier() throws -> AppStore.SignedDataVerifier
    /// Takes in what StoreKit verified on a device.
    @discardableResult
    func receiveSignedTransaction(
        _ request: API.AppStoreTransactionRequest,
        from customer: Customer.ID?
    ) async throws -> API.AppStoreTransactionReply
}

extension Tollgate: AppStoreReceiving {}
