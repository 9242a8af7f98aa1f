import Foundation

extension BillingSDK {
    /// What an SDK is made from.
    public struct Configuration: Sendable {
        /// Checks an ES256 signature: the message, r ‖ s (64 bytes), the P-256 key in X9.63 form.
        public typealias SignatureCheck =
            @Sendable (_ message: Data, _ signature: Data, _ publicKey: Data) -> Bool

        /// `pk_test_…` or `pk_live_…`; public, may be shipped in the app.
        public var publishableKey: String
        /// How old a cached answer may be and still be given without asking, in seconds; 0: always ask.
        public var maximumStaleEntitlementsDuration: TimeInterval
        /// The server; nil: see ``init(publishableKey:maximumStaleEntitlementsDuration:serverURL:)``.
        public var serverURL: URL?
        /// How signed answers are checked, so that they can be trusted offline.
        ///
        /// CryptoKit on Apple's platforms. Where it is nil (Linux, unless set), no answer from an
        /// earlier launch is trusted.
        public var verifySignature: SignatureCheck?
        /// Where signed answers survive a relaunch; nil: memory only, as on Linux unless set.
        ///
        /// `Application Support/BillingSDK/` with the app's bundle id. An app and its extensions share
        /// one folder only if both are given it, in an app group.
        public var cacheDirectory: URL?
        /// `true` if the SDK takes App Store transactions to the server and finishes them by itself.
        ///
        /// Set it to false while the app has StoreKit code of its own that finishes transactions.
        public var handlesAppStoreTransactions = true

        /// `true` if `purchase(_:options:)` also sells in the App Store while nobody is signed in.
        ///
        /// What was bought then bears an account token of the SDK's own. The server knows it, and it belongs
        /// to nobody until the next sign-in on this device, whose customer gets it; on another device, to
        /// the first customer who restores it. Until then the device answers for it, by what StoreKit has
        /// verified: purchases that bear a customer's token do not count. With false, the default, a
        /// purchase throws ``BillingSDKError/unauthenticated`` before anything is bought, and visitors
        /// have nothing.
        public var allowsPurchasesBeforeSignIn = false

        /// From which level on the SDK writes what it does; warnings and errors unless set.
        public var logLevel = BillingLogEntry.Level.warning
        /// Who gets the lines of the log, on no particular thread; nil: the system's log on Apple's systems
        /// (subsystem `BillingSDK`), nobody elsewhere.
        public var logHandler: (@Sendable (BillingLogEntry) -> Void)?

        /// The paths of the universal links by which a checkout leads back into the app, as the
        /// catalog's `checkout` has them.
        public var checkoutPaths = CheckoutPaths()

        /// Where a checkout leads back to.
        public struct CheckoutPaths: Hashable, Sendable {
            /// After a payment: `/checkout_redirect/success`.
            public var success = "/checkout_redirect/success"
            /// When the customer turned back: `/checkout_redirect/cancel`.
            public var cancel = "/checkout_redirect/cancel"

            /// The paths that the catalog has unless it says otherwise.
            public init() {}
        }

        /// A configuration.
        ///
        /// - Parameters:
        ///   - publishableKey: `pk_test_…` or `pk_live_…`.
        ///   - maximumStaleEntitlementsDuration: how old a cached answer may be, in seconds.
        ///   - serverURL: where Tollgate runs. If nil: `BillingSDKServerURL` in Info.plist, then
        ///     `BILLING_SDK_SERVER_URL` in the environment, then `http://127.0.0.1:8080`, which is
        ///     only for `pk_test_` keys.
        public init(
            publishableKey: String,
            maximumStaleEntitlementsDuration: TimeInterval = 300,
            serverURL: URL? = nil
        ) {
            self.publishableKey = publishableKey
            self.maximumStaleEntitlementsDuration = maximumStaleEntitlementsDuration
            self.serverURL = serverURL
            verifySignature = Self.platformSignatureCheck
            cacheDirectory = Self.platformCacheDirectory
        }
    }
}
