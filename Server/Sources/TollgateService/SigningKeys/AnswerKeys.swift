internal import Crypto
internal import Foundation
internal import Storage
internal import TollgateCore

/// The keys of signed answers, one after the other: a value that is kept as one row (RULES §15).
///
/// The newest whose time has come signs. The next one is shown before it signs, so that whoever
/// fetched the key set meanwhile knows it; a former one is shown until the last answer that it may
/// have signed has ended.
struct AnswerKeys: Hashable, Sendable, Codable {
    struct Key: Hashable, Sendable, Codable {
        /// 64 bytes: x and y.
        var point: Data
        /// 32 bytes; nil once it signs no more.
        var secret: Data?
        /// From when it signs.
        var from: Instant
        /// Until when it is shown; nil for the newest.
        var until: Instant?

        init(_ key: P256.Signing.PrivateKey, from: Instant) {
            point = key.publicKey.rawRepresentation
            secret = key.rawRepresentation
            self.from = from
        }

        /// The first bytes of the point's hash: the same key has the same id on every server.
        var id: String { SHA256.hash(data: point).prefix(8).hex }

        private enum CodingKeys: String, CodingKey { case point, secret, from, until }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            point = try values.decode(Data.self, forKey: .point)
            secret = try values.decodeIfPresent(Data.self, forKey: .secret)
            from = Instant(milliseconds: try values.decode(Int64.self, forKey: .from))
            until = try values.decodeIfPresent(Int64.self, forKey: .until)
                .map { Instant(milliseconds: $0) }
        }

        func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(point, forKey: .point)
            try values.encodeIfPresent(secret, forKey: .secret)
            try values.encode(from.milliseconds, forKey: .from)
            try values.encodeIfPresent(until?.milliseconds, forKey: .until)
        }
    }

    /// In the order in which they sign; never empty.
    private(set) var keys: [Key]

    /// How long the next key is shown before it signs.
    static let notice: Int64 = 24 * 3_600_000
    /// How soon it signs when it must be at once: by then every server has read it.
    static let hurry: Int64 = 60_000
    /// How long after its last signature a key is shown: the longest life of anything signed, and an
    /// hour for servers whose clocks differ.
    static let memory: Int64 =
        (max(Entitlements.answerLifetime, PublishedCatalog.lifetime) + 3600) * 1000

    init(_ first: P256.Signing.PrivateKey) {
        keys = [Key(first, from: Instant(milliseconds: 0))]
    }

    // MARK: - Keeping

    /// - Parameter bytes: as kept; 32 of them are a single key, as it was before keys could change.
    init(kept bytes: [UInt8]) throws {
        if bytes.count == 32 {
            let key = try P256.Signing.PrivateKey(rawRepresentation: bytes)
            keys = [Key(key, from: Instant(milliseconds: 0))]
        } else {
            keys = try JSONDecoder().decode([Key].self, from: Data(bytes))
            guard keys.contains(where: { $0.secret != nil }) else { throw SigningKeyError() }
        }
    }

    /// What is kept.
    func kept() throws -> [UInt8] { Array(try JSONEncoder().encode(keys)) }

    // MARK: - Asking

    /// Which key signs at `now`: the newest whose time has come, or else, where a clock was set back
    /// behind all of them, the oldest that can.
    func signer(at now: Instant) -> Key? {
        let able = keys.filter { $0.secret != nil }
        return able.last { $0.from <= now } ?? able.first
    }

    /// The one that is shown and does not sign yet.
    func next(at now: Instant) -> Key? { keys.last { $0.from > now } }

    /// Those that verify at `now`.
    func shown(at now: Instant) -> [Key] {
        keys.filter { key in key.until.map { now < $0 } ?? true }
    }

    // MARK: - Changing

    /// Lets `fresh` follow the key that signs; where one is under way already, that one stays.
    ///
    /// - Parameters:
    ///   - atOnce: it signs in a minute, not in a day.
    ///   - forgetting: the former keys verify nothing from then on. For a key that was stolen.
    mutating func rotate(
        to fresh: P256.Signing.PrivateKey,
        at now: Instant,
        atOnce: Bool,
        forgetting: Bool
    ) {
        let soon = Instant(milliseconds: now.milliseconds + Self.hurry)
        let signer = signer(at: now)
        if forgetting {
            // The one that is under way was kept beside the stolen one, and has signed nothing yet.
            keys.removeAll { $0.from > now && $0.from != signer?.from }
        }
        if next(at: now) == nil {
            let begin =
                atOnce || forgetting
                ? soon : Instant(milliseconds: now.milliseconds + Self.notice)
            keys.append(Key(fresh, from: begin))
        } else if atOnce || forgetting {
            keys[keys.count - 1].from = min(keys[keys.count - 1].from, soon)
        }
        let begin = keys[keys.count - 1].from
        let end = Instant(milliseconds: begin.milliseconds + Self.memory)
        let last = forgetting ? begin : end
        for index in keys.indices.dropLast() {
            // A second change does not lengthen what the first one ended. But the key that signs is
            // shown as long as it does: what was to follow it sooner may be forgotten by now, too.
            let isSigning = forgetting && keys[index] == signer
            keys[index].until = isSigning ? begin : min(keys[index].until ?? last, last)
        }
    }

    /// Without what has ended, and without the secrets of those that sign no more.
    func tidied(at now: Instant) -> AnswerKeys {
        var tidied = self
        // A server whose clock is behind may still sign with the one before.
        let behind = Instant(milliseconds: now.milliseconds - 3_600_000)
        let current = keys.lastIndex { $0.from <= behind } ?? 0
        for index in keys.indices.prefix(current) { tidied.keys[index].secret = nil }
        tidied.keys.removeAll { key in key.until.map { $0 <= now } ?? false }
        return tidied
    }
}
