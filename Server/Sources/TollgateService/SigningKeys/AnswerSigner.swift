internal import Crypto
internal import Foundation
public import Storage
internal import StrictJSON
internal import Synchronization
public import TollgateAPI
public import TollgateCore

/// Signs answers, so that a device can trust one while the server is out of reach (RULES §15).
///
/// What is held in memory is a copy: the keys are in the database, and every server reads them again
/// now and then.
public final class AnswerSigner: Sendable {
    /// A key that can sign, read from its bytes once.
    struct Key: Sendable {
        let id: String
        private let key: P256.Signing.PrivateKey
        /// The token's first part with its dot.
        private let header: [UInt8]

        fileprivate init(_ id: String, _ key: P256.Signing.PrivateKey) {
            (self.id, self.key) = (id, key)
            var json = JSONBytes(capacity: 64)
            json.add("{\"alg\":\"ES256\",\"kid\":")
            json.add(quoted: id)
            json.add(",\"typ\":\"JWT\"}")
            var text: [UInt8] = []
            json.bytes.withUnsafeBytes { Base64URL.append($0, to: &text) }
            header = text + [UInt8(ascii: ".")]
        }

        /// A compact ES256 JWT of `claims`, which are JSON.
        func sign(_ claims: [UInt8]) throws -> [UInt8] {
            var token = header
            token.reserveCapacity(header.count + claims.count * 4 / 3 + 96)
            claims.withUnsafeBytes { Base64URL.append($0, to: &token) }
            let signature = try key.signature(for: token).rawRepresentation
            token.append(UInt8(ascii: "."))
            signature.withUnsafeBytes { Base64URL.append($0, to: &token) }
            return token
        }
    }

    private struct Held {
        let keys: AnswerKeys
        /// How often others had been put in the place of those before.
        let change: Int
        /// Those that can sign, in their order, as `AnswerKeys.signer(at:)` chooses among them.
        private let signers: [(from: Instant, key: Key)]

        init(_ keys: AnswerKeys, change: Int = 0) throws {
            (self.keys, self.change) = (keys, change)
            signers = try keys.keys.compactMap { kept in
                guard let secret = kept.secret else { return nil }
                let key = try P256.Signing.PrivateKey(rawRepresentation: secret)
                return (kept.from, Key(kept.id, key))
            }
        }

        /// A key of its own.
        init(_ key: P256.Signing.PrivateKey) {
            (keys, change) = (AnswerKeys(key), 0)
            signers = keys.keys.map { ($0.from, Key($0.id, key)) }
        }

        func signer(at now: Instant) -> Key? {
            (signers.last { $0.from <= now } ?? signers.first)?.key
        }
    }

    /// How long what was read is taken for what the database has, in milliseconds.
    static let freshness: Int64 = 5_000

    private let place: Place?
    private let held: Mutex<Held>
    /// When the keys were last asked for by somebody who asks often, in real time.
    private let asked = Mutex<Instant?>(nil)

    /// Takes the keys kept in the database, or makes one and keeps it.
    ///
    /// - Parameter sealing: keeps them so that the database alone does not tell them; nil: as they
    ///   are, for tests.
    /// - Throws: `SealingError` where they were sealed under another secret key.
    public init(keptIn driver: any StorageDriver, sealing: SealingKeys? = nil) async throws {
        let place = Place(driver: driver, sealing: sealing)
        self.place = place
        held = Mutex(try Held(try await place.change { _ in }))
    }

    /// A key that nobody knows and that is kept nowhere.
    public init() {
        place = nil
        held = Mutex(Held(P256.Signing.PrivateKey()))
    }

    /// What `/.well-known/jwks.json` shows.
    ///
    /// - Parameter now: real time.
    public func keySet(at now: Instant) -> JSONWebKeySet {
        let keys = held.withLock { $0.keys }
        return JSONWebKeySet(
            keys: keys.shown(at: now).map {
                JSONWebKeySet.Key(kid: $0.id, x: $0.point.prefix(32), y: $0.point.suffix(32))
            }
        )
    }

    /// The keys that are shown, in the order in which they sign.
    ///
    /// - Parameter now: real time.
    public func signingKeys(at now: Instant) -> [API.SigningKey] {
        Self.signingKeys(held.withLock { $0.keys }, at: now)
    }

    /// The same of a database beside a server: nothing is changed; empty where no key was made yet.
    ///
    /// - Parameter now: real time.
    /// - Throws: `SealingError` where they were sealed under another secret key.
    public static func signingKeys(
        keptIn driver: any StorageDriver,
        sealing: SealingKeys,
        at now: Instant
    ) async throws -> [API.SigningKey] {
        let kept = try await Place(driver: driver, sealing: sealing).read()
        return kept.map { signingKeys($0, at: now) } ?? []
    }

    private static func signingKeys(_ keys: AnswerKeys, at now: Instant) -> [API.SigningKey] {
        let signer = keys.signer(at: now)
        return keys.shown(at: now).map { key in
            API.SigningKey(
                id: key.id,
                status: key.from > now && key != signer
                    ? .next : key == signer ? .signing : .former,
                signsFrom: key.from.milliseconds,
                shownUntil: key.until?.milliseconds
            )
        }
    }

