internal import Foundation
internal import GooglePlayAPI
internal import Storage
internal import Stores
internal import TollgateCore

/// Turns what Google Play answers to a read into facts.
enum GooglePlayTranslator {
    /// The key of a purchase: its token (RULES §18.1).
    static func key(
        _ token: String,
        of package: String,
        in environment: StoreEnvironment
    ) -> Purchase.Key {
        Purchase.Key(
            store: .googlePlay,
            environment: environment,
            application: package,
            id: token
        )
    }

    // MARK: - Subscriptions

    static func message(
        reading purchase: GooglePlay.SubscriptionPurchase,
        token: String,
        of package: String,
        at instant: Instant
    ) -> Translation.Meaning {
        let environment: StoreEnvironment = purchase.isTest ? .sandbox : .production
        var statement = GooglePlaySubscription(
            state: purchase.state.word("SUBSCRIPTION_STATE_"),
            start: purchase.startTime.map(Instant.init(milliseconds:)),
            items: purchase.lineItems.map(item),
            linkedToken: purchase.linkedPurchaseToken,
            account: purchase.obfuscatedAccountID.flatMap(account),
            isAcknowledged: purchase.acknowledgementState == .acknowledged,
            resumes: purchase.autoResumeTime.map(Instant.init(milliseconds:)),
            region: purchase.regionCode
        )
        if let context = purchase.outOfAppPurchase {
            statement.resubscription = GooglePlaySubscription.Resubscription(
                token: context.expiredPurchaseToken,
                account: context.expiredObfuscatedAccountID.flatMap(account)
            )
        }
        switch purchase.cancellation {
        case .user(let time)?:
            statement.canceledBy = "user"
            statement.canceledAt = time.map(Instant.init(milliseconds:))
        case .system?: statement.canceledBy = "system"
        case .developer?: statement.canceledBy = "developer"
        case .replacement?: statement.canceledBy = "replacement"
        case .unknown?, nil: break
        }
        return fact(
            .googlePlaySubscription(statement),
            of: key(token, of: package, in: environment),
            "read:\(token)",
            at: instant
        )
    }

    private static func item(
        _ item: GooglePlay.SubscriptionLineItem
    ) -> GooglePlaySubscription.Item {
        let plan = item.autoRenewingPlan
        return GooglePlaySubscription.Item(
            product: item.productID,
            basePlan: item.basePlanID,
            offer: item.offerID,
            expiry: item.expiryTime.map(Instant.init(milliseconds:)),
            order: item.latestSuccessfulOrderID,
            renews: plan.map(renews) ?? false,
            isPrepaid: item.prepaid != nil,
            phase: item.phase?.word,
            price: plan.flatMap { nextPrice($0, item.expiryTime) }.map(money),
            replacement: item.deferredReplacementProductID,
            isRemoved: item.isRemovalDeferred,
            awaitsConsent: plan.map { awaitsConsent($0, item.expiryTime) } ?? false,
            committedPayments: plan?.remainingCommittedPayments
        )
    }

    /// Returns `true` if the plan is charged again at the end of its period.
    ///
    /// An installment plan whose cancellation is pending says `autoRenewEnabled` to its end, and is
    /// cancelled ["only after the user finished all committed payments"](
    /// https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.subscriptionsv2).
    private static func renews(_ plan: GooglePlay.SubscriptionLineItem.AutoRenewingPlan) -> Bool {
        let isLast = plan.isCancellationPending && (plan.remainingCommittedPayments ?? 0) == 0
        return plan.autoRenewEnabled && !isLast
    }

    /// Returns `true` if the buyer has to agree to the price of the next renewal: otherwise it ends.
    private static func awaitsConsent(
        _ plan: GooglePlay.SubscriptionLineItem.AutoRenewingPlan,
        _ expiry: Int64?
    ) -> Bool {
        if let step = plan.stepUp, step.state == "PENDING", isDue(step.deadline, by: expiry) {
            return true
        }
        guard let change = plan.priceChange, change.mode == "PRICE_INCREASE",
            change.state == "OUTSTANDING"
        else { return false }
        return isDue(change.expectedChargeTime, by: expiry)
    }

