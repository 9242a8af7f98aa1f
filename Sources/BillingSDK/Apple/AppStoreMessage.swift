#if os(iOS) || BILLING_APPLE_STUBS
    import Foundation
    import StoreKit
    import UIKit

    /// A sheet of the App Store's that waits to be shown: a price that needs consent, a payment that failed, an
    /// offer.
    @available(iOS 16, *)
    public struct AppStoreMessage: Sendable {
        /// The reason for a message of the App Store; new reasons may come.
        public struct Reason: RawRepresentable, Hashable, Sendable {
            /// StoreKit's number.
            public let rawValue: Int
            /// A reason by StoreKit's number.
            public init(rawValue: Int) { self.rawValue = rawValue }

            /// Something without a reason of its own.
            public static let generic = Self(rawValue: Message.Reason.generic.rawValue)
            /// A price rises, and the customer has to agree.
            public static let priceIncreaseConsent = Self(
                rawValue: Message.Reason.priceIncreaseConsent.rawValue
            )
        }

        private let message: Message
        /// The reason for the message.
        public var reason: Reason { Reason(rawValue: message.reason.rawValue) }

        init(_ message: Message) { self.message = message }

        /// Shows the App Store's sheet.
        ///
        /// - Throws: StoreKit's errors.
        @MainActor
        public func show(in scene: UIWindowScene) throws { try message.display(in: scene) }
    }

    @available(iOS 16, *)
    extension BillingSDK {
        /// The App Store's messages from now on; ends when its reader stops.
        ///
        /// While somebody reads it the App Store shows none by itself, which it does at launch otherwise: show
        /// each one when it does not disturb.
        /// <https://developer.apple.com/documentation/storekit/message>
        public var appStoreMessages: AsyncStream<AppStoreMessage> {
            AsyncStream { continuation in
                let task = Task {
                    for await message in Message.messages {
                        continuation.yield(AppStoreMessage(message))
                    }
                    continuation.finish()
                }
                continuation.onTermination = { _ in task.cancel() }
            }
        }
    }
#endif