    /// A compact ES256 JWT of `claims`.
    ///
    /// - Parameter now: real time: it decides which key signs.
    public func sign(_ claims: some Encodable, at now: Instant) throws -> String {
        let claims = Array(try APIJSON.encode(claims))
        return String(decoding: try key(at: now).sign(claims), as: UTF8.self)
    }

    /// The key that signs.
    ///
    /// - Parameter now: real time.
    func key(at now: Instant) throws -> Key {
        guard let key = held.withLock({ $0.signer(at: now) }) else { throw SigningKeyError() }
        return key
    }

    /// Whether whoever asks now is to read the keys again: one at a time, and not again at once if
    /// that fails.
    ///
    /// - Parameter now: real time; before the last time, its clock was set back.
    func isDue(at now: Instant) -> Bool {
        asked.withLock { last in
            if let last,
                (0..<Self.freshness).contains(now.milliseconds - last.milliseconds)
            {
                return false
            }
            last = now
            return true
        }
    }

    /// Reads the keys again, which another server may have changed, and lets go of what has ended.
    ///
    /// - Parameter now: real time.
    public func refresh(at now: Instant) async throws {
        guard let place else { return }
        let change = held.withLock { $0.change }
        let kept = try await place.read()
        if kept != kept?.tidied(at: now) {
            try hold(try await place.change { $0 = $0.tidied(at: now) }, after: change)
        } else if let kept {
            try hold(kept, after: change)
        }
    }

    /// Lets a new key follow; see `SigningKeys.rotate`.
    func rotate(at now: Instant, atOnce: Bool, forgetting: Bool) async throws {
        guard let place else { throw SigningKeyError() }
        let fresh = P256.Signing.PrivateKey()
        let change = held.withLock { $0.change }
        let keys = try await place.change { keys in
            keys.rotate(to: fresh, at: now, atOnce: atOnce, forgetting: forgetting)
            keys = keys.tidied(at: now)
        }
        // Somebody else has read or changed them meanwhile: which is newer, only the database says.
        if try !hold(keys, after: change) { try await refresh(at: now) }
    }

    /// Puts keys in the place of those that were held when they were asked for; what was read before
    /// a change must not undo it.
    ///
    /// - Returns: whether these are the keys that are held now.
    @discardableResult
    private func hold(_ keys: AnswerKeys, after change: Int) throws -> Bool {
        guard held.withLock({ $0.keys != keys }) else { return true }
        let fresh = try Held(keys, change: change + 1)
        return held.withLock { held in
            guard held.change == change else { return false }
            held = fresh
            return true
        }
    }
}

extension AnswerSigner {
    /// The row of the keys.
    private struct Place: Sendable {
        let driver: any StorageDriver
        let sealing: SealingKeys?

        private static let purpose = "answer key"
        private static let plain = "answer_key"
        private static let sealed = "answer_key_sealed"

        /// The keys, nil where there are none yet.
        func read() async throws -> AnswerKeys? {
            let rows = try await driver.readNow(
                "SELECT value FROM meta WHERE name = $1",
                [.text(sealing == nil ? Self.plain : Self.sealed)]
            )
            guard let bytes = try rows.first?.bytes(0) else { return nil }
            return try AnswerKeys(
                kept: try sealing.map { try $0.open(bytes, as: Self.purpose).bytes } ?? bytes
            )
        }

        /// Changes the keys; makes the first one where there is none.
        ///
        /// - Returns: the keys as they are then.
        func change(
            _ change: @escaping @Sendable (inout AnswerKeys) -> Void
        ) async throws -> AnswerKeys {
            let first = AnswerKeys(P256.Signing.PrivateKey())
            let sealing = sealing
            let row = sealing == nil ? Self.plain : Self.sealed
            return try await driver.write { connection in
                func value(_ name: String, lock: String = "") throws -> [UInt8]? {
                    try connection.query(
                        "SELECT value FROM meta WHERE name = $1 \(lock)",
                        [.text(name)]
                    ).first?.bytes(0)
                }
                // What was kept before there was anything to seal it with.
                let before = sealing == nil ? nil : try value(Self.plain)
                let initial = try before.map { try AnswerKeys(kept: $0) } ?? first
                // Of two servers that start on an empty database one makes the key, and both take it.
                let bytes = try initial.kept()
                try connection.execute(
                    """
                    INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING
                    """,
                    [
                        .text(row),
                        .blob(try sealing?.seal(bytes, as: Self.purpose) ?? bytes),
                    ]
                )
                guard let found = try value(row, lock: connection.dialect.rowLock) else {
                    throw SigningKeyError()
                }
                let (opened, isCurrent) =
                    try sealing?.open(found, as: Self.purpose) ?? (found, true)
                let kept = try AnswerKeys(kept: opened)
                var changed = kept
                change(&changed)
                if changed != kept || !isCurrent {
                    let bytes = try changed.kept()
                    try connection.execute(
                        "UPDATE meta SET value = $2 WHERE name = $1",
                        [
                            .text(row),
                            .blob(try sealing?.seal(bytes, as: Self.purpose) ?? bytes),
                        ]
                    )
                }
                if before != nil {
                    try connection.execute("DELETE FROM meta WHERE name = $1", [.text(Self.plain)])
                }
                return changed
            }
        }
    }
}

/// There is no key to sign with.
struct SigningKeyError: Error, CustomStringConvertible {
    var description: String {
        "The database holds no key that signs answers. `tollgate keys list` shows those it has."
    }
}
