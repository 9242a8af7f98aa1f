import Foundation
internal import TollgateAPI

/// Transactions that a customer has bought or restored and that the server does not have yet.
///
/// They survive a relaunch, so that a purchase is claimed as one however late it arrives.
struct ClaimedTransactions: Sendable {
    private struct Claim: Codable, Hashable {
        var signature: String
        var mode: String
        var customer: String
        /// The transaction's id; `nil` in what an earlier version wrote.
        var transactionID: UInt64?
        /// The device's time at the first claim; `nil` in what an earlier version wrote.
        var since: Date?
        /// `true`: the server answered, such as with 403, and may take it later; that is no outage.
        var isDenied: Bool?

        /// StoreKit may sign a transaction anew, so that its id alone names it.
        func isOf(_ transaction: Purchase) -> Bool {
            signature == transaction.signature
                || (transactionID != nil && transactionID == transaction.transactionID)
        }
    }

    /// A transaction that the server is to take, as far as the device knows.
    struct Purchase: Hashable, Sendable {
        var signature: String
        var transactionID: UInt64?
        /// The device's time at the first claim.
        var since: Date?
    }

    let storage: OfflineStorage

    private var claims: [Claim] { storage.value([Claim].self, of: .claims) ?? [] }

    /// How `customer` came by the transaction; `nil` if they did not claim it.
    func mode(of transaction: Purchase, by customer: String) -> AppStoreSubmission.Mode? {
        claims.first { $0.customer == customer && $0.isOf(transaction) }
            .flatMap { AppStoreSubmission.Mode(rawValue: $0.mode) }
    }

    /// What `customer` has bought and the server has neither taken nor refused.
    func purchases(of customer: String) -> [Purchase] {
        claims.filter {
            $0.customer == customer && $0.isDenied != true
                && $0.mode == AppStoreSubmission.Mode.purchased.rawValue
        }
        .map {
            Purchase(signature: $0.signature, transactionID: $0.transactionID, since: $0.since)
        }
    }

    /// Keeps a claim.
    ///
    /// Whoever bought and then restores has bought.
    ///
    /// - Parameter now: the device's time.
    func keep(
        _ transaction: Purchase,
        _ mode: AppStoreSubmission.Mode,
        of customer: String,
        at now: Date
    ) {
        let purchased = AppStoreSubmission.Mode.purchased.rawValue
        change { claims in
            let before = claims.first { $0.customer == customer && $0.isOf(transaction) }
            claims.removeAll { $0.customer == customer && $0.isOf(transaction) }
            claims.append(
                Claim(
                    signature: transaction.signature,
                    mode: before?.mode == purchased ? purchased : mode.rawValue,
                    customer: customer,
                    transactionID: transaction.transactionID,
                    since: before == nil ? now : before?.since,
                    isDenied: before?.isDenied
                )
            )
        }
    }

    /// The server has answered that it does not take it now, or cannot be asked.
    func set(denied isDenied: Bool, _ transaction: Purchase, of customer: String) {
        change { claims in
            for index in claims.indices
            where claims[index].customer == customer && claims[index].isOf(transaction) {
                claims[index].isDenied = isDenied ? true : nil
            }
        }
    }

    /// The server has taken it, or refused it for good.
    func end(_ transaction: Purchase) { change { $0.removeAll { $0.isOf(transaction) } } }

    func forget() { change { $0 = [] } }

    private func change(_ body: @escaping @Sendable (inout [Claim]) -> Void) {
        storage.changeList(.claims, of: Claim.self, body)
    }
}
