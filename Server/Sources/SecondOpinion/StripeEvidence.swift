internal import StrictJSON
internal import Storage
internal import TollgateCore

/// All that Stripe said of one subscription, or of one payment.
struct StripeEvidence: Sendable {
    /// When all of a payment was taken back, else whether a part of it was, or may be.
    typealias TakenBack = (all: Instant?, isPart: Bool)

    private(set) var subscriptions: [StripeWord] = []
    /// Paid ones.
    private(set) var invoices: [String: (lines: [StripePaidLine], amount: Int64?)] = [:]
    private(set) var returns: [String: StripeWord] = [:]
    /// The invoice whose payment a refund or dispute is about, as Stripe was asked.
    var invoiceOfReturn: [String: String] = [:]
    /// The payers' names: `cus_…`, and the `client_reference_id`s of sessions.
    private(set) var names: Set<RowKey> = []
    /// Whether it lives on a test clock, or a list was cut off: then what is seen decides nothing.
    private(set) var isOpen = false

    typealias Line = (price: String, quantity: Int64)
    typealias Paid = ClosedRange<Instant>
    /// The lines of a one-time payment; `nil` until somebody has read them.
    private(set) var sold: [Line]?
    private(set) var total: Int64?
    /// When it was paid for: not before, and not after.
    private(set) var paid: Paid?
    private(set) var saleRows: [Int64] = []

    mutating func add(_ word: StripeWord) {
        let object = word.object
        if let customer = object.reference("customer") {
            names.insert(RowKey(stripeCustomer: customer))
        }
        for list in ["items", "lines", "line_items"]
        where object[named: list]?["has_more"]?.bool == true { isOpen = true }
        if object.reference("test_clock") != nil { isOpen = true }
        switch word.name {
        case "subscription": subscriptions.append(word)
        case "invoice" where word.status == "paid":
            let paid = object["status_transitions"]?.instant("paid_at") ?? word.stated
            let all = object.list("lines") ?? []
            let lines = all.compactMap { StripePaidLine($0, of: word, paid: paid) }
            invoices[word.id] = (lines, object["amount_paid"]?.int64)
            guard !word.isOfSubscription else { return }
            sell(lines.map(\.sold), for: object["amount_paid"]?.int64, paid...paid, word.row)
        case "checkout.session":
            if let id = object["client_reference_id"]?.string {
                names.insert(RowKey(clientReference: id))
                // In a session that this server did not open it is an `app_user_id`.
                let isOurs = object["metadata"]?["tollgate_lines"] != nil
                if !isOurs { names.insert(RowKey(appUserID: id)) }
            }
            guard word.status == "complete", !word.isOfSubscription else { return }
            let lines = object.list("line_items")?.compactMap(\.sold)
            let paid = object["payment_status"]?.isString("unpaid") == false ? word.done : nil
            sell(lines, for: object["amount_total"]?.int64, paid, word.row)
        case "payment_intent" where word.status == "succeeded":
            // What a payment paid for; the items of its session or invoice say more.
            let lines = object["metadata"]?["tollgate_lines"]?.string.map { lines in
                lines.split(separator: ",").map { line in
                    let parts = line.filter { $0 != " " }.split(separator: ":")
                    return (String(parts.first ?? ""), parts.last.flatMap { Int64($0) } ?? 1)
                }
            }
            sell(sold ?? lines, for: object["amount_received"]?.int64, word.done, word.row)
        case "refund", "dispute":
            if returns[word.id].map(word.isNewer) ?? true { returns[word.id] = word }
        default: break
        }
    }

    /// Takes in a sale; of when it was paid the narrowest that all statements allow.
    private mutating func sell(_ lines: [Line]?, for amount: Int64?, _ range: Paid?, _ row: Int64) {
        saleRows.append(row)
        sold = lines ?? sold
        guard let range else { return }
        total = total ?? amount
        let upper = min(paid?.upperBound ?? range.upperBound, range.upperBound)
        paid = min(max(paid?.lowerBound ?? .distantPast, range.lowerBound), upper)...upper
    }

    /// How much of `total` was taken back by `at`; of what is about an invoice, if one is named.
    func takenBack(of total: Int64?, by at: Instant, invoice: String? = nil) -> TakenBack {
        let all = returns.filter { id, entry in
            entry.created <= at && (invoice == nil || invoiceOfReturn[id] == invoice)
        }.map(\.value)
        let certain = all.filter(\.takesBack)
        let sum = certain.reduce(0) { $0 + $1.amount }
        if let total, total > 0, sum >= total { return (certain.map(\.created).max(), false) }
        return (nil, all.contains { $0.takesBack || $0.isOpen })
    }
}

/// One statement about an object of Stripe's: an event, or the object itself as it was read.
struct StripeWord: Sendable {
    let object: JSON
    let name, id: String
    /// An event's `created`; of a read, the second of which it speaks.
    let stated: Instant
    let isRead, isDeletion: Bool
    let messageID: String?
    let row: Int64

