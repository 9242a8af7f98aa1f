package import TollgateCore

/// A value that writes itself, without `Codable`'s containers.
///
/// The bytes are those of its `Codable` form: keys in the order of declaration, nothing for `nil`.
/// That is a tenth of ingest's work; what is rarely written falls back to `Codable`.
package protocol RecordWritable: Encodable {
    /// - Throws: what `Codable` throws, of values that fall back to it.
    func write(to record: inout RecordBytes) throws
}

extension RecordWritable {
    package func write(to record: inout RecordBytes) throws {
        record.add(encoded: try RecordEncoder.encodeCodable(self))
    }
}

extension RecordBytes {
    mutating func add(_ key: StaticString, _ value: Int64) {
        add(key)
        add(value)
    }

    mutating func add(_ key: StaticString, _ value: Bool) {
        add(key)
        add(value)
    }

    mutating func add(_ key: StaticString, _ value: String) {
        add(key)
        add(value)
    }

    mutating func add(_ key: StaticString, _ value: Instant) {
        add(key)
        add(value.milliseconds)
    }

    mutating func add(_ key: StaticString, _ value: Int64?) {
        if let value { add(key, value) }
    }

    mutating func add(_ key: StaticString, _ value: String?) {
        if let value { add(key, value) }
    }

    mutating func add(_ key: StaticString, _ value: Instant?) {
        if let value { add(key, value) }
    }

    mutating func add(_ key: StaticString, _ value: some RecordWritable) throws {
        add(key)
        try value.write(to: &self)
    }

    mutating func add(_ key: StaticString, _ value: (some RecordWritable)?) throws {
        if let value { try add(key, value) }
    }

    mutating func add(_ key: StaticString, _ values: [some RecordWritable]) throws {
        add(key)
        openList()
        for value in values { try value.write(to: &self) }
        close()
    }

    mutating func add(_ key: StaticString, _ values: [some RecordWritable]?) throws {
        if let values { try add(key, values) }
    }
}

// MARK: - The record

extension Purchase: RecordWritable {
    package func write(to record: inout RecordBytes) throws {
        record.openMap()
        record.add("key", key.canonical)
        try record.add("claims", claims)
        try record.add("assignment", assignment)
        switch self.record {
        case .appStore(let own): try record.add("appStore", own)
        case .stripe(let own): try record.add("stripe", own)
        case .googlePlay(let own): try record.add("googlePlay", own)
        case .own(let own): try record.add("own", own)
        }
        record.close()
    }
}

extension AppStoreRecord: RecordWritable {
    package func write(to record: inout RecordBytes) throws {
        record.openMap()
        try record.add("periods", periods)
        try record.add("signedRenewal", signedRenewal)
        try record.add("signedStatus", signedStatus)
        try record.add("receiptRenewal", receiptRenewal)
        try record.add("receiptStatus", receiptStatus)
        try record.add("reversals", reversals)
        try record.add("predecessors", predecessors)
        try record.add("successors", successors)
        try record.add("freeSubscription", freeSubscription?.reports)
        try record.add("failures", failures)
        record.close()
    }
}

extension StripeRecord: RecordWritable {
    package func write(to record: inout RecordBytes) throws {
        record.openMap()
        try record.add("subscription", subscription)
        record.add("isSubscriptionContested", isSubscriptionContested)
        try record.add("lastActive", lastActive)
        try record.add("payment", payment)
        try record.add("buyer", buyer)
        try record.add("invoices", invoices)
        try record.add("refunds", refunds)
        try record.add("disputes", disputes)
        try record.add("contested", contested)
        try record.add("failures", failures)
        record.close()
    }
}

extension OwnRecord: RecordWritable {
    package func write(to record: inout RecordBytes) throws {
        record.openMap()
        try record.add("grant", grant)
        try record.add("coins", coins)
        try record.add("freeSubscription", freeSubscription?.reports)
        record.close()
    }
}

extension Newest: RecordWritable where Value: RecordWritable {
    package func write(to record: inout RecordBytes) throws {
        record.openMap()
        try record.add("value", value)
        try record.add("stated", stated)
        record.add("source", source)
        record.close()
    }
}

extension PeriodRecord: RecordWritable {
    package func write(to record: inout RecordBytes) throws {
        record.openMap()
        try record.add("newest", newest)
        record.add("upgradedBy", upgradedBy)
        try record.add("revocation", revocation)
        try record.add("seatStatements", seatStatements)
        try record.add("receipt", receipt)
        record.add("chargedAhead", chargedAhead)
        record.close()
    }
}

extension SeatStatement: RecordWritable {
    package func write(to record: inout RecordBytes) throws {
        record.openMap()
        record.add("seats", seats)
        record.add("first", first)
        record.add("last", last)
        record.close()
    }
}

extension StatedRevocation: RecordWritable {
    package func write(to record: inout RecordBytes) throws {
        record.openMap()
        record.add("date", date)
        try record.add("stated", stated)
        record.add("source", source)
        record.close()
    }
}

extension Predecessor: RecordWritable {}
extension Successor: RecordWritable {}

extension ClaimRecord: RecordWritable {
    package func write(to record: inout RecordBytes) throws {
        record.openMap()
        record.add("customer", customer.rawValue)
        record.add("earliest", earliest)
        record.add("latestRestore", latestRestore)
        record.add("observed", observed)
        record.close()
    }
}

// MARK: - Facts

extension Fact: RecordWritable {
    package func write(to record: inout RecordBytes) throws {
        record.openMap()
        record.add("purchase", purchase.canonical)
        record.add("source", source)
        try record.add("stated", stated)
        try record.add("statement", statement)
        record.close()
    }
}

