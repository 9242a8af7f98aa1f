/// The entries that `verifyReceipt` and version 1 notifications share; all values are strings.
struct LegacyReceipt {
    typealias Transaction = SimulatedAppStore.Transaction
    typealias Subscription = SimulatedAppStore.Subscription

    let world: SimulatedAppStore.World

    /// `latest_receipt_info`: all but finished consumables, the newest first.
    func latestReceiptInfo(_ customer: String, onlyLatest: Bool = false) -> [[String: String]] {
        world.transactionsOf(customer).reversed()
            .filter { $0.kind != .consumable || !$0.isFinished }
            .filter {
                guard onlyLatest, let subscription = world.subscriptions[$0.originalID] else {
                    return true
                }
                return subscription.latestTransactionID == $0.id
            }
            .map(entry)
    }

    func entry(_ transaction: Transaction) -> [String: String] {
        var entry = [
            "quantity": String(transaction.quantity), "product_id": transaction.productID,
            "transaction_id": transaction.id, "original_transaction_id": transaction.originalID,
            "in_app_ownership_type": transaction.ownership.rawValue,
        ]
        entry.merge(LegacyDate.entries("purchase_date", purchaseDate(of: transaction))) { $1 }
        entry.merge(
            LegacyDate.entries("original_purchase_date", transaction.originalPurchaseDate)
        ) { $1 }
        entry.merge(LegacyDate.entries("expires_date", transaction.expiresDate)) { $1 }
        if transaction.isUpgraded, world.behaviour.receiptsDateUpgrades,
            let next = world.transactionsOf(transaction.customer).filter({
                $0.originalID == transaction.originalID
                    && $0.purchaseDate > transaction.purchaseDate
            }).map(\.purchaseDate).min()
        {
            entry.merge(LegacyDate.entries("cancellation_date", next)) { $1 }
        }
        if let revocation = transaction.revocation {
            entry.merge(LegacyDate.entries("cancellation_date", revocation.date)) { $1 }
            entry["cancellation_reason"] = String(revocation.reason)
        }
        if let token = transaction.appAccountToken { entry["app_account_token"] = token }
        if transaction.isUpgraded { entry["is_upgraded"] = "true" }
        guard transaction.kind == .autoRenewable else {
            entry["is_trial_period"] = "false"
            return entry
        }
        let introductory = transaction.offer.flatMap { $0.kind == .introductory ? $0 : nil }
        entry["is_trial_period"] = introductory?.discount == .freeTrial ? "true" : "false"
        entry["is_in_intro_offer_period"] =
            introductory != nil && introductory?.discount != .freeTrial ? "true" : "false"
        entry["web_order_line_item_id"] = transaction.webOrderLineItemID
        entry["subscription_group_identifier"] = transaction.subscriptionGroup
        switch transaction.offer?.kind {
        case .promotional: entry["promotional_offer_id"] = transaction.offer?.id
        case .offerCode: entry["offer_code_ref_name"] = transaction.offer?.id
        case .introductory, .winBack, nil: break
        }
        return entry
    }

    /// The purchase date that a receipt has: a restore dates an unlock anew, and leaves its original
    /// purchase date as it was.
    ///
    /// Receipt Validation Programming Guide, *Purchase Date*: "For a transaction that restores a previous
    /// transaction, the purchase date is the date of the restoration."
    func purchaseDate(of transaction: Transaction) -> Int64 {
        guard transaction.kind == .nonConsumable,
            let restored = world.customers[transaction.customer]?.restored
        else { return transaction.purchaseDate }
        return max(restored, transaction.purchaseDate)
    }

    /// `pending_renewal_info`, one entry per subscription.
    func pendingRenewalInfo(_ customer: String) -> [[String: String]] {
        var seen: Set<String> = []
        return world.transactionsOf(customer).map(\.originalID)
            .filter { seen.insert($0).inserted }
            .compactMap { world.subscriptions[$0] }
            .map(renewal)
    }

    private func renewal(_ subscription: Subscription) -> [String: String] {
        var entry = [
            "auto_renew_product_id": subscription.nextProductID,
            "auto_renew_status": subscription.autoRenews ? "1" : "0",
            "original_transaction_id": subscription.originalTransactionID,
            "product_id": subscription.productID,
        ]
        if subscription.state != .active, subscription.state != .revoked {
            entry["expiration_intent"] = subscription.expirationIntent.map(String.init)
            let isRetrying =
                subscription.state == .billingGrace || subscription.state == .billingRetry
            entry["is_in_billing_retry_period"] = isRetrying ? "1" : "0"
        }
        entry.merge(
            LegacyDate.entries("grace_period_expires_date", subscription.gracePeriodExpiresDate)
        ) { $1 }
        if let increase = subscription.priceIncrease {
            entry["price_consent_status"] = increase.isAccepted ? "1" : "0"
            entry["price_increase_status"] = increase.isAccepted ? "1" : "0"
        }
        return entry
    }

    /// `receipt` in an answer about an app receipt.
    func receipt(_ customer: SimulatedAppStore.Customer, now: Int64) -> LegacyJSON {
        let isSandbox = world.environment == .sandbox
        var entries: [String: LegacyJSON] = [
            "receipt_type": .string(isSandbox ? "ProductionSandbox" : "Production"),
            "adam_id": .number(isSandbox ? 0 : world.appAppleID),
            "app_item_id": .number(isSandbox ? 0 : world.appAppleID),
            "bundle_id": .string(world.bundleID),
            "application_version": .string("1"),
            "original_application_version": .string("1.0"),
            "download_id": .number(0),
            "version_external_identifier": .number(0),
            "in_app": .list(latestReceiptInfo(customer.id).map(LegacyJSON.strings)),
        ]
        for (name, instant) in [
            ("receipt_creation_date", now), ("request_date", now),
            ("original_purchase_date", customer.downloaded),
            ("preorder_date", customer.preordered),
        ] {
            entries.merge(
                LegacyDate.entries(name, instant).mapValues(LegacyJSON.string)
            ) { $1 }
        }
        return .object(entries)
    }
}

/// JSON as the legacy answers use it.
enum LegacyJSON: Encodable, Sendable {
    case string(String)
    case number(Int64)
    case list([LegacyJSON])
    case object([String: LegacyJSON])

    static func strings(_ entries: [String: String]) -> Self {
        .object(entries.mapValues(Self.string))
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .string(let text): try container.encode(text)
        case .number(let number): try container.encode(number)
        case .list(let list): try container.encode(list)
        case .object(let entries): try container.encode(entries)
        }
    }
}