    init?(_ json: JSON, stated: Instant, row: Int64) {
        guard let kind = json["object"], kind.string != nil else { return nil }
        isRead = !kind.isString("event")
        object = isRead ? json : json["data"]?["object"] ?? json
        (name, id) = (object["object"]?.string ?? "", object["id"]?.string ?? "")
        isDeletion = !isRead && json["type"]?.isString("customer.subscription.deleted") ?? false
        self.stated = isRead ? stated : json.instant("created") ?? stated
        (messageID, self.row) = (json["id"]?.string, row)
    }

    /// A subscription says itself which one it is; of what is paid once only Stripe could tell.
    var purchase: String? {
        let environment = object["livemode"]?.bool == true ? "production" : "sandbox"
        return name == "subscription" ? "stripe/\(environment)/-/\(id)" : nil
    }

    /// The subscription that an invoice is for, which since 2025-03-31 stands under `parent`.
    var isOfSubscription: Bool {
        (object["parent"]?["subscription_details"] ?? object).reference("subscription") != nil
    }

    /// When something happened that this says was done: not before, and not after.
    var done: StripeEvidence.Paid { isRead ? min(created, stated)...stated : stated...stated }

    // A subscription as one statement shows it (https://docs.stripe.com/api/subscriptions/object).
    typealias Item = (id: String, price: String, start: Instant, end: Instant, isMetered: Bool)

    var items: [Item] {
        (object.list("items") ?? []).compactMap { item in
            // Until 2025-03-31 all items had the subscription's own period.
            let period = item["current_period_end"] == nil ? object : item
            guard let id = item["id"]?.string, let price = item.price,
                let start = period.instant("current_period_start"),
                let end = period.instant("current_period_end")
            else { return nil }
            let usage = item["price"]?["recurring"]?["usage_type"]
            return (id, price, start, end, usage?.isString("metered") == true)
        }
    }

    var status: String { isDeletion ? "canceled" : object["status"]?.string ?? "" }
    var stop: Instant? { isLast ? items.map(\.end).min() : object.instant("cancel_at") }
    var cancelAt: Instant { stop ?? .distantFuture }
    var isLast: Bool { object["cancel_at_period_end"]?.bool ?? false }
    /// `days_until_due` of invoices that are sent; 0 where the payment method is charged.
    var daysUntilDue: Int64 { object["days_until_due"]?.int64 ?? 0 }
    var ended: Instant { object.instant("ended_at") ?? object.instant("canceled_at") ?? stated }
    /// No later statement leaves these.
    var isFinal: Bool { status == "canceled" || status == "incomplete_expired" }

    // Money that went back, or may: a refund or a dispute.
    var amount: Int64 { object["amount"]?.int64 ?? 0 }
    /// When it took the money: an inquiry took none before it became a chargeback.
    ///
    /// https://docs.stripe.com/api/disputes/object#dispute_object-balance_transactions
    var created: Instant {
        let booked = object["balance_transactions"]?.elements.compactMap { $0.instant("created") }
        return booked?.min() ?? object.instant("created") ?? stated
    }
    var takesBack: Bool { ["lost", "succeeded", "pending"].contains(status) }
    var isOpen: Bool { ["needs_response", "under_review", "requires_action"].contains(status) }

    /// Of one second, what is not pending any more.
    func isNewer(than other: StripeWord) -> Bool {
        stated > other.stated || (stated == other.stated && status != "pending")
    }
}

extension JSON {
    /// The id of what is named, whether or not it was expanded.
    func reference(_ name: StaticString) -> String? { (self[name]?["id"] ?? self[name])?.string }
    func instant(_ name: StaticString) -> Instant? { self[name]?.int64.map(Instant.init(seconds:)) }
    func list(_ name: StaticString) -> [JSON]? { self[name]?["data"].map { Array($0.elements) } }
    var sold: StripeEvidence.Line? { price.map { ($0, self["quantity"]?.int64 ?? 1) } }

    /// The id of the price, in an item, in a line of a session, in a line of an invoice.
    var price: String? {
        self["pricing"]?["price_details"]?.reference("price") ?? reference("price")
            ?? reference("plan")
    }
}

/// A line of a paid invoice.
struct StripePaidLine: Sendable {
    let invoice: String
    let sold: StripeEvidence.Line
    let item: String?
    let start, paid: Instant
    var end: Instant
    let amount: Int64
    let isProration: Bool
    let row: Int64

    init?(_ line: JSON, of word: StripeWord, paid: Instant) {
        guard let sold = line.sold, let start = line["period"]?.instant("start"),
            let end = line["period"]?.instant("end")
        else { return nil }
        let details = line["parent"]?["subscription_item_details"] ?? line
        (self.sold, self.start, self.end, self.paid) = (sold, start, end, paid)
        (invoice, row, item) = (word.id, word.row, details["subscription_item"]?.string)
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
