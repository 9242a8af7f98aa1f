internal import StrictJSON
internal import Storage
internal import TollgateCore

/// All that Stripe said of one subscription, or of one payment.
struct StripeEvidence: Sendable {
    /// When all of a payment was taken back, else whether a part of it was, or may be.
    typealias TakenBack = (all: Instant?, isPart: Bool)

    private(set) var subscriptions: [StripeSubscriptionWord] = []
    /// Paid ones.
    private(set) var invoices: [String: (lines: [StripePaidLine], amount: Int64?)] = [:]
    private(set) var returns: [String: StripeReturn] = [:]
    /// The invoice whose payment a refund or dispute is about, as Stripe was asked.
    var invoiceOfReturn: [String: String] = [:]
    /// The payers' names: `cus_…`, and the `client_reference_id`s of sessions.
    private(set) var names: Set<RowKey> = []
    /// Whether it lives on a test clock, or a list was cut off: then what is seen decides nothing.
    private(set) var isOpen = false

    typealias Line = (price: String, quantity: Int64)
    /// The lines of a one-time payment; `nil` until somebody has read them.
    private(set) var sold: [Line]?
    private(set) var total: Int64?
    /// When it was paid for: not before, and not after.
    private(set) var paid: ClosedRange<Instant>?
    private(set) var saleRows: [Int64] = []

    mutating func add(_ word: StripeWord) {
        let object = word.object
        if let customer = object.reference("customer") {
            names.insert(RowKey(stripeCustomer: customer))
        }
        for list in ["items", "lines", "line_items"]
        where object[named: list]?["has_more"]?.bool == true { isOpen = true }
        if object.reference("test_clock") != nil { isOpen = true }
        let created = object.instant("created")
        switch word.name {
        case "subscription": subscriptions.append(StripeSubscriptionWord(word))
        case "invoice" where object["status"]?.isString("paid") == true:
            let paid = object["status_transitions"]?.instant("paid_at") ?? word.stated
            let amount = object["amount_paid"]?.int64
            let lines = (object.list("lines") ?? []).compactMap {
                StripePaidLine($0, of: word, paid: paid)
            }
            invoices[word.id] = (lines, amount)
            guard !word.isOfSubscription else { return }
            sell(lines.map(\.sold), for: amount, within: paid...paid, word.row)
        case "checkout.session":
            if let id = object["client_reference_id"]?.string {
                names.insert(RowKey(clientReference: id))
                // In a session that this server did not open it is an `app_user_id`, of which there
                // was one kind once.
                let isOurs = object["metadata"]?["tollgate_lines"] != nil
                if !isOurs { names.insert(RowKey(appUserID: id)) }
            }
            guard object["status"]?.isString("complete") == true, !word.isOfSubscription else {
                return
            }
            let lines = object.list("line_items")?.compactMap(\.sold)
            let isPaid = object["payment_status"]?.isString("unpaid") == false
            let amount = object["amount_total"]?.int64
            sell(lines, for: amount, within: isPaid ? word.when(created) : nil, word.row)
        case "payment_intent" where object["status"]?.isString("succeeded") == true:
            // What a payment paid for that went through neither session nor invoice.
            let lines = object["metadata"]?["tollgate_lines"]?.string.map { lines in
                lines.split(separator: ",").map { line in
                    let parts = line.filter { $0 != " " }.split(separator: ":")
                    return (String(parts.first ?? ""), parts.last.flatMap { Int64($0) } ?? 1)
                }
            }
            sell(lines, for: object["amount_received"]?.int64, within: word.when(created), word.row)
        case "refund", "dispute":
            let new = StripeReturn(word)
            if returns[word.id].map(new.isNewer) ?? true { returns[word.id] = new }
        default: break
        }
    }

    private mutating func sell(
        _ lines: [Line]?,
        for amount: Int64?,
        within range: ClosedRange<Instant>?,
        _ row: Int64
    ) {
        saleRows.append(row)
        sold = lines ?? sold
        guard let range else { return }
        total = total ?? amount
        // The narrowest that all statements allow.
        let upper = min(paid?.upperBound ?? range.upperBound, range.upperBound)
        let lower = max(paid?.lowerBound ?? range.lowerBound, range.lowerBound)
        paid = min(lower, upper)...upper
    }

    /// How much of `total` was taken back by `at`.
    ///
    /// - Parameter invoice: counts only what is about this invoice.
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
