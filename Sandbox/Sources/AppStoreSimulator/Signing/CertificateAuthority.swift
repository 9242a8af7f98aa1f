import Crypto
import Foundation
import SwiftASN1
import X509

/// A chain like the one Apple signs with.
///
/// P-384 root, P-384 intermediate, P-256 leaf, the latter two with Apple's marker extensions; its
/// validity covers whatever a virtual clock may show.
struct CertificateAuthority: Sendable {
    /// DER, and the private key in PKCS#8 PEM.
    struct Identity: Codable, Sendable {
        var certificate: Data
        var privateKey: String
    }

    /// What outlives a restart.
    struct Snapshot: Codable, Sendable {
        var root: Identity
        var intermediate: Identity
        var leaf: Identity
    }

    let snapshot: Snapshot
    /// Leaf, intermediate and root in Base64, as they stand in `x5c`.
    let chain: [String]
    let signingKey: P256.Signing.PrivateKey

    /// Makes a new chain.
    /// - Parameter ocspURL: stated as OCSP responder of the leaf and the intermediate.
    static func generate(ocspURL: String?) throws -> Self {
        let rootKey = P384.Signing.PrivateKey()
        let intermediateKey = P384.Signing.PrivateKey()
        let rootName = try name("Tollgate Sandbox Root CA - G3", unit: "Certification Authority")
        let intermediateName = try intermediateName()

        let rootIdentifier = SubjectKeyIdentifier(hash: .init(rootKey.publicKey))
        let intermediateIdentifier = SubjectKeyIdentifier(hash: .init(intermediateKey.publicKey))
        let root = try certificate(
            .init(rootKey.publicKey),
            subject: rootName,
            issuer: rootName,
            issuerKey: rootKey,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
                rootIdentifier
                Critical(KeyUsage(keyCertSign: true, cRLSign: true))
            }
        )
        let intermediate = try certificate(
            .init(intermediateKey.publicKey),
            subject: intermediateName,
            issuer: rootName,
            issuerKey: rootKey,
            extensions: try extensions(
                Certificate.Extensions {
                    Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                    AuthorityKeyIdentifier(keyIdentifier: rootIdentifier.keyIdentifier)
                    intermediateIdentifier
                    Critical(KeyUsage(keyCertSign: true, cRLSign: true))
                },
                marker: [1, 2, 840, 113635, 100, 6, 2, 1],
                ocspURL: ocspURL
            )
        )
        return try Self(
            Snapshot(
                root: Identity(certificate: root, privateKey: rootKey.pemRepresentation),
                intermediate: Identity(
                    certificate: intermediate,
                    privateKey: intermediateKey.pemRepresentation
                ),
                leaf: try leaf(under: intermediateKey, ocspURL: ocspURL)
            )
        )
    }

    /// The same root and intermediate with another leaf, as one that runs out is replaced.
    func replacingLeaf(ocspURL: String?) throws -> Self {
        let issuer = try P384.Signing.PrivateKey(
            pemRepresentation: snapshot.intermediate.privateKey
        )
        var changed = snapshot
        changed.leaf = try Self.leaf(under: issuer, ocspURL: ocspURL)
        return try Self(changed)
    }

    private static func leaf(
        under issuer: P384.Signing.PrivateKey,
        ocspURL: String?
    ) throws -> Identity {
        let key = P256.Signing.PrivateKey()
        let certificate = try certificate(
            .init(key.publicKey),
            subject: try name(
                "Tollgate Sandbox ECC Mac App Store and iTunes Store Receipt Signing",
                unit: "Worldwide Developer Relations"
            ),
            issuer: try intermediateName(),
            issuerKey: issuer,
            extensions: try extensions(
                Certificate.Extensions {
                    Critical(BasicConstraints.notCertificateAuthority)
                    AuthorityKeyIdentifier(
                        keyIdentifier: SubjectKeyIdentifier(hash: .init(issuer.publicKey))
                            .keyIdentifier
                    )
                    SubjectKeyIdentifier(hash: .init(key.publicKey))
                    Critical(KeyUsage(digitalSignature: true))
                },
                marker: [1, 2, 840, 113635, 100, 6, 11, 1],
                ocspURL: ocspURL
            )
        )
        return Identity(certificate: certificate, privateKey: key.pemRepresentation)
    }

    private static func intermediateName() throws -> DistinguishedName {
        try name(
            "Tollgate Sandbox Worldwide Developer Relations Certification Authority",
            unit: "G6"
        )
    }

    /// Takes up a chain that was made before, from the JSON of its snapshot.
    init(_ bytes: Data) throws {
        try self.init(JSONDecoder().decode(Snapshot.self, from: bytes))
    }

    /// Takes up a chain that was made before.
    init(_ snapshot: Snapshot) throws {
        self.snapshot = snapshot
        chain = [snapshot.leaf, snapshot.intermediate, snapshot.root].map {
            $0.certificate.base64EncodedString()
        }
        signingKey = try P256.Signing.PrivateKey(pemRepresentation: snapshot.leaf.privateKey)
    }

    private static func name(_ commonName: String, unit: String) throws -> DistinguishedName {
        try DistinguishedName {
            CommonName(commonName)
            OrganizationalUnitName(unit)
            OrganizationName("Tollgate Sandbox")
            CountryName("US")
        }
    }

    private static func extensions(
        _ basic: Certificate.Extensions,
        marker: ASN1ObjectIdentifier,
        ocspURL: String?
    ) throws -> Certificate.Extensions {
        var all = Array(basic)
        if let ocspURL {
            let access = AuthorityInformationAccess([
                .init(method: .ocspServer, location: .uniformResourceIdentifier(ocspURL))
            ])
            all.append(try Certificate.Extension(access, critical: false))
        }
        // Apple's markers are present but empty: ASN.1 NULL.
        all.append(Certificate.Extension(oid: marker, critical: false, value: [5, 0]))
        return try Certificate.Extensions(all)
    }

    private static func certificate(
        _ key: Certificate.PublicKey,
        subject: DistinguishedName,
        issuer: DistinguishedName,
        issuerKey: P384.Signing.PrivateKey,
        extensions: Certificate.Extensions
    ) throws -> Data {
        let certificate = try Certificate(
            version: .v3,
            serialNumber: .init(),
            publicKey: key,
            notValidBefore: Date(timeIntervalSince1970: 946_684_800),  // 2000-01-01
            notValidAfter: Date(timeIntervalSince1970: 7_258_118_399),  // 2199-12-31
            issuer: issuer,
            subject: subject,
            signatureAlgorithm: .ecdsaWithSHA384,
            extensions: extensions,
            issuerPrivateKey: .init(issuerKey)
        )
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        return Data(serializer.serializedBytes)
    }
}
