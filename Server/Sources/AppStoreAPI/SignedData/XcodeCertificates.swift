import Crypto
import Foundation
import SwiftASN1
import X509

extension AppStore {
    /// The certificates with which StoreKit testing in Xcode signs, on the machines of a team's developers.
    ///
    /// Xcode makes such a certificate by itself, and nobody issues it. So each is known by its exact
    /// bytes: no chain is searched, and a name or a key that is equal counts for nothing.
    public struct XcodeCertificates: Sendable {
        struct Pinned: Sendable {
            let der: [UInt8]
            let key: P256.Signing.PublicKey
            /// When it is valid, both ends included.
            let notBefore: Int64
            let notAfter: Int64
        }

        /// At least one.
        let pinned: [Pinned]

        /// Reads a file of certificates: one in DER, or any number in PEM.
        public init(file bytes: [UInt8]) throws(FileError) {
            let certificates = try Self.certificates(in: bytes)
            guard !certificates.isEmpty else { throw FileError.noCertificate }
            pinned = try certificates.map { der throws(FileError) in try Self.pin(der) }
        }

        /// Why a file is of no use.
        public enum FileError: Error, Hashable, Sendable, CustomStringConvertible {
            case noCertificate
            case anotherKey

            public var description: String {
                switch self {
                case .noCertificate: "it holds no certificate, neither in DER nor in PEM"
                case .anotherKey:
                    "its key is not the kind (P-256) with which Xcode signs transactions; Xcode's certificate for receipts (CN=StoreKit) is another one"
                }
            }
        }

        /// The SHA-256 digest of each certificate, in hexadecimal digits.
        public var fingerprints: [String] {
            pinned.map { certificate in
                SHA256.hash(data: certificate.der).map { byte in
                    (byte < 16 ? "0" : "") + String(byte, radix: 16)
                }.joined()
            }
        }

        /// The expiry of each certificate, in UNIX milliseconds; in the order of ``fingerprints``.
        public var ends: [Int64] { pinned.map(\.notAfter) }

        /// The certificate of exactly these bytes.
        func certificate(_ der: [UInt8]) -> Pinned? { pinned.first { $0.der == der } }

        private static func certificates(in bytes: [UInt8]) throws(FileError) -> [[UInt8]] {
            guard Data(bytes).range(of: Data("-----BEGIN ".utf8)) != nil else { return [bytes] }
            do {
                return try PEMDocument.parseMultiple(
                    pemString: String(decoding: bytes, as: UTF8.self)
                )
                .filter { $0.discriminator == "CERTIFICATE" }.map(\.derBytes)
            } catch {
                throw FileError.noCertificate
            }
        }

        private static func pin(_ der: [UInt8]) throws(FileError) -> Pinned {
            let certificate: Certificate
            do { certificate = try Certificate(derEncoded: der) } catch {
                throw FileError.noCertificate
            }
            guard let key = P256.Signing.PublicKey(certificate.publicKey) else {
                throw FileError.anotherKey
            }
            let validity = CertificateChain.validity(of: certificate)
            return Pinned(
                der: der,
                key: key,
                notBefore: validity.lowerBound,
                notAfter: validity.upperBound
            )
        }
    }
}