    /// The price of the next renewal, without discount and tax.
    private static func nextPrice(
        _ plan: GooglePlay.SubscriptionLineItem.AutoRenewingPlan,
        _ expiry: Int64?
    ) -> GooglePlay.Money? {
        if let step = plan.stepUp, step.state == "PENDING" || step.state == "CONFIRMED",
            isDue(step.deadline, by: expiry)
        {
            return step.newPrice ?? plan.recurringPrice
        }
        guard let change = plan.priceChange,
            change.state == "OUTSTANDING" || change.state == "CONFIRMED",
            isDue(change.expectedChargeTime, by: expiry)
        else { return plan.recurringPrice }
        return change.newPrice ?? plan.recurringPrice
    }

    /// Returns `true` if a new price concerns the next renewal, not a later one.
    private static func isDue(_ time: Int64?, by expiry: Int64?) -> Bool {
        guard let time, let expiry else { return true }
        return time <= expiry
    }

    // MARK: - What is bought once

    static func message(
        reading purchase: GooglePlay.ProductPurchase,
        token: String,
        of package: String,
        at instant: Instant
    ) -> Translation.Meaning {
        let environment: StoreEnvironment = purchase.isTest ? .sandbox : .production
        let statement = GooglePlayPurchase(
            state: purchase.state.rawValue,
            completed: purchase.completionTime.map(Instant.init(milliseconds:)),
            lines: purchase.lineItems.map { item in
                GooglePlayPurchase.Line(
                    product: item.productID,
                    option: item.purchaseOptionID,
                    offer: item.offerID,
                    quantity: item.quantity,
                    refundable: item.refundableQuantity,
                    isConsumed: item.isConsumed,
                    isRental: item.isRented,
                    release: item.preorderReleaseTime.map(Instant.init(milliseconds:))
                )
            },
            order: purchase.orderID,
            account: purchase.obfuscatedAccountID.flatMap(account),
            isAcknowledged: purchase.acknowledgementState == .acknowledged,
            region: purchase.regionCode
        )
        return fact(
            .googlePlayPurchase(statement),
            of: key(token, of: package, in: environment),
            "read:\(token)",
            at: instant
        )
    }

    // MARK: - Orders and voids

    static func message(
        reading order: GooglePlay.Order,
        token: String,
        of package: String,
        in environment: StoreEnvironment,
        at instant: Instant
    ) -> Translation.Meaning {
        var refunds: [GooglePlayOrder.Refund] = []
        if let refund = order.refund {
            refunds.append(
                GooglePlayOrder.Refund(
                    at: time(refund.time ?? order.lastEventTime, instant),
                    isPartial: false,
                    isChargeback: refund.isChargeback,
                    total: refund.total.map(money),
                    tax: refund.tax.map(money)
                )
            )
        }
        for part in order.partialRefunds where part.isProcessed {
            refunds.append(
                GooglePlayOrder.Refund(
                    at: time(part.processTime ?? part.createTime, instant),
                    isPartial: true,
                    total: part.total.map(money),
                    tax: part.tax.map(money)
                )
            )
        }
        let statement = GooglePlayOrder(
            id: order.id,
            state: order.state?.rawValue ?? "",
            created: order.createTime.map(Instant.init(milliseconds:)),
            processed: order.processedTime.map(Instant.init(milliseconds:)),
            total: order.total.map(money),
            tax: order.tax.map(money),
            revenue: order.developerRevenue.map(money),
            isTaxInclusive: order.isTaxInclusive ? true : nil,
            lines: order.lineItems.map(line),
            refunds: refunds,
            country: order.buyerCountry
        )
        return fact(
            .googlePlayOrder(statement),
            of: key(token, of: package, in: environment),
            "read:\(order.id)",
            at: instant
        )
    }

    private static func line(_ line: GooglePlay.Order.LineItem) -> GooglePlayOrder.Line {
        GooglePlayOrder.Line(
            product: line.productID,
            plan: line.subscription?.basePlanID ?? line.purchaseOptionID,
            offer: line.subscription?.offerID ?? line.offerID,
            phase: line.subscription?.phase?.word,
            quantity: line.quantity ?? 1,
            listing: line.listingPrice.map(money),
            total: line.total.map(money),
            tax: line.tax.map(money),
            start: line.subscription?.start.map(Instant.init(milliseconds:)),
            end: line.subscription?.end.map(Instant.init(milliseconds:))
        )
    }

