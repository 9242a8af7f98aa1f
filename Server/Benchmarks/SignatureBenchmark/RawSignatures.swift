import Crypto
import Foundation

/// What the hardware gives: signatures over digests that were made before.
struct RawSignatures {
    private let key: P256.Signing.PublicKey
    private let signed: [(digest: SHA256.Digest, signature: P256.Signing.ECDSASignature)]

    init() throws {
        let key = P256.Signing.PrivateKey()
        self.key = key.publicKey
        signed = try (0..<256).map { number in
            let digest = SHA256.hash(data: Data("message \(number)".utf8))
            return (digest, try key.signature(for: digest))
        }
    }

    func verify(_ number: Int) {
        let (digest, signature) = signed[number % signed.count]
        precondition(key.isValidSignature(signature, for: digest))
    }
}
