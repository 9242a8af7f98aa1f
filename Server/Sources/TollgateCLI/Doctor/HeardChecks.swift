// SPDX-License-Identifier: Apache-2.0
import TollgateCore
import TollgateService

/// When each store that is set up was heard of last.
struct HeardChecks {
    let settings: ServeSettings
    let database: DoctorDatabase

    /// Nothing where the database does not answer: its own check says so.
    func all() async -> [Finding] {
        let heard = try? await database.read { try await LastMessages.read($0) }
        guard let heard else { return [] }
        return Store.allCases.compactMap { store in
            name(ofSetUp: store).map { finding(store, $0, heard[store]) }
        }
    }

    /// - Returns: `nil` for a store that is not set up.
    private func name(ofSetUp store: Store) -> String? {
        switch store {
        case .appStore: settings.verifier == nil ? nil : "the App Store"
        case .stripe: settings.stores.stripeSecretKey == nil ? nil : "Stripe"
        case .googlePlay: settings.stores.googlePlay.isSetUp ? "Google Play" : nil
        case .tollgate: nil
        }
    }

    private func finding(_ store: Store, _ name: String, _ heard: Instant?) -> Finding {
        let check = "\(store.rawValue).heard"
        guard let heard else {
            return .warning(
                check,
                "No message of \(name) has arrived yet.",
                "Buy something there with a test account, or have it send a test message. If none arrives, look at the address that the store has of this server."
            )
        }
        return .ok(
            check,
            "The last message of \(name) arrived at \(heard), or up to five minutes later."
        )
    }
}
