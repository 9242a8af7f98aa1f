import Crypto
import Foundation
import SandboxClock

/// The legacy `verifyReceipt`, and the receipts it takes.
extension SimulatedAppStore {
    /// The receipt file on a customer's device, as an app posts it: Base64.
    public func receipt(customer id: String) async throws -> String {
        let now = await clock.now
        let customer = try world.customer(id)
        let shown = world.transactionsOf(id).filter { $0.kind != .consumable || !$0.isFinished }
        return try AppReceipt.sign(
            customer,
            transactions: shown,
            in: world,
            created: now,
            by: authority
        ).base64EncodedString()
    }

    /// The receipt of one transaction as iOS 6 had it: Base64.
    public func transactionReceipt(_ id: String) throws -> String {
        let entry = LegacyReceipt(world: world).entry(try world.transaction(id))
        return try TransactionReceipt.sign(entry, in: world, by: authority).base64EncodedString()
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
        guard !failsCall() else { return Self.status(21005) }
        guard let body = try? JSONDecoder().decode(Body.self, from: json),
            let bytes = Data(base64Encoded: body.receiptData)
        else { return Self.status(21002) }
        let now = await clock.now
        if bytes.first == UInt8(ascii: "{") {
            return verify(transactionReceipt: bytes, password: body.password, at: now)
        }
        return await verify(
            appReceipt: bytes,
            password: body.password,
            onlyLatest: body.excludesOld ?? false,
            at: now
        )
    }

    private static func status(_ code: Int64) -> LegacyJSON {
        .object(["status": .number(code)])
    }

    /// 21007 or 21008 for a receipt of the other environment.
    private func wrongEnvironment(isSandbox: Bool) -> LegacyJSON? {
        guard isSandbox != (environment == .sandbox) else { return nil }
        return Self.status(isSandbox ? 21007 : 21008)
    }

    private func verify(
        appReceipt bytes: Data,
        password: String?,
        onlyLatest: Bool,
        at now: Int64
    ) async -> LegacyJSON {
        guard let read = try? AppReceipt(bytes, signedBy: nil) else { return Self.status(21002) }
        if let wrong = wrongEnvironment(isSandbox: read.environment == "ProductionSandbox") {
            return wrong
        }
        let key = authority.signingKey.publicKey
        guard (try? AppReceipt(bytes, signedBy: key)) != nil else { return Self.status(21003) }
        guard let customer = world.customers[read.opaque] else { return Self.status(21010) }
        let legacy = LegacyReceipt(world: world)
        var answer: [String: LegacyJSON] = [
            "status": .number(0), "environment": .string(environment.rawValue),
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
            answer["latest_receipt"] = (try? await receipt(customer: customer.id)).map(
                LegacyJSON.string
            )
        }
        return .object(answer)
    }

    private func verify(
        transactionReceipt bytes: Data,
        password: String?,
        at now: Int64
    ) -> LegacyJSON {
        let read: TransactionReceipt
        do {
            read = try TransactionReceipt(bytes, signedBy: authority.signingKey.publicKey)
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
            answer["latest_receipt"] = (try? transactionReceipt(latest.id)).map(LegacyJSON.string)
        }
        return .object(answer)
    }

    /// The app's shared secret for `verifyReceipt`, 32 hexadecimal digits.
    public var sharedSecret: String { world.sharedSecret }
}
