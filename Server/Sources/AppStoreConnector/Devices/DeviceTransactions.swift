internal import AppStoreAPI
internal import Foundation
internal import Storage
internal import Stores
public import TollgateAPI
public import TollgateCore

/// Transactions that devices present, signed by the App Store, or on a test server by Xcode.
public struct DeviceTransactions: Sendable {
    let context: StoreContext
    let messages: AppStoreMessages
    let reads: AppStoreReads

    /// Takes in a transaction that a device presents.
    ///
    /// - Parameter customer: who is signed in on the device; `nil` claims for nobody.
    /// - Throws: as a notification does, and a refusal `owned_elsewhere` where the
    ///   purchase is, by the catalog's ownership policy, another customer's; 429 `rate_limited`
    ///   for who restores another's purchase all day.
    public func receive(
        _ request: API.AppStoreTransactionRequest,
        from customer: Customer.ID?
    ) async throws -> API.AppStoreTransactionReply {
        let now = await context.clocks.now()
        let body = Array(request.signedTransaction.utf8)
        let transaction = try await messages.presentedTransaction(body, at: now)
        guard case .facts(var facts, let key) = AppStoreTranslator.message(presented: transaction)
        else {
            throw Refusal.invalid(
                "signed_transaction",
                "This transaction lacks fields that every purchase has."
            )
        }
        let mode = Claim.Mode(rawValue: request.mode.rawValue) ?? .observed
        if let customer {
            facts.append(
                Fact(
                    purchase: key,
                    source: "claim:\(customer)",
                    stated: Stated(now),
                    statement: .claim(Claim(customer: customer, mode: mode))
                )
            )
        }
        let turn = try await turn(transaction, mode, of: customer, about: key, at: now)
        let dedupeKey = RowKey(
            "transaction",
            key.canonical,
            transaction.transactionID ?? "",
            "\(transaction.signedDate ?? 0)",
            customer?.rawValue ?? "",
            mode.rawValue,
            turn
        )
        let evidence = Evidence(
            source: key.id,
            key: dedupeKey,
            stated: Instant(milliseconds: transaction.signedDate ?? now.milliseconds),
            kind: .signed,
            body: body
        )
        let receipt = try await context.journal(
            Translation(.facts(facts, about: key), evidence: evidence),
            of: .appStore
        )
        guard receipt != .parked else { throw Self.keptAside }
        if let customer {
            // First: who had the purchase in the past may have bought it again signed out.
            try await claimVisitors(transaction, mode, for: customer)
            guard try await context.records.holds(customer, key) else {
                throw Refusal(
                    409,
                    "owned_elsewhere",
                    "This purchase belongs to another customer; the ownership policy of the catalog decides that."
                )
            }
        }
        if let customer, mode == .restored, receipt == .recorded {
            try await tellWhoRestored(transaction, customer, about: key)
        }
        return API.AppStoreTransactionReply(
            environment: API.Environment(rawValue: key.environment.rawValue),
            purchase: key.canonical,
            customer: customer?.rawValue,
            new: receipt == .recorded
        )
    }

    private static let keptAside = Refusal(
        500,
        .internalError,
        "This transaction could not be recorded. It is kept for your staff as a parked message."
    )

    /// Gives what was bought signed out to who restores it, where nobody has shown its secret.
    ///
    /// The secret may be lost with a device (RULES §8). Of two who restore it at once the first has it.
    private func claimVisitors(
        _ transaction: AppStore.Transaction,
        _ mode: Claim.Mode,
        for customer: Customer.ID
    ) async throws {
        // Not a family member's: the buyer may still sign in.
        guard mode != .observed, transaction.inAppOwnershipType == .purchased,
            let uuid = transaction.appAccountToken, VisitorToken.isOne(uuid)
        else { return }
        let token = uuid.uuidString.lowercased()
        guard try await context.records.profile(alias: .token(token)) == nil else { return }
        try await context.records.register(
            context.profile(of: customer),
            also: [.token(token)],
            dedupeKey: RowKey("visitor token", token, customer.rawValue),
            at: await context.clocks.now()
        )
    }

    /// A key that differs for each restore of a purchase; empty where only the first restore counts.
    private func turn(
        _ transaction: AppStore.Transaction,
        _ mode: Claim.Mode,
        of customer: Customer.ID?,
        about key: Purchase.Key,
        at now: Instant
    ) async throws -> String {
        // Under `transfer` the last who restores owns it, and a device shows the same bytes each time;
        // but a retry by who has it already is no news. Under other policies only the first counts.
        guard let customer, mode == .restored,
            try await reads.isMoved(
                by: customer,
                key,
                context.records.record(of: key),
                bought: Instant(milliseconds: transaction.purchaseDate ?? now.milliseconds)
            )
        else { return "" }
        try reads.restores.admit("\(customer) \(key.canonical)", at: context.clocks.wall())
        return "\(now.milliseconds)"
    }

    /// Where a purchase goes to who restores it, the App Store is to name them from now on.
    private func tellWhoRestored(
        _ transaction: AppStore.Transaction,
        _ customer: Customer.ID,
        about key: Purchase.Key
    ) async throws {
        let bought = Instant(milliseconds: transaction.purchaseDate ?? transaction.signedDate ?? 0)
        guard context.records.history.ownership(at: bought) == .transfer, !key.isOfXcode,
            reads.canAsk(AppStoreScope(key)),
            transaction.inAppOwnershipType == .purchased,
            let original = transaction.originalTransactionID
        else { return }
        let token = try await context.profile(of: customer).customer.appAccountToken
        // Also where the transaction bears it: it says what was so when it was signed, and somebody
        // else may have restored the purchase since. The question outlives an erasure, so it hashes it.
        let whose = RowKey("account token", token).hex
        let wanted = Wanted(kind: .appAccountToken, object: "\(original) \(whose)")
        try await context.records.questions.want(wanted, about: key, at: await context.clocks.now())
    }

    /// Takes in a transaction that a device holds although its customer is answered with no.
    ///
    /// - Returns: as `purchase(of:)`; somebody else's purchase, too, which then is the cause.
    /// - Throws: as `receive`, but for what belongs to somebody else.
    public func observe(
        _ signedTransaction: String,
        from customer: Customer.ID
    ) async throws -> Purchase.Key? {
        do {
            _ = try await receive(
                API.AppStoreTransactionRequest(
                    signedTransaction: signedTransaction,
                    mode: .observed
                ),
                from: customer
            )
        } catch let refusal as Refusal where refusal.status == 409 {
            // It is taken in all the same.
        }
        return try await purchase(of: signedTransaction)
    }

    /// The purchase that a signed transaction is of; `nil` for one of an environment that is not kept.
    private func purchase(of signedTransaction: String) async throws -> Purchase.Key? {
        let transaction = try await messages.presentedTransaction(
            Array(signedTransaction.utf8),
            at: await context.clocks.now()
        )
        guard case .facts(_, let key) = AppStoreTranslator.message(presented: transaction) else {
            return nil
        }
        return key
    }
}
