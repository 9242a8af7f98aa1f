internal import TollgateCore

/// All that the App Store said under one original transaction id.
struct AppStoreEvidence: Sendable {
    private(set) var periods: [String: AppStorePeriod] = [:]
    private(set) var renewals: [AppStoreRenewal] = []
    private(set) var statuses: [AppStoreStatus] = []

    mutating func add(_ words: AppStoreWords) {
        if let transaction = words.transaction {
            periods[transaction.period, default: AppStorePeriod(current: transaction)]
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
    /// A refund that a receipt tells of.
    private var listed: (revoked: Instant, stated: Instant)?
    /// Whether any statement said that another plan took its place.
    private(set) var isUpgraded = false
    private(set) var token: String?
    private var tokenSigned = Instant.distantPast
    /// When a refund was last taken back.
    private var reversed = Instant.distantPast

    init(current: AppStoreTransaction) { self.current = current }

    mutating func join(_ transaction: AppStoreTransaction, reversed: Instant?) {
        isUpgraded = isUpgraded || transaction.isUpgraded
        if let token = transaction.token, transaction.signed >= tokenSigned {
            (self.token, tokenSigned) = (token, transaction.signed)
        }
        self.reversed = max(self.reversed, reversed ?? .distantPast)
        // A receipt says less than what is signed, and takes nothing back.
        if transaction.isLegacy, !current.isLegacy {
            if let revoked = transaction.revoked { listed = (revoked, transaction.signed) }
            return
        }
        // Of two statements of one instant the one that takes back counts.
        let isNewer =
            transaction.signed > current.signed
            || (transaction.signed == current.signed && transaction.revoked != nil)
        guard isNewer || transaction.isLegacy != current.isLegacy else { return }
        if current.isLegacy, let revoked = current.revoked { listed = (revoked, current.signed) }
        current = transaction
    }

    /// When all of it was taken back, if that still counts.
    var revoked: Instant? {
        let later = listed.flatMap { $0.stated > current.signed ? $0.revoked : nil }
        return (current.revoked ?? later).flatMap { $0 > reversed ? $0 : nil }
    }

    func isRevoked(at instant: Instant) -> Bool { revoked.map { $0 <= instant } ?? false }
}
