import Foundation
import TollgateCore

/// What a store says at one time of a story; days count from its beginning.
enum Word: Sendable {
    /// A notification.
    case notice(String, String? = nil, signed: Double, Paid, Terms? = nil, status: Int? = nil)
    /// A device presents the transaction, for a customer.
    case shows(String, mode: String = "observed", signed: Double, Paid)
    /// An event of Stripe's.
    case event(String, created: Double, Thing)
    /// What Stripe answers when it is asked.
    case onAsking(String, Thing)
    /// What the Play Developer API answered: an object about the purchase token, as JSON.
    case read(Double, token: String = "t1", String)
    /// What `verifyReceipt` answers for the customer's receipt.
    case receipt(String, asked: Double, [Listed])
    case assigns(String, original: String)
    case grants(String, until: Double?)
    case takesFree(String)
    case removesFree(String)
    /// A customer was registered when there was one kind of `client_reference_id`.
    case registers(String, reference: String)
    /// The team adopts a catalog with other policies.
    case adopts(Double, ownership: Catalog.Ownership = .keep, Catalog.RefundedPlan = .keep)
    /// The story's own time goes on.
    case day(Double)
}

/// A signed transaction.
struct Paid: Sendable {
    var product = "monthly"
    var id = "1"
    var original = "1"
    var lineItem: String?
    var from: Double = 0
    var to: Double? = 30
    var revoked: Double?
    var upgraded = false
    /// Whose `appAccountToken` it bears.
    var user: String? = "jenny"
    var type = "Auto-Renewable Subscription"
    var family = false
    var seats = false
    /// The purchase that it continues.
    var previous: String?
}

/// What is signed of how a subscription goes on.
struct Terms: Sendable {
    var renews = true
    var graceEnd: Double?
    var renewalDate: Double = 30
    var retries = false
}

/// An entry of a legacy receipt.
struct Listed: Sendable {
    var product = "monthly"
    var id = "1"
    var original = "1"
    var from: Double = 0
    var to: Double? = 30
    var cancelled: Double?
}

/// An object of Stripe's, in its own words.
enum Thing: Sendable {
    case subscription(
        String,
        price: String = "price_monthly",
        from: Double = 0,
        to: Double = 30,
        cancelAt: Double? = nil,
        atPeriodEnd: Bool = false,
        ended: Double? = nil,
        isOld: Bool = false,
        isMetered: Bool = false
    )
    case invoice(
        id: String = "in_1",
        price: String = "price_monthly",
        from: Double = 0,
        to: Double = 30,
        paid: Double = 0,
        item: String? = "si_1",
        /// The price, the start and the end of what it credits.
        credit: Credit? = nil
    )
    case session(
        status: String = "complete",
        payment: String = "paid",
        price: String = "price_lifetime",
        quantity: Int = 1,
        customer: String = "cus_jenny",
        reference: String? = nil,
        created: Double = 0
    )
    case refund(Int, status: String = "succeeded", created: Double)
    /// - Parameter withdrawn: when the money went; `nil`: the statement does not say.
    case dispute(String, created: Double, withdrawn: Double? = nil)
    case paymentIntent
    /// What links a payment to its invoice.
    case invoicePayment
    case list([Thing])

    /// Time that an invoice gives back, and the money for it.
    struct Credit: Sendable {
        var price: String
        var from: Double
        var to: Double
        var amount = -900
    }
}

private func ms(_ day: Double) -> Int64 { Instant.day(day).milliseconds }
private func seconds(_ day: Double) -> Int64 { ms(day) / 1000 }

