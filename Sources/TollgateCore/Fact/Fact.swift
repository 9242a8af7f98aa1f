/// A verified statement by one provider about one of its objects, with the provider's own clock on it.
///
/// Facts are the only way anything enters a record. A record is their join, so their order of
/// arrival and their repetition do not matter.
public struct Fact: Hashable, Codable, Sendable {
    /// The record it belongs to.
    public var purchase: Purchase.Key
    /// The store's id of the message that said so: a notification's UUID, an event's id.
    public var source: String
    /// When the provider said so, by its own clock.
    public var stated: Stated
    public var statement: Statement

    public init(purchase: Purchase.Key, source: String, stated: Stated, statement: Statement) {
        self.purchase = purchase
        self.source = source
        self.stated = stated
        self.statement = statement
    }
}

extension Fact {
    /// Whether it was read from a legacy receipt, which only adds to what was signed (RULES §2.8).
    var isFromReceipt: Bool { source.isOfReceipt }

    /// The facts of one message, where REFUND_REVERSED names the period that the message states.
    ///
    /// Journal rows of before engine 5 leave that to the period beside it (RULES §2.2).
    public static func namingReversals(_ facts: [Fact]) -> [Fact] {
        facts.map { fact in
            guard case .refundReversed(period: nil) = fact.statement else { return fact }
            var named = fact
            for sibling in facts where sibling.source == fact.source {
                if case .period(let period) = sibling.statement {
                    named.statement = .refundReversed(period: period.id)
                }
            }
            return named
        }
    }
}

extension String {
    /// Whether this source is an entry of a legacy receipt.
    var isOfReceipt: Bool { hasPrefix("receipt:") }
}

/// A provider's clock: which of two statements about one object is the newer one.
public struct Stated: Hashable, Comparable, Codable, Sendable {
    public var instant: Instant
    /// Whether we read the object itself; a read beats every message of its own second (RULES §4).
    public var isRead: Bool

    public init(_ instant: Instant, isRead: Bool = false) {
        self.instant = instant
        self.isRead = isRead
    }

    public static func < (left: Stated, right: Stated) -> Bool {
        left.instant == right.instant
            ? !left.isRead && right.isRead : left.instant < right.instant
    }
}

/// What can be stated.
///
/// Closed: a new case makes the compiler list every decision to take.
public enum Statement: Hashable, Codable, Sendable {
    // The App Store
    case period(Period)
    case renewal(RenewalTerms)
    case status(SubscriptionStatus)
    /// REFUND_REVERSED: makes void the revocations of one period dated up to the statement's clock
    /// (RULES §2.2).
    ///
    /// `period` is the `Period.id` of the transaction that Apple names; `nil` in journal rows of
    /// before engine 5.
    case refundReversed(period: String?)
    // Stripe
    case subscription(StripeSubscription)
    case payment(StripePayment)
    case invoice(StripeInvoice)
    case refund(StripeRefund)
    case dispute(StripeDispute)
    case buyer(StripeBuyer)
    // Google Play
    case googlePlaySubscription(GooglePlaySubscription)
    case googlePlayPurchase(GooglePlayPurchase)
    case googlePlayOrder(GooglePlayOrder)
    case googlePlayVoid(GooglePlayVoid)
    case googlePlayUnreadable(GooglePlayUnreadable)
    // Ours
    case claim(Claim)
    case assignment(Assignment)
    case grant(StaffGrant)
    case freeSubscription(FreeSubscription)
    case coins(StaffCoins)
}
