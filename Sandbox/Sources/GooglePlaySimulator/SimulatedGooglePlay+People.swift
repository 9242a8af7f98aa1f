import Foundation

// What a program in the same process does as a buyer, and sees; over HTTP it is the control API.
extension SimulatedGooglePlay {
    /// One purchase of one account.
    public struct Purchase: Hashable, Sendable {
        public var token: String
        public var productID: String
        /// The base plan of a subscription.
        public var basePlan: String?
        public var isSubscription: Bool
        /// The next period will be charged by itself.
        public var renews: Bool
        /// It was paid and not taken back.
        public var isRefundable: Bool
    }

    /// Somebody signed in on a phone.
    public struct Buyer: Hashable, Sendable {
        public var id: String
        /// The id by which the app knows its customer.
        public var obfuscatedAccountID: String?
    }

    /// One message of the topic.
    public struct Notification: Hashable, Sendable {
        /// UNIX milliseconds on the virtual clock.
        public var at: Int64
        /// Google's name: `SUBSCRIPTION_RENEWED`, `voidedPurchaseNotification`.
        public var name: String
        /// The purchase that it is about.
        public var token: String?
    }

    /// Signs somebody in on a phone.
    ///
    /// - Returns: the account's id.
    public func createAccount(
        obfuscatedAccountID: String,
        isTester: Bool = false
    ) async throws -> String {
        let act = CreateAccount(tester: isTester, obfuscatedAccountID: obfuscatedAccountID)
        let made = try await perform(act, subject: "")
        return made["id"]?.text ?? ""
    }

    /// Everybody who signed in, the first one first.
    public func buyers() -> [Buyer] {
        store.accountIDs.compactMap { store.accounts[$0] }.map {
            Buyer(id: $0.id, obfuscatedAccountID: $0.identifiers.accountID)
        }
    }

    /// The purchases of an account, the oldest first.
    public func purchases(account: String) -> [Purchase] {
        // The clock may stand still between two of them: their orders tell which was first.
        let places = Dictionary(
            store.orders.all.enumerated().map { ($0.element.token, $0.offset) },
            uniquingKeysWith: { first, _ in first }
        )
        let subscriptions = store.subscriptions.values.filter { $0.account == account }.map {
            (at: $0.boughtAt, purchase: purchase($0))
        }
        let products = store.products.values.filter { $0.account == account }.map {
            (at: $0.boughtAt, purchase: purchase($0))
        }
        return (subscriptions + products).sorted { left, right in
            let (one, other) = (left.purchase.token, right.purchase.token)
            return (left.at, places[one] ?? .max, one) < (right.at, places[other] ?? .max, other)
        }.map(\.purchase)
    }

    /// Buys a subscription by one of its base plans, or a one-time product.
    ///
    /// - Parameter replacing: the token of the subscription that the new one takes the place of.
    /// - Throws: where Play would not sell it.
    public func buy(
        _ productID: String,
        basePlan: String? = nil,
        replacing: String? = nil,
        account: String
    ) async throws -> Purchase {
        let act = Buy(
            account: account,
            productID: productID,
            basePlanID: basePlan,
            replaces: replacing
        )
        let token = try await perform(act, subject: "")["purchase_token"]?.text ?? ""
        if let subscription = store.subscriptions[token] { return purchase(subscription) }
        return purchase(try store.product(token))
    }

    /// The subscriber cancels; what was paid stays.
    public func cancel(_ token: String) async throws {
        _ = try await perform(CancelSubscription(), subject: token)
    }

    /// The subscriber takes a cancellation back.
    public func restore(_ token: String) async throws {
        _ = try await perform(RestoreSubscription(), subject: token)
    }

    /// Google gives the money back and ends the purchase.
    public func revoke(_ token: String) async throws {
        _ = try await perform(RevokePurchase(), subject: token)
    }

    /// The account's payment method declines from now on, or accepts again.
    public func setPayment(declines: Bool, account: String) async throws {
        _ = try await perform(
            ChangeAccount(payment: declines ? .declines : .approves),
            subject: account
        )
    }

    /// The newest messages of the topic, in the order in which they were published.
    public func notifications() -> [Notification] {
        pubSub.log.compactMap { message in
            guard case .object(let members) = JSON(bytes: Data(message.data.utf8)),
                let kind = members.keys.first(where: { $0.hasSuffix("Notification") })
            else { return nil }
            return Notification(
                at: message.publishedAt,
                name: Self.name(of: kind, members[kind]),
                token: members[kind]?["purchaseToken"]?.text
            )
        }
    }

    private func purchase(_ subscription: Subscription) -> Purchase {
        Purchase(
            token: subscription.token,
            productID: subscription.items.first?.productID ?? "",
            basePlan: subscription.items.first?.plan.basePlanID,
            isSubscription: true,
            renews: subscription.isRenewing,
            isRefundable: subscription.isLive && subscription.phase != .pending
        )
    }

    private func purchase(_ bought: ProductPurchase) -> Purchase {
        Purchase(
            token: bought.token,
            productID: bought.lines.first?.productID ?? "",
            basePlan: nil,
            isSubscription: false,
            renews: false,
            isRefundable: bought.state == .purchased
        )
    }

    /// Google's name of a notification.
    ///
    /// https://developer.android.com/google/play/billing/rtdn-reference
    private static func name(of kind: String, _ body: JSON?) -> String {
        let type = body?["notificationType"]?.whole.map(Int.init)
        switch kind {
        case "subscriptionNotification":
            let hint = type.flatMap(SubscriptionHint.init(rawValue:))
            return hint?.name ?? kind
        case "oneTimeProductNotification":
            return type == 1 ? "ONE_TIME_PRODUCT_PURCHASED" : "ONE_TIME_PRODUCT_CANCELED"
        default: return kind
        }
    }
}

extension SubscriptionHint {
    /// Google's name.
    fileprivate var name: String {
        let words: String =
            switch self {
            case .recovered: "RECOVERED"
            case .renewed: "RENEWED"
            case .canceled: "CANCELED"
            case .purchased: "PURCHASED"
            case .onHold: "ON_HOLD"
            case .inGracePeriod: "IN_GRACE_PERIOD"
            case .restarted: "RESTARTED"
            case .priceChangeConfirmed: "PRICE_CHANGE_CONFIRMED"
            case .deferred: "DEFERRED"
            case .paused: "PAUSED"
            case .pauseScheduleChanged: "PAUSE_SCHEDULE_CHANGED"
            case .revoked: "REVOKED"
            case .expired: "EXPIRED"
            case .itemsChanged: "ITEMS_CHANGED"
            case .cancellationScheduled: "CANCELLATION_SCHEDULED"
            case .priceChangeUpdated: "PRICE_CHANGE_UPDATED"
            case .pendingPurchaseCanceled: "PENDING_PURCHASE_CANCELED"
            case .priceStepUpConsentUpdated: "PRICE_STEP_UP_CONSENT_UPDATED"
            }
        return "SUBSCRIPTION_" + words
    }
}
