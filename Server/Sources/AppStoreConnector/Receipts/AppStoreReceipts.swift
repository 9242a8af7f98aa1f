internal import AppStoreAPI
internal import Logging
internal import Storage
internal import Stores
public import TollgateAPI
public import TollgateCore

/// Legacy receipts: the old way in, and the way off it.
public struct AppStoreReceipts: Sendable {
    let context: StoreContext
    let messages: AppStoreMessages
    let reads: AppStoreReads
    /// `verifyReceipt`, for those who still live on receipts.
    let client: AppStore.ReceiptClient?

    /// Takes in a legacy receipt: the full history by the App Store Server API where that is
    /// configured, else what `verifyReceipt` answers.
    ///
    /// Durable when this returns.
    ///
    /// Anybody can write a receipt that names somebody else's transaction, so one that comes from a
    /// device is always verified by the App Store first.
    ///
    /// - Parameters:
    ///   - mode: whether posting it claims what it holds (RULES §8).
    ///   - isTrusted: whether it comes from the app's backend, which knows whose receipt it is.
    ///   - leavesConsumables: whether another system has credited the consumables that it names.
    /// - Throws: refusals 400 `parameter_invalid` for what is no receipt, 404 `app_unknown` for
    ///   another app's, 404 `receipt_unknown` for one that the App Store does not know.
    public func receive(
        _ receiptData: String,
        from customer: Customer.ID?,
        mode: Claim.Mode,
        isTrusted: Bool,
        leavesConsumables: Bool = false
    ) async throws -> API.AppStoreReceiptReply {
        let receipt: AppStore.LocalReceipt
        do { receipt = try AppStore.LocalReceipt(base64: receiptData) } catch {
            throw Refusal.invalid("receipt_data", "receipt_data: \(error).")
        }
        let application: String
        do { application = try messages.application(receipt.bundleID) } catch is AppStore
            .VerificationError
        {
            throw Refusal(
                404,
                "app_unknown",
                "This receipt is of another app (bundle id).",
                param: "receipt_data"
            )
        }
        let claim = customer.map { Claim(customer: $0, mode: mode) }
        if !reads.environments.isEmpty {
            guard !isTrusted else {
                return try await readHistory(
                    by: receipt.anyTransactionID,
                    in: application,
                    named: leavesConsumables
                        ? [] : receipt.transactions.compactMap(\.transactionID),
                    sandboxFirst: receipt.environment == .sandbox,
                    claim: claim
                )
            }
            // What a device sent is read by the App Store alone: our own reading of it proves nothing.
            let proven = try await verified(receiptData)
            return try await readHistory(
                by: proven.purchases.compactMap(\.originalTransactionID).first,
                in: messages.application(proven.bundleID ?? receipt.bundleID),
                named: proven.purchases.compactMap(\.transactionID),
                sandboxFirst: proven.environment == .sandbox,
                claim: claim
            )
        }
        return try await verify(
            receiptData,
            receipt,
            leavesConsumables: leavesConsumables,
            claim: claim
        )
    }

    /// A receipt of 8 MB holds thousands; these are the ones that a history leaves out.
    private static let mostNamed = 100

    private func readHistory(
        by id: String?,
        in application: String,
        named transactions: [String],
        sandboxFirst: Bool,
        claim: Claim?
    ) async throws -> API.AppStoreReceiptReply {
        guard let id else {
            return API.AppStoreReceiptReply(environment: nil, purchases: [], new: 0)
        }
        // Production first, as Apple asks for, unless the receipt itself says sandbox.
        var environments = reads.environments
        if sandboxFirst { environments.reverse() }
        let found = try await readHistory(
            by: id,
            in: environments.map { AppStoreScope($0, application) },
            named: Array(transactions.prefix(Self.mostNamed)),
            claim: claim
        )
        guard let (scope, count) = found else { throw Self.unknownReceipt }
        return API.AppStoreReceiptReply(
            environment: API.Environment(rawValue: scope.environment.rawValue),
            purchases: count.purchases.map(\.canonical).sorted(),
            new: count.news
        )
    }

