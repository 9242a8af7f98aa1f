internal import Foundation
internal import Storage
internal import Stores
public import TollgateAPI
public import TollgateCore

/// Coins: what customers have, spend and owe.
public struct Coins: Sendable {
    let records: RecordStore
    let clocks: Clocks
    let directory: CustomerDirectory
    let defaultEnvironment: StoreEnvironment

    /// How many coins `customer` has, may spend, or owes.
    public func balance(
        of customer: String,
        in environment: StoreEnvironment? = nil
    ) async throws -> API.CoinBalance {
        let id = Customer.ID(try await directory.customer(customer).id)
        let reading = try await records.reading(of: id, in: environment ?? defaultEnvironment)
        return API.CoinBalance(balance: reading.balance)
    }

    /// Spends coins, once per idempotency key.
    ///
    /// - Throws: refusals 409 `insufficient_coins`, 409 `idempotency_mismatch`.
    public func spend(
        _ request: API.SpendRequest,
        of customer: String,
        in environment: StoreEnvironment? = nil,
        idempotencyKey: String?
    ) async throws -> API.SpendReply {
        guard let idempotencyKey else {
            throw Refusal(
                400,
                .parameterMissing,
                "Spending needs the header Idempotency-Key (1 to 255 bytes), so that a retry spends nothing twice.",
                param: "Idempotency-Key"
            )
        }
        guard request.amount > 0 else {
            throw Refusal(
                422,
                .parameterInvalid,
                "amount is a positive number of coins.",
                param: "amount"
            )
        }
        return try await spend(
            request,
            of: Customer.ID(try await directory.customer(customer).id),
            in: environment ?? defaultEnvironment,
            idempotencyKey
        )
    }

    private func spend(
        _ request: API.SpendRequest,
        of id: Customer.ID,
        in environment: StoreEnvironment,
        _ idempotencyKey: String
    ) async throws -> API.SpendReply {
        let bodyHash = RowKey("\(request.amount)", request.reason ?? "")
        let key = RowKey("spend", id.rawValue, environment.rawValue, idempotencyKey)
        let outcome = try await records.submit(
            JournalItem(
                dedupeKey: key,
                subject: RecordStore.subject(of: id),
                kind: .command,
                stated: await clocks.now(),
                content: .spend(
                    SpendOrder(
                        customer: id,
                        environment: environment,
                        amount: request.amount,
                        bodyHash: bodyHash
                    )
                ),
                received: Array((request.reason ?? "").utf8),
                body: request.reason.map { SignedBody(Array($0.utf8)).compact }
            )
        )
        guard case .decided(let decision, _) = outcome else {
            throw Refusal(
                500,
                .internalError,
                "The spend could not be decided; send it again with the same Idempotency-Key."
            )
        }
        guard decision.bodyHash == bodyHash else {
            throw Refusal.idempotency(
                .idempotencyMismatch,
                "This Idempotency-Key was used for another spend."
            )
        }
        let balance = API.CoinBalance(balance: decision.balance)
        guard decision.isAccepted else {
            throw Refusal.conflict(
                .insufficientCoins,
                "The customer has \(balance.spendable) coins to spend; \(request.amount - balance.spendable) are missing.",
                param: "amount"
            )
        }
        return API.SpendReply(
            id: "spend_\(key.hex)",
            amount: request.amount,
            reason: request.reason,
            after: balance
        )
    }
}
