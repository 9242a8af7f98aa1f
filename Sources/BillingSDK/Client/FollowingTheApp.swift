/// On platforms without an app life cycle there is nothing to follow.
#if !(os(iOS) || os(macOS) || BILLING_APPLE_STUBS)
    extension BillingSDK {
        func startFollowingTheApp() {}
    }
#endif