    /// Reads what lasts, and its state now, where the App Store knows a transaction.
    ///
    /// - Returns: the first of the scopes that knows it, and what was read; `nil`: none does.
    private func readHistory(
        by id: String,
        in scopes: [AppStoreScope],
        named transactions: [String],
        claim: Claim?,
        covering isClaimed: (Purchase.Key) -> Bool = { _ in true }
    ) async throws -> (AppStoreScope, AppStoreReads.ReadCount)? {
        for scope in scopes {
            do {
                let count = try await reads.readWhatLasts(
                    of: id,
                    in: scope,
                    named: transactions,
                    claim: claim,
                    covering: isClaimed
                )
                _ = try await reads.readStatuses(of: id, in: scope, confirms: false)
                return (scope, count)
            } catch let error as AppStore.ServerAPIError {
                guard error.isNotFound else { throw error }
            }
        }
        return nil
    }

    /// Takes in what lasts of a customer whom a transaction names: their full history, without
    /// consumables.
    ///
    /// - Parameters:
    ///   - id: any of their transactions.
    ///   - application: the app's bundle id; `nil` asks each app of this server.
    ///   - environment: `nil` asks production first, as Apple wants it.
    ///   - isClaimed: the purchases that become the customer's; the others are only read.
    /// - Returns: what was read; `nil`: the App Store knows no such transaction.
    func receive(
        transaction id: String,
        from customer: Customer.ID,
        of application: String?,
        in environment: StoreEnvironment?,
        covering isClaimed: (Purchase.Key) -> Bool
    ) async throws -> AppStoreReads.ReadCount? {
        let named = try application.map { [try messages.application($0)] }
        let applications =
            try named ?? reads.clients?.apps.map(\.bundleID) ?? [messages.application(nil)]
        let environments = environment.map { [$0] } ?? reads.environments
        // Where nothing is set up, the refusal says what to set.
        let first = AppStoreScope(environments.first ?? .production, applications[0])
        _ = try reads.client(first)
        return try await readHistory(
            by: id,
            in: environments.flatMap { environment in
                applications.map { AppStoreScope(environment, $0) }
            },
            named: [],
            claim: Claim(customer: customer, mode: .observed),
            covering: isClaimed
        )?.1
    }

    private static let unknownReceipt = Refusal(
        404,
        "receipt_unknown",
        "The App Store does not know the purchase of this receipt.",
        param: "receipt_data"
    )

    // MARK: - Living on receipts

    private func verify(
        _ receiptData: String,
        _ receipt: AppStore.LocalReceipt,
        leavesConsumables: Bool,
        claim: Claim?
    ) async throws -> API.AppStoreReceiptReply {
        let verified = try await verified(receiptData)
        let count = try await journal(
            verified,
            leavesConsumables: leavesConsumables,
            claim: claim
        )
        if let claim {
            let form =
                receipt.isTransactionReceipt
                ? verified.purchases.compactMap(\.originalTransactionID).first ?? ""
                : "app receipt"
            try await context.records.receipts.keep(
                StoredReceipt(
                    key: RowKey("receipt", claim.customer.rawValue, form),
                    customer: claim.customer,
                    body: Array((verified.latestReceipt ?? receiptData).utf8),
                    due: await nextLook(after: verified)
                )
            )
        }
        return API.AppStoreReceiptReply(
            environment: StoreEnvironment(verified.environment).map {
                API.Environment(rawValue: $0.rawValue)
            },
            purchases: count.purchases.map(\.canonical).sorted(),
            new: count.news
        )
    }

    /// - Parameter isKept: whether it was taken before: then "malformed", which is also what the App
    ///   Store says in passing trouble, is no verdict on it.
    private func verified(
        _ receiptData: String,
        isKept: Bool = false
    ) async throws -> AppStore.VerifiedReceipt {
        guard let client else {
            throw Refusal(
                503,
                .storeUnavailable,
                "Receipts from devices need TOLLGATE_APP_STORE_SHARED_SECRET; from your backend, a key for the App Store Server API will do."
            )
        }
        let verified: AppStore.VerifiedReceipt
        do {
            verified = try await client.verify(receiptData)
        } catch {
            switch error.status {
            case .notAuthenticated?:
                throw Refusal.invalid("receipt_data", "receipt_data: \(error).")
            case .malformed? where !isKept:
                throw Refusal.invalid("receipt_data", "receipt_data: \(error).")
            case .accountNotFound?:
                throw Self.unknownReceipt
            default:
                throw error
            }
        }
        let verifier = try messages.configured()
        _ = try messages.application(verified.bundleID)
        guard verifier.environments.contains(verified.environment) else {
            throw AppStore.VerificationError(.environment)
        }
        return verified
    }

