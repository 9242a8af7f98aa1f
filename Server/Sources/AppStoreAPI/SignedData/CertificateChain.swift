import Crypto
import Foundation
import SwiftASN1
import X509

/// Leaf and intermediate certificate that were proven to chain to a configured root and to be
/// meant for App Store signing.
///
/// The checks are those of RFC 5280, section 6, for a chain of exactly this shape, and Apple's two
/// markers. Validity in time is no part of them: it is checked against each payload's own date.
struct CertificateChain: Sendable {
    /// DER of the leaf and the intermediate certificate, exactly as they came.
    let leaf: [UInt8]
    let intermediate: [UInt8]
    /// The key that signs payloads.
    let key: P256.Signing.PublicKey
    /// When all three certificates are valid, both ends included.
    let notBefore: Int64
    let notAfter: Int64

    /// Marks Apple's Worldwide Developer Relations intermediate.
    static let intermediateMarker: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 2, 1]
    /// Marks certificates that sign App Store data.
    static let leafMarker: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 11, 1]

    /// A chain whose names fit: the leaf names the intermediate, and this one a configured root.
    ///
    /// Anybody can write such names, so it proves nothing. It costs no signature.
    struct Claim {
        fileprivate let header: SignedHeader
        fileprivate let leaf: Certificate
        fileprivate let intermediate: Certificate
        /// Roots of the name that the intermediate gives.
        fileprivate let roots: [Certificate]

        init(_ header: SignedHeader, roots: [Certificate]) throws(AppStore.VerificationError) {
            self.header = header
            leaf = try CertificateChain.parse(header.leaf, at: "x5c[0]")
            let intermediate = try CertificateChain.parse(header.intermediate, at: "x5c[1]")
            self.intermediate = intermediate
            guard leaf.issuer == intermediate.subject else {
                throw AppStore.VerificationError(.issuerName, at: "x5c[0]")
            }
            self.roots = roots.filter { $0.subject == intermediate.issuer }
            guard !self.roots.isEmpty else { throw AppStore.VerificationError(.unknownRoot) }
        }
    }

    /// Proves a chain.
    ///
    /// This costs two P-384 verifications, for which the caller has a budget. Whether a certificate
    /// was revoked is another question: see `RevocationChecks`.
    init(_ claim: Claim) throws(AppStore.VerificationError) {
        let (leafCertificate, issuer) = (claim.leaf, claim.intermediate)
        guard
            let root = claim.roots.first(where: {
                $0.publicKey.isValidSignature(issuer.signature, for: issuer)
            })
        else { throw AppStore.VerificationError(.certificateSignature, at: "x5c[1]") }
        guard issuer.publicKey.isValidSignature(leafCertificate.signature, for: leafCertificate)
        else { throw AppStore.VerificationError(.certificateSignature, at: "x5c[0]") }

        try Self.checkRoot(root)
        try Self.checkIntermediate(issuer)
        key = try Self.checkLeaf(leafCertificate)
        leaf = claim.header.leaf
        intermediate = claim.header.intermediate
        let validity = [leafCertificate, issuer, root].map(Self.validity)
        notBefore = validity.map(\.lowerBound).max() ?? .max
        notAfter = validity.map(\.upperBound).min() ?? .min
    }

    // MARK: - Policy

    private static func checkRoot(_ root: Certificate) throws(AppStore.VerificationError) {
        switch try basicConstraints(of: root, at: "root") {
        case .isCertificateAuthority(let maximum):
            guard maximum ?? 1 >= 1 else {
                throw AppStore.VerificationError(.pathLength, at: "root")
            }
        case .notCertificateAuthority, nil:
            throw AppStore.VerificationError(.notAuthority, at: "root")
        }
    }

    private static func checkIntermediate(
        _ certificate: Certificate
    ) throws(AppStore.VerificationError) {
        let place = "x5c[1]"
        try checkForm(certificate, marker: intermediateMarker, at: place)
        guard case .isCertificateAuthority = try basicConstraints(of: certificate, at: place) else {
            throw AppStore.VerificationError(.notAuthority, at: place)
        }
        guard isElliptic(certificate.publicKey) else {
            throw AppStore.VerificationError(.keyType, at: place)
        }
        guard try keyUsage(of: certificate, at: place)?.keyCertSign ?? true else {
            throw AppStore.VerificationError(.keyUsage, at: place)
        }
    }

    private static func checkLeaf(
        _ certificate: Certificate
    ) throws(AppStore.VerificationError) -> P256.Signing.PublicKey {
        let place = "x5c[0]"
        try checkForm(certificate, marker: leafMarker, at: place)
        if case .isCertificateAuthority = try basicConstraints(of: certificate, at: place) {
            throw AppStore.VerificationError(.notAuthority, at: place)
        }
        guard try keyUsage(of: certificate, at: place)?.digitalSignature ?? true else {
            throw AppStore.VerificationError(.keyUsage, at: place)
        }
        guard let key = P256.Signing.PublicKey(certificate.publicKey) else {
            throw AppStore.VerificationError(.keyType, at: place)
        }
        return key
    }

    /// What holds for leaf and intermediate alike.
    private static func checkForm(
        _ certificate: Certificate,
        marker: ASN1ObjectIdentifier,
        at place: String
    ) throws(AppStore.VerificationError) {
        guard certificate.version == .v3 else {
            throw AppStore.VerificationError(.certificateVersion, at: place)
        }
        guard elliptic.contains(certificate.signatureAlgorithm) else {
            throw AppStore.VerificationError(.certificateAlgorithm, at: place)
        }
        let handled: [ASN1ObjectIdentifier] = [
            .X509ExtensionID.basicConstraints, .X509ExtensionID.keyUsage, marker,
        ]
        for other in certificate.extensions where other.critical && !handled.contains(other.oid) {
            throw AppStore.VerificationError(.criticalExtension, at: place)
        }
        // Apple has none; to skip one that is wrongly marked as not critical would be unsafe.
        guard certificate.extensions[oid: .X509ExtensionID.nameConstraints] == nil else {
            throw AppStore.VerificationError(.criticalExtension, at: place)
        }
        guard certificate.extensions[oid: marker] != nil else {
            throw AppStore.VerificationError(.marker, at: place)
        }
    }

    private static let elliptic: [Certificate.SignatureAlgorithm] = [
        .ecdsaWithSHA256, .ecdsaWithSHA384, .ecdsaWithSHA512,
    ]

    private static func isElliptic(_ key: Certificate.PublicKey) -> Bool {
        P384.Signing.PublicKey(key) != nil || P256.Signing.PublicKey(key) != nil
    }

    // MARK: - Reading certificates

    /// Apple's certificates have about 1 KB.
    static let maximumLength = 8 << 10

    private static func parse(
        _ der: [UInt8],
        at place: String
    ) throws(AppStore.VerificationError) -> Certificate {
        guard der.count <= maximumLength else {
            throw AppStore.VerificationError(.certificateEncoding, at: place)
        }
        do { return try Certificate(derEncoded: der) } catch {
            throw AppStore.VerificationError(.certificateEncoding, at: place)
        }
    }

    private static func basicConstraints(
        of certificate: Certificate,
        at place: String
    ) throws(AppStore.VerificationError) -> BasicConstraints? {
        do { return try certificate.extensions.basicConstraints } catch {
            throw AppStore.VerificationError(.notAuthority, at: place)
        }
    }

    private static func keyUsage(
        of certificate: Certificate,
        at place: String
    ) throws(AppStore.VerificationError) -> KeyUsage? {
        do { return try certificate.extensions.keyUsage } catch {
            throw AppStore.VerificationError(.keyUsage, at: place)
        }
    }

    /// The span of a certificate in milliseconds; an impossible one is never valid.
    static func validity(of certificate: Certificate) -> ClosedRange<Int64> {
        let start = milliseconds(certificate.notValidBefore)
        let end = milliseconds(certificate.notValidAfter)
        guard let start, let end, start <= end else { return .max ... .max }
        return start...end
    }

    private static func milliseconds(_ date: Date) -> Int64? {
        let seconds = date.timeIntervalSince1970
        // X.509 ends with the year 9999.
        guard abs(seconds) < 300_000_000_000 else { return nil }
        return Int64(seconds) * 1000
    }
}