extension Stated: RecordWritable {
    package func write(to record: inout RecordBytes) {
        record.openMap()
        record.add("instant", instant)
        record.add("isRead", isRead)
        record.close()
    }
}

extension Statement: RecordWritable {
    package func write(to record: inout RecordBytes) throws {
        switch self {
        case .period(let period): try record.add(case: "period", period)
        case .renewal(let terms): try record.add(case: "renewal", terms)
        case .status(let status): try record.add(case: "status", status)
        case .claim(let claim): try record.add(case: "claim", claim)
        case .googlePlaySubscription(let read):
            try record.add(case: "googlePlaySubscription", read)
        case .refundReversed, .subscription, .payment, .invoice, .refund, .dispute, .buyer,
            .assignment, .grant, .freeSubscription, .coins, .googlePlayPurchase,
            .googlePlayOrder, .googlePlayVoid, .googlePlayUnreadable:
            record.add(encoded: try RecordEncoder.encodeCodable(self))
        }
    }
}

extension RecordBytes {
    /// A case with one value, as `Codable` writes it.
    fileprivate mutating func add(case name: StaticString, _ value: some RecordWritable) throws {
        openMap()
        add(name)
        openMap()
        try add("_0", value)
        close()
        close()
    }
}

extension Period: RecordWritable {
    package func write(to record: inout RecordBytes) {
        record.openMap()
        record.add("id", id)
        record.add("transactionID", transactionID)
        record.add("product", product)
        record.add("kind", kind.rawValue)
        record.add("start", start)
        record.add("end", end)
        record.add("revoked", revoked)
        record.add("revokedShare", revokedShare)
        record.add("isUpgraded", isUpgraded)
        record.add("quantity", quantity)
        record.add("token", token)
        record.add("isFamilyShared", isFamilyShared)
        record.add("price", price)
        record.add("currency", currency)
        record.add("offerType", offerType)
        record.add("discount", discount)
        record.add("offer", offer)
        record.add("storefront", storefront)
        record.add("previous", previous)
        record.add("additionalReason", additionalReason)
        record.add("revokedSeats", revokedSeats)
        if let isSwitched { record.add("isSwitched", isSwitched) }
        if let installment {
            record.add("installment")
            record.openMap()
            record.add("number", installment.number)
            record.add("total", installment.total)
            record.close()
        }
        record.close()
    }
}

extension RenewalTerms: RecordWritable {
    package func write(to record: inout RecordBytes) {
        record.openMap()
        record.add("willRenew", willRenew)
        record.add("nextProduct", nextProduct)
        record.add("graceEnd", graceEnd)
        record.add("awaitsConsent", awaitsConsent)
        record.add("isInBillingRetry", isInBillingRetry)
        record.add("expirationIntent", expirationIntent)
        record.add("renewalDate", renewalDate)
        record.add("price", price)
        record.add("currency", currency)
        record.close()
    }
}

extension SubscriptionStatus: RecordWritable {
    package func write(to record: inout RecordBytes) {
        record.openMap()
        record.add("value", value)
        record.add("reachesTo", reachesTo)
        record.close()
    }
}

extension Claim: RecordWritable {
    package func write(to record: inout RecordBytes) {
        record.openMap()
        record.add("customer", customer.rawValue)
        record.add("mode", mode.rawValue)
        record.close()
    }
}

extension Bool: RecordWritable {
    package func write(to record: inout RecordBytes) { record.add(self) }
}

extension String: RecordWritable {
    package func write(to record: inout RecordBytes) { record.add(self) }
}

extension StripeSubscription: RecordWritable {}
extension StripeInvoice: RecordWritable {}
extension StripeRefund: RecordWritable {}
extension StripeDispute: RecordWritable {}
extension StripeBuyer: RecordWritable {}
extension PaymentRecord: RecordWritable {}
extension BillingFailures: RecordWritable {}
extension Assignment: RecordWritable {}
extension StaffGrant: RecordWritable {}
extension FreeSubscription: RecordWritable {}
extension StaffCoins: RecordWritable {}

// MARK: - What is beside the record

extension JournalContent: RecordWritable {
    func write(to record: inout RecordBytes) throws {
        guard case .facts(let facts) = self else {
            return record.add(encoded: try RecordEncoder.encodeCodable(self))
        }
        record.openMap()
        record.add("facts")
        record.openMap()
        try record.add("_0", facts)
        record.close()
        record.close()
    }
}

extension RowKey: RecordWritable {
    package func write(to record: inout RecordBytes) { record.add(hex) }
}

extension Posting: RecordWritable {
    func write(to record: inout RecordBytes) throws {
        record.openMap()
        try record.add("rows", rows)
        try record.add("index", index)
        try record.add("lots", lots)
        record.close()
    }
}

extension Posting.Lot: RecordWritable {}

extension FeedMessage.Body: RecordWritable {
    func write(to record: inout RecordBytes) throws {
        record.openMap()
        try record.add("entitlements", entitlements)
        record.add("balance", balance)
        if let purchases { try record.add("purchases", purchases) }
        record.close()
    }
}

extension FeedMessage.PurchaseNews: RecordWritable {
    package func write(to record: inout RecordBytes) throws {
        record.openMap()
        record.add("purchase", purchase.canonical)
        try record.add("facts", facts)
        record.close()
    }
}

extension FeedMessage.Entitlement: RecordWritable {
    package func write(to record: inout RecordBytes) {
        record.openMap()
        record.add("lookupKey", lookupKey)
        record.add("since", since)
        record.add("until", until)
        record.add("ground", ground.rawValue)
        record.add("purchase", purchase.canonical)
        record.close()
    }
}
