/// A Checkout payment: each part only ever moves forward (RULES §4.1).
public struct PaymentRecord: Hashable, Codable, Sendable {
    public private(set) var newest: Newest<StripePayment>
    public private(set) var isComplete: Bool
    public private(set) var isPaid: Bool
    public private(set) var lines: [StripePayment.Line]?
    public private(set) var customer: String?
    public private(set) var reference: String?
    /// `true` once a payment was stated as failed; `nil`, not `false`: older records keep their bytes.
    private var failed: Bool?
    /// When it was paid: the earliest that a statement shows (RULES §5.3).
    public private(set) var paid: Instant?
    /// The payer's country, whichever statement knows it.
    public private(set) var country: String?

    init(_ stated: Newest<StripePayment>) {
        newest = stated
        isComplete = stated.value.status == "complete"
        isPaid = stated.value.isPaid
        lines = stated.value.lines
        customer = stated.value.customer
        reference = stated.value.reference
        failed = stated.value.hasFailed
        country = stated.value.country
        guard isPaid else { return }
        let payment = stated.value
        paid = stated.stated.isRead ? payment.paidBy ?? payment.created : stated.stated.instant
    }

    /// `true` if the bank refused the payment and nobody has paid since.
    public var hasFailed: Bool { failed == true && !isPaid }

    /// True if the newest statement is an answer of Stripe's, not an event.
    public var isRead: Bool { newest.stated.isRead }

    /// When what it bought begins.
    public var begins: Instant { paid ?? payment.created }

    public var payment: StripePayment { newest.value }

    mutating func rename(_ renaming: Renaming) throws {
        try newest.amend { try $0.rename(renaming) }
        customer = try customer.map { try renaming.customer($0) }
        reference = try reference.map { try renaming.reference($0) }
    }

    mutating func join(_ other: PaymentRecord) {
        newest.join(other.newest)
        isComplete = isComplete || other.isComplete
        isPaid = isPaid || other.isPaid
        lines = Self.larger(lines, other.lines)
        customer = max(customer ?? "", other.customer ?? "").nonEmpty
        reference = max(reference ?? "", other.reference ?? "").nonEmpty
        failed = failed ?? other.failed
        paid = earlier(paid, other.paid)
        country = max(country ?? "", other.country ?? "").nonEmpty
    }

    /// The longer list counts: a session's metadata lacks the products that the buyer added at Stripe.
    private static func larger(
        _ left: [StripePayment.Line]?,
        _ right: [StripePayment.Line]?
    ) -> [StripePayment.Line]? {
        guard let left, let right else { return left ?? right }
        if left.count != right.count { return left.count > right.count ? left : right }
        return left == right || Newest.precedes(right, left) ? left : right
    }
}
