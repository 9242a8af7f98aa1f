// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import Storage
internal import TollgateAPI
internal import TollgateCore

/// The place in the feed up to which letters were queued, and since when each kind is sent.
struct LetterProgress: Codable, Hashable, Sendable {
    var position: Int64
    /// The time at which each kind was switched on, by the stores' clock.
    private(set) var since: [String: Instant]

    init(position: Int64, since: [String: Instant]) {
        (self.position, self.since) = (position, since)
    }

    init?(_ bytes: [UInt8]) {
        guard let value = try? APIJSON.decode(Self.self, from: Data(bytes)) else { return nil }
        self = value
    }

    static func read(_ records: RecordStore) async throws -> LetterProgress? {
        try await records.letters.progress().flatMap { LetterProgress($0) }
    }

    func bytes() throws -> [UInt8] { Array(try APIJSON.encode(self)) }

    /// Returns whether exactly these kinds are known to be switched on.
    func covers(_ kinds: Set<Letter.Kind>) -> Bool {
        Set(since.keys) == Set(kinds.map(\.rawValue))
    }

    /// Notes which kinds are switched on; one that is new begins now.
    mutating func cover(_ kinds: Set<Letter.Kind>, at now: Instant) {
        let words = Set(kinds.map(\.rawValue))
        since = since.filter { words.contains($0.key) }
        for word in words where since[word] == nil { since[word] = now }
    }

    /// Returns whether the cause is no older than the switch.
    func wants(_ letter: Letter) -> Bool {
        since[letter.kind.rawValue].map { $0 <= letter.caused } ?? false
    }
}
