#if canImport(StoreKit)
    import Foundation
    import StoreKit

    /// When and as which version this Apple account got the app, as the App Store signed it.
    ///
    /// A formerly paid app can give access to customers who paid for it then.
    public struct AppDownload: Hashable, Sendable {
        /// The version that was got first: `CFBundleShortVersionString` on macOS, `CFBundleVersion`
        /// elsewhere.
        public let originalAppVersion: String
        /// The time of the first download.
        public let originalPurchaseDate: Date
        /// StoreKit's `jwsRepresentation`, for your own backend to verify.
        public let signedTransaction: String
    }

    @available(iOS 16, macOS 13, macCatalyst 16, *)
    extension BillingSDK {
        /// Returns how this Apple account got the app.
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
