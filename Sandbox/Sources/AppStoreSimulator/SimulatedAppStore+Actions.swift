import Foundation
import SandboxClock

extension SimulatedAppStore {
    /// What StoreKit hands to the app after a purchase.
    public struct SignedTransaction: Codable, Hashable, Sendable {
        public var transactionID: String
        public var originalTransactionID: String
        /// `jwsRepresentation`.
        public var jws: String

        enum CodingKeys: String, CodingKey {
            case transactionID = "transaction_id"
            case originalTransactionID = "original_transaction_id"
            case jws = "signed_transaction"
        }
    }

    /// What StoreKit on the customer's device would show.
    public struct DeviceView: Codable, Hashable, Sendable {
        /// Signed transactions of `Transaction.currentEntitlements`.
        public var currentEntitlements: [String]
        /// Signed transactions of `Transaction.unfinished`.
        public var unfinished: [String]
        /// The signed app transaction.
        public var appTransaction: String

        enum CodingKeys: String, CodingKey {
            case currentEntitlements = "current_entitlements"
            case unfinished
            case appTransaction = "app_transaction"
        }
    }

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
        try await change { world, now in try Accounts.download(&world, id, at: now) }
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
        let introductory = try offerSignatures.check(
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
        await note("buy", customer, details)
        return try await signedTransaction(id)
    }

    /// Turns automatic renewal off.
    public func cancel(_ originalTransactionID: String) async throws {
        try await change { world, now in
            try RenewalPreferences.setAutoRenew(&world, false, of: originalTransactionID, at: now)
        }
        await note("cancel", subscription: originalTransactionID)
    }

    /// Turns automatic renewal on again.
    public func resume(_ originalTransactionID: String) async throws {
        try await change { world, now in
            try RenewalPreferences.setAutoRenew(&world, true, of: originalTransactionID, at: now)
        }
        await note("resume", subscription: originalTransactionID)
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
        await note("change", subscription: originalTransactionID, [.init("to", productID)])
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
        await note("redeem", subscription: originalTransactionID, details)
        return try await signedTransaction(id)
    }

    /// Agrees to a higher price.
    public func consentToPriceIncrease(_ originalTransactionID: String) async throws {
        try await change { world, _ in
            try PriceIncreases.consent(&world, originalTransactionID)
        }
        await note("consent", subscription: originalTransactionID)
    }

    /// Joins a family, or leaves it by `nil`; what the others share becomes the joiner's too.
    public func join(family: String?, customer: String) async throws {
        try await change { world, now in
            try FamilySharing.join(&world, family: family, customer, at: now)
        }
        await note(
            family == nil ? "leave_family" : "join_family",
            customer,
            family.map { [.init("family", $0)] } ?? []
        )
    }

    /// Restores on another device; the result is what the app there gets to post to its server.
    public func restore(customer id: String) async throws -> [SignedTransaction] {
        let now = await clock.now
        _ = try world.customer(id)
        let current = world.transactionsOf(id).filter { Purchases.isCurrent(world, $0) }
        return try await change { world, now in
            current.map { Purchases.restore(&world, $0, at: now) }
        }.map { try signed($0, at: now) }
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
        await note("request_refund", transaction: transactionID, [.init("reason", reason)])
    }

    // MARK: - As the bank

    /// The customer's card is refused from now on.
    public func failBilling(customer: String) async throws {
        try await change { world, _ in try Accounts.failBilling(&world, customer) }
        await note("fail_billing", customer)
    }

