internal import TollgateCore

/// All that the App Store said under one original transaction id.
struct AppStoreEvidence: Sendable {
    private(set) var periods: [String: AppStorePeriod] = [:]
    private(set) var terms: [AppStoreTerms] = []

    mutating func add(_ words: AppStoreWords) {
        if let transaction = words.transaction {
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
    /// The newest entry of a receipt beside it.
    private var listed: AppStoreTransaction?
    /// Whether any statement said that another plan took its place.
    private(set) var isUpgraded = false
    private(set) var token: String?
    private var tokenSigned = Instant.distantPast
    /// When a refund was last taken back.
    private var reversed = Instant.distantPast

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

    /// When all of it was taken back, if that still counts.
    var revoked: Instant? {
        let later = listed.flatMap { $0.signed > current.signed ? $0.revoked : nil }
        return (current.revoked ?? later).flatMap { $0 > reversed ? $0 : nil }
    }

    func isRevoked(at instant: Instant) -> Bool { revoked.map { $0 <= instant } ?? false }
}
