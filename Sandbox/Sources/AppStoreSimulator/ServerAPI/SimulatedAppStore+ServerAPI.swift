import Foundation
import SandboxClock

/// Calls of Apple's interfaces that do more than answer from the world, or change it.
extension SimulatedAppStore {
    func appTransactionInfo(_ id: String) async throws -> AppTransactionInfoResponse {
        let now = await clock.now
        let customer = try world.customer(requested: id)
        guard customer.downloaded != nil else { throw APIError.appTransactionDoesNotExist }
        return AppTransactionInfoResponse(
            signedAppTransactionInfo: try signer.sign(
                appTransactionOf: customer,
                in: &world,
                at: now
            )
        )
    }

    func extendAll(_ request: MassExtensionRequest) async throws -> MassExtensionResponse {
        let (productID, days, identifier) = try ExtensionRequests.check(request, world)
        if world.massExtensions[identifier] == nil {
            _ = try await change { world, now in
                try RenewalExtensions.extendAll(
                    &world,
                    productID,
                    days: days,
                    countries: request.storefrontCountryCodes,
                    identifier: identifier,
                    at: now
                )
            }
        }
        return MassExtensionResponse(requestIdentifier: identifier)
    }

    // MARK: - Receipts

    /// The receipt file on a customer's device, as an app posts it: Base64.
    public func receipt(customer id: String) async throws -> String {
        let now = await clock.now
        let customer = try world.customer(id)
        return try AppReceipt.sign(customer, in: world, created: now, by: signer.authority)
            .base64EncodedString()
    }

    /// The receipt of one transaction as iOS 6 had it: Base64.
    public func transactionReceipt(_ id: String) throws -> String {
        let transaction = try world.transaction(id)
        return try TransactionReceipt.sign(transaction, in: world, by: signer.authority)
            .base64EncodedString()
    }

    /// The answer of `verifyReceipt`, in JSON, about a receipt in Base64.
    public func verified(receipt: String) async throws -> String {
        let request = ["receipt-data": receipt, "password": sharedSecret]
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let answer = await verifyReceipt(try encoder.encode(request))
        return String(decoding: try encoder.encode(answer), as: UTF8.self)
    }

    /// Answers `verifyReceipt`.
    /// - Parameter json: the request's body.
    func verifyReceipt(_ json: Data) async -> LegacyJSON {
        guard !failsCall() else { return ReceiptVerification.status(21005) }
        let now = await clock.now
        return ReceiptVerification(world: world, signer: signer, now: now).answer(json)
    }

    /// The app's shared secret for `verifyReceipt`, 32 hexadecimal digits.
    public var sharedSecret: String { world.sharedSecret }
}
