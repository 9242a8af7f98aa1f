internal import Logging
internal import Storage
internal import Stores
public import TollgateAPI
internal import TollgateCore

// Secret keys beside the configured one, each with its scopes.
extension Tollgate {
    /// How many keys that are not revoked there may be.
    private static let mostSecretKeys: Int64 = 200
    /// The random characters after the prefix: 248 bits.
    private static let secretKeyLength = 48

    /// Every key, the newest first, without its secret.
    public func secretKeys() async throws -> API.List<API.SecretKey> {
        API.List(data: try await store.secretKeys().map { API.SecretKey($0) })
    }

    /// Makes a key; the answer holds its secret, which is kept nowhere.
    ///
    /// - Throws: refusals 400 `parameter_invalid`, 409 `conflict`.
    public func createSecretKey(
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
            id: newID("key_"),
            name: name,
            scopes: scopes.joined(separator: ","),
            creator: actor.name,
            created: clocks.wall()
        )
        let prefix = configuration.secretKey.hasPrefix("sk_live_") ? "sk_live_" : "sk_test_"
        let secret = newID(prefix, length: Self.secretKeyLength)
        let deed = Deed(
            "secret_key.create",
            "secret_key:\(key.id)",
            "\(name): \(scopes.joined(separator: ", "))"
        )
        return try await audited(deed, by: actor) {
            guard try await store.add(key, secret: secret, most: Self.mostSecretKeys) else {
                throw Refusal(
                    409,
                    .invalidRequestError,
                    .conflict,
                    "There are \(Self.mostSecretKeys) secret keys; revoke one that is not used."
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
    public func revokeSecretKey(_ id: String, by actor: Actor) async throws -> API.SecretKey {
        func current() async throws -> StoredSecretKey {
            guard let key = try await store.secretKey(id: id) else {
                throw Refusal.missing("secret key", id)
            }
            return key
        }
        let known = try await current()
        guard known.revoked == nil else { return API.SecretKey(known) }
        return try await audited(
            Deed("secret_key.revoke", "secret_key:\(id)", known.name),
            by: actor
        ) {
            try await store.revokeSecretKey(id, at: clocks.wall())
            return API.SecretKey(try await current())
        }
    }

    // MARK: - Use

    /// The key with this secret; `nil` where there is none, or it was revoked.
    public func scopedKey(_ secret: String) async throws -> ScopedKey? {
        guard Self.couldBeScopedKey(secret) else { return nil }
        return used(try await store.secretKey(secret))
    }

    /// The same without suspension; `nil` also where the database cannot do that.
    public func scopedKeyAtOnce(_ secret: String) throws -> ScopedKey? {
        guard Self.couldBeScopedKey(secret) else { return nil }
        return used(try store.secretKeyAtOnce(secret))
    }

    /// Whether it has the form of our own keys: guesses of another form cost no read.
    private static func couldBeScopedKey(_ secret: String) -> Bool {
        secret.utf8.count == "sk_test_".utf8.count + secretKeyLength
    }

    private func used(_ key: StoredSecretKey?) -> ScopedKey? {
        guard let key, key.revoked == nil else { return nil }
        keyUses.note(key.id, at: clocks.wall())
        return ScopedKey(key)
    }

    /// Writes when keys were used last; called once a minute, and when the server ends.
    public func keepKeyUses() async {
        let uses = keyUses.take()
        guard !uses.isEmpty else { return }
        do {
            try await store.keep(keyUses: uses)
        } catch {
            logger.warning(
                "the last use of secret keys was not kept",
                metadata: ["error": "\(error)"]
            )
        }
    }
}

extension API.SecretKey {
    init(_ key: StoredSecretKey) {
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
