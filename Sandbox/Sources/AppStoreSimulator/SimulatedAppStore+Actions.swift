import Foundation
import SandboxClock

extension SimulatedAppStore {
    // MARK: - As the customer

    /// An Apple account downloads the app.
    /// - Parameters:
    ///   - appAccountToken: a UUID, given with purchases that state none.
    ///   - storefront: ISO 3166-1 alpha-3.
    ///   - family: any name; accounts of one family share what is shareable.
    ///   - hasDownloadedApp: without it there is no app transaction yet, though the customer can buy
    ///     on the app's page in the App Store.
    ///   - preorderDate: when the app was ordered ahead of its release, UNIX milliseconds; not in
    ///     the future. `nil`: it was not.
    public func createCustomer(
        appAccountToken: String? = nil,
        storefront: String = "USA",
        family: String? = nil,
        hasDownloadedApp: Bool = true,
        preorderDate: Int64? = nil
    ) async throws -> Customer {
        let customer = try await change { world, now in
            try Accounts.create(
                &world,
                appAccountToken: appAccountToken,
                storefront: storefront,
                family: family,
                hasDownloadedApp: hasDownloadedApp,
                preorderDate: preorderDate,
                at: now
            )
        }
        story.customers.append(customer)
        return customer
    }

    /// A customer who bought without having the app downloads it.
    public func download(customer id: String) async throws {
        try await change { try Accounts.download(&$0, id, at: $1) }
    }

    /// The customer confirms a purchase; the result is what the app gets to post to its server.
    /// - Parameters:
    ///   - offer: an offer's identifier; introductory offers apply by themselves.
    ///   - proof: what the app's server signed for it; needed where `setBehaviour` says so.
    public func buy(
        _ productID: String,
        customer: String,
        appAccountToken: String? = nil,
        quantity: Int = 1,
        offer: String? = nil,
        proof: OfferProof? = nil
    ) async throws -> SignedTransaction {
        let introductory = try OfferSignatures(keys: apiKeys).check(
            proof,
            in: &world,
            offer: offer,
            productID: productID,
            customer: customer,
            appAccountToken: appAccountToken
        )
        let id = try await change { world, now in
            try Purchases.buy(
                &world,
                productID,
                by: customer,
                appAccountToken: appAccountToken,
                quantity: quantity,
                offer: offer,
                allowsIntroductoryOffer: introductory,
                at: now
            ).id
        }
        var details = [Deed.Detail("product", productID)]
        if quantity > 1 { details.append(.init("quantity", "\(quantity)")) }
        if let offer { details.append(.init("offer", offer)) }
        await note("buy", .customer(customer), details)
        return try await signedTransaction(id)
    }

    /// Turns automatic renewal off.
    public func cancel(_ originalTransactionID: String) async throws {
        try await change { world, now in
            try RenewalPreferences.setAutoRenew(&world, false, of: originalTransactionID, at: now)
        }
        await note("cancel", .subscription(originalTransactionID))
    }

    /// Turns automatic renewal on again.
    public func resume(_ originalTransactionID: String) async throws {
        try await change { world, now in
            try RenewalPreferences.setAutoRenew(&world, true, of: originalTransactionID, at: now)
        }
        await note("resume", .subscription(originalTransactionID))
    }

    /// Changes to another plan of the group: up at once, down at the next renewal.
    public func changePlan(
        _ originalTransactionID: String,
        to productID: String
    ) async throws -> SignedTransaction {
        let id = try await change { world, now in
            try RenewalPreferences.changePlan(
                &world,
                of: try world.subscription(originalTransactionID),
                to: try world.product(productID),
                at: now
            ).id
        }
        await note("change", .subscription(originalTransactionID), [.init("to", productID)])
        return try await signedTransaction(id)
    }

    /// Redeems an offer on an active subscription.
    /// - Parameter productID: the plan the offer is for; the current one if left out.
    public func redeemOffer(
        _ originalTransactionID: String,
        offer: String,
        productID: String? = nil
    ) async throws -> SignedTransaction {
        let id = try await change { world, now in
            let subscription = try world.subscription(originalTransactionID)
            return try RenewalPreferences.redeem(
                &world,
                offer,
                on: subscription,
                product: try world.product(productID ?? subscription.productID),
                at: now
            ).id
        }
        var details = [Deed.Detail("offer", offer)]
        if let productID { details.append(.init("product", productID)) }
        await note("redeem", .subscription(originalTransactionID), details)
        return try await signedTransaction(id)
    }

    /// Agrees to a higher price.
    public func consentToPriceIncrease(_ originalTransactionID: String) async throws {
        try await change { world, _ in try PriceIncreases.consent(&world, originalTransactionID) }
        await note("consent", .subscription(originalTransactionID))
    }

    /// Joins a family, or leaves it by `nil`; what the others share becomes the joiner's too.
    public func join(family: String?, customer: String) async throws {
        try await change { try FamilySharing.join(&$0, family: family, customer, at: $1) }
        await note(
            family == nil ? "leave_family" : "join_family",
            .customer(customer),
            family.map { [.init("family", $0)] } ?? []
        )
    }

    /// Restores on another device; the result is what the app there gets to post to its server.
    public func restore(customer id: String) async throws -> [SignedTransaction] {
        let now = await clock.now
        return try await change { try Purchases.restore(&$0, customer: id, at: $1) }
            .map { try SignedTransaction($0, in: world, by: signer, at: now) }
    }

    /// The app has handed out what was bought.
    public func finish(_ transactionID: String) async throws {
        try await change { world, _ in try Purchases.finish(&world, transactionID) }
    }

