internal import Crypto
internal import Foundation
public import Storage
public import TollgateAPI

/// Signs answers, so that a device can trust one while the server is out of reach (RULES §15).
public struct AnswerSigner: Sendable {
    private let privateKey: P256.Signing.PrivateKey
    private let keyID: String

    /// Takes the key kept in the database, or makes one and keeps it.
    public init(keptIn driver: any StorageDriver) async throws {
        let fresh = P256.Signing.PrivateKey().rawRepresentation
        let kept = try await driver.write { connection in
            try connection.execute(
                "INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
                [.text("answer_key"), .blob(Array(fresh))]
            )
            return try connection.query(
                "SELECT value FROM meta WHERE name = $1",
                [.text("answer_key")]
            ).first?.bytes(0)
        }
        self.init(try P256.Signing.PrivateKey(rawRepresentation: kept ?? Array(fresh)))
    }

    /// A key that nobody knows and that is kept nowhere.
    public init() {
        self.init(P256.Signing.PrivateKey())
    }

    private init(_ privateKey: P256.Signing.PrivateKey) {
        self.privateKey = privateKey
        let digest = SHA256.hash(data: privateKey.publicKey.rawRepresentation)
        keyID = digest.prefix(8).map { byte in
            let text = String(byte, radix: 16)
            return byte < 16 ? "0\(text)" : text
        }.joined()
    }

    /// What `/.well-known/jwks.json` shows.
    public var keySet: JSONWebKeySet {
        let point = privateKey.publicKey.rawRepresentation
        return JSONWebKeySet(keys: [
            JSONWebKeySet.Key(kid: keyID, x: Data(point.prefix(32)), y: Data(point.suffix(32)))
        ])
    }

    /// A compact ES256 JWT of `claims`.
    public func sign(_ claims: some Encodable) throws -> String {
        let header = JSONWebToken.Header(kid: keyID)
        let input = try JSONWebToken.signingInput(header: header, claims: claims)
        let signature = try privateKey.signature(for: Data(input.utf8))
        return input + "." + Base64URL.encode(signature.rawRepresentation)
    }
}
