import Foundation

#if canImport(CryptoKit)
    import CryptoKit
#endif

extension BillingSDK.Configuration {
    /// CryptoKit where there is one; no curve arithmetic of our own anywhere.
    static var platformSignatureCheck: SignatureCheck? {
        #if canImport(CryptoKit)
            { message, signature, publicKey in
                guard let key = try? P256.Signing.PublicKey(x963Representation: publicKey),
                    let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
                else { return false }
                return key.isValidSignature(signature, for: message)
            }
        #else
            nil
        #endif
    }

    static var platformCacheDirectory: URL? {
        #if os(Linux)
            nil
        #else
            FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first?
                .appendingPathComponent("BillingSDK", isDirectory: true)
        #endif
    }
}