    static func message(
        void: GooglePlay.VoidedPurchase,
        of package: String,
        in environment: StoreEnvironment,
        at instant: Instant
    ) -> Translation.Meaning {
        fact(
            .googlePlayVoid(
                GooglePlayVoid(
                    // A purchase by promo code has no order.
                    order: void.orderID ?? "",
                    at: Instant(milliseconds: void.voidedTime),
                    quantity: void.quantity,
                    source: void.source,
                    reason: void.reason
                )
            ),
            of: key(void.purchaseToken, of: package, in: environment),
            "void:\(void.orderID ?? void.purchaseToken)",
            at: instant
        )
    }

    /// A read without a result.
    static func message(
        _ answer: GooglePlayUnreadable,
        about key: Purchase.Key,
        at instant: Instant
    ) -> Translation.Meaning {
        fact(.googlePlayUnreadable(answer), of: key, "read:\(key.id)", at: instant)
    }

    // MARK: - Parts

    private static func fact(
        _ statement: Statement,
        of key: Purchase.Key,
        _ source: String,
        at instant: Instant
    ) -> Translation.Meaning {
        let fact = Fact(
            purchase: key,
            source: source,
            stated: Stated(instant, isRead: true),
            statement: statement
        )
        return .facts([fact], about: key)
    }

    private static func time(_ milliseconds: Int64?, _ instant: Instant) -> Instant {
        milliseconds.map(Instant.init(milliseconds:)) ?? instant
    }

    private static func money(_ money: GooglePlay.Money) -> GooglePlayMoney {
        GooglePlayMoney(micros: money.micros, currency: money.currencyCode)
    }

    /// An account id as customers' tokens are kept: a UUID in lower case; `nil` for any other text,
    /// which an app has put there for itself.
    static func account(_ text: String) -> String? {
        UUID(uuidString: text) == nil ? nil : text.lowercased()
    }

    /// The questions that a read raises: each order that the record does not have yet, or has as pending,
    /// those of renewals that no read named, and one that was voided, whose money changed.
    static func questions(_ facts: [Fact], _ known: Purchase?) -> [Wanted] {
        let orders: [String] = facts.flatMap { fact -> [String] in
            switch fact.statement {
            case .googlePlaySubscription(let read): read.items.compactMap(\.order)
            case .googlePlayPurchase(let read): [read.order].compactMap(\.self)
            default: []
            }
        }
        let voided = facts.compactMap { fact -> String? in
            guard case .googlePlayVoid(let void) = fact.statement, !void.order.isEmpty else {
                return nil
            }
            return void.order
        }
        // Google announces no payment of a pending order; only the purchase's next read shows it.
        let have = Set(
            known?.googlePlay?.orders.map(\.value).filter { $0.state != "PENDING" }.map(\.id) ?? []
        )
        let asked = Set(orders + SkippedRenewals.orders(facts, known)).subtracting(have)
            .union(voided).sorted().map { Wanted(kind: .googlePlayOrder, object: $0) }
        return asked + (known.map { purchases(refundedBy: facts, $0) } ?? [])
    }

    /// The subscription of an order with a new refund: what became of its items, only a read of it says.
    private static func purchases(refundedBy facts: [Fact], _ known: Purchase) -> [Wanted] {
        guard let play = known.googlePlay, play.subscription != nil else { return [] }
        let isRefunded = facts.contains { fact in
            guard case .googlePlayOrder(let order) = fact.statement else { return false }
            let before = play.orders.first { $0.value.id == order.id }?.value.refunds.count ?? 0
            return order.refunds.count > before
        }
        guard isRefunded else { return [] }
        // An item that a change kept has the order of the purchase before.
        return ([known.key.id] + (play.successors ?? []).map(\.id)).map {
            Wanted(kind: .googlePlaySubscription, object: $0)
        }
    }
}

extension GooglePlay.OpenEnum {
    /// The word without the prefix that all of its kind have.
    fileprivate func word(_ prefix: String) -> String {
        rawValue.hasPrefix(prefix) ? String(rawValue.dropFirst(prefix.count)) : rawValue
    }
}

