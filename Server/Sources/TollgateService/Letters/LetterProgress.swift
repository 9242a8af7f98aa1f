// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import Storage
internal import TollgateAPI
internal import TollgateCore

/// The place in the feed up to which letters were queued, and since when each kind is sent.
struct LetterProgress: Codable, Hashable, Sendable {
    var position: Int64
    /// The time at which each kind was switched on, by the stores' clock.
    private(set) var since: [String: Instant] = [:]
    /// The last time at which a server had a kind switched on, by real time.
    private(set) var seen: [String: Instant] = [:]

    /// The time between two notes that a kind is on, in milliseconds.
    private static let beat: Int64 = 60_000
    /// The time, in milliseconds, after which a kind is off that no server has on.
    ///
    /// Servers that restart one after the other have different settings for a while.
    private static let absence: Int64 = 600_000

    init(position: Int64) { self.position = position }

    init?(_ bytes: [UInt8]) {
        guard let value = try? APIJSON.decode(Self.self, from: Data(bytes)) else { return nil }
        self = value
    }

    static func read(_ records: RecordStore) async throws -> LetterProgress? {
        try await records.letters.progress().flatMap { LetterProgress($0) }
    }

    func bytes() throws -> [UInt8] { Array(try APIJSON.encode(self)) }

    /// Returns whether `cover` would change nothing.
    func covers(_ kinds: Set<Letter.Kind>, wall: Instant) -> Bool {
        var copy = self
        copy.cover(kinds, at: wall, wall: wall)
        return copy == self
    }

    /// Notes which kinds are switched on at this server; one that is new begins now.
    ///
    /// A kind that another server has on stays.
    ///
    /// - Parameters:
    ///   - now: by the stores' time.
    ///   - wall: real time.
    /// - Returns: the kinds that begin.
    @discardableResult
    mutating func cover(_ kinds: Set<Letter.Kind>, at now: Instant, wall: Instant) -> [String] {
        let words = Set(kinds.map(\.rawValue))
        func isRecent(_ word: String, _ age: Int64) -> Bool {
            seen[word].map { wall.milliseconds - $0.milliseconds < age } ?? false
        }
        since = since.filter { words.contains($0.key) || isRecent($0.key, Self.absence) }
        let begun = words.filter { since[$0] == nil }.sorted()
        for word in begun { since[word] = now }
        for word in words where !isRecent(word, Self.beat) { seen[word] = wall }
        seen = seen.filter { since[$0.key] != nil }
        return begun
    }

    /// Returns whether the kind is on, and the cause no older than the switch.
    func wants(_ letter: Letter) -> Bool {
        since[letter.kind.rawValue].map { $0 <= letter.caused } ?? false
    }
}
