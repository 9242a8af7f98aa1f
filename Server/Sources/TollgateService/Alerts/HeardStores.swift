// SPDX-License-Identifier: Apache-2.0
internal import TollgateCore

/// When each store was last heard of by any server, by real time.
struct HeardStores: Codable, Hashable, Sendable {
    /// How far what is kept may lag behind, in milliseconds: not each message is worth a commit.
    static let lag: Int64 = 300_000

    /// By the store's word.
    private var instants: [String: Instant] = [:]

    /// Takes in what this server has heard.
    ///
    /// An instant after `wall` was noted by a clock that was ahead, and counts as `wall`: it would hide
    /// silence until then.
    ///
    /// - Parameters:
    ///   - stores: those that are set up. One that is new counts as heard of at `wall`.
    ///   - wall: real time.
    /// - Returns: whether there is something to keep.
    mutating func take(
        _ heard: [Store: Instant],
        of stores: [Store],
        at wall: Instant
    ) -> Bool {
        let before = instants
        for store in stores {
            let known = instants[store.rawValue]
            let last = min([heard[store], known].compactMap(\.self).max() ?? wall, wall)
            if let known, abs(last.milliseconds - known.milliseconds) < Self.lag { continue }
            instants[store.rawValue] = last
        }
        return instants != before
    }

    subscript(store: Store) -> Instant? { instants[store.rawValue] }
}