extension Paid {
    func json(signed: Double) -> [String: Any] {
        var json: [String: Any] = [
            "transactionId": id, "originalTransactionId": original, "bundleId": Counter.bundleID,
            "productId": product, "purchaseDate": ms(from), "originalPurchaseDate": ms(from),
            "quantity": 1, "type": type,
            "inAppOwnershipType": family ? "FAMILY_SHARED" : "PURCHASED",
            "signedDate": ms(signed), "environment": "Sandbox", "storefront": "USA",
            "storefrontId": "143441", "transactionReason": "PURCHASE",
        ]
        if type == "Auto-Renewable Subscription" {
            json["webOrderLineItemId"] = lineItem ?? "line \(id)"
            json["subscriptionGroupIdentifier"] = "group"
            json["expiresDate"] = to.map(ms)
        }
        if let revoked {
            json["revocationDate"] = ms(revoked)
            json["revocationReason"] = 0
        }
        if upgraded { json["isUpgraded"] = true }
        if seats { json["additionalTransactionReason"] = "SEAT_ADDITION" }
        if let previous { json["previousOriginalTransactionId"] = previous }
        if let user { json["appAccountToken"] = Counter.token(of: user) }
        return json
    }
}

extension Terms {
    func json(signed: Double, of paid: Paid) -> [String: Any] {
        var json: [String: Any] = [
            "originalTransactionId": paid.original, "productId": paid.product,
            "autoRenewProductId": paid.product, "autoRenewStatus": renews ? 1 : 0,
            "signedDate": ms(signed), "environment": "Sandbox", "renewalDate": ms(renewalDate),
        ]
        if retries { json["isInBillingRetryPeriod"] = true }
        if let graceEnd { json["gracePeriodExpiresDate"] = ms(graceEnd) }
        return json
    }
}

extension Listed {
    var json: [String: Any] {
        var json: [String: Any] = [
            "transaction_id": id, "original_transaction_id": original, "product_id": product,
            "quantity": "1", "purchase_date_ms": "\(ms(from))",
            "original_purchase_date_ms": "\(ms(0))",
        ]
        if let to {
            json["expires_date_ms"] = "\(ms(to))"
            json["web_order_line_item_id"] = "line \(id)"
        }
        if let cancelled { json["cancellation_date_ms"] = "\(ms(cancelled))" }
        return json
    }
}

extension Thing {
    private static let none = NSNull()

    private static func list(_ data: [[String: Any]]) -> [String: Any] {
        ["object": "list", "data": data, "has_more": false, "url": "/v1/list"]
    }

    private static func price(_ id: String, isMetered: Bool = false) -> [String: Any] {
        [
            "id": id, "object": "price", "active": true, "created": 1, "currency": "usd",
            "livemode": false, "metadata": [String: String](), "product": "prod_1",
            "type": "recurring", "unit_amount": 1000, "unit_amount_decimal": "1000",
            "recurring": [
                "interval": "month", "interval_count": 1,
                "usage_type": isMetered ? "metered" : "licensed",
            ],
        ]
    }

    /// A line of an invoice; beside a credit it is a proration.
    private static func line(
        _ id: String,
        _ price: String,
        _ from: Double,
        _ to: Double,
        _ amount: Int,
        _ item: String?,
        _ credit: Credit?
    ) -> [String: Any] {
        let kind = item == nil ? "invoice_item_details" : "subscription_item_details"
        let details: [String: Any] = [
            "subscription": "sub_1", "subscription_item": item.map { $0 as Any } ?? none,
            "invoice_item": none, "proration": credit != nil,
        ]
        return [
            "id": id, "object": "line_item", "amount": amount, "currency": "usd",
            "quantity": 1, "livemode": false, "metadata": [String: String](),
            "period": ["start": seconds(from), "end": seconds(to)],
            "parent": ["type": kind, kind: details] as [String: Any],
            "pricing": [
                "type": "price_details", "price_details": ["price": price, "product": "prod_1"],
                "unit_amount_decimal": "1000",
            ],
        ]
    }

