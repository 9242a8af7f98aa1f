/// What a Stripe Subscription object says of itself.
public struct StripeSubscription: Hashable, Codable, Sendable {
    /// One subscription item; since API version 2025-03-31 the period lies here.
    public struct Item: Hashable, Codable, Sendable {
        public var id: String
        public var price: String
        public var quantity: Int64
        /// `current_period_start`.
        public var start: Instant
        /// `current_period_end`.
        public var end: Instant
        /// Whether its price is metered: a period is billed when it is over; `nil`: it is not.
        public var isBilledInArrears: Bool?
        /// When it was added to the subscription; `nil` unless invoices are sent.
        public var created: Instant?

        public init(
            id: String,
            price: String,
            quantity: Int64,
            start: Instant,
            end: Instant,
            isBilledInArrears: Bool = false,
            created: Instant? = nil
        ) {
            self.id = id
            self.price = price
            self.quantity = quantity
            self.start = start
            self.end = end
            // Left out where it is not so, as it was before anybody asked.
            self.isBilledInArrears = isBilledInArrears ? true : nil
            self.created = created
        }
    }

    /// Stripe's status word: `active`, `trialing`, `past_due`, …; unknown words grant nothing.
    public var status: String
    public var customer: String
    /// Sorted by id.
    public var items: [Item]
    public var cancelAt: Instant?
    public var cancelsAtPeriodEnd: Bool
    public var endedAt: Instant?
    /// `days_until_due`: how long an invoice that is sent may stay unpaid; `nil`: charged at once.
    public var daysUntilDue: Int64?
    /// `true` if it has a `schedule` or `pause_collection`, or if it or an item has `discounts`: the next
    /// charge may be another one than the last.
    ///
    /// `nil`, not `false`: older facts keep their bytes.
    public var mayChangePrice: Bool?
    /// `true` if `automatic_tax`, `default_tax_rates` or an item's `tax_rates` may add a tax; `nil`, not
    /// `false`.
    public var mayAddTax: Bool?

    public init(
        status: String,
        customer: String,
        items: [Item],
        cancelAt: Instant? = nil,
        cancelsAtPeriodEnd: Bool = false,
        endedAt: Instant? = nil,
        daysUntilDue: Int64? = nil,
        mayChangePrice: Bool = false,
        mayAddTax: Bool = false
    ) {
        self.status = status
        self.customer = customer
        self.items = items.sorted { $0.id < $1.id }
        self.cancelAt = cancelAt
        self.cancelsAtPeriodEnd = cancelsAtPeriodEnd
        self.endedAt = endedAt
        self.daysUntilDue = daysUntilDue
        self.mayChangePrice = mayChangePrice ? true : nil
        self.mayAddTax = mayAddTax ? true : nil
    }

    /// Statuses in which nothing is owed as far as Stripe knows.
    var isActive: Bool { status == "active" || status == "trialing" }

    /// When it ends, if that is stated.
    ///
    /// `cancel_at_period_end` means the earliest end of an item's current period, and a change of plan makes
    /// that another one than the `cancel_at` which was stated before (RULES §3.4).
    /// https://docs.stripe.com/changelog/basil/2025-07-30/cancel-at-enums
    public var stop: Instant? {
        cancelsAtPeriodEnd ? items.map(\.end).min() ?? cancelAt : cancelAt
    }

    /// Statuses that no later statement leaves (RULES §4.1).
    public var isFinal: Bool { status == "canceled" || status == "incomplete_expired" }

    /// A statement of a later stage beats every one of an earlier stage (RULES §4.1).
    ///
    /// No status leads back to `incomplete`.
    /// https://docs.stripe.com/billing/subscriptions/overview#subscription-statuses
    var stage: Int { isFinal ? 2 : status == "incomplete" ? 0 : 1 }
}

