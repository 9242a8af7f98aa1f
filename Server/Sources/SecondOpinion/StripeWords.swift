internal import StrictJSON
internal import TollgateCore

/// One statement about an object of Stripe's: an event, or the object itself as it was read.
struct StripeWord: Sendable {
    let object: JSON
    let name: String
    let id: String
    /// An event's `created`; of a read, the second of which it speaks.
    let stated: Instant
    /// The event's type; `nil` for a read.
    let type: String?
    /// Stripe's id of the event, or of what was read.
    let messageID: String?
    let row: Int64

    /// `nil` for what is neither an event nor an object.
    init?(_ json: JSON, stated: Instant, row: Int64) {
        guard json["object"]?.string != nil else { return nil }
        type = json["object"]?.isString("event") == true ? json["type"]?.string : nil
        object = type == nil ? json : json["data"]?["object"] ?? json
        name = object["object"]?.string ?? ""
        id = object["id"]?.string ?? ""
        self.stated = type == nil ? stated : json.instant("created") ?? stated
        messageID = json["id"]?.string
        self.row = row
    }

    /// A subscription says itself which one it is; of what is paid once only Stripe could tell.
    var purchase: String? {
        let environment = object["livemode"]?.bool == true ? "production" : "sandbox"
        return name == "subscription" ? "stripe/\(environment)/-/\(id)" : nil
    }

    /// The subscription that an invoice is for, which since 2025-03-31 stands under `parent`.
    var isOfSubscription: Bool {
        object["parent"]?["subscription_details"]?.reference("subscription") != nil
            || object.reference("subscription") != nil
    }

    /// When something happened that this says was done: not before, and not after.
    func when(_ created: Instant?) -> ClosedRange<Instant> {
        type == nil ? min(created ?? stated, stated)...stated : stated...stated
    }
}

extension JSON {
    /// The id of what is named, whether or not it was expanded.
    func reference(_ name: StaticString) -> String? {
        self[name].flatMap { $0.string ?? $0["id"]?.string }
    }

    func instant(_ name: StaticString) -> Instant? {
        self[name]?.int64.map { Instant(seconds: $0) }
    }

    /// The entries of a list object; `nil` where there is no list.
    func list(_ name: StaticString) -> [JSON]? {
        self[name]?["data"].map { Array($0.elements) }
    }

    /// The price and the quantity that a line sells.
    var sold: StripeEvidence.Line? { price.map { ($0, self["quantity"]?.int64 ?? 1) } }

    /// The id of the price, in an item, in a line of a session, in a line of an invoice.
    var price: String? {
        self["pricing"]?["price_details"]?.reference("price") ?? reference("price")
            ?? reference("plan")
    }
}

/// A subscription as one statement shows it.
///
/// https://docs.stripe.com/api/subscriptions/object
struct StripeSubscriptionWord: Sendable {
    typealias Item = (id: String, price: String, start: Instant, end: Instant, isMetered: Bool)

    let status: String
    let items: [Item]
    let cancelAt: Instant
    let cancelsAtPeriodEnd: Bool
    /// `days_until_due` of invoices that are sent; 0 where the payment method is charged.
    let daysUntilDue: Int64
    let ended: Instant?
    let word: StripeWord

    init(_ word: StripeWord) {
        let object = word.object
        let isDeleted = word.type == "customer.subscription.deleted"
        status = isDeleted ? "canceled" : object["status"]?.string ?? ""
        items = (object.list("items") ?? []).compactMap { item in
            // Until 2025-03-31 all items had the subscription's own period.
            let period = item["current_period_end"] == nil ? object : item
            guard let id = item["id"]?.string, let price = item.price,
                let start = period.instant("current_period_start"),
                let end = period.instant("current_period_end")
            else { return nil }
            let usage = item["price"]?["recurring"]?["usage_type"]
            return (id, price, start, end, usage?.isString("metered") == true)
        }
        cancelAt = object.instant("cancel_at") ?? .distantFuture
        cancelsAtPeriodEnd = object["cancel_at_period_end"]?.bool ?? false
        daysUntilDue = object["days_until_due"]?.int64 ?? 0
        ended = object.instant("ended_at") ?? object.instant("canceled_at")
        self.word = word
    }

    /// No later statement leaves these.
    var isFinal: Bool { status == "canceled" || status == "incomplete_expired" }
}

/// A line of a paid invoice.
struct StripePaidLine: Sendable {
    let invoice: String
    let sold: StripeEvidence.Line
    let item: String?
    let start: Instant
    var end: Instant
    let amount: Int64
    let isProration: Bool
    /// When the invoice was paid.
    let paid: Instant
    let row: Int64

    init?(_ line: JSON, of word: StripeWord, paid: Instant) {
        guard let sold = line.sold, let start = line["period"]?.instant("start"),
            let end = line["period"]?.instant("end")
        else { return nil }
        let details = line["parent"]?["subscription_item_details"] ?? line
        (self.sold, self.start, self.end, self.paid) = (sold, start, end, paid)
        (invoice, row) = (word.id, word.row)
        item = details["subscription_item"]?.string
        amount = line["amount"]?.int64 ?? 0
        isProration = details["proration"]?.bool ?? false
    }

    func isRunning(at instant: Instant) -> Bool { start <= instant && instant < end }

    /// True for a line that may give time back: for money, or for none where a coupon pays all.
    var isCredit: Bool { amount < 0 || (amount == 0 && isProration) }

    /// Whether a credit gives back what is left of a charge.
    func givesBack(_ charge: StripePaidLine) -> Bool {
        charge.isRunning(at: start) && (charge.start < start || charge.invoice != invoice)
    }
}

/// Money that went back, or may: a refund or a dispute.
struct StripeReturn: Sendable {
    let amount: Int64
    let created: Instant
    let status: String
    private let stated: Instant

    init(_ word: StripeWord) {
        amount = word.object["amount"]?.int64 ?? 0
        created = word.object.instant("created") ?? word.stated
        status = word.object["status"]?.string ?? ""
        stated = word.stated
    }

    /// Whether the money is certainly back or on its way.
    var takesBack: Bool { ["lost", "succeeded", "pending"].contains(status) }

    /// Whether it may yet come to that, or not.
    var isOpen: Bool { ["needs_response", "under_review", "requires_action"].contains(status) }

    /// Of one second, what is not pending any more.
    func isNewer(than other: StripeReturn) -> Bool {
        stated > other.stated || (stated == other.stated && status != "pending")
    }
}
