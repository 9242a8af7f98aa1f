import Crypto
import Foundation
import SwiftASN1
import X509
import _CryptoExtras

/// An RSA key with its certificate, by which JSON Web Tokens are signed.
struct SigningIdentity: Hashable, Sendable, Codable {
    let keyID: String
    /// PKCS#8, PEM.
    let privateKey: String
    /// X.509, PEM.
    let certificate: String

    /// - Throws: where the certificate cannot be made.
    static func make(commonName: String, keyID: String) throws -> Self {
        let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        let name = try DistinguishedName { CommonName(commonName) }
        let certificate = try Certificate(
            version: .v3,
            serialNumber: .init(),
            publicKey: .init(key.publicKey),
            notValidBefore: Date(timeIntervalSince1970: 946_684_800),  // 2000-01-01
            notValidAfter: Date(timeIntervalSince1970: 7_258_118_399),  // 2199-12-31
            issuer: name,
            subject: name,
            signatureAlgorithm: .sha256WithRSAEncryption,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
            },
            issuerPrivateKey: .init(key)
        )
        return Self(
            keyID: keyID,
            privateKey: key.pkcs8PEMRepresentation,
            certificate: try certificate.serializeAsPEM().pemString
        )
    }

    private var key: _RSA.Signing.PrivateKey {
        get throws { try _RSA.Signing.PrivateKey(pemRepresentation: privateKey) }
    }

    /// A JWT of `claims`, RS256.
    func sign(_ claims: JSON) throws -> String {
        let header: JSON = ["alg": "RS256", "kid": .string(keyID), "typ": "JWT"]
        let signed = "\(Base64URL.text(header.bytes)).\(Base64URL.text(claims.bytes))"
        let signature = try key.signature(for: Data(signed.utf8), padding: .insecurePKCS1v1_5)
        return "\(signed).\(Base64URL.text(signature.rawRepresentation))"
    }

    /// SHA1withRSA, as Play Billing signs purchases on a device.
    func signAsDevice(_ text: String) throws -> String {
        let digest = Insecure.SHA1.hash(data: Data(text.utf8))
        let signature = try key.signature(for: digest, padding: .insecurePKCS1v1_5)
        return signature.rawRepresentation.base64EncodedString()
    }

    /// The public key in X.509, in Base64: the licence key of Play Console.
    var licenceKey: String {
        get throws { try key.publicKey.derRepresentation.base64EncodedString() }
    }

    /// - Returns: the claims of a JWT that this key signed; `nil` where it did not.
    func verify(_ token: String) -> JSON? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let signature = Base64URL.bytes(parts[2]),
            let claims = Base64URL.bytes(parts[1]).flatMap(JSON.init(bytes:)),
            let key = try? key
        else { return nil }
        let isSigned = key.publicKey.isValidSignature(
            .init(rawRepresentation: signature),
            for: Data("\(parts[0]).\(parts[1])".utf8),
            padding: .insecurePKCS1v1_5
        )
        return isSigned ? claims : nil
    }

    /// The public key as a JSON Web Key.
    var webKey: JSON {
        get throws {
            let primitives = try key.publicKey.getKeyPrimitives()
            return [
                "kty": "RSA", "alg": "RS256", "use": "sig", "kid": .string(keyID),
                "n": .string(Base64URL.text(primitives.modulus)),
                "e": .string(Base64URL.text(primitives.publicExponent)),
            ]
        }
    }
}

/// Base64 as JSON Web Tokens have it.
enum Base64URL {
    static func text(_ bytes: Data) -> String {
        bytes.base64EncodedString().replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
    }

    static func bytes(_ text: String) -> Data? {
        let plain = text.replacingOccurrences(of: "-", with: "+")
            .replacingOccurrences(of: "_", with: "/")
        return Data(
            base64Encoded: plain + String(repeating: "=", count: (4 - plain.count % 4) % 4)
        )
    }
}
