/// The kinds of objects that have an id of their own.
enum Kind: String, CaseIterable, Codable, CodingKeyRepresentable, Sendable {
    case customer
    case product
    case price
    case feature = "entitlements.feature"
    case productFeature = "product_feature"
    case activeEntitlement = "entitlements.active_entitlement"
    case checkoutSession = "checkout.session"
    case subscription
    case subscriptionItem = "subscription_item"
    case subscriptionSchedule = "subscription_schedule"
    case invoice
    case invoiceItem = "invoiceitem"
    case invoicePayment = "invoice_payment"
    case paymentIntent = "payment_intent"
    case setupIntent = "setup_intent"
    case paymentMethod = "payment_method"
    case paymentLink = "payment_link"
    case charge
    case refund
    case dispute
    case coupon
    case promotionCode = "promotion_code"
    case discount
    case balanceTransaction = "balance_transaction"
    case payout
    case event
    case webhookEndpoint = "webhook_endpoint"
    case portalSession = "billing_portal.session"
    case portalConfiguration = "billing_portal.configuration"
    case testClock = "test_helpers.test_clock"
    case taxRate = "tax_rate"
    case customerBalanceTransaction = "customer_balance_transaction"
    case creditNote = "credit_note"
    case ephemeralKey = "ephemeral_key"

    /// The name in "No such …".
    var noun: String { rawValue }

    /// What ids of this kind start with.
    var prefix: String {
        switch self {
        case .customer: "cus_"
        case .product: "prod_"
        case .price: "price_"
        case .feature: "feat_test_"
        case .productFeature: "prodft_"
        case .activeEntitlement: "ent_test_"
        case .checkoutSession: "cs_test_"
        case .subscription: "sub_"
        case .subscriptionItem: "si_"
        case .subscriptionSchedule: "sub_sched_"
        case .invoice: "in_"
        case .invoiceItem: "ii_"
        case .invoicePayment: "inpay_"
        case .paymentIntent: "pi_"
        case .setupIntent: "seti_"
        case .paymentMethod: "pm_"
        case .paymentLink: "plink_"
        case .charge: "ch_"
        case .refund: "re_"
        case .dispute: "dp_"
        case .coupon: ""
        case .promotionCode: "promo_"
        case .discount: "di_"
        case .balanceTransaction: "txn_"
        case .payout: "po_"
        case .event: "evt_"
        case .webhookEndpoint: "we_"
        case .portalSession: "bps_"
        case .portalConfiguration: "bpc_"
        case .testClock: "clock_"
        case .taxRate: "txr_"
        case .customerBalanceTransaction: "cbtxn_"
        case .creditNote: "cn_"
        case .ephemeralKey: "ephkey_"
        }
    }

    /// How many characters follow the prefix.
    var length: Int {
        switch self {
        case .customer, .product: 14
        case .checkoutSession: 58
        case .coupon: 8
        default: 24
        }
    }
}
