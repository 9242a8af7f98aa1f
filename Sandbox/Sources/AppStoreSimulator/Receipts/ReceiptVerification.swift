import Crypto
import Foundation

/// The legacy `verifyReceipt`, and the receipts it takes
/// (<https://developer.apple.com/documentation/appstorereceipts/verify-receipt>).
struct ReceiptVerification {
    let world: World
    let signer: StoreSigner
    let now: Int64

    /// - Parameter json: the request's body.
    func answer(_ json: Data) -> LegacyJSON {
        struct Body: Decodable {
            var receiptData: String
            var password: String?
            var excludesOld: Bool?

            enum CodingKeys: String, CodingKey {
                case receiptData = "receipt-data"
                case password
                case excludesOld = "exclude-old-transactions"
            }
        }
        guard let body = try? JSONDecoder().decode(Body.self, from: json),
            let bytes = Data(base64Encoded: body.receiptData)
        else { return Self.status(21002) }
        if bytes.first == UInt8(ascii: "{") {
            return verify(transactionReceipt: bytes, password: body.password)
        }
        return verify(
            appReceipt: bytes,
            password: body.password,
            onlyLatest: body.excludesOld ?? false
        )
    }

    static func status(_ code: Int64) -> LegacyJSON {
        .object(["status": .number(code)])
    }

    /// 21007 or 21008 for a receipt of the other environment.
    private func wrongEnvironment(isSandbox: Bool) -> LegacyJSON? {
        guard isSandbox != (signer.environment == .sandbox) else { return nil }
        return Self.status(isSandbox ? 21007 : 21008)
    }

    private func verify(appReceipt bytes: Data, password: String?, onlyLatest: Bool) -> LegacyJSON {
        guard let read = try? AppReceipt(bytes, signedBy: nil) else { return Self.status(21002) }
        if let wrong = wrongEnvironment(isSandbox: read.environment == "ProductionSandbox") {
            return wrong
        }
        let key = signer.authority.signingKey.publicKey
        guard (try? AppReceipt(bytes, signedBy: key)) != nil else { return Self.status(21003) }
        guard let customer = world.customers[read.opaque] else { return Self.status(21010) }
        let legacy = LegacyReceipt(world: world)
        var answer: [String: LegacyJSON] = [
            "status": .number(0), "environment": .string(signer.environment.rawValue),
            "receipt": legacy.receipt(customer, now: now),
        ]
        let renewals = legacy.pendingRenewalInfo(customer.id)
        if !renewals.isEmpty || password != nil {
            guard password == world.sharedSecret else { return Self.status(21004) }
            answer["latest_receipt_info"] = .list(
                legacy.latestReceiptInfo(customer.id, onlyLatest: onlyLatest)
                    .map(LegacyJSON.strings)
            )
            answer["pending_renewal_info"] = .list(renewals.map(LegacyJSON.strings))
            let latest = try? AppReceipt.sign(
                customer,
                in: world,
                created: now,
                by: signer.authority
            )
            answer["latest_receipt"] = latest.map { .string($0.base64EncodedString()) }
        }
        return .object(answer)
    }

    private func verify(transactionReceipt bytes: Data, password: String?) -> LegacyJSON {
        let read: TransactionReceipt
        do {
            read = try TransactionReceipt(bytes, signedBy: signer.authority.signingKey.publicKey)
        } catch AppReceipt.Invalid.malformed {
            return Self.status(21002)
        } catch {
            return Self.status(21003)
        }
        if let wrong = wrongEnvironment(isSandbox: read.environment == "Sandbox") { return wrong }
        guard let transaction = world.transactions[read.transactionID] else {
            return Self.status(21010)
        }
        let legacy = LegacyReceipt(world: world)
        var answer: [String: LegacyJSON] = [
            "status": .number(0), "receipt": .strings(legacy.entry(transaction)),
        ]
        guard let subscription = world.subscriptions[transaction.originalID],
            let latest = world.transactions[subscription.latestTransactionID]
        else { return .object(answer) }
        guard password == world.sharedSecret else { return Self.status(21004) }
        // In this form both are objects, and an expired subscription is an error.
        if let expires = latest.expiresDate, expires <= now {
            answer["status"] = .number(21006)
            answer["latest_expired_receipt_info"] = .strings(legacy.entry(latest))
        } else {
            answer["latest_receipt_info"] = .strings(legacy.entry(latest))
            let receipt = try? TransactionReceipt.sign(latest, in: world, by: signer.authority)
            answer["latest_receipt"] = receipt.map { .string($0.base64EncodedString()) }
        }
        return .object(answer)
    }
}
