import AppStoreSimulator
import GooglePlaySimulator
import StripeAPI
import TollgateCore

/// What a store reported to Tollgate, as the demo's page lists it.
struct StoreReport: Sendable {
    var instant: Instant
    var store: String
    /// The store's own words: `DID_RENEW`, `invoice.paid`.
    var name: String
    /// The same for people; empty where it is not known.
    var meaning: String

    init(_ notification: SimulatedAppStore.Notification) {
        instant = Instant(milliseconds: notification.signedDate)
        store = "App Store"
        name = [notification.type, notification.subtype].compactMap(\.self).joined(separator: " · ")
        meaning = Self.meaning(type: notification.type, subtype: notification.subtype)
    }

    init(_ notification: SimulatedGooglePlay.Notification) {
        instant = Instant(milliseconds: notification.at)
        store = "Google Play"
        name = notification.name
        meaning = Self.googlePlayMeanings[notification.name] ?? ""
    }

    init(_ event: Stripe.Event) {
        instant = Instant(seconds: event.created)
        store = "Stripe"
        name = event.type.rawValue
        meaning = Self.stripeMeanings[event.type.rawValue] ?? ""
    }

    /// The events that decide something or that somebody at the page has caused.
    static let stripeKinds = stripeMeanings.keys.sorted()

    private static let googlePlayMeanings = [
        "SUBSCRIPTION_PURCHASED": "A subscription began.",
        "SUBSCRIPTION_RENEWED": "It renewed and was paid.",
        "SUBSCRIPTION_RECOVERED": "The payment came after all.",
        "SUBSCRIPTION_CANCELED": "Renewal was switched off.",
        "SUBSCRIPTION_RESTARTED": "Renewal was switched on.",
        "SUBSCRIPTION_IN_GRACE_PERIOD": "The renewal could not be charged.",
        "SUBSCRIPTION_ON_HOLD": "The payment did not come; access has ended.",
        "SUBSCRIPTION_EXPIRED": "The subscription ended.",
        "SUBSCRIPTION_REVOKED": "Google ended the subscription at once.",
        "ONE_TIME_PRODUCT_PURCHASED": "Something was bought once.",
        "voidedPurchaseNotification": "The money went back.",
    ]

    private static let stripeMeanings = [
        "checkout.session.completed": "The checkout was completed.",
        "customer.subscription.created": "A subscription began.",
        "customer.subscription.updated": "The subscription changed.",
        "customer.subscription.deleted": "The subscription ended.",
        "invoice.paid": "An invoice was paid.",
        "invoice.payment_failed": "An invoice could not be paid.",
        "payment_intent.payment_failed": "A payment was declined.",
        "charge.refunded": "The money went back.",
        "charge.dispute.created": "The payment is disputed.",
    ]

    private static func meaning(type: String, subtype: String?) -> String {
        switch (type, subtype) {
        case ("SUBSCRIBED", "RESUBSCRIBE"): "The subscription began again."
        case ("SUBSCRIBED", _): "A subscription began."
        case ("DID_RENEW", "BILLING_RECOVERY"): "The payment came after all."
        case ("DID_RENEW", _): "It renewed and was paid."
        case ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED"): "Renewal was switched off."
        case ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED"): "Renewal was switched on."
        case ("DID_CHANGE_RENEWAL_PREF", _): "Another plan was chosen."
        case ("DID_FAIL_TO_RENEW", _): "The renewal could not be charged."
        case ("EXPIRED", _): "The subscription ended."
        case ("ONE_TIME_CHARGE", _): "Something was bought once."
        case ("REFUND", _): "The money went back."
        case ("REFUND_REVERSED", _): "The refund was taken back."
        case ("REVOKE", _): "The family no longer shares it."
        default: ""
        }
    }
}
