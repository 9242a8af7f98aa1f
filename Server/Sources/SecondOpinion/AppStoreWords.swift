internal import Storage
internal import StrictJSON
internal import TollgateCore

/// A transaction, as the App Store signed it or a legacy receipt lists it.
///
/// https://developer.apple.com/documentation/appstoreserverapi/jwstransactiondecodedpayload
struct AppStoreTransaction: Sendable {
    var id: String
    /// What keeps one period apart from others; a restore makes new ids for the same one.
    var period: String
    var product: String
    var purchased: Instant
    var expires: Instant?
    /// The clock of the statement.
    var signed: Instant
    var revoked: Instant?
    var isUpgraded: Bool
    var token: String?
    /// Whether it stands beside another one of its period (seats).
    var isAdditional: Bool
    /// `app_store/production/com.example.app/2000000001`, what it replaced, and the app; receipts do
    /// not say.
    var (purchase, replaced, application): (String?, String?, String?) = (nil, nil, nil)
    /// Whether a receipt lists it: it says less, and takes nothing back.
    var isLegacy: Bool
    var row: Int64

    init?(_ json: JSON, stated: Instant, row: Int64) {
        guard let id = json.text("transactionId", "transaction_id"),
            let product = json.text("productId", "product_id"),
            let purchased = json.date("purchaseDate", "purchase_date")
        else { return nil }
        (self.id, self.product, self.purchased, self.row) = (id, product, purchased, row)
        isAdditional = json["additionalTransactionReason"] != nil
        let lineItem = json.text("webOrderLineItemId", "web_order_line_item_id")
        period = isAdditional ? id : lineItem ?? id
        expires = json.date("expiresDate", "expires_date")
        signed = json.date("signedDate") ?? stated
        isUpgraded = json["isUpgraded"]?.bool ?? (json["is_upgraded"]?.text == "true")
        token = json.text("appAccountToken", "app_account_token")?.lowercased()
        isLegacy = json["transactionId"] == nil
        // In a receipt the date of an upgraded plan says when it was upgraded.
        revoked = isLegacy && isUpgraded ? nil : json.date("revocationDate", "cancellation_date")
        if let bundle = json["bundleId"]?.string, let environment = json["environment"]?.string {
            let place = "app_store/\(environment.lowercased())/\(bundle)/"
            let original = json["originalTransactionId"]?.string ?? id
            (purchase, application) = (place + original, bundle)
            replaced = json["previousOriginalTransactionId"]?.string.map { place + $0 }
        }
    }

    /// Of two statements of one instant the one that takes back counts.
    func isNewer(than other: AppStoreTransaction) -> Bool {
        signed > other.signed || (signed == other.signed && revoked != nil)
    }
}

/// How a subscription stands and goes on.
///
/// https://developer.apple.com/documentation/appstoreserverapi/jwsrenewalinfodecodedpayload
struct AppStoreTerms: Sendable {
    var stated: Instant
    /// 1 active, 2 expired, 3 billing retry, 4 grace, 5 revoked.
    ///
    /// https://developer.apple.com/documentation/appstoreserverapi/status
    var status: Int64?
    var willRenew: Bool?
    var graceEnd: Instant?
    var renewalDate: Instant?
    var row: Int64

    init(_ json: JSON?, status: Int64? = nil, stated: Instant, row: Int64) {
        (self.status, self.stated, self.row) = (status, stated, row)
        willRenew = json?.text("autoRenewStatus", "auto_renew_status").map { $0 == "1" }
        graceEnd = json?.date("gracePeriodExpiresDate", "grace_period_expires_date")
        renewalDate = json?.date("renewalDate")
    }
}

/// What one message or answer of the App Store says.
struct AppStoreWords: Sendable {
    private(set) var transaction: AppStoreTransaction?
    private(set) var terms: AppStoreTerms?
    /// When a refund was taken back, if that is what it says.
    private(set) var reversed: Instant?
    /// A notification's UUID, else the transaction's id.
    private(set) var messageID: String?

    /// Reads a notification, a transaction, an entry of a status response or of a receipt.
    ///
    /// - Parameter stated: the clock of what bears none.
    init(_ json: JSON, stated: Instant, row: Int64) {
        if let payload = json.signed("signedPayload") {
            if let data = payload["data"] { read(data, stated: payload.date("signedDate"), row) }
            let isReversal = payload["notificationType"]?.isString("REFUND_REVERSED") ?? false
            if isReversal { reversed = transaction?.signed }
            messageID = payload["notificationUUID"]?.string
        } else if json["signedTransactionInfo"] != nil {
            read(json, stated: nil, row)
        } else if json["auto_renew_status"] != nil {
            terms = AppStoreTerms(json, stated: stated, row: row)
        } else {
            transaction = AppStoreTransaction(json, stated: stated, row: row)
        }
        messageID = messageID ?? transaction?.id
    }

    private mutating func read(_ data: JSON, stated: Instant?, _ row: Int64) {
        transaction = data.signed("signedTransactionInfo")
            .flatMap { AppStoreTransaction($0, stated: .distantPast, row: row) }
        let renewal = data.signed("signedRenewalInfo")
        // As of the payload's clock, says Apple; what is signed inside does not move when the
        // payload is signed anew for another attempt.
        let clock = renewal?.date("signedDate") ?? stated ?? transaction?.signed
        let status = data["status"]?.int64
        guard let clock, renewal != nil || status != nil else { return }
        terms = AppStoreTerms(renewal, status: status, stated: clock, row: row)
    }
}

extension JSON {
    /// What a signed string says.
    init?(signed text: [UInt8]) {
        guard let payload = EvidenceRow.payload(ofSigned: text) else { return nil }
        try? self.init(payload)
    }

    /// What a member says that is a signed string.
    fileprivate func signed(_ name: StaticString) -> JSON? {
        self[name]?.utf8.flatMap { JSON(signed: $0) }
    }

    /// A string, or a number as it is written: legacy receipts have both.
    fileprivate var text: String? { (string ?? number).flatMap { $0.isEmpty ? nil : $0 } }

    /// What it is called in signed data, or in receipts.
    fileprivate func text(_ name: StaticString, _ legacy: StaticString) -> String? {
        (self[name] ?? self[legacy])?.text
    }

    fileprivate func date(_ name: StaticString, _ legacy: String? = nil) -> Instant? {
        if let milliseconds = self[name]?.int64 { return Instant(milliseconds: milliseconds) }
        let text = legacy.flatMap { self[named: $0 + "_ms"]?.text ?? self[named: $0]?.text }
        return text.flatMap { Int64($0) }.map { Instant(milliseconds: $0) }
    }
}
