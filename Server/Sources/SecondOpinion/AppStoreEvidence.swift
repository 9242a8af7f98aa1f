internal import Storage
internal import StrictJSON
internal import TollgateCore

/// All that the App Store said under one original transaction id.
struct AppStoreEvidence: Sendable {
    private(set) var periods: [String: AppStorePeriod] = [:]
    private(set) var terms: [AppStoreTerms] = []
    /// The purchase that it continues, by its original transaction id, and since when.
    private(set) var former: [(id: String, since: Instant)] = []

    mutating func add(_ words: AppStoreWords) {
        if let transaction = words.transaction {
            if let id = transaction.former { former.append((id, transaction.purchased)) }
            periods[transaction.period, default: AppStorePeriod(current: transaction)]
                .join(transaction, reversed: words.reversed)
        }
        if let terms = words.terms { self.terms.append(terms) }
    }
}

/// A period of a subscription, or a thing bought once, under all its transaction ids.
struct AppStorePeriod: Sendable {
    /// The newest signed statement; where nothing is signed, the newest entry of a receipt.
    private(set) var current: AppStoreTransaction
    private var listed: AppStoreTransaction?
    private(set) var isUpgraded = false
    private(set) var token: String?
    private var (tokenSigned, reversed) = (Instant.distantPast, Instant.distantPast)

    init(current: AppStoreTransaction) { self.current = current }

    mutating func join(_ new: AppStoreTransaction, reversed: Instant?) {
        isUpgraded = isUpgraded || new.isUpgraded
        if let token = new.token, new.signed >= tokenSigned {
            (self.token, tokenSigned) = (token, new.signed)
        }
        self.reversed = max(self.reversed, reversed ?? .distantPast)
        if new.isLegacy, listed.map(new.isNewer) ?? true { listed = new }
        // A receipt says less than what is signed, and takes nothing back.
        let isFirmer = current.isLegacy && !new.isLegacy
        if isFirmer || (current.isLegacy == new.isLegacy && new.isNewer(than: current)) {
            current = new
        }
    }

    var start: Instant { current.purchased }

    /// When all of it was taken back, if that still counts.
    var revoked: Instant? {
        let later = listed.flatMap { $0.signed > current.signed ? $0.revoked : nil }
        return (current.revoked ?? later).flatMap { $0 > reversed ? $0 : nil }
    }

    func isRevoked(at instant: Instant) -> Bool { revoked.map { $0 <= instant } ?? false }
}

/// A transaction, as the App Store signed it or a legacy receipt lists it
/// (https://developer.apple.com/documentation/appstoreserverapi/jwstransactiondecodedpayload).
struct AppStoreTransaction: Sendable {
    private let json: JSON
    let id, product: String
    let purchased: Instant
    let expires: Instant?
    /// The clock of the statement.
    let signed: Instant
    let row: Int64

    init?(_ json: JSON, stated: Instant, row: Int64) {
        guard let id = json.text("transactionId", "transaction_id"),
            let product = json.text("productId", "product_id"),
            let purchased = json.date("purchaseDate", "purchase_date")
        else { return nil }
        (self.json, self.id, self.product, self.purchased) = (json, id, product, purchased)
        expires = json.date("expiresDate", "expires_date")
        (signed, self.row) = (json.date("signedDate") ?? stated, row)
    }

    /// Whether a receipt lists it: it says less, and takes nothing back.
    var isLegacy: Bool { json["transactionId"] == nil }
    var isUpgraded: Bool {
        json["isUpgraded"]?.bool ?? json["is_upgraded"]?.isString("true") ?? false
    }
    var token: String? { json.text("appAccountToken", "app_account_token")?.lowercased() }
    /// The original transaction id that it continues.
    var former: String? { json["previousOriginalTransactionId"]?.string }
    /// Whether it stands beside another one of its period (seats).
    var isAdditional: Bool { json["additionalTransactionReason"] != nil }

    /// What keeps one period apart from others; a restore makes new ids for the same one.
    var period: String {
        isAdditional ? id : json.text("webOrderLineItemId", "web_order_line_item_id") ?? id
    }