    var json: [String: Any] {
        switch self {
        case .subscription(
            let status,
            let price,
            let from,
            let to,
            let cancelAt,
            let atPeriodEnd,
            let ended,
            let isOld,
            let isMetered
        ):
            var item: [String: Any] = [
                "id": "si_1", "object": "subscription_item", "created": 1, "quantity": 1,
                "price": Self.price(price, isMetered: isMetered), "subscription": "sub_1",
                "metadata": [String: String](),
            ]
            var json: [String: Any] = [
                "id": "sub_1", "object": "subscription", "created": seconds(0),
                "status": status, "customer": "cus_jenny", "cancel_at_period_end": atPeriodEnd,
                "cancel_at": cancelAt.map(seconds) ?? Self.none,
                "canceled_at": ended.map(seconds) ?? Self.none,
                "ended_at": ended.map(seconds) ?? Self.none, "livemode": false,
                "metadata": [String: String](), "collection_method": "charge_automatically",
            ]
            let period: [String: Any] = [
                "current_period_start": seconds(from), "current_period_end": seconds(to),
            ]
            if isOld { json.merge(period) { $1 } } else { item.merge(period) { $1 } }
            json["items"] = Self.list([item])
            return json
        case .invoice(let id, let price, let from, let to, let paid, let item, let credit):
            var lines = [
                Self.line("il_\(id)", price, from, to, credit?.amount == 0 ? 0 : 1000, item, credit)
            ]
            if let credit {
                let (price, from, to) = (credit.price, credit.from, credit.to)
                lines.append(
                    Self.line("il_credit_\(id)", price, from, to, credit.amount, item, credit)
                )
            }
            return [
                "id": id, "object": "invoice", "created": seconds(paid), "status": "paid",
                "customer": "cus_jenny", "currency": "usd", "amount_due": 1000,
                "amount_paid": 1000, "amount_remaining": 0, "total": 1000, "livemode": false,
                "metadata": [String: String](), "lines": Self.list(lines),
                "parent": [
                    "type": "subscription_details",
                    "subscription_details": ["subscription": "sub_1"],
                ], "status_transitions": ["paid_at": seconds(paid)],
            ]
        case .session(
            let status,
            let payment,
            let price,
            let quantity,
            let customer,
            let reference,
            let created
        ):
            return [
                "id": "cs_1", "object": "checkout.session", "created": seconds(created),
                "mode": "payment", "status": status, "payment_status": payment,
                "customer": customer, "currency": "usd",
                "client_reference_id": reference.map { $0 as Any } ?? Self.none,
                "amount_subtotal": 1000, "amount_total": 1000, "payment_intent": "pi_1",
                "livemode": false, "metadata": [String: String](),
                "line_items": Self.list([
                    [
                        "id": "li_1", "object": "item", "price": Self.price(price),
                        "quantity": quantity, "currency": "usd", "amount_subtotal": 1000,
                        "amount_total": 1000,
                    ]
                ]),
            ]
        case .refund(let amount, let status, let created):
            return [
                "id": "re_1", "object": "refund", "created": seconds(created), "status": status,
                "amount": amount, "currency": "usd", "charge": "ch_1", "payment_intent": "pi_1",
                "metadata": [String: String](),
            ]
        case .paymentIntent:
            return [
                "id": "pi_1", "object": "payment_intent", "created": seconds(0), "amount": 1000,
                "amount_received": 1000, "currency": "usd", "status": "succeeded",
                "customer": "cus_jenny", "livemode": false, "metadata": [String: String](),
            ]
        case .invoicePayment:
            return [
                "id": "inpay_1", "object": "invoice_payment", "created": seconds(0),
                "invoice": "in_1", "status": "paid", "amount_paid": 1000, "is_default": true,
                "payment": ["type": "payment_intent", "payment_intent": "pi_1"],
            ]
        case .list(let things): return Self.list(things.map(\.json))
        case .dispute(let status, let created, let withdrawn):
            let booked = withdrawn.map {
                [["id": "txn_1", "object": "balance_transaction", "created": seconds($0)]]
            }
            return [
                "id": "dp_1", "object": "dispute", "created": seconds(created),
                "status": status, "amount": 1000, "currency": "usd", "charge": "ch_1",
                "payment_intent": "pi_1", "livemode": false, "metadata": [String: String](),
                "balance_transactions": booked ?? [],
            ]
        }
    }
}