    private func journal(
        _ verified: AppStore.VerifiedReceipt,
        leavesConsumables: Bool = false,
        claim: Claim?
    ) async throws -> AppStoreReads.ReadCount {
        let now = await context.clocks.now()
        let history = context.records.history
        let application = try messages.application(verified.bundleID)
        let statements = AppStoreReceiptTranslator.statements(
            verified,
            bundleID: application,
            at: now
        ) { product, purchased in
            history.product(
                StoreProduct(.appStore, product),
                in: application,
                at: purchased
            ).map { ($0.kind, $0.duration) }
        }
        var count = AppStoreReads.ReadCount()
        for statement in statements {
            let read = AppStoreMessages.answer(
                statement.message,
                statement.source,
                stated: verified.requestDate.map { Instant(milliseconds: $0) } ?? now,
                statement.body
            )
            if leavesConsumables, try await reads.isCreditedElsewhere(read, before: .max) {
                continue
            }
            count = count + (try await reads.journal([read], claim: claim))
        }
        return count
    }

    private func nextLook(after verified: AppStore.VerifiedReceipt) async -> Instant {
        verified.nextLook(
            after: await context.clocks.now(),
            leeway: context.records.history.current.renewalLeeway.appStore
        )
    }

    /// What became of asking with kept receipts again.
    public struct Revalidation: Hashable, Codable, Sendable {
        public var receipts = 0
        /// Of them, those with news.
        public var changed = 0
        /// Of them, those that the App Store no longer takes.
        public var dropped = 0
    }

    /// Validates again the newest receipt of each customer whose turn it is.
    ///
    /// - Returns: `nil` where nobody lives on receipts, or another server is at it.
    @discardableResult
    public func revalidate(limit: Int64 = 100) async throws -> Revalidation? {
        guard client != nil else { return nil }
        let due = try await context.records.receipts.page(
            due: await context.clocks.now(),
            limit: limit
        )
        guard !due.isEmpty else { return nil }
        return try await context.leases.holding("receipts/app_store") { prolong in
            var result = Revalidation()
            for receipt in due {
                try await revalidate(receipt, &result)
                result.receipts += 1
                if result.receipts % 10 == 0 { try await prolong() }
            }
            return result
        }
    }

    // Swift 6.3.1's optimiser ends with an ownership error on this function.
    @_optimize(none)
    private func revalidate(_ receipt: StoredReceipt, _ result: inout Revalidation) async throws {
        var next = receipt
        do {
            let verified = try await verified(
                String(decoding: receipt.body, as: UTF8.self),
                isKept: true
            )
            let claim = Claim(customer: receipt.customer, mode: .observed)
            if try await journal(verified, claim: claim).news > 0 { result.changed += 1 }
            if let latest = verified.latestReceipt { next.body = Array(latest.utf8) }
            next.due = await nextLook(after: verified)
        } catch let error as AppStore.ReceiptError {
            // A wrong shared secret or an outage is no fault of the receipt's.
            guard error.status != nil, error.status != .wrongSharedSecret else { throw error }
            // Later, so that one receipt does not hold up all others.
            let isPassing = error.isRetryable || error.status == .malformed
            next.due = await context.clocks.now().advanced(
                by: isPassing ? 3_600_000 : 7 * 86_400_000
            )
            context.logger.warning(
                "a kept receipt is not taken now",
                metadata: ["customer": "\(receipt.customer)", "error": "\(error)"]
            )
        } catch let error as AppStore.VerificationError {
            next.due = await context.clocks.now().advanced(by: 86_400_000)
            context.logger.warning(
                "a kept receipt is of another app or environment",
                metadata: ["customer": "\(receipt.customer)", "error": "\(error)"]
            )
        } catch let refusal as Refusal {
            guard refusal.status < 500 else { throw refusal }
            result.dropped += 1
            context.logger.warning(
                "a kept receipt is taken no more, and dropped",
                metadata: ["customer": "\(receipt.customer)", "reason": "\(refusal.error.message)"]
            )
            return try await context.records.receipts.drop(receipt)
        }
        try await context.records.receipts.renew(next)
    }

    /// Validates again what is due; errors are logged and tried again.
    ///
    /// - Returns: whether nothing failed.
    @discardableResult
    public func revalidateIfDue() async -> Bool {
        do {
            while let result = try await revalidate(), result.receipts > 0 {}
            return true
        } catch {
            context.logger.warning(
                "validating receipts again will be tried again",
                metadata: ["error": "\(error)"]
            )
            return false
        }
    }
}
