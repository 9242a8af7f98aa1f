/// In which country's App Store this device shops.
enum DeviceStorefront {}

#if !(canImport(StoreKit) || BILLING_APPLE_STUBS)
    extension DeviceStorefront {
        /// There is no App Store here.
        @Sendable static func ofThisDevice() async -> String? { nil }
    }
#endif