extension GooglePlay.SubscriptionLineItem.Phase {
    /// Google's name of the phase.
    fileprivate var word: String {
        switch self {
        case .basePrice: "basePrice"
        case .freeTrial: "freeTrial"
        case .introductoryPrice: "introductoryPrice"
        case .prorationPeriod: "prorationPeriod"
        }
    }
}

extension Purchase {
    /// Returns `true` if the record's newest word is `fact`, under its names or the hashes of an erased
    /// customer's.
    func states(_ fact: Fact) -> Bool {
        if states(fact.statement) { return true }
        let hashed = try? fact.renamed(Renaming { RowKey($0).hex })
        return hashed.map { states($0.statement) } ?? false
    }

    /// Returns `true` if the record's newest word is `statement`, uncontested.
    ///
    /// Our own acts are no news: an acknowledgement, with which Google forgets who resubscribed,
    /// and a consumption.
    func states(_ statement: Statement) -> Bool {
        guard let play = googlePlay else { return false }
        switch statement {
        case .googlePlaySubscription(var value):
            guard !play.isContested, let known = play.subscription?.value else { return false }
            value.isAcknowledged = known.isAcknowledged
            value.resubscription = value.resubscription ?? known.resubscription
            return value == known
        case .googlePlayPurchase(var value):
            guard !play.isContested, let known = play.purchase?.value,
                known.lines.count == value.lines.count
            else { return false }
            value.isAcknowledged = known.isAcknowledged
            for index in value.lines.indices {
                value.lines[index].isConsumed = known.lines[index].isConsumed
            }
            return value == known
        case .googlePlayOrder(let value): return play.orders.contains { $0.value == value }
        case .googlePlayVoid(let value): return play.voids.contains { $0.value == value }
        case .googlePlayUnreadable(let value): return play.unreadable?.value == value
        default: return false
        }
    }

    /// Returns `true` if the record answers a device that shows the purchase.
    ///
    /// It does where it gives access now, or where nothing more comes of the purchase. Anything
    /// else is read: a payment may have come through, or a pause have ended. So is a consumable or a
    /// pass, which devices show only until it is consumed: the catalog may have learned of it since.
    func isAnswer(at now: Instant, in history: CatalogHistory) -> Bool {
        guard let play = googlePlay else { return false }
        guard let read = play.subscription?.value else {
            guard isBoughtOnce else { return play.purchase?.value.state == "CANCELLED" }
            return (play.purchase?.value.lines ?? []).allSatisfy { line in
                let known = history.product(
                    line.sold,
                    in: key.application,
                    at: play.completed ?? now
                )
                return known?.isConsumed(rented: line.isRental == true) != true
            }
        }
        switch read.state {
        case "ACTIVE", "IN_GRACE_PERIOD", "CANCELED":
            // One item may have been renewed while another one runs.
            return read.items.contains { item in item.expiry.map { now < $0 } ?? false }
                && play.openEnds.allSatisfy { now < $0 }
        default: return read.state == "EXPIRED"
        }
    }

    /// True where the record is of one-time products that were paid.
    var isBoughtOnce: Bool { googlePlay?.purchase?.value.state == "PURCHASED" }

    /// The clock of the read that first said what the record says now.
    var knownSince: Instant? {
        (googlePlay?.subscription?.stated ?? googlePlay?.purchase?.stated)?.instant
    }

    /// The lots that a purchase of one-time products may have credited, or one order of a subscription.
    func coinLots(of order: String) -> [String] {
        guard let play = googlePlay else { return [] }
        if let purchase = play.purchase?.value { return purchase.lines.map(\.sold.id) }
        let read = play.periods.filter { $0.order == order }.map(\.product)
        let charged = play.orders.map(\.value).first { $0.id == order }?.lines.map(\.product)
        return Set(read + (charged ?? [])).sorted().map { "\(order)/\($0)" }
    }

    /// The product of the catalog that was bought.
    func soldProduct(in history: CatalogHistory) -> Catalog.Product? {
        let play = googlePlay
        let sold =
            play?.purchase?.value.lines.first?.sold ?? play?.subscription?.value.items.first?.sold
        let at = play?.completed ?? play?.subscription?.value.start ?? Instant(milliseconds: 0)
        return sold.flatMap { history.product($0, in: key.application, at: at) }
    }
}