    /// The card works again, and what is overdue is charged.
    public func recoverBilling(customer: String) async throws {
        try await change { world, now in try Accounts.recoverBilling(&world, customer, at: now) }
        await note("recover_billing", customer)
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
            transaction: transactionID,
            percent.map { [.init("percent", $0)] } ?? []
        )
    }

    /// Takes a refund back.
    public func reverseRefund(_ transactionID: String) async throws {
        try await change { world, now in try Refunds.reverse(&world, transactionID, at: now) }
        await note("reverse_refund", transaction: transactionID)
    }

    /// Refuses a refund that was asked for.
    public func declineRefund(_ transactionID: String) async throws {
        try await change { world, _ in try Refunds.decline(&world, transactionID) }
        await note("decline_refund", transaction: transactionID)
    }

    /// Moves a subscription's renewal date by 1 to 90 days.
    public func extend(_ originalTransactionID: String, days: Int) async throws {
        _ = try await change { world, now in
            try RenewalExtensions.extend(&world, originalTransactionID, days: days, at: now)
        }
        await note("extend", subscription: originalTransactionID, [.init("days", "\(days)")])
    }

    /// Moves the renewal dates of all of a product's subscribers by 1 to 90 days, and sums up.
    /// - Parameter identifier: named in the summary; a repetition does nothing.
    @discardableResult
    public func extendAll(
        productID: String,
        days: Int,
        identifier: String
    ) async throws -> ExtensionSummary {
        try RenewalExtensions.check(days: days, identifier: identifier)
        let isNew = world.massExtensions[identifier] == nil
        try await change { world, now in
            _ = try world.product(productID)
            guard world.massExtensions[identifier] == nil else { return }
            RenewalExtensions.extendAll(
                &world,
                productID,
                days: days,
                countries: nil,
                identifier: identifier,
                at: now
            )
        }
        if isNew {
            await note("extend_all", nil, [.init("product", productID), .init("days", "\(days)")])
        }
        let result = world.massExtensions[identifier]
        return ExtensionSummary(
            requestIdentifier: identifier,
            succeededCount: result?.succeededCount ?? 0,
            failedCount: result?.failedCount ?? 0
        )
    }

    /// Apple ends a subscription with its period, for a reason that it has no subtype for.
    public func end(_ originalTransactionID: String) async throws {
        try await change { world, _ in
            try RenewalPreferences.end(&world, originalTransactionID)
        }
        await note("end", subscription: originalTransactionID)
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
        try await change { world, _ in
            let transaction = try world.transaction(transactionID)
            world.announce(
                type,
                subtype,
                transaction: transactionID,
                subscription: world.subscriptions[transaction.originalID]?.originalTransactionID
            )
        }
        await note(
            "tell",
            transaction: transactionID,
            [.init("type", type)] + (subtype.map { [.init("subtype", $0)] } ?? [])
        )
    }

    /// Sells a product no longer: subscriptions to it end at their next renewal.
    public func withdraw(productID: String) async throws {
        try await change { world, _ in
            var product = try world.product(productID)
            product.isForSale = false
            world.products[productID] = product
        }
        await note("withdraw", nil, [.init("product", productID)])
    }

    /// Sets the token of a purchase, from its running period on.
    public func attach(appAccountToken token: String, to originalTransactionID: String) async throws
    {
        let token = token.lowercased()
        guard UUID(uuidString: token) != nil else {
            throw Refusal.invalid("An app account token is a UUID.")
        }
        try await change { world, now in
            try Purchases.setAppAccountToken(&world, token, of: originalTransactionID, at: now)
        }
        guard let customer = world.transactions[originalTransactionID]?.customer else { return }
        // A scenario knows no token but its customers' own.
        await note(
            world.customers[customer]?.appAccountToken == token ? "set_token" : nil,
            customer
        )
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
            nil,
            [
                .init("product", productID), .init("price", "\(Double(price) / 1000)"),
                .init("asks_consent", "\(consentRequired)"),
            ]
        )
    }

    /// A family member loses what was shared.
    public func revokeFamilyShare(_ originalTransactionID: String) async throws {
        try await change { world, now in
            try FamilySharing.revokeShare(&world, originalTransactionID, at: now)
        }
        await note("revoke_share", subscription: originalTransactionID)
    }

    /// Sends a TEST notification and returns its token.
    public func requestTestNotification() async throws -> String {
        try await change { world, now in
            guard world.notificationURL != nil else {
                throw Refusal.notPossible("No notification URL is configured.")
            }
            let token = "\(world.random.uuid())_\(now)"
            var announcement = Announcement(type: "TEST")
            announcement.testToken = token
            world.announcements.append(announcement)
            return token
        }
    }
}