/// A one-time purchase: a Checkout Session in payment mode, an invoice that is no plan's, or a
/// payment that says itself what it paid for.
public struct StripePayment: Hashable, Codable, Sendable {
    public struct Line: Hashable, Codable, Sendable {
        public var price: String
        public var quantity: Int64

        public init(price: String, quantity: Int64) {
            self.price = price
            self.quantity = quantity
        }
    }

    /// The Checkout Session's id; where there was none, the invoice's or the payment intent's.
    public var session: String
    /// The Checkout Session's status: `open`, `expired`, `complete`.
    public var status: String
    /// `payment_status`; anything but `unpaid` is paid for.
    public var isPaid: Bool
    public var customer: String?
    /// `client_reference_id`.
    public var reference: String?
    /// `nil` until somebody has read the session's line items, which its event does not carry.
    public var lines: [Line]?
    /// Minor units of `currency`.
    public var amount: Int64
    public var currency: String
    public var created: Instant
    /// The payer's country (ISO 3166-1 alpha-2), where the page asked for it.
    public var country: String?
    /// `true`: the bank refused a payment that takes days.
    ///
    /// `nil`, not `false`: older facts keep their bytes.
    public var hasFailed: Bool?
    /// When it was paid at the latest, as far as a read shows it (RULES §5.3).
    ///
    /// `nil` in events, whose own clock says it, and in facts that are older than this.
    public var paidBy: Instant?

    public init(
        session: String,
        status: String,
        isPaid: Bool,
        customer: String?,
        reference: String?,
        lines: [Line]?,
        amount: Int64,
        currency: String,
        created: Instant,
        country: String? = nil,
        hasFailed: Bool = false,
        paidBy: Instant? = nil
    ) {
        self.session = session
        self.status = status
        self.isPaid = isPaid
        self.customer = customer
        self.reference = reference
        self.lines = lines.map(Self.byPrice)
        self.amount = amount
        self.currency = currency
        self.created = created
        self.country = country
        self.hasFailed = hasFailed ? true : nil
        self.paidBy = paidBy
    }

    /// Stripe's own limit of a line is 999 999; anything above is nonsense, and must not overflow.
    private static let maximalQuantity: Int64 = 1_000_000

    /// One line per price, sorted: line item ids are known only to who has read them, so they must
    /// not tell two statements about the same session apart.
    private static func byPrice(_ lines: [Line]) -> [Line] {
        var merged: [Line] = []
        for var line in lines.sorted(by: { ($0.price, $0.quantity) < ($1.price, $1.quantity) }) {
            line.quantity = max(0, min(line.quantity, maximalQuantity))
            if let last = merged.last, last.price == line.price {
                merged[merged.count - 1].quantity = min(
                    last.quantity + line.quantity,
                    maximalQuantity
                )
            } else {
                merged.append(line)
            }
        }
        return merged
    }
}

/// An invoice of a subscription: what its lines bought, if it was paid.
public struct StripeInvoice: Hashable, Codable, Sendable {
    public struct Line: Hashable, Codable, Sendable {
        public var id: String
        public var price: String
        public var quantity: Int64
        /// Minor units, before discounts; tax that the price includes is in it.
        public var amount: Int64
        public var start: Instant
        public var end: Instant
        public var isProration: Bool
        /// The id of the subscription item; `nil` for what is bought once, and in older facts.
        public var item: String?
        /// The sum of `discount_amounts`; `nil` where it is not stated, as in older facts.
        public var discount: Int64?
        /// The tax on top of the price (`tax_behavior` exclusive); `nil`: none.
        public var tax: Int64?

        /// Whether it charges for a time, and gives back none.
        var isCharge: Bool { isProration ? amount > 0 : amount >= 0 }

