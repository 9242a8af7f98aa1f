import StrictJSON

extension AppStore {
    /// What `verifyReceipt` answers to a valid receipt.
    ///
    /// Not signed: believed because the App Store was asked over TLS.
    public struct VerifiedReceipt: Hashable, Sendable {
        public let status: ReceiptStatus
        /// Where the receipt was found to be valid.
        public let environment: Environment
        /// The app.
        public let bundleID: String?
        /// When the App Store answered, by its own clock; the answer's clock.
        public let requestDate: Int64?
        /// Everything bought: of the newest receipt, and of the receipt itself.
        public let purchases: [Purchase]
        /// How subscriptions will go on.
        public let renewals: [Renewal]
        /// The newest receipt, to be sent instead of this one from now on.
        public let latestReceipt: String?

        /// One transaction, in the words of a legacy receipt; every value there is a string.
        public struct Purchase: Hashable, Sendable {
            public let transactionID: String
            public let originalTransactionID: String
            public let productID: String
            public let quantity: Int
            /// The time of the purchase; of a restored transaction, the time of the restoration.
            public let purchaseDate: Int64
            /// The time of the original purchase; of a subscription, its beginning.
            public let originalPurchaseDate: Int64?
            /// Absent for what does not expire, and in some receipts of iOS 6.
            public let expiresDate: Int64?
            public let cancellationDate: Int64?
            public let isUpgraded: Bool
            public let isTrialPeriod: Bool
            public let isInIntroOfferPeriod: Bool
            public let promotionalOfferID: String?
            public let offerCodeRefName: String?
            public let webOrderLineItemID: String?
            public let subscriptionGroupIdentifier: String?
            public let appAccountToken: String?
            public let ownershipType: InAppOwnershipType?
            /// The entry as it came.
            public let body: [UInt8]
        }

        /// One entry of `pending_renewal_info`.
        public struct Renewal: Hashable, Sendable {
            public let originalTransactionID: String
            public let productID: String?
            public let autoRenewProductID: String?
            public let willRenew: Bool
            public let expirationIntent: Int?
            public let isInBillingRetryPeriod: Bool
            public let gracePeriodExpiresDate: Int64?
            /// 0: consent was asked and not given yet.
            public let priceConsentStatus: Int?
            /// The entry as it came.
            public let body: [UInt8]
        }

        /// Reads an answer.
        ///
        /// - Throws: `VerificationError` where it lacks what every answer has.
        init(_ json: JSON, status: ReceiptStatus, environment: Environment)
            throws(VerificationError)
        {
            guard json.kind == .object else { throw VerificationError(.fieldType, at: "answer") }
            self.status = status
            self.environment = environment
            let receipt = json["receipt"]
            bundleID = receipt?["bundle_id"]?.string ?? receipt?["bid"]?.string
            requestDate = receipt.flatMap { LegacyField.date("request_date", in: $0) }
            latestReceipt = json["latest_receipt"]?.string
            var entries: [JSON] = []
            for list in [json["latest_receipt_info"], json["latest_expired_receipt_info"]] {
                entries += LegacyField.objects(list)
            }
            if let receipt {
                entries += LegacyField.objects(receipt["in_app"])
                // In the form of iOS 6 the receipt is itself the transaction.
                if receipt["transaction_id"] != nil { entries.append(receipt) }
            }
            var seen: Set<String> = []
            var purchases: [Purchase] = []
            for entry in entries {
                guard let purchase = Purchase(entry) else { continue }
                if seen.insert(purchase.transactionID).inserted { purchases.append(purchase) }
            }
            self.purchases = purchases
            renewals = LegacyField.objects(json["pending_renewal_info"]).compactMap(Renewal.init)
        }
    }
}

extension AppStore.VerifiedReceipt.Purchase {
    /// Nil where an entry lacks what every transaction has.
    init?(_ json: JSON) {
        guard let transactionID = LegacyField.text("transaction_id", in: json),
            let product = LegacyField.text("product_id", in: json),
            let purchased = LegacyField.date("purchase_date", in: json)
        else { return nil }
        self.transactionID = transactionID
        originalTransactionID =
            LegacyField.text("original_transaction_id", in: json) ?? transactionID
        productID = product
        purchaseDate = purchased
        originalPurchaseDate = LegacyField.date("original_purchase_date", in: json)
        quantity = LegacyField.integer("quantity", in: json).flatMap { Int(exactly: $0) } ?? 1
        expiresDate = LegacyField.date("expires_date", in: json)
        cancellationDate = LegacyField.date("cancellation_date", in: json)
        isUpgraded = LegacyField.bool("is_upgraded", in: json)
        isTrialPeriod = LegacyField.bool("is_trial_period", in: json)
        isInIntroOfferPeriod = LegacyField.bool("is_in_intro_offer_period", in: json)
        promotionalOfferID = LegacyField.text("promotional_offer_id", in: json)
        offerCodeRefName = LegacyField.text("offer_code_ref_name", in: json)
        webOrderLineItemID = LegacyField.text("web_order_line_item_id", in: json)
        subscriptionGroupIdentifier = LegacyField.text("subscription_group_identifier", in: json)
        appAccountToken = LegacyField.text("app_account_token", in: json)
        ownershipType = LegacyField.text("in_app_ownership_type", in: json)
            .map(AppStore.InAppOwnershipType.init)
        body = Array(json.rawBytes)
    }
}

extension AppStore.VerifiedReceipt.Renewal {
    init?(_ json: JSON) {
        guard let original = LegacyField.text("original_transaction_id", in: json) else {
            return nil
        }
        originalTransactionID = original
        productID = LegacyField.text("product_id", in: json)
        autoRenewProductID = LegacyField.text("auto_renew_product_id", in: json)
        willRenew = LegacyField.bool("auto_renew_status", in: json)
        expirationIntent = LegacyField.integer("expiration_intent", in: json)
            .flatMap { Int(exactly: $0) }
        isInBillingRetryPeriod = LegacyField.bool("is_in_billing_retry_period", in: json)
        gracePeriodExpiresDate = LegacyField.date("grace_period_expires_date", in: json)
        priceConsentStatus = LegacyField.integer("price_consent_status", in: json)
            .flatMap { Int(exactly: $0) }
        body = Array(json.rawBytes)
    }
}

/// Values of legacy answers: numbers, dates and truth values in strings, some also bare.
enum LegacyField {
    static func text(_ name: String, in json: JSON) -> String? {
        guard let field = json[named: name] else { return nil }
        let text = field.string ?? field.number
        return text?.isEmpty == false ? text : nil
    }

    static func integer(_ name: String, in json: JSON) -> Int64? {
        text(name, in: json).flatMap { Int64($0) }
    }

    static func bool(_ name: String, in json: JSON) -> Bool {
        if let bool = json[named: name]?.bool { return bool }
        let text = text(name, in: json)
        return text == "true" || text == "1"
    }

    /// `name_ms`, or in receipts of iOS 6 `name` itself in milliseconds.
    static func date(_ name: String, in json: JSON) -> Int64? {
        let date = integer(name + "_ms", in: json) ?? integer(name, in: json)
        return date.flatMap { Fields.dates.contains($0) ? $0 : nil }
    }

    /// The objects of an array, or the one object that stands in its place.
    static func objects(_ json: JSON?) -> [JSON] {
        guard let json else { return [] }
        switch json.kind {
        case .array: return json.elements.filter { $0.kind == .object }
        case .object: return [json]
        default: return []
        }
    }
}
