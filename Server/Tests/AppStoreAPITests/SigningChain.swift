import Crypto
import Foundation
import SwiftASN1
import X509
import _CryptoExtras

/// A store's certificates and signing key, made for tests.
///
/// Each mutation of a certificate is one change of its blueprint.
struct SigningChain {
    var root: [UInt8]
    var intermediate: [UInt8]
    var leaf: [UInt8]
    var key: P256.Signing.PrivateKey

    static let intermediateMarker: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 2, 1]
    static let leafMarker: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 11, 1]
    static let null: [UInt8] = [5, 0]

    /// What one certificate says.
    struct Blueprint {
        var subject: String
        var issuer: String
        var key: Certificate.PrivateKey
        var notBefore = instant(1_577_836_800_000)  // 2020-01-01
        var notAfter = instant(2_524_608_000_000)  // 2050-01-01
        var constraints: BasicConstraints?
        var usage: KeyUsage?
        var extensions: [Certificate.Extension] = []
        var version = Certificate.Version.v3
        var algorithm = Certificate.SignatureAlgorithm.ecdsaWithSHA384
    }

    /// What the three certificates say.
    struct Blueprints {
        var root = Blueprint(
            subject: "Test Root",
            issuer: "Test Root",
            key: Certificate.PrivateKey(P384.Signing.PrivateKey()),
            constraints: .isCertificateAuthority(maxPathLength: nil),
            usage: KeyUsage(keyCertSign: true)
        )
        var intermediate = Blueprint(
            subject: "Test Relations",
            issuer: "Test Root",
            key: Certificate.PrivateKey(P384.Signing.PrivateKey()),
            constraints: .isCertificateAuthority(maxPathLength: 0),
            usage: KeyUsage(keyCertSign: true),
            extensions: [marker(intermediateMarker)]
        )
        var signing = P256.Signing.PrivateKey()
        var leaf: Blueprint
        /// Who signs the intermediate and the leaf, if not their issuers.
        var intermediateSigner: Certificate.PrivateKey?
        var leafSigner: Certificate.PrivateKey?

        init() {
            leaf = Blueprint(
                subject: "Test Signing",
                issuer: "Test Relations",
                key: Certificate.PrivateKey(signing),
                constraints: .notCertificateAuthority,
                usage: KeyUsage(digitalSignature: true),
                extensions: [marker(leafMarker)]
            )
        }
    }

    static func make(_ change: (inout Blueprints) throws -> Void = { _ in }) throws -> SigningChain
    {
        var blueprints = Blueprints()
        try change(&blueprints)
        let intermediateSigner = blueprints.intermediateSigner ?? blueprints.root.key
        let leafSigner = blueprints.leafSigner ?? blueprints.intermediate.key
        return SigningChain(
            root: try certificate(blueprints.root, signedBy: blueprints.root.key),
            intermediate: try certificate(blueprints.intermediate, signedBy: intermediateSigner),
            leaf: try certificate(blueprints.leaf, signedBy: leafSigner),
            key: blueprints.signing
        )
    }

    static func marker(_ oid: ASN1ObjectIdentifier) -> Certificate.Extension {
        Certificate.Extension(oid: oid, critical: false, value: null[...])
    }

    static func certificate(
        _ blueprint: Blueprint,
        signedBy signer: Certificate.PrivateKey
    ) throws -> [UInt8] {
        var extensions: [Certificate.Extension] = []
        if let constraints = blueprint.constraints {
            extensions.append(try Certificate.Extension(constraints, critical: true))
        }
        if let usage = blueprint.usage {
            extensions.append(try Certificate.Extension(usage, critical: true))
        }
        extensions += blueprint.extensions
        let certificate = try Certificate(
            version: blueprint.version,
            serialNumber: Certificate.SerialNumber(),
            publicKey: blueprint.key.publicKey,
            notValidBefore: blueprint.notBefore,
            notValidAfter: blueprint.notAfter,
            issuer: try DistinguishedName { CommonName(blueprint.issuer) },
            subject: try DistinguishedName { CommonName(blueprint.subject) },
            signatureAlgorithm: blueprint.algorithm,
            extensions: try Certificate.Extensions(extensions),
            issuerPrivateKey: signer
        )
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        return serializer.serializedBytes
    }

    static func instant(_ milliseconds: Int64) -> Date {
        Date(timeIntervalSince1970: Double(milliseconds) / 1000)
    }

    // MARK: - Signing

    /// The certificates as a header carries them.
    var x5c: [String] { [leaf, intermediate, root].map { Data($0).base64EncodedString() } }

    /// A header with other certificates or other members.
    func header(x5c: [String]? = nil, alg: String = "\"ES256\"", more: String = "") -> String {
        let list = (x5c ?? self.x5c).map { "\"\($0)\"" }.joined(separator: ",")
        return "{\"alg\":\(alg),\"x5c\":[\(list)]\(more)}"
    }

    /// Signs a payload under a header.
    func sign(_ payload: String, header: String? = nil) throws -> [UInt8] {
        try sign(Array(payload.utf8), header: header)
    }

    func sign(_ payload: [UInt8], header: String? = nil) throws -> [UInt8] {
        let input = base64url((header ?? self.header()).utf8) + "." + base64url(payload)
        let signature = try key.signature(for: SHA256.hash(data: Data(input.utf8)))
        return Array((input + "." + base64url(signature.rawRepresentation)).utf8)
    }
}

func base64url(_ bytes: some Sequence<UInt8>) -> String {
    Data(bytes).base64EncodedString()
        .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
}