        public init(
            id: String,
            price: String,
            quantity: Int64,
            amount: Int64,
            start: Instant,
            end: Instant,
            isProration: Bool,
            item: String? = nil,
            discount: Int64? = nil,
            tax: Int64? = nil
        ) {
            self.id = id
            self.price = price
            self.quantity = quantity
            self.amount = amount
            self.start = start
            self.end = end
            self.isProration = isProration
            self.item = item
            self.discount = discount
            self.tax = tax
        }
    }

    public var id: String
    public var isPaid: Bool
    /// What was paid, in minor units of `currency`.
    public var amount: Int64
    /// What it came to, less discounts, before what the customer's balance paid; `nil` in facts
    /// that are older than this.
    public var total: Int64?
    public var currency: String
    public var lines: [Line]
    /// When it was paid.
    public var paid: Instant?
    /// The payer's country (ISO 3166-1 alpha-2), as far as Stripe knows it.
    public var country: String?
    /// When it was voided or written off without being paid; `nil`: it was not.
    public var voided: Instant?

    public init(
        id: String,
        isPaid: Bool,
        amount: Int64,
        total: Int64? = nil,
        currency: String,
        lines: [Line],
        paid: Instant? = nil,
        country: String? = nil,
        voided: Instant? = nil
    ) {
        self.id = id
        self.isPaid = isPaid
        self.amount = amount
        self.total = total
        self.currency = currency
        self.lines = lines.sorted { $0.id < $1.id }
        self.paid = paid
        self.country = country
        self.voided = voided
    }
}

/// A Refund object.
public struct StripeRefund: Hashable, Codable, Sendable {
    public var id: String
    /// Minor units.
    public var amount: Int64
    /// `pending`, `requires_action`, `succeeded`, `failed`, `canceled`.
    public var status: String
    /// The invoice whose payment it pays back, once somebody has read which one that is: a refund
    /// itself names only the payment.
    public var invoice: String?
    /// When Stripe made it.
    public var created: Instant?

    public init(
        id: String,
        amount: Int64,
        status: String,
        invoice: String? = nil,
        created: Instant? = nil
    ) {
        self.id = id
        self.amount = amount
        self.status = status
        self.invoice = invoice
        self.created = created
    }

    /// How far the refund has come; a later statement never takes it back a step (RULES §4.1).
    var rank: Int {
        switch status {
        case "pending": 0
        case "requires_action": 1
        case "succeeded": 2
        case "failed", "canceled": 3
        default: 0
        }
    }

    /// Whether its money is on the way back or back.
    public var takesBack: Bool { status == "pending" || status == "succeeded" }
}

/// A Dispute object.
public struct StripeDispute: Hashable, Codable, Sendable {
    public var id: String
    /// Minor units.
    public var amount: Int64
    public var status: String
    /// The invoice whose payment is disputed, once somebody has read which one that is.
    public var invoice: String?
    /// When Stripe made it.
    public var created: Instant?
    /// When the money was withdrawn, which is later where an inquiry came first.
    public var withdrawn: Instant?

    public init(
        id: String,
        amount: Int64,
        status: String,
        invoice: String? = nil,
        created: Instant? = nil,
        withdrawn: Instant? = nil
    ) {
        self.id = id
        self.amount = amount
        self.status = status
        self.invoice = invoice
        self.created = created
        self.withdrawn = withdrawn
    }

    var isClosed: Bool {
        status == "won" || status == "lost" || status == "warning_closed" || status == "prevented"
    }

    /// Open or lost: the money is not ours.
    ///
    /// An inquiry (`warning_…`) has withdrawn nothing.
    public var takesBack: Bool {
        status == "lost" || status == "needs_response" || status == "under_review"
    }
}

/// Who bought a subscription, as its Checkout Session named them; the subscription itself does not.
public struct StripeBuyer: Hashable, Codable, Sendable {
    /// `client_reference_id`.
    public var reference: String
    /// The payer's country (ISO 3166-1 alpha-2), where the page asked for it.
    public var country: String?

    public init(reference: String, country: String? = nil) {
        self.reference = reference
        self.country = country
    }
}
