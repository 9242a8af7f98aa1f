/// A purchase in the app: of a subscription with its add-ons, or of one-time products.
struct Buy: Act {
    static let path = "purchases"

    /// A new account if left out.
    var account: String?
    var productID: String
    var basePlanID: String?
    var offerID: String?
    /// Other subscriptions in the same purchase, each by its first base plan.
    var addOns: NameList?
    /// The offer with which those add-ons begin whose base plan has it.
    var addOnOfferID: String?
    /// The token of the purchase that this one takes the place of.
    var replaces: String?
    var replacementMode: ReplacementMode?
    /// `one_time_code`, or a custom code's text; for a one-time product any.
    var promotion: String?
    var quantity: Int?
    var purchaseOptionID: String?
    /// Other one-time products in the same purchase.
    var bundle: NameList?
    var rewarded: Bool?
    var obfuscatedAccountID: String?
    var obfuscatedProfileID: String?

    func perform(on store: inout PlayStore, subject: String, at now: Int64) throws -> JSON {
        let buyer = try buyer(in: &store)
        var identifiers = buyer.identifiers
        if let obfuscatedAccountID { identifiers.accountID = obfuscatedAccountID }
        if let obfuscatedProfileID { identifiers.profileID = obfuscatedProfileID }
        if store.catalog.subscriptions?.contains(where: { $0.productID == productID }) == true {
            let purchase = SubscriptionPurchase(buy: self, buyer: buyer, identifiers: identifiers)
            return try purchase.perform(on: &store, at: now)
        }
        let purchase = OneTimePurchase(buy: self, buyer: buyer, identifiers: identifiers)
        return try purchase.perform(on: &store, at: now)
    }

    private func buyer(in store: inout PlayStore) throws -> Account {
        if let account { return try store.account(account) }
        if let replaces { return try store.account(try store.subscription(replaces).account) }
        let made = CreateAccount()
        guard let id = try made.perform(on: &store, subject: "", at: 0)["id"]?.text else {
            throw Refusal.invalid("account is missing.")
        }
        return try store.account(id)
    }
}

/// The purchase of a subscription: new, or in place of another one.
struct SubscriptionPurchase {
    var buy: Buy
    var buyer: Account
    var identifiers: Identifiers

    func perform(on store: inout PlayStore, at now: Int64) throws -> JSON {
        let items = try items(store)
        try check(items, store)
        var subscription = Subscription(
            token: store.random.purchaseToken(),
            orderID: store.random.orderID(),
            buyer: buyer,
            identifiers: identifiers,
            items: items,
            at: now
        )
        let circumstances = try store.circumstances(of: buyer.id, at: now)
        guard buyer.payment != .declines else {
            throw Refusal.notPossible("The payment method of \(buyer.id) declines.")
        }
        if !buyer.payment.isImmediate {
            subscription.phase = .pending
            subscription.linkedToken = buy.replaces
            subscription.pendingMode = buy.replacementMode
            subscription.decision = PendingPayment.decision(of: buyer, at: now)
            store.put(subscription, at: now)
        } else {
            try Self.complete(
                &subscription,
                replacing: buy.replaces,
                mode: buy.replacementMode,
                circumstances,
                in: &store
            )
        }
        return Summary.of(try store.subscription(subscription.token), store)
    }

    /// The money is there: the purchase begins, and takes the place of the one before it.
    static func complete(
        _ subscription: inout Subscription,
        replacing old: String?,
        mode: ReplacementMode?,
        _ circumstances: Circumstances,
        in store: inout PlayStore
    ) throws {
        let now = circumstances.now
        // A payment that was waited for may come when there is nothing left to replace.
        let isLate =
            subscription.phase == .pending && (old.map { hasEnded($0, store) } ?? false)
        guard let old, !isLate else {
            subscription.linkedToken = nil
            let effects = subscription.pay(circumstances)
            return store.put(subscription, effects, at: now)
        }
        let isTopUp = subscription.isPrepaid
        var replacement = Replacement(
            old: try store.subscription(old),
            new: subscription,
            mode: mode ?? (isTopUp ? .chargeFullPrice : .withTimeProration),
            circumstances: circumstances
        )
        let effects = try replacement.perform()
        let when = circumstances.behaviour.replacedExpiredIsSent
        let isOver = circumstances.behaviour.replacedTokenExpiresAtOnce
        let ended: [SubscriptionEffect] = isOver ? [.hint(.expired)] : []
        store.put(replacement.old, when == .before ? ended : [], at: now)
        store.put(replacement.new, effects, at: now)
        store.put(replacement.old, when == .after ? ended : [], at: now)
        subscription = replacement.new
    }

    private static func hasEnded(_ token: String, _ store: PlayStore) -> Bool {
        store.subscriptions[token].map { !$0.isLive } ?? true
    }

