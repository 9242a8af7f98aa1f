internal import StrictJSON
internal import StripeAPI
internal import TollgateCore

/// What has to be read where an event alone cannot be used.
enum StripeHints {
    /// The object name of a customer's active entitlements in Stripe's event.
    static let entitlementSummary = "entitlements.active_entitlement_summary"

    /// What has to be read because `event` alone cannot be used: by what every version of the API
    /// writes in the same way, the kind of the object and its ids.
    ///
    /// Empty where nothing that we keep can have changed.
    static func reads(for event: Stripe.Event) -> [Wanted] {
        let object = event.object
        switch event.objectName {
        case Stripe.CheckoutSession.objectName:
            return wanted(.checkoutLines, event.objectID)
        case Stripe.Subscription.objectName:
            return wanted(.subscription, event.objectID)
        case Stripe.Invoice.objectName:
            let isSettled = ["paid", "void", "uncollectible"].contains(object["status"]?.string)
            return isSettled ? wanted(.invoice, event.objectID) : []
        case Stripe.PaymentIntent.objectName:
            let sells = object["metadata"]?[named: StripeTranslator.linesKey]?.string != nil
            return sells ? wanted(.payment, event.objectID) : []
        case Stripe.Refund.objectName, Stripe.Dispute.objectName:
            return wanted(.payment, reference(object["payment_intent"]))
        case Stripe.Charge.objectName:
            let isTakenBack =
                object["refunded"]?.bool == true || object["disputed"]?.bool == true
                || (object["amount_refunded"]?.int64 ?? 0) > 0
            return isTakenBack ? wanted(.payment, reference(object["payment_intent"])) : []
        case entitlementSummary:
            return wanted(.entitlements, reference(object["customer"]))
        default:
            return []
        }
    }

    private static func wanted(_ kind: Wanted.Kind, _ id: String?) -> [Wanted] {
        id.map { [Wanted(kind: kind, object: $0)] } ?? []
    }

    /// An id, or the id of an object in its place.
    private static func reference(_ value: JSON?) -> String? {
        value?.string ?? value?["id"]?.string
    }
}
