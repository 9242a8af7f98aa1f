internal import TollgateCore

/// All that the App Store said under one original transaction id.
struct AppStoreEvidence: Sendable {
    private(set) var periods: [String: AppStorePeriod] = [:]
    private(set) var renewals: [AppStoreRenewal] = []
    private(set) var statuses: [AppStoreStatus] = []

    mutating func add(_ words: AppStoreWords) {
        if let transaction = words.transaction {
            periods[transaction.period, default: AppStorePeriod(transaction)]
                .join(transaction, reversed: words.reversed)
        }
        if let renewal = words.renewal { renewals.append(renewal) }
        if let status = words.status { statuses.append(status) }
    }
}

/// A period of a subscription, or a thing bought once, under all its transaction ids.
struct AppStorePeriod: Sendable {
    /// The newest signed statement; where nothing is signed, the newest entry of a receipt.
    private(set) var current: AppStoreTransaction
    private var legacy: AppStoreTransaction?
    /// Whether any statement said that another plan took its place.
    private(set) var isUpgraded = false
    private(set) var token: String?
    private var tokenSigned = Instant.distantPast
    /// When a refund was last taken back.
    private var reversed = Instant.distantPast

    init(_ transaction: AppStoreTransaction) { current = transaction }

    mutating func join(_ transaction: AppStoreTransaction, reversed: Instant?) {
        isUpgraded = isUpgraded || transaction.isUpgraded
        if let token = transaction.token, transaction.signed >= tokenSigned {
            (self.token, tokenSigned) = (token, transaction.signed)
        }
        if let reversed { self.reversed = max(self.reversed, reversed) }
        if transaction.isLegacy {
            if legacy.map({ $0.signed <= transaction.signed }) ?? true { legacy = transaction }
            if !current.isLegacy { return }
        }
        // Of two statements of one instant the one that takes back counts.
        let isNewer =
            transaction.signed > current.signed
            || (transaction.signed == current.signed && transaction.revoked != nil)
        if isNewer || (current.isLegacy && !transaction.isLegacy) { current = transaction }
    }

    /// The clock of the newest statement about it.
    var stated: Instant { max(current.signed, legacy?.signed ?? .distantPast) }

    private var newerReceipt: AppStoreTransaction? {
        legacy.flatMap { !current.isLegacy && $0.signed > current.signed ? $0 : nil }
    }

    /// When all of it was taken back, if that still counts.
    var revoked: Instant? {
        (current.revoked ?? newerReceipt?.revoked).flatMap { $0 > reversed ? $0 : nil }
    }

    func isRevoked(at instant: Instant) -> Bool { revoked.map { $0 <= instant } ?? false }

    /// Whether a newer receipt no longer shows a refund that was signed.
    var isContested: Bool {
        guard let newerReceipt, current.revoked != nil else { return false }
        return newerReceipt.revoked == nil && !newerReceipt.isUpgraded
    }

    var rows: [Int64] { [current.row] + (legacy.map { [$0.row] } ?? []) }
}
