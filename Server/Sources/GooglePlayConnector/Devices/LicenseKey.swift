internal import CryptoExtras
internal import Foundation

/// The licence key of an app: the public half of the key by which Google signs purchases for the app.
///
/// A signature is of a past moment: it keeps junk from being asked about, and grants nothing.
public struct LicenseKey: Sendable {
    private let der: Data

    /// Reads the key from the Play Console, Monetisation setup, Licensing: RSA, X.509, base64.
    ///
    /// - Returns: `nil` for any other text.
    public init?(base64 text: String) {
        let plain = text.filter { !$0.isWhitespace }
        guard let der = Data(base64Encoded: plain),
            (try? _RSA.Signing.PublicKey(unsafeDERRepresentation: der)) != nil
        else { return nil }
        self.der = der
    }

    /// Returns `true` if `signature`, base64 of RSA with SHA-1 (PKCS #1 1.5), is Google's of `text`.
    ///
    /// SHA-1 is what Google uses here:
    /// https://developer.android.com/google/play/billing/security#verify
    public func isSigned(_ text: String, by signature: String) -> Bool {
        guard let bytes = Data(base64Encoded: signature),
            let key = try? _RSA.Signing.PublicKey(unsafeDERRepresentation: der)
        else { return false }
        return key.isValidSignature(
            _RSA.Signing.RSASignature(rawRepresentation: bytes),
            for: Insecure.SHA1.hash(data: Data(text.utf8)),
            padding: .insecurePKCS1v1_5
        )
    }
}