    /// In a receipt the date of an upgraded plan says when it was upgraded.
    var revoked: Instant? {
        isLegacy && isUpgraded ? nil : json.date("revocationDate", "cancellation_date")
    }

    /// `app_store/production/com.example.app/2000000001`; receipts do not say.
    var purchase: String? {
        let place = json["environment"]?.string?.lowercased()
        guard let place, let app = json["bundleId"]?.string else { return nil }
        return "app_store/\(place)/\(app)/\(json["originalTransactionId"]?.string ?? id)"
    }

    /// Of two statements of one instant the one that takes back counts.
    func isNewer(than other: AppStoreTransaction) -> Bool {
        signed > other.signed || (signed == other.signed && revoked != nil)
    }
}

/// How a subscription stands and goes on (…/appstoreserverapi/jwsrenewalinfodecodedpayload).
struct AppStoreTerms: Sendable {
    let json: JSON?
    /// 1 active, 2 expired, 3 billing retry, 4 grace, 5 revoked (…/appstoreserverapi/status).
    let status: Int64?
    let stated: Instant
    let row: Int64

    var willRenew: Bool? { json?.text("autoRenewStatus", "auto_renew_status").map { $0 == "1" } }
    var graceEnd: Instant? { json?.date("gracePeriodExpiresDate", "grace_period_expires_date") }
    var renewalDate: Instant? { json?.date("renewalDate") }
}

/// What one message or answer of the App Store says.
struct AppStoreWords: Sendable {
    private(set) var transaction: AppStoreTransaction?
    private(set) var terms: AppStoreTerms?
    /// When a refund was taken back, if that is what it says.
    private(set) var reversed: Instant?
    private(set) var messageID: String?

    /// Reads a notification, a transaction, an entry of a status response or of a receipt.
    init(_ json: JSON, stated: Instant, row: Int64) {
        if let payload = json.signed("signedPayload") {
            if let data = payload["data"] { read(data, stated: payload.date("signedDate"), row) }
            let isReversal = payload["notificationType"]?.isString("REFUND_REVERSED") ?? false
            if isReversal { reversed = transaction?.signed }
            messageID = payload["notificationUUID"]?.string
        } else if json["signedTransactionInfo"] != nil {
            read(json, stated: nil, row)
        } else if json["auto_renew_status"] != nil {
            terms = AppStoreTerms(json: json, status: nil, stated: stated, row: row)
        } else {
            transaction = AppStoreTransaction(json, stated: stated, row: row)
        }
        messageID = messageID ?? transaction?.id
    }

    private mutating func read(_ data: JSON, stated: Instant?, _ row: Int64) {
        transaction = data.signed("signedTransactionInfo")
            .flatMap { AppStoreTransaction($0, stated: .distantPast, row: row) }
        let renewal = data.signed("signedRenewalInfo")
        // What is signed inside does not move when the payload is signed anew for another attempt.
        let clock = renewal?.date("signedDate") ?? stated ?? transaction?.signed
        let status = data["status"]?.int64
        guard let clock, renewal != nil || status != nil else { return }
        terms = AppStoreTerms(json: renewal, status: status, stated: clock, row: row)
    }
}

extension JSON {
    init?(signed text: [UInt8]) {
        guard let payload = EvidenceRow.payload(ofSigned: text) else { return nil }
        try? self.init(payload)
    }

    fileprivate func signed(_ name: StaticString) -> JSON? {
        self[name]?.utf8.flatMap(JSON.init(signed:))
    }

    /// A string, or a number as it is written: legacy receipts have both.
    private var text: String? { (string ?? number).flatMap { $0.isEmpty ? nil : $0 } }
    /// A number, or a text that is one.
    var integer: Int64? { int64 ?? text.flatMap { Int64($0) } }

    /// What it is called in signed data, or in receipts.
    fileprivate func text(_ name: StaticString, _ legacy: StaticString) -> String? {
        (self[name] ?? self[legacy])?.text
    }

    func date(_ name: StaticString, _ legacy: String? = nil) -> Instant? {
        let old = legacy.flatMap { self[named: $0 + "_ms"]?.integer ?? self[named: $0]?.integer }
        return (self[name]?.integer ?? old).map { Instant(milliseconds: $0) }
    }
}
