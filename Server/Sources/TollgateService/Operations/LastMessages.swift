// SPDX-License-Identifier: Apache-2.0
package import Storage
internal import Stores
package import TollgateCore

/// When each store's last genuine message came, to any server, kept for whoever asks beside them.
package struct LastMessages: Sendable {
    let records: RecordStore
    let clocks: Clocks
    let heard: LastHeard

    private static let name = "last_messages"
    /// How far what is kept may lag behind, in milliseconds: not each message is worth a commit.
    private static let lag: Int64 = 300_000

    /// The times by store, some minutes old at most; a store of which nothing was heard is missing.
    package static func read(_ records: RecordStore) async throws -> [Store: Instant] {
        let kept = try await records.cursors.value(name, as: [String: Instant].self) ?? [:]
        return Dictionary(
            uniqueKeysWithValues: kept.compactMap { word, instant in
                Store(rawValue: word).map { ($0, instant) }
            }
        )
    }

    /// Keeps what this server has heard.
    package func keep() async throws {
        let known = try await Self.read(records)
        let news = heard.all.filter { store, instant in
            known[store].map { instant.milliseconds - $0.milliseconds >= Self.lag } ?? true
        }
        guard !news.isEmpty else { return }
        let all = known.merging(news) { $1 }
        let words = Dictionary(uniqueKeysWithValues: all.map { ($0.key.rawValue, $0.value) })
        try await records.cursors.keep(Self.name, value: words, now: clocks.wall())
    }
}
