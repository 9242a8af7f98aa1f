#if canImport(StoreKit)
    import Foundation
    import StoreKit

    extension DeviceStorefront {
        /// The country of the App Store account on this device, ISO 3166-1 alpha-3; nil where unknown.
        @Sendable static func ofThisDevice() async -> String? {
            await StoreKit.Storefront.current?.countryCode
        }
    }

    extension BillingSDK {
        /// The country of the App Store account on this device, ISO 3166-1 alpha-3 such as `JPN`; nil where
        /// StoreKit does not know it.
        ///
        /// It can change at any time: ask when you need it, and do not keep it
        /// (<https://developer.apple.com/documentation/storekit/storefront>).
        public func getStorefront() async -> String? { await client.storefront() }

        /// Each new country of the App Store account, from now on; ends when its reader stops.
        public var storefrontUpdates: AsyncStream<String> {
            AsyncStream { continuation in
                let task = Task {
                    for await storefront in StoreKit.Storefront.updates {
                        continuation.yield(storefront.countryCode)
                    }
                    continuation.finish()
                }
                continuation.onTermination = { _ in task.cancel() }
            }
        }
    }
#endif
