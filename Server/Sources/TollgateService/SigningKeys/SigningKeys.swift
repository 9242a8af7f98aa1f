internal import Logging
internal import Storage
internal import Stores
public import TollgateAPI

/// The keys that sign answers for devices.
public struct SigningKeys: Sendable {
    let signer: AnswerSigner
    let clocks: Clocks
    let auditLog: AuditLog
    let logger: Logger

    /// The public keys that verify what is signed, as the database had them some seconds ago at most;
    /// as they were, where it cannot be asked.
    ///
    /// Anybody may ask, any number of times: one of them reads, the others get what is there. A key that another server has made signs nothing
    /// for a minute.
    public func keySet() async -> JSONWebKeySet {
        let now = clocks.wall()
        if signer.isDue(at: now) { await refresh() }
        return signer.keySet(at: now)
    }

    /// The keys that are shown, in the order in which they sign.
    public func all() async throws -> API.List<API.SigningKey> {
        try await signer.refresh(at: clocks.wall())
        return API.List(data: signer.signingKeys(at: clocks.wall()))
    }

    /// Lets a new key follow the one that signs answers.
    ///
    /// It is shown at once and signs a day later, or in a minute. The former one is shown until the
    /// last answer that it signed has ended, unless it is to be forgotten. While a next key is under
    /// way no second one is made.
    ///
    /// - Returns: all keys that are shown.
    public func rotate(_ wanted: API.SigningKeyRotation) async throws -> API.List<API.SigningKey> {
        let forgetting = wanted.forgetFormer ?? false
        try await signer.rotate(
            at: clocks.wall(),
            atOnce: wanted.atOnce ?? forgetting,
            forgetting: forgetting
        )
        return API.List(data: signer.signingKeys(at: clocks.wall()))
    }

    /// Lets a new key follow, as ``rotate(_:)`` does, and keeps who wanted it.
    public func rotate(
        _ wanted: API.SigningKeyRotation,
        by actor: Actor
    ) async throws -> API.List<API.SigningKey> {
        let deed = Deed(
            "signing_keys.rotate",
            "signing_keys",
            wanted.forgetFormer == true
                ? "former keys forgotten" : wanted.atOnce == true ? "at once" : ""
        )
        return try await auditLog.audited(deed, by: actor) { try await rotate(wanted) }
    }

    /// Reads the keys again, which another server may have changed.
    ///
    /// - Returns: whether they could be read.
    @discardableResult
    public func refresh() async -> Bool {
        do {
            try await signer.refresh(at: clocks.wall())
            return true
        } catch {
            logger.warning("the signing keys will be read again", metadata: ["error": "\(error)"])
            return false
        }
    }
}
