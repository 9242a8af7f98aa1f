#if !(canImport(StoreKit) || BILLING_APPLE_STUBS)
    extension StoreKitStatement {
        /// There is no StoreKit here.
        @Sendable static func ofThisDevice() async -> [StoreKitStatement] { [] }
    }
#endif