    private func items(_ store: PlayStore) throws -> [SubscriptionItem] {
        let product = try store.catalog.subscription(buy.productID)
        let plan = try product.plan(buy.basePlanID)
        var base = SubscriptionItem(
            product,
            plan: plan,
            offer: try plan.offer(buy.offerID),
            region: buyer.region
        )
        if let code = buy.promotion {
            base.promotion = code == "one_time_code" ? .oneTimeCode : .vanityCode(code)
            // A code's trial takes the place of the offer's own.
            base.upcoming = [
                PricedPeriod(
                    kind: .freeTrial,
                    length: .init(1, .month),
                    price: Money(currency: base.price.currency, micros: 0)
                )
            ]
        }
        let others = try (buy.addOns?.names ?? []).map { id in
            let other = try store.catalog.subscription(id)
            let same = other.basePlans.first { $0.period == plan.period && !$0.isPrepaid }
            guard let same else {
                throw Refusal.invalid("\(id) has no base plan that renews every \(plan.period).")
            }
            let offer = same.offers?.first { $0.offerID == buy.addOnOfferID }
            return SubscriptionItem(other, plan: same, offer: offer, region: buyer.region)
        }
        return [base] + others
    }

    private func check(_ items: [SubscriptionItem], _ store: PlayStore) throws {
        let products = items.map(\.productID)
        guard products.count <= 50, Set(products).count == products.count else {
            throw Refusal.invalid("A purchase has at most 50 items, each product once.")
        }
        if items.count > 1 {
            guard !items[0].plan.isPrepaid, !["IN", "KR"].contains(buyer.region) else {
                throw Refusal.notPossible("Add-ons are for renewing plans, and not in IN and KR.")
            }
        }
        let owned = store.subscriptions.values.contains { other in
            other.account == buyer.id && other.isLive && other.token != buy.replaces
                && (other.expiry ?? 0) >= other.boughtAt
                && other.items.contains { $0.isOwned && products.contains($0.productID) }
                && !other.isInDecline
        }
        guard !owned else {
            throw Refusal.notPossible(
                "The account has this subscription already; name its token in replaces."
            )
        }
    }
}

/// The purchase of one or several one-time products.
struct OneTimePurchase {
    var buy: Buy
    var buyer: Account
    var identifiers: Identifiers

    func perform(on store: inout PlayStore, at now: Int64) throws -> JSON {
        let lines =
            try [line(of: buy.productID, isFirst: true, store)]
            + (buy.bundle?.names ?? []).map { try line(of: $0, isFirst: false, store) }
        let products = Set(lines.map(\.productID))
        let isOwned = store.products.values.contains { other in
            other.account == buyer.id && other.isOwned
                && other.lines.contains { products.contains($0.productID) && !$0.isConsumed }
        }
        guard !isOwned else {
            throw Refusal.notPossible("The account owns this product; consume it first.")
        }
        let isGift = buy.promotion != nil || buy.rewarded == true
        guard isGift || buyer.payment != .declines else {
            throw Refusal.notPossible("The payment method of \(buyer.id) declines.")
        }
        var purchase = ProductPurchase(
            token: store.random.purchaseToken(),
            account: buyer.id,
            region: buyer.region,
            isTest: buyer.isTester,
            boughtAt: now,
            orderID: isGift ? nil : store.random.orderID(),
            gift: buy.promotion != nil ? .promo : buy.rewarded == true ? .rewarded : nil,
            identifiers: identifiers,
            lines: lines
        )
        let release = lines.compactMap(\.releaseTime).max()
        if let release, release > now {
            purchase.decision = .init(at: release, isPaid: buyer.pays)
            store.put(purchase, at: now)
        } else if isGift || buyer.payment.isImmediate {
            let effects = purchase.pay(try store.circumstances(of: buyer.id, at: now))
            store.put(purchase, effects, at: now)
        } else {
            purchase.decision = PendingPayment.decision(of: buyer, at: now)
            store.put(purchase, at: now)
        }
        return Summary.of(try store.product(purchase.token))
    }

    private func line(
        of id: String,
        isFirst: Bool,
        _ store: PlayStore
    ) throws -> ProductPurchase.Line {
        let product = try store.catalog.oneTimeProduct(id)
        let option = try product.option(isFirst ? buy.purchaseOptionID : nil)
        let offer = try option.offer(isFirst ? buy.offerID : nil)
        let quantity = isFirst ? buy.quantity ?? 1 : 1
        guard (1...100).contains(quantity), quantity == 1 || option.isMultiQuantity != false else {
            throw Refusal.invalid("\(id) cannot be bought \(quantity) times at once.")
        }
        let price = Money(
            currency: option.price.currency,
            micros: offer?.priceMicros ?? option.price.micros
        )
        return ProductPurchase.Line(
            productID: id,
            optionID: option.purchaseOptionID,
            offerID: offer?.offerID,
            offerTags: offer?.tags ?? [],
            price: price,
            quantity: quantity,
            refundable: quantity,
            isRental: option.rentalPeriod != nil,
            releaseTime: offer?.releaseTime
        )
    }
}

/// The outcome of a pending payment and its time.
enum PendingPayment {
    static func decision(of buyer: Account, at now: Int64) -> Subscription.Decision {
        switch buyer.payment {
        case .slowlyApproves, .approves:
            .init(at: now + 2 * Timestamp.minute, isPaid: true)
        case .slowlyDeclines, .declines:
            .init(at: now + 2 * Timestamp.minute, isPaid: false)
        // Nobody comes to the shop within three days.
        case .cash: .init(at: now + 3 * Timestamp.day, isPaid: false)
        }
    }
}
