/// One charge: what was sold, and what became of the money.
///
/// https://developers.google.com/android-publisher/api-ref/rest/v3/orders
struct Order: Hashable, Sendable, Codable {
    enum State: String, Hashable, Sendable, Codable {
        case pending = "PENDING"
        case processed = "PROCESSED"
        case canceled = "CANCELED"
        case pendingRefund = "PENDING_REFUND"
        case partiallyRefunded = "PARTIALLY_REFUNDED"
        case refunded = "REFUNDED"
    }

    struct Line: Hashable, Sendable, Codable {
        var productID: String
        var listing: Money
        var total: Money
        var kind: Kind

        enum Kind: Hashable, Sendable, Codable {
            case subscription(Service)
            case oneTime(Item)
        }

        struct Service: Hashable, Sendable, Codable {
            var planID: String
            var offerID: String?
            var phase: PricedPeriod.Kind
            var start: Int64?
            var end: Int64?
        }

        struct Item: Hashable, Sendable, Codable {
            var quantity: Int
            var optionID: String
            var offerID: String?
            var isPreorder: Bool
            var isRental: Bool
        }
    }

    struct Refund: Hashable, Sendable, Codable {
        var at: Int64
        var amount: Money
        var isChargeback = false
    }

    let id: String
    let token: String
    let region: String
    let createdAt: Int64
    var lines: [Line]
    var state: State
    var lastEventAt: Int64
    var processedAt: Int64?
    var canceledAt: Int64?
    /// The whole of it went back.
    var refund: Refund?
    var partialRefunds: [Refund] = []

    init(id: String, token: String, region: String, lines: [Line], state: State, at now: Int64) {
        self.id = id
        self.token = token
        self.region = region
        self.lines = lines
        self.state = state
        createdAt = now
        lastEventAt = now
        if state == .processed { processedAt = now }
    }

    var total: Money {
        let currency = lines.first?.total.currency ?? "USD"
        return lines.reduce(Money(currency: currency, micros: 0)) { $0 + $1.total }
    }

    /// The paid amount that is not refunded.
    var kept: Money {
        if refund != nil { return Money(currency: total.currency, micros: 0) }
        return partialRefunds.reduce(total) { $0 - $1.amount }
    }

    var isRefundable: Bool { state == .processed || state == .partiallyRefunded }

    mutating func process(at now: Int64, lines: [Line]) {
        self.lines = lines
        state = .processed
        processedAt = now
        lastEventAt = now
    }

    mutating func cancel(at now: Int64) {
        guard state == .pending else { return }
        state = .canceled
        canceledAt = now
        lastEventAt = now
    }

    mutating func refundAll(at now: Int64, isChargeback: Bool = false) {
        guard isRefundable || state == .pendingRefund else { return }
        refund = Refund(at: now, amount: kept, isChargeback: isChargeback)
        state = .refunded
        lastEventAt = now
    }

    /// A refund waits for the developer's word.
    mutating func awaitReview(at now: Int64) {
        state = .pendingRefund
        lastEventAt = now
    }

    /// A refund that waited is not made: the order is again what it was before.
    mutating func keepMoney(at now: Int64) {
        guard state == .pendingRefund else { return }
        state = partialRefunds.isEmpty ? .processed : .partiallyRefunded
        lastEventAt = now
    }

    /// Gives back a part; the last part makes it whole.
    mutating func refundPart(_ amount: Money, at now: Int64) {
        guard isRefundable, amount.micros > 0 else { return }
        if amount.micros >= kept.micros { return refundAll(at: now) }
        partialRefunds.append(Refund(at: now, amount: amount))
        state = .partiallyRefunded
        lastEventAt = now
    }
}

/// All orders, by id and by purchase.
struct OrderBook: Hashable, Sendable, Codable {
    private(set) var orders: [String: Order] = [:]
    private(set) var byToken: [String: [String]] = [:]
    /// In the order in which they came.
    private(set) var ids: [String] = []

    subscript(id: String) -> Order? { orders[id] }

    var all: [Order] { ids.compactMap { orders[$0] } }

    func of(_ token: String) -> [Order] { (byToken[token] ?? []).compactMap { orders[$0] } }

    mutating func put(_ order: Order) {
        if orders[order.id] == nil {
            ids.append(order.id)
            byToken[order.token, default: []].append(order.id)
        }
        orders[order.id] = order
    }

    mutating func change(_ id: String, _ body: (inout Order) -> Void) {
        guard var order = orders[id] else { return }
        body(&order)
        orders[id] = order
    }

    /// A charge went through; its order may have been pending.
    mutating func charge(
        _ charge: SubscriptionEffect.Charge,
        token: String,
        region: String,
        at now: Int64
    ) {
        if orders[charge.orderID]?.state == .pending {
            change(charge.orderID) { $0.process(at: now, lines: charge.lines) }
        } else {
            put(
                Order(
                    id: charge.orderID,
                    token: token,
                    region: region,
                    lines: charge.lines,
                    state: .processed,
                    at: now
                )
            )
        }
    }

    /// Pending orders of a purchase other than `wanted` will not be paid any more.
    mutating func cancelPending(of token: String, except wanted: String?, at now: Int64) {
        for order in of(token) where order.state == .pending && order.id != wanted {
            change(order.id) { $0.cancel(at: now) }
        }
    }
}
