import Crypto
import Foundation
import SwiftASN1
import X509

/// Says of the chain's certificates whether they are revoked (RFC 6960), signed by their issuers.
///
/// It lives in real time, as TLS does: clients compare its dates with their own clock.
struct OCSPResponder: Sendable {
    /// What the responder says of every certificate.
    enum Answer: String, Codable, Sendable {
        case good
        case revoked
        /// It does not answer properly: HTTP 503.
        case unavailable
    }

    private struct Issued: Sendable {
        var serial: [UInt8]
        var issuerKey: P384.Signing.PrivateKey
    }

    private let issued: [Issued]
    var answer = Answer.good

    init(_ authority: CertificateAuthority) throws {
        let snapshot = authority.snapshot
        issued = try [
            (snapshot.leaf, snapshot.intermediate), (snapshot.intermediate, snapshot.root),
        ].map { subject, issuer in
            let certificate = try Certificate(derEncoded: Array(subject.certificate))
            return Issued(
                serial: DERValue.unsigned(Array(certificate.serialNumber.bytes)).content,
                issuerKey: try P384.Signing.PrivateKey(pemRepresentation: issuer.privateKey)
            )
        }
    }

    /// Answers a request in DER; `nil` when unavailable, or where the request is malformed or about a
    /// stranger's certificate.
    /// - Parameter wall: real time in UNIX milliseconds.
    func respond(to request: Data, wall: Int64) -> Data? {
        guard answer != .unavailable,
            let fields = DERValue(Array(request))?.children?.first?.children,
            let identifiers = fields.first(where: { $0.tag == 0x30 })?.children?
                .compactMap({ $0.children?.first }),
            let first = identifiers.first, let issuer = issuer(of: first),
            identifiers.allSatisfy({ self.issuer(of: $0) != nil })
        else { return nil }
        let now = Self.time(wall - 60_000)
        let status =
            answer == .revoked
            ? DERValue.tagged(1, now.bytes) : DERValue(tag: 0x80, content: [])
        let singles = identifiers.map {
            DERValue.sequence([
                $0, status, now, .tagged(0, Self.time(wall + 3_600_000).bytes),
            ])
        }
        // The key's bits without the algorithm, hashed by SHA-1, as RFC 6960 names a responder.
        let keyHash = Array(Insecure.SHA1.hash(data: issuer.publicKey.x963Representation))
        let body = DERValue.sequence([
            .tagged(2, DERValue.octets(keyHash).bytes), now, .sequence(singles),
        ])
        guard let signature = try? issuer.signature(for: Data(body.bytes)) else { return nil }
        let basic = DERValue.sequence([
            body, .sequence([.identifier([1, 2, 840, 10045, 4, 3, 3])]),  // ecdsa-with-SHA384
            DERValue(tag: 0x03, content: [0] + Array(signature.derRepresentation)),
        ])
        let wrapped = DERValue.sequence([
            .identifier([1, 3, 6, 1, 5, 5, 7, 48, 1, 1]), .octets(basic.bytes),
        ])
        return Data(
            DERValue.sequence([
                DERValue(tag: 0x0A, content: [0]), .tagged(0, wrapped.bytes),
            ]).bytes
        )
    }

    private func issuer(of identifier: DERValue) -> P384.Signing.PrivateKey? {
        guard let serial = identifier.children?.last?.content else { return nil }
        return issued.first { $0.serial == serial }?.issuerKey
    }

    /// A GeneralizedTime.
    private static func time(_ instant: Int64) -> DERValue {
        let digits = LegacyDate.rfc3339(instant).filter(\.isNumber)
        return DERValue(tag: 0x18, content: Array("\(digits)Z".utf8))
    }
}
