// StoreKit sells on tvOS and watchOS without a browser, and visionOS needs a scene for each purchase
// (<https://developer.apple.com/documentation/storekit/product/purchase(options:)>).
#if os(tvOS) || os(watchOS) || os(visionOS)
    #error(
        "BillingSDK is for iOS, iPadOS, Mac Catalyst, macOS and Linux; call the HTTP API on others."
    )
#endif
