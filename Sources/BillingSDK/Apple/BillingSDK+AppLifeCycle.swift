#if os(iOS) || os(macOS) || BILLING_APPLE_STUBS
    extension BillingSDK {
        func startFollowingTheApp() {}
    }
#endif
