import Foundation
internal import TollgateAPI

/// The token under which the App Store knows the customer, as the server said it last.
///
/// With it a customer can buy while the server cannot be reached.
struct AccountTokens: Sendable {
    private struct Kept: Codable {
        var customer: String
        var token: UUID
    }

    let storage: OfflineStorage

    /// The token of `customer`; `nil` if the server never said it to this device.
    func token(of customer: String) -> UUID? {
        guard let kept = storage.value(Kept.self, of: .accountToken), kept.customer == customer
        else { return nil }
        return kept.token
    }

    /// Keeps the token of `customer` in place of another customer's.
    func keep(_ token: UUID, of customer: String) {
        guard self.token(of: customer) != token else { return }
        storage.keep(Kept(customer: customer, token: token), as: .accountToken)
    }

    /// Leaves nothing of the customer who signed out.
    func forget() { storage.save(.accountToken, nil) }
}
