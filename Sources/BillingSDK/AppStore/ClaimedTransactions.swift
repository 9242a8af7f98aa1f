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
        /// Whether the server said that it does not take it now, such as with 403: an outage it is not.
        var isDenied: Bool?
    }

    /// A purchase that the server is to take, as far as the device knows.
    struct Purchase: Hashable, Sendable {
        var signature: String
        var transactionID: UInt64?
    }

    let storage: OfflineStorage

    private var claims: [Claim] { storage.value([Claim].self, of: .claims) ?? [] }

    /// How `customer` came by the transaction; `nil` if they did not claim it.
    func mode(of signature: String, by customer: String) -> AppStoreSubmission.Mode? {
        claims.first { $0.signature == signature && $0.customer == customer }
            .flatMap { AppStoreSubmission.Mode(rawValue: $0.mode) }
    }

    /// What `customer` has bought and the server has neither taken nor refused.
    func purchases(of customer: String) -> [Purchase] {
        claims.filter {
            $0.customer == customer && $0.isDenied != true
                && $0.mode == AppStoreSubmission.Mode.purchased.rawValue
        }
        .map { Purchase(signature: $0.signature, transactionID: $0.transactionID) }
    }

    func keep(
        _ signature: String,
        _ mode: AppStoreSubmission.Mode,
        of customer: String,
        transactionID: UInt64? = nil
    ) {
        let claim = Claim(
            signature: signature,
            mode: mode.rawValue,
            customer: customer,
            transactionID: transactionID
        )
        change { claims in
            var claim = claim
            claim.isDenied = claims.first { $0.signature == signature }?.isDenied
            claims.removeAll { $0.signature == signature }
            claims.append(claim)
        }
    }

    /// The server has answered, and does not take it now.
    func deny(_ signature: String) {
        change { claims in
            for index in claims.indices where claims[index].signature == signature {
                claims[index].isDenied = true
            }
        }
    }

    func end(_ signature: String) { change { $0.removeAll { $0.signature == signature } } }

    func forget() { change { $0 = [] } }

    private func change(_ body: @escaping @Sendable (inout [Claim]) -> Void) {
        storage.changeList(.claims, of: Claim.self, body)
    }
}
