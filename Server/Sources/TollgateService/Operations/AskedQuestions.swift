// SPDX-License-Identifier: Apache-2.0
internal import Storage
internal import Stores
internal import TollgateCore

/// The questions to stores that somebody asks.
///
/// Others are about an app or a store that was removed from the settings, and wait for the day on which it
/// comes back.
struct AskedQuestions: Sendable {
    let records: RecordStore
    let connectors: [any StoreConnector]

    /// When the oldest question of each kind was raised; kinds that nobody asks about are left out.
    func oldest(of kinds: [String]) async throws -> [(kind: String, raised: Instant)] {
        var found: [(kind: String, raised: Instant)] = []
        for kind in kinds {
            guard let raised = try await oldest(of: Wanted.Kind(rawValue: kind)) else { continue }
            found.append((kind, raised))
        }
        return found
    }

    private func oldest(of kind: Wanted.Kind) async throws -> Instant? {
        var last: WantedRow?
        while true {
            // Nearly always the first one is asked.
            let page = try await records.questions.wanted(
                kind,
                after: last,
                limit: last == nil ? 10 : 500
            )
            if let row = page.first(where: isAsked) { return row.raised }
            guard let end = page.last else { return nil }
            last = end
        }
    }

    private func isAsked(_ row: WantedRow) -> Bool {
        guard let key = row.purchase else { return true }
        return connectors.contains {
            $0.store == key.store && $0.isSetUp && $0.applications.contains(key.application)
        }
    }
}
