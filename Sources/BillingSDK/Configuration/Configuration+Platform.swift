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

    /// The folder of one app: on a Mac without a sandbox all apps of a user share what is above it.
    static func cacheDirectory(in support: URL, of bundleID: String?) -> URL {
        support.appendingPathComponent("BillingSDK", isDirectory: true)
            .appendingPathComponent(bundleID ?? "unknown", isDirectory: true)
    }

    /// Where earlier versions kept what is now in the app's own folder.
    var formerCacheDirectory: URL? {
        guard let cacheDirectory, cacheDirectory == Self.platformCacheDirectory else { return nil }
        return cacheDirectory.deletingLastPathComponent()
    }

    static var platformCacheDirectory: URL? {
        #if os(Linux)
            nil
        #else
            FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
                .map { cacheDirectory(in: $0, of: Bundle.main.bundleIdentifier) }
        #endif
    }
}
