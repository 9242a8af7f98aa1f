/// All that Google Play knows of one app: values, and one way to change each.
///
/// Acts and API calls work on it; nobody here knows sockets or real time.
struct PlayStore: Hashable, Sendable, Codable {
    let packageName: String
    var random: SeededRandom
    var behaviour = Behaviour()
    var catalog = Catalog()
    var orders = OrderBook()
    private(set) var accounts: [String: Account] = [:]
    private(set) var accountIDs: [String] = []
    private(set) var subscriptions: [String: Subscription] = [:]
    private(set) var products: [String: ProductPurchase] = [:]
    /// Oldest first.
    private(set) var voided: [VoidedPurchase] = []
    var reviews: [String: RefundReview] = [:]
    var external: [String: ExternalTransaction] = [:]
    private(set) var stale = StaleReads()
    /// The hints to be published.
    private(set) var outbox: [Announcement] = []

    init(packageName: String, seed: UInt64) {
        self.packageName = packageName
        random = SeededRandom(seed: seed)
    }

    // MARK: - Finding

    func account(_ id: String) throws(Refusal) -> Account {
        guard let account = accounts[id] else { throw .notFound("account \(id)") }
        return account
    }

    func subscription(_ token: String) throws(Refusal) -> Subscription {
        guard let found = subscriptions[token] else { throw .notFound("subscription \(token)") }
        return found
    }

    func product(_ token: String) throws(Refusal) -> ProductPurchase {
        guard let found = products[token] else { throw .notFound("purchase \(token)") }
        return found
    }

    func order(_ id: String) throws(Refusal) -> Order {
        guard let found = orders[id] else { throw .notFound("order \(id)") }
        return found
    }

    func circumstances(of account: String, at now: Int64) throws(Refusal) -> Circumstances {
        let account = try self.account(account)
        return Circumstances(
            now: now,
            pays: account.pays,
            durations: Durations(isTester: account.isTester && behaviour.shortensTests),
            behaviour: behaviour
        )
    }

    // MARK: - Changing

    mutating func put(_ account: Account) {
        if accounts[account.id] == nil { accountIDs.append(account.id) }
        accounts[account.id] = account
    }

    /// Keeps a subscription as it is now, and does what follows from the change.
    mutating func put(
        _ subscription: Subscription,
        _ effects: [SubscriptionEffect] = [],
        at now: Int64
    ) {
        let token = subscription.token
        stale.change(
            token,
            from: subscriptions[token]?.wire(at: now, behaviour),
            for: behaviour.staleReads,
            at: now
        )
        subscriptions[token] = subscription
        for effect in effects {
            switch effect {
            case .hint(let hint): announce(hint, about: subscription, at: now)
            case .charge(let charge):
                orders.charge(charge, token: token, region: subscription.region, at: now)
            case .void(let void): self.void(void, of: subscription, at: now)
            }
        }
        settlePending(subscription, at: now)
    }

    /// Keeps a one-time purchase as it is now, and does what follows from the change.
    mutating func put(
        _ purchase: ProductPurchase,
        _ effects: [ProductPurchase.Effect] = [],
        at now: Int64
    ) {
        stale.change(
            purchase.token,
            from: products[purchase.token]?.wire,
            for: behaviour.staleReads,
            at: now
        )
        products[purchase.token] = purchase
        for effect in effects {
            switch effect {
            case .hint(let isPurchased):
                guard behaviour.sendsOneTimeNotifications else { continue }
                announce(
                    .oneTime(
                        isPurchased: isPurchased,
                        token: purchase.token,
                        product: purchase.lines[0].productID
                    ),
                    at: now
                )
            case .charge(let lines):
                guard let order = purchase.orderID else { continue }
                orders.charge(
                    .init(orderID: order, lines: lines),
                    token: purchase.token,
                    region: purchase.region,
                    at: now
                )
            case .void(let void): self.void(void, of: purchase, at: now)
            }
        }
    }

    mutating func readStale(_ token: String, at now: Int64) -> JSON?? {
        stale.read(token, at: now)
    }

    mutating func announce(_ announcement: Announcement.Kind, at now: Int64) {
        outbox.append(Announcement(at: now, kind: announcement))
    }

    mutating func announce(
        _ hint: SubscriptionHint,
        about subscription: Subscription,
        at now: Int64
    ) {
        let isSingle = subscription.items.count == 1
        announce(
            .subscription(
                type: hint.rawValue,
                token: subscription.token,
                product: isSingle ? subscription.items[0].productID : nil
            ),
            at: now
        )
    }

    /// Hands over what is to be published.
    mutating func takeOutbox() -> [Announcement] {
        defer { outbox = [] }
        return outbox
    }

    // MARK: - Money that goes back

    private mutating func void(
        _ void: SubscriptionEffect.Void,
        of subscription: Subscription,
        at now: Int64
    ) {
        guard let order = orders[void.orderID] else { return }
        var amount = order.total
        if let products = void.products ?? void.productID.map({ [$0] }) {
            let lines = order.lines.filter { products.contains($0.productID) }
            amount = lines.reduce(Money(currency: amount.currency, micros: 0)) { $0 + $1.total }
        }
        if let share = void.share { amount = amount.times(share, over: 1_000_000) }
        let isWhole = amount == order.total
        orders.change(order.id) { order in
            if isWhole {
                order.refundAll(at: now, isChargeback: void.reason == .chargeback)
            } else {
                order.refundPart(amount, at: now)
            }
        }
        // A product's share of an order is told by the order alone.
        guard void.productID == nil || isWhole || behaviour.revokedItemIsListed else { return }
        record(
            VoidedPurchase(
                token: subscription.token,
                orderID: order.id,
                isSubscription: true,
                purchasedAt: order.createdAt,
                voidedAt: now,
                source: void.source,
                reason: void.reason
            ),
            at: now
        )
    }

    private mutating func void(
        _ void: ProductPurchase.Void,
        of purchase: ProductPurchase,
        at now: Int64
    ) {
        if let id = purchase.orderID {
            let isChargeback = void.reason == .chargeback
            orders.change(id) { order in
                guard let quantity = void.quantity, let line = order.lines.first,
                    case .oneTime(let item) = line.kind
                else { return order.refundAll(at: now, isChargeback: isChargeback) }
                order.refundPart(
                    line.total.times(Int64(quantity), over: Int64(item.quantity)),
                    at: now
                )
            }
        }
        record(
            VoidedPurchase(
                token: purchase.token,
                orderID: purchase.orderID,
                isSubscription: false,
                purchasedAt: purchase.completedAt ?? purchase.boughtAt,
                voidedAt: now,
                source: void.source,
                reason: void.reason,
                quantity: void.quantity
            ),
            at: now
        )
    }

    /// Lists a voided purchase, and tells about it.
    mutating func record(_ purchase: VoidedPurchase, at now: Int64) {
        voided.append(purchase)
        announce(.voided(purchase.notification), at: now)
    }

    /// An order stands for each payment that is waited for, and is canceled when it is not.
    private mutating func settlePending(_ subscription: Subscription, at now: Int64) {
        let wanted =
            subscription.phase == .pending ? subscription.orderID : subscription.declined?.orderID
        orders.cancelPending(of: subscription.token, except: wanted, at: now)
        guard let wanted, orders[wanted] == nil else { return }
        let awaited = subscription.items.filter { !$0.isEnded }
        orders.put(
            Order(
                id: wanted,
                token: subscription.token,
                region: subscription.region,
                lines: awaited.map { $0.line(paying: $0.next.price) },
                state: .pending,
                at: now
            )
        )
    }
}
