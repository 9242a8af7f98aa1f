internal import Stores
internal import Logging
public import Storage
public import TollgateAPI
internal import TollgateCore

/// Secret keys beside the configured one, each with its scopes.
public struct SecretKeys: Sendable {
    let records: SecretKeyStore
    let clocks: Clocks
    let random: RandomSource
    let auditLog: AuditLog
    let logger: Logger
    /// When each was used, until `keepUses` writes it.
    let uses: KeyUses
    /// What the secrets of new keys begin with: `sk_live_` or `sk_test_`.
    let prefix: String

    /// How many keys that are not revoked there may be.
    private static let most: Int64 = 200
    /// The random characters after the prefix: 248 bits.
    private static let secretLength = 48

    /// Every key, the newest first, without its secret.
    public func all() async throws -> API.List<API.SecretKey> {
        API.List(data: try await records.all().map { API.SecretKey($0) })
    }

    /// Makes a key; the answer holds its secret, which is kept nowhere.
    ///
    /// - Throws: refusals 400 `parameter_invalid`, 409 `conflict`.
    public func create(
        _ wanted: API.SecretKeyRequest,
        by actor: Actor
    ) async throws -> API.SecretKey {
        let name = wanted.name
        guard (1...80).contains(name.unicodeScalars.count),
            name.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
        else { throw Refusal.invalid("name", "name has 1 to 80 characters, without line breaks.") }
        guard !wanted.scopes.isEmpty else {
            let all = API.KeyScope.allCases.map(\.rawValue).joined(separator: ", ")
            throw Refusal.invalid("scopes", "scopes names at least one of \(all).")
        }
        let scopes = API.KeyScope.allCases.filter(wanted.scopes.contains).map(\.rawValue)
        let key = StoredSecretKey(
            id: random.id("key_"),
            name: name,
            scopes: scopes.joined(separator: ","),
            creator: actor.name,
            created: clocks.wall()
        )
        let secret = random.id(prefix, length: Self.secretLength)
        let deed = Deed(
            "secret_key.create",
            "secret_key:\(key.id)",
            "\(name): \(scopes.joined(separator: ", "))"
        )
        return try await auditLog.audited(deed, by: actor) {
            guard try await records.add(key, secret: secret, most: Self.most) else {
                throw Refusal(
                    409,
                    .conflict,
                    "There are \(Self.most) secret keys; revoke one that is not used."
                )
            }
            var made = API.SecretKey(key)
            made.secret = secret
            return made
        }
    }

    /// Refuses a key from now on; repeating it changes nothing.
    ///
    /// - Throws: a refusal 404 `resource_missing`.
    public func revoke(_ id: String, by actor: Actor) async throws -> API.SecretKey {
        func current() async throws -> StoredSecretKey {
            guard let key = try await records.key(id: id) else {
                throw Refusal.missing("secret key", id)
            }
            return key
        }
        let known = try await current()
        guard known.revoked == nil else { return API.SecretKey(known) }
        return try await auditLog.audited(
            Deed("secret_key.revoke", "secret_key:\(id)", known.name),
            by: actor
        ) {
            try await records.revoke(id, at: clocks.wall())
            return API.SecretKey(try await current())
        }
    }

    // MARK: - Use

    /// The key with this secret; `nil` where there is none, or it was revoked.
    public func key(_ secret: String) async throws -> ScopedKey? {
        guard Self.couldBeScopedKey(secret) else { return nil }
        return used(try await records.key(secret))
    }

    /// The same without suspension; `nil` also where the database cannot do that.
    public func keyAtOnce(_ secret: String) throws -> ScopedKey? {
        guard Self.couldBeScopedKey(secret) else { return nil }
        return used(try records.keyAtOnce(secret))
    }

    /// Whether it has the form of our own keys: guesses of another form cost no read.
    private static func couldBeScopedKey(_ secret: String) -> Bool {
        secret.utf8.count == "sk_test_".utf8.count + secretLength
    }

    private func used(_ key: StoredSecretKey?) -> ScopedKey? {
        guard let key, key.revoked == nil else { return nil }
        uses.note(key.id, at: clocks.wall())
        return ScopedKey(key)
    }

    /// Writes when keys were used last; called once a minute, and when the server ends.
    ///
    /// - Returns: whether it could be written.
    @discardableResult
    public func keepUses() async -> Bool {
        let uses = self.uses.take()
        guard !uses.isEmpty else { return true }
        do {
            try await records.keep(keyUses: uses)
            return true
        } catch {
            logger.warning(
                "the last use of secret keys was not kept",
                metadata: ["error": "\(error)"]
            )
            return false
        }
    }
}

extension API.SecretKey {
    public init(_ key: StoredSecretKey) {
        self.init(
            id: key.id,
            name: key.name,
            scopes: key.scopes.split(separator: ",").compactMap {
                API.KeyScope(rawValue: String($0))
            },
            created: key.created.milliseconds,
            createdBy: key.creator,
            lastUsed: key.lastUsed?.milliseconds,
            revoked: key.revoked?.milliseconds
        )
    }
}
