#if !(os(iOS) || os(macOS) || BILLING_APPLE_STUBS)
    /// The app around the SDK; without an app life cycle there is nothing to follow.
    struct FollowedApp: Sendable {
        init(client: BillingClient) {}
    }
#endif
