/// One purchase token of one-time products: a state machine that is told the time.
///
/// https://developer.android.com/google/play/billing/lifecycle/one-time
struct ProductPurchase: Hashable, Sendable, Codable {
    enum State: String, Hashable, Sendable, Codable {
        case pending = "PENDING"
        case purchased = "PURCHASED"
        case canceled = "CANCELLED"
    }

    /// The kind of a purchase without money: a test or a promo code.
    enum Gift: String, Hashable, Sendable, Codable {
        case promo
        case rewarded
    }

    struct Line: Hashable, Sendable, Codable {
        var productID: String
        var optionID: String
        var offerID: String?
        var offerTags: [String] = []
        var price: Money
        var quantity = 1
        /// The quantity that is not refunded.
        var refundable = 1
        var isConsumed = false
        var isRental = false
        var releaseTime: Int64?
    }

    let token: String
    let account: String
    let region: String
    let isTest: Bool
    let boughtAt: Int64
    /// None for promo codes.
    let orderID: String?
    let gift: Gift?
    var identifiers: Identifiers
    var lines: [Line]
    var state = State.pending
    var completedAt: Int64?
    var isAcknowledged = false
    var acknowledgeBy: Int64?
    var decision: Subscription.Decision?
    var endedAt: Int64?

    var isConsumed: Bool { lines.allSatisfy(\.isConsumed) }
    /// Returns `true` while the product cannot be bought again.
    var isOwned: Bool { state != .canceled && !isConsumed }

    var nextDue: Int64? {
        switch state {
        case .pending: decision?.at
        case .purchased: isAcknowledged ? nil : acknowledgeBy
        case .canceled: nil
        }
    }

    /// The effects of a change.
    enum Effect: Hashable, Sendable {
        /// `notificationType` 1 or 2.
        case hint(isPurchased: Bool)
        case charge([Order.Line])
        case void(Void)
    }

    struct Void: Hashable, Sendable {
        var source: VoidedPurchase.Source
        var reason: VoidedPurchase.Reason
        var quantity: Int?
    }

    // MARK: - Changes

    mutating func happen(_ circumstances: Circumstances) -> [Effect] {
        let now = circumstances.now
        if state == .pending, let decision, decision.at <= now {
            return decision.isPaid ? pay(circumstances) : cancelPending(at: now)
        }
        if state == .purchased, !isAcknowledged, let acknowledgeBy, acknowledgeBy <= now {
            return void(.init(source: .google, reason: .unacknowledged), at: now)
        }
        return []
    }

    mutating func pay(_ circumstances: Circumstances) -> [Effect] {
        state = .purchased
        decision = nil
        completedAt = circumstances.now
        acknowledgeBy =
            circumstances.now
            + circumstances.durations.acknowledgement(
                of: nil,
                testMinutes: circumstances.behaviour.testAcknowledgementMinutes
            )
        let paid = orderID == nil ? [] : [Effect.charge(orderLines)]
        return paid + [.hint(isPurchased: true)]
    }

    /// Moves the release of what was ordered ahead by an offer.
    ///
    /// - Parameter isRead: reads state the new time.
    /// - Returns: `false` where this purchase waits for no such release.
    mutating func moveRelease(
        of product: String,
        _ option: String,
        _ offer: String,
        to time: Int64,
        isRead: Bool
    ) -> Bool {
        guard state == .pending, decision != nil,
            let index = lines.firstIndex(where: {
                $0.productID == product && $0.optionID == option && $0.offerID == offer
            })
        else { return false }
        decision?.at = time
        if isRead { lines[index].releaseTime = time }
        return true
    }

    mutating func cancelPending(at now: Int64) -> [Effect] {
        state = .canceled
        decision = nil
        endedAt = now
        return [.hint(isPurchased: false)]
    }

    /// All of it, or the rest, is taken back.
    mutating func void(_ void: Void, at now: Int64) -> [Effect] {
        state = .canceled
        endedAt = now
        for index in lines.indices { lines[index].refundable = 0 }
        return [.void(void), .hint(isPurchased: false)]
    }

    /// Some of several pieces are taken back; the last ones take the rest.
    mutating func refund(
        quantity: Int,
        _ void: Void,
        at now: Int64
    ) throws(Refusal) -> [Effect] {
        guard state == .purchased, lines.count == 1, lines[0].quantity > 1 else {
            throw .notPossible("Only a purchase of several pieces of one product is refunded so.")
        }
        guard quantity > 0, quantity <= lines[0].refundable else {
            throw .invalid("\(lines[0].refundable) pieces can be refunded.")
        }
        if quantity == lines[0].refundable { return self.void(void, at: now) }
        lines[0].refundable -= quantity
        var part = void
        part.quantity = quantity
        return [.void(part)]
    }

    mutating func acknowledge() {
        isAcknowledged = true
    }

    mutating func consume(_ product: String) throws(Refusal) {
        guard let index = lines.firstIndex(where: { $0.productID == product }) else {
            throw .notFound("product \(product) in this purchase")
        }
        guard !lines[index].isRental else { throw .notPossible("A rental is not consumed.") }
        lines[index].isConsumed = true
        isAcknowledged = true
    }

    var orderLines: [Order.Line] {
        lines.map { line in
            Order.Line(
                productID: line.productID,
                listing: line.price,
                total: Money(
                    currency: line.price.currency,
                    micros: line.price.micros * Int64(line.quantity)
                ),
                kind: .oneTime(
                    .init(
                        quantity: line.quantity,
                        optionID: line.optionID,
                        offerID: line.offerID,
                        isPreorder: line.releaseTime != nil,
                        isRental: line.isRental
                    )
                )
            )
        }
    }
}
