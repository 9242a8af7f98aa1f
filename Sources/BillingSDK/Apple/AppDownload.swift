#if canImport(StoreKit)
    import Foundation
    import StoreKit

    /// When and as which version this Apple account got the app, as the App Store signed it.
    ///
    /// With it an app that used to be paid for lets in who paid then.
    public struct AppDownload: Hashable, Sendable {
        /// The version that was got first: `CFBundleShortVersionString` on macOS, `CFBundleVersion`
        /// elsewhere.
        public let originalAppVersion: String
        /// When it was got first.
        public let originalPurchaseDate: Date
        /// StoreKit's `jwsRepresentation`, for your own backend to verify.
        public let signedTransaction: String
    }

    @available(iOS 16, macOS 13, macCatalyst 16, *)
    extension BillingSDK {
        /// How this Apple account came by the app.
        ///
        /// StoreKit keeps the answer and asks the App Store where it has none.
        /// <https://developer.apple.com/documentation/storekit/apptransaction/shared>
        /// - Returns: `nil` where StoreKit could not verify it.
        /// - Throws: StoreKit's errors.
        public func getAppDownload() async throws -> AppDownload? {
            let result = try await AppTransaction.shared
            guard case .verified(let transaction) = result else { return nil }
            return AppDownload(
                originalAppVersion: transaction.originalAppVersion,
                originalPurchaseDate: transaction.originalPurchaseDate,
                signedTransaction: result.jwsRepresentation
            )
        }
    }
#endif
