internal import Crypto
internal import Foundation
internal import Stores

/// Keeps secrets in the database so that the database alone does not tell them.
///
/// They are sealed with a key derived from the secret key of the app's backend, which is kept
/// elsewhere. While that is changed, what the former one sealed is opened too.
public struct SealingKeys: Sendable {
    let keys: [SymmetricKey]

    /// - Parameter secrets: the one that seals first; any opens. A command without the secret key has an
    ///   empty one, with which nothing is sealed.
    public init(_ secrets: [String]) {
        keys = secrets.filter { !$0.isEmpty }
            .map { SymmetricKey(data: Data($0.utf8)).derived(for: "secrets at rest, 1") }
    }

    private init(keys: [SymmetricKey]) {
        self.keys = keys
    }

    public init(_ configuration: Configuration) {
        self.init([configuration.secretKey] + configuration.formerSecretKeys)
    }

    /// Keys of their own for what is kept under a name that its caller has chosen.
    ///
    /// The name may be guessed: without the secret key it opens nothing.
    func derived(for name: String...) -> SealingKeys {
        var hash = SHA256()
        for part in name {
            // Each with its length before it, so that no two lists of parts are one.
            hash.update(data: Data("\(part.utf8.count) \(part)".utf8))
        }
        let info = Data(hash.finalize())
        return SealingKeys(keys: keys.map { $0.derived(for: info) })
    }

    /// - Parameter purpose: what is sealed for one purpose is opened for no other.
    public func seal(_ bytes: [UInt8], as purpose: String) throws -> [UInt8] {
        guard let key = keys.first else { throw SealingError() }
        let box = try ChaChaPoly.seal(Data(bytes), using: key, authenticating: Data(purpose.utf8))
        return Array(box.combined)
    }

    /// - Returns: what was sealed, and whether the first key sealed it.
    /// - Throws: `SealingError` where no key did.
    public func open(
        _ sealed: [UInt8],
        as purpose: String
    ) throws -> (bytes: [UInt8], isCurrent: Bool) {
        guard let box = try? ChaChaPoly.SealedBox(combined: Data(sealed)) else {
            throw SealingError()
        }
        for (index, key) in keys.enumerated() {
            if let opened = try? ChaChaPoly.open(
                box,
                using: key,
                authenticating: Data(purpose.utf8)
            ) {
                return (Array(opened), index == 0)
            }
        }
        throw SealingError()
    }
}

/// The database's secrets were sealed under another key.
public struct SealingError: Error, CustomStringConvertible {
    public var description: String {
        "The secrets in this database were sealed under another secret key. Give both, the new one "
            + "first: TOLLGATE_SECRET_KEY=NEW,FORMER"
    }
}

extension SymmetricKey {
    /// The key for one purpose that follows from this one.
    fileprivate func derived(for purpose: Data) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: self,
            salt: Data("tollgate".utf8),
            info: purpose,
            outputByteCount: 32
        )
    }

    fileprivate func derived(for purpose: String) -> SymmetricKey {
        derived(for: Data(purpose.utf8))
    }
}

extension RandomSource {
    /// The secret that a database begins with.
    ///
    /// It follows from the secret key, which is kept elsewhere, where there is one: an empty database
    /// has the secret of the one before its loss.
    func firstSecret(for purpose: String, _ secretKey: String) -> [UInt8] {
        guard !secretKey.isEmpty else { return bytes(32) }
        let key = SymmetricKey(data: Data(secretKey.utf8)).derived(for: purpose)
        return key.withUnsafeBytes { Array($0) }
    }
}
