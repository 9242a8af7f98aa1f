internal import GooglePlayAPI
internal import Stores
internal import TollgateCore

/// Something that has to be done at Google by a time, or Google takes the purchase back.
///
/// It is queued in the transaction of the read that causes it, as a question is; all that it needs
/// stands in the question's object.
struct PlayAct: Hashable, Sendable {
    var kind: Wanted.Kind
    /// By when, in the stores' time.
    var deadline: Instant
    var token: String
    /// The product; empty for a subscription, which needs none.
    var product: String
    /// For a subscription that was bought in Play: whose it is.
    var account: String?

    /// Three days, the time that Google gives.
    ///
    /// https://developer.android.com/google/play/billing/integrate#process
    static let time: Int64 = 3 * 86_400_000
    /// For licence testers: the shorter one of the two times that Google names.
    static let testTime: Int64 = 3 * 60_000

    init(
        _ kind: Wanted.Kind,
        by deadline: Instant,
        token: String,
        product: String,
        account: String? = nil
    ) {
        (self.kind, self.deadline, self.token) = (kind, deadline, token)
        (self.product, self.account) = (product, account)
    }

    /// Reads the object of a question that `wanted` wrote.
    init?(_ kind: Wanted.Kind, object: String) {
        let parts = object.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 4, let deadline = Int64(parts[0]) else { return nil }
        self.init(
            kind,
            by: Instant(milliseconds: deadline),
            token: parts[3],
            product: parts[1],
            account: parts[2].isEmpty ? nil : parts[2]
        )
    }

    /// The act as a question of the queue.
    var wanted: Wanted {
        Wanted(
            kind: kind,
            object: "\(deadline.milliseconds) \(product) \(account ?? "") \(token)"
        )
    }

    /// The states of a subscription that has begun, though it may state no start (RULES §18.3).
    private static let begun: Set<GooglePlay.SubscriptionPurchase.State> = [
        .active, .inGracePeriod, .canceled, .onHold, .paused,
    ]

    /// The acknowledgement of a subscription; none where it has one or is not paid yet.
    static func acts(
        for purchase: GooglePlay.SubscriptionPurchase,
        token: String,
        readAt instant: Instant
    ) -> [Wanted] {
        let read = begun.contains(purchase.state) ? instant.milliseconds : nil
        guard purchase.acknowledgementState == .pending, let start = purchase.startTime ?? read,
            purchase.state != .pending, purchase.state != .expired,
            purchase.state != .pendingPurchaseCanceled
        else { return [] }
        var time = purchase.isTest ? testTime : time
        // A prepaid plan of less than a week has half its length.
        if !purchase.isTest, purchase.lineItems.contains(where: { $0.prepaid != nil }),
            let end = purchase.lineItems.compactMap(\.expiryTime).max(), end > start
        {
            time = min(time, (end - start) / 2)
        }
        let account = purchase.outOfAppPurchase?.expiredObfuscatedAccountID
        return [
            PlayAct(
                .googlePlayAcknowledgement,
                by: Instant(milliseconds: start + time),
                token: token,
                product: "",
                // A space would be another field.
                account: account.flatMap { $0.contains(" ") ? nil : $0 }
            ).wanted
        ]
    }

    /// The consumption of each product of a purchase that can be bought again, and its acknowledgement.
    ///
    /// - Parameter known: finds the catalog's product of a line.
    static func acts(
        for purchase: GooglePlay.ProductPurchase,
        token: String,
        readAt instant: Instant,
        known: (GooglePlay.ProductPurchase.LineItem) -> Catalog.Product?
    ) -> [Wanted] {
        guard purchase.state == .purchased, let first = purchase.lineItems.first else { return [] }
        let time = purchase.isTest ? testTime : time
        let since = purchase.completionTime ?? instant.milliseconds
        let deadline = Instant(milliseconds: since + time)
        var acts: [Wanted] = []
        for item in purchase.lineItems
        where !item.isConsumed && known(item)?.isConsumed(rented: item.isRented) == true {
            acts.append(
                PlayAct(.googlePlayConsumption, by: deadline, token: token, product: item.productID)
                    .wanted
            )
        }
        // Consuming acknowledges too, but waits for a customer: the acknowledgement does not.
        if purchase.acknowledgementState == .pending {
            acts.append(
                PlayAct(
                    .googlePlayAcknowledgement,
                    by: deadline,
                    token: token,
                    product: first.productID
                ).wanted
            )
        }
        return acts
    }
}

extension Catalog.Product {
    /// Returns `true` if it is consumed at Google, which sells it again to the same buyer only then.
    ///
    /// Its access and its coins stay. A rental ends at Google by itself.
    ///
    /// https://developer.android.com/google/play/billing/lifecycle/one-time
    func isConsumed(rented isRental: Bool) -> Bool {
        switch kind {
        case .consumable: true
        case .nonRenewing: !isRental
        case .nonConsumable, .autoRenewable, .freeSubscription: false
        }
    }
}

extension CatalogHistory {
    /// The product of a line of a purchase, by the catalog of its payment.
    ///
    /// - Parameter instant: the read's, for a purchase that is not paid.
    func product(
        _ item: GooglePlay.ProductPurchase.LineItem,
        of purchase: GooglePlay.ProductPurchase,
        in package: String,
        readAt instant: Instant
    ) -> Catalog.Product? {
        product(
            StoreProduct(googlePlay: item.productID, plan: item.purchaseOptionID),
            in: package,
            at: purchase.completionTime.map(Instant.init(milliseconds:)) ?? instant
        )
    }
}
