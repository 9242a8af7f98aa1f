import Foundation

/// The checkouts that this app has begun and not yet heard the end of; they survive a relaunch, since
/// the app may be ended while its customer is in the browser.
final class BegunCheckouts: Sendable {
    struct Checkout: Codable, Hashable, Sendable {
        /// The Checkout Session's id.
        var id: String
        /// The App Store's id of what is bought, else the catalog's.
        var productID: String
    }

    private let storage: OfflineStorage
    /// Of customers who open page after page, the newest count.
    private static let limit = 8

    init(storage: OfflineStorage) { self.storage = storage }

    private var checkouts: [Checkout] { storage.value([Checkout].self, of: .checkouts) ?? [] }

    /// The one that was begun last.
    var latest: Checkout? { checkouts.last }

    func product(of id: String) -> String? { checkouts.first { $0.id == id }?.productID }

    func begin(_ checkout: Checkout) {
        change { checkouts in
            checkouts.removeAll { $0.id == checkout.id }
            checkouts.append(checkout)
            checkouts = checkouts.suffix(Self.limit)
        }
    }

    func end(_ id: String) { change { $0.removeAll { $0.id == id } } }

    func forget() { change { $0 = [] } }

    private func change(_ body: @escaping @Sendable (inout [Checkout]) -> Void) {
        storage.changeList(.checkouts, of: Checkout.self, body)
    }
}
