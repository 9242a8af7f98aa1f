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
    }

    let storage: OfflineStorage

    private var claims: [Claim] { storage.value([Claim].self, of: .claims) ?? [] }

    /// How `customer` came by the transaction; `nil` if they did not claim it.
    func mode(of signature: String, by customer: String) -> AppStoreSubmission.Mode? {
        claims.first { $0.signature == signature && $0.customer == customer }
            .flatMap { AppStoreSubmission.Mode(rawValue: $0.mode) }
    }

    func keep(_ signature: String, _ mode: AppStoreSubmission.Mode, of customer: String) {
        let claim = Claim(signature: signature, mode: mode.rawValue, customer: customer)
        change { claims in
            claims.removeAll { $0.signature == signature }
            claims.append(claim)
        }
    }

    func end(_ signature: String) { change { $0.removeAll { $0.signature == signature } } }

    func forget() { change { $0 = [] } }

    private func change(_ body: (inout [Claim]) -> Void) {
        storage.alone {
            let before = claims
            var claims = before
            body(&claims)
            if claims != before { storage.keep(claims.isEmpty ? nil : claims, as: .claims) }
        }
    }
}