    /// Asks Apple for the money back, which asks the app what was consumed.
    /// - Parameter reason: a `consumptionRequestReason`.
    public func requestRefund(
        _ transactionID: String,
        reason: String = "UNINTENDED_PURCHASE"
    ) async throws {
        try await change { world, now in
            try ConsumptionRequests.open(&world, transactionID, reason: reason, at: now)
        }
        await note("request_refund", .transaction(transactionID), [.init("reason", reason)])
    }

    // MARK: - As the bank

    /// The customer's card is refused from now on.
    public func failBilling(customer: String) async throws {
        try await change { world, _ in try Accounts.failBilling(&world, customer) }
        await note("fail_billing", .customer(customer))
    }

    /// The card works again, and what is overdue is charged.
    public func recoverBilling(customer: String) async throws {
        try await change { try Accounts.recoverBilling(&$0, customer, at: $1) }
        await note("recover_billing", .customer(customer))
    }

    // MARK: - As Apple

    /// Refunds a transaction.
    /// - Parameters:
    ///   - reason: 1 for an issue in the app, 0 for any other.
    ///   - percentage: thousandths of a percent of the price; whole if left out.
    public func refund(
        _ transactionID: String,
        reason: Int = 0,
        percentage: Int? = nil
    ) async throws {
        try await change { world, now in
            try Refunds.refund(
                &world,
                transactionID,
                reason: reason,
                percentage: percentage,
                at: now
            )
        }
        let percent = percentage.map { "\(Double($0) / 1000)" }
        await note(
            "refund",
            .transaction(transactionID),
            percent.map { [.init("percent", $0)] } ?? []
        )
    }

    /// Takes a refund back.
    public func reverseRefund(_ transactionID: String) async throws {
        try await change { try Refunds.reverse(&$0, transactionID, at: $1) }
        await note("reverse_refund", .transaction(transactionID))
    }

    /// Refuses a refund that was asked for.
    public func declineRefund(_ transactionID: String) async throws {
        try await change { world, _ in try Refunds.decline(&world, transactionID) }
        await note("decline_refund", .transaction(transactionID))
    }

    /// Moves a subscription's renewal date by 1 to 90 days.
    public func extend(_ originalTransactionID: String, days: Int) async throws {
        _ = try await change { world, now in
            try RenewalExtensions.extend(&world, originalTransactionID, days: days, at: now)
        }
        await note("extend", .subscription(originalTransactionID), [.init("days", "\(days)")])
    }

    /// Moves the renewal dates of all of a product's subscribers by 1 to 90 days, and sums up.
    /// - Parameter identifier: named in the summary; a repetition does nothing.
    @discardableResult
    public func extendAll(
        productID: String,
        days: Int,
        identifier: String
    ) async throws -> ExtensionSummary {
        let isNew = world.massExtensions[identifier] == nil
        let result = try await change { world, now in
            try RenewalExtensions.extendAll(
                &world,
                productID,
                days: days,
                identifier: identifier,
                at: now
            )
        }
        if isNew {
            await note(
                "extend_all",
                .everyone,
                [.init("product", productID), .init("days", "\(days)")]
            )
        }
        return ExtensionSummary(
            requestIdentifier: identifier,
            succeededCount: result.succeededCount,
            failedCount: result.failedCount
        )
    }

    /// Apple ends a subscription with its period, for a reason that it has no subtype for.
    public func end(_ originalTransactionID: String) async throws {
        try await change { world, _ in try RenewalPreferences.end(&world, originalTransactionID) }
        await note("end", .subscription(originalTransactionID))
    }

    /// Sends a notification about a transaction to which nothing happened.
    /// - Parameter type: one that Apple documents and that changes nothing here, such as
    ///   `METADATA_UPDATE`, or one that nobody has heard of.
    public func tell(
        _ type: String,
        subtype: String? = nil,
        about transactionID: String
    ) async throws {
        guard !type.isEmpty else { throw Refusal.invalid("A notification has a type.") }
        try await change { world, _ in try world.announce(type, subtype, about: transactionID) }
        await note(
            "tell",
            .transaction(transactionID),
            [.init("type", type)] + (subtype.map { [.init("subtype", $0)] } ?? [])
        )
    }

    /// Sells a product no longer: subscriptions to it end at their next renewal.
    public func withdraw(productID: String) async throws {
        try await change { world, _ in
            _ = try world.product(productID)
            world.products[productID]?.isForSale = false
        }
        await note("withdraw", .everyone, [.init("product", productID)])
    }

    /// Sets the token of a purchase, from its running period on.
    public func attach(appAccountToken token: String, to originalTransactionID: String) async throws
    {
        let owner = try await change {
            try Purchases.attach(&$0, token, to: originalTransactionID, at: $1)
        }
        // A scenario knows no token but its customers' own.
        let isOwn = owner.appAccountToken == token.lowercased()
        await note(isOwn ? "set_token" : nil, .customer(owner.id))
    }

    /// Raises a product's price for its subscribers.
    public func raisePrice(
        of productID: String,
        to price: Int64,
        consentRequired: Bool
    ) async throws {
        try await change { world, _ in
            try PriceIncreases.raise(
                &world,
                of: productID,
                to: price,
                consentRequired: consentRequired
            )
        }
        await note(
            "raise_price",
            .everyone,
            [
                .init("product", productID), .init("price", "\(Double(price) / 1000)"),
                .init("asks_consent", "\(consentRequired)"),
            ]
        )
    }

    /// A family member loses what was shared.
    public func revokeFamilyShare(_ originalTransactionID: String) async throws {
        try await change { try FamilySharing.revokeShare(&$0, originalTransactionID, at: $1) }
        await note("revoke_share", .subscription(originalTransactionID))
    }

    /// Sends a TEST notification and returns its token.
    public func requestTestNotification() async throws -> String {
        try await change { try $0.announceTest(at: $1) }
    }
}
