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
            (try? settings.stores.name(ofSetUp: store)).map { finding(store, $0, heard[store]) }
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
