import Crypto

extension SimulatedAppStore {
    /// An "In-App Purchase" key for the App Store Server API.
    public struct APIKey: Codable, Hashable, Sendable {
        /// Ten characters; `kid` of the tokens.
        public var keyID: String
        /// A UUID; `iss` of the tokens.
        public var issuerID: String
        /// PKCS#8 PEM, as in the `.p8` file; empty when the app brought its own key.
        public var privateKeyPEM: String
        /// SubjectPublicKeyInfo PEM, which the simulator checks tokens with.
        public var publicKeyPEM: String

        static func generate(using random: inout SeededRandom) -> Self {
            let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
            var keyID = ""
            for _ in 0..<10 { keyID.append(letters[Int(random.next() % UInt64(letters.count))]) }
            let key = P256.Signing.PrivateKey()
            return Self(
                keyID: keyID,
                issuerID: random.uuid(),
                privateKeyPEM: key.pemRepresentation,
                publicKeyPEM: key.publicKey.pemRepresentation
            )
        }
    }
}
