/// An effect of a subscription's change, to be carried out by the store.
enum SubscriptionEffect: Hashable, Sendable {
    case hint(SubscriptionHint)
    case charge(Charge)
    case void(Void)

    /// An order that goes through.
    struct Charge: Hashable, Sendable {
        var orderID: String
        var lines: [Order.Line]
    }

    /// An order that is taken back, wholly or by a share of it.
    struct Void: Hashable, Sendable {
        var orderID: String
        var source: VoidedPurchase.Source
        var reason: VoidedPurchase.Reason
        /// Only this product's line, whose refund the order alone tells.
        var productID: String?
        /// Only the lines of these products; `nil`: all of them.
        var products: [String]?
        /// In millionths of those lines; `nil`: all of it.
        var share: Int64?
    }
}

/// `notificationType` of a SubscriptionNotification.
///
/// https://developer.android.com/google/play/billing/rtdn-reference#sub
enum SubscriptionHint: Int, Hashable, Sendable, Codable, CaseIterable {
    case recovered = 1
    case renewed = 2
    case canceled = 3
    case purchased = 4
    case onHold = 5
    case inGracePeriod = 6
    case restarted = 7
    case priceChangeConfirmed = 8
    case deferred = 9
    case paused = 10
    case pauseScheduleChanged = 11
    case revoked = 12
    case expired = 13
    case itemsChanged = 17
    case cancellationScheduled = 18
    case priceChangeUpdated = 19
    case pendingPurchaseCanceled = 20
    case priceStepUpConsentUpdated = 22
}

/// The circumstances of a subscription's change.
struct Circumstances: Hashable, Sendable {
    var now: Int64
    /// `true` where the buyer's payment method accepts a charge.
    var pays: Bool
    var durations: Durations
    var behaviour: Behaviour
}
