public import TollgateCore

/// A secret key with scopes, as kept: without the key itself.
public struct StoredSecretKey: Hashable, Sendable {
    public var id: String
    public var name: String
    /// Words separated by commas.
    public var scopes: String
    public var creator: String
    /// By real time, as are `lastUsed` and `revoked`.
    public var created: Instant
    public var lastUsed: Instant?
    public var revoked: Instant?

    public init(id: String, name: String, scopes: String, creator: String, created: Instant) {
        self.id = id
        self.name = name
        self.scopes = scopes
        self.creator = creator
        self.created = created
    }
}

/// Keys of the app's backend, each under the hash of its secret.
public struct SecretKeyStore: Sendable {
    let driver: any StorageDriver

    private static func hash(_ secret: String) -> SQLValue {
        RowKey("secret key", secret).value
    }

    private static let secretKeySQL =
        "SELECT id, name, scopes, creator, created, last_used, revoked FROM secret_key"
    private static let secretKeyByHashSQL = secretKeySQL + " WHERE hash = $1"

    /// Keeps a new key under a hash of its secret.
    ///
    /// - Parameter most: how many keys that are not revoked there may be.
    /// - Returns: whether there was room for it.
    public func add(_ key: StoredSecretKey, secret: String, most: Int64) async throws -> Bool {
        try await driver.write { connection in
            let count = try connection.query(
                "SELECT count(*) FROM secret_key WHERE revoked IS NULL"
            ).first?.int64(0)
            guard count ?? 0 < most else { return false }
            try connection.execute(
                """
                INSERT INTO secret_key (id, hash, name, scopes, creator, created)
                VALUES ($1, $2, $3, $4, $5, $6)
                """,
                [
                    .text(key.id), Self.hash(secret), .text(key.name), .text(key.scopes),
                    .text(key.creator), .integer(key.created.milliseconds),
                ]
            )
            return true
        }
    }

    /// The key with this secret, revoked or not.
    public func key(_ secret: String) async throws -> StoredSecretKey? {
        try await driver.readNow(Self.secretKeyByHashSQL, [Self.hash(secret)]).first
            .map(Self.key)
    }

    /// The same without suspension; `nil` also where the database cannot do that.
    public func keyAtOnce(_ secret: String) throws -> StoredSecretKey? {
        try driver.readAtOnce(Self.secretKeyByHashSQL, [Self.hash(secret)])?.first
            .map(Self.key)
    }

    /// Every key, the newest first.
    public func all() async throws -> [StoredSecretKey] {
        try await driver.readNow(Self.secretKeySQL + " ORDER BY created DESC, id", [])
            .map(Self.key)
    }

    /// The key with this id.
    public func key(id: String) async throws -> StoredSecretKey? {
        try await driver.readNow(Self.secretKeySQL + " WHERE id = $1", [.text(id)]).first
            .map(Self.key)
    }

    /// Revokes a key; one that was revoked before keeps its time.
    public func revoke(_ id: String, at now: Instant) async throws {
        try await driver.execute(
            "UPDATE secret_key SET revoked = $2 WHERE id = $1 AND revoked IS NULL",
            [.text(id), .integer(now.milliseconds)]
        )
    }

    /// Keeps when keys were used last.
    public func keep(keyUses: [String: Instant]) async throws {
        try await driver.write { connection in
            _ = try connection.executeMany(
                """
                UPDATE secret_key SET last_used = $2
                WHERE id = $1 AND (last_used IS NULL OR last_used < $2)
                """,
                keyUses.sorted { $0.key < $1.key }.map {
                    [.text($0.key), .integer($0.value.milliseconds)]
                }
            )
        }
    }

    private static func key(_ row: Row) throws -> StoredSecretKey {
        var key = StoredSecretKey(
            id: try row.text(0),
            name: try row.text(1),
            scopes: try row.text(2),
            creator: try row.text(3),
            created: Instant(milliseconds: try row.int64(4))
        )
        key.lastUsed = try row.optionalInt64(5).map { Instant(milliseconds: $0) }
        key.revoked = try row.optionalInt64(6).map { Instant(milliseconds: $0) }
        return key
    }
}
