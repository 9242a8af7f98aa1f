import Storage
import TollgateCore

extension PlantedBug {
    /// Those that only the histories of the App Store's can show, most of them where a customer is
    /// compared before all is heard.
    public static let ofAppStoreHistories: Set<PlantedBug> = [
        .reversalVoidsAllRefunds, .olderStatus5BeatsNewerTransaction, .shareGivenAnewForgotten,
        .statusOutlivesPlan, .receiptErasesSignedWords, .receiptEndsGrace,
        .upgradeInReceiptIsARefund,
        .restoreAsksOnlyFailures, .secondSeatReplacesFirst, .seatRefundIgnored,
        .seatPriceIsTheTotal,
        .previousTransactionForgotten, .bundleSwitchTakesCoins, .upgradeSuccessorNotAsked,
        .clockBehindDrops,
    ]
}

/// The memory that a planted mistake about the App Store's histories needs.
struct HistoryMemory {
    /// Periods that were ever refunded.
    var refunded: [Purchase.Key: Set<String>] = [:]
    var status: [Purchase.Key: SubscriptionStatus] = [:]
    /// Shares that were taken away.
    var lostShares: Set<Purchase.Key> = []
    /// Purchases about which no store is asked.
    var unasked: Set<Purchase.Key> = []
}

extension HistoryMemory {
    /// One message's facts as the bug makes them.
    mutating func alter(_ facts: [Fact], _ bug: PlantedBug) -> [Fact] {
        let states = facts.contains { if case .status = $0.statement { true } else { false } }
        return facts.flatMap { fact -> [Fact] in
            switch fact.statement {
            case .period(let period): alter(period, of: fact, statesStatus: states, bug)
            case .status(let status): alter(status, of: fact, bug)
            case .refundReversed(let period):
                bug == .reversalVoidsAllRefunds
                    ? void(refunded[fact.purchase, default: []], and: period, fact) : [fact]
            default: [fact]
            }
        }
    }

    private func void(_ periods: Set<String>, and named: String?, _ fact: Fact) -> [Fact] {
        let all = periods.union(named.map { [$0] } ?? [])
        return all.sorted().map { id in
            var reversal = fact
            reversal.statement = .refundReversed(period: id)
            return reversal
        }
    }

    private mutating func alter(
        _ status: SubscriptionStatus,
        of fact: Fact,
        _ bug: PlantedBug
    ) -> [Fact] {
        if bug == .shareGivenAnewForgotten, lostShares.contains(fact.purchase) { return [] }
        self.status[fact.purchase] = status
        var fact = fact
        if bug == .receiptEndsGrace, fact.source.hasPrefix("receipt:"), status.isFailed {
            fact.source = "signed:" + fact.source
        }
        return [fact]
    }

    private mutating func alter(
        _ stated: Period,
        of fact: Fact,
        statesStatus: Bool,
        _ bug: PlantedBug
    ) -> [Fact] {
        var (fact, period) = (fact, stated)
        let isOfReceipt = fact.source.hasPrefix("receipt:")
        var more: [Fact] = []
        switch bug {
        case .reversalVoidsAllRefunds:
            if period.revoked != nil { refunded[fact.purchase, default: []].insert(period.id) }
        case .olderStatus5BeatsNewerTransaction:
            if !statesStatus, status[fact.purchase]?.value == SubscriptionStatus.revoked {
                more = [restated(status[fact.purchase], after: fact)].compactMap(\.self)
            }
        case .statusOutlivesPlan:
            if !statesStatus, status[fact.purchase]?.isEntitling ?? false {
                more = [restated(status[fact.purchase], after: fact)].compactMap(\.self)
            }
        case .shareGivenAnewForgotten:
            guard period.isFamilyShared else { break }
            if lostShares.contains(fact.purchase) { return [] }
            if period.revoked != nil { lostShares.insert(fact.purchase) }
        case .receiptErasesSignedWords:
            if isOfReceipt { fact.source = "signed:" + fact.source }
        case .upgradeInReceiptIsARefund:
            guard isOfReceipt, period.isUpgraded else { break }
            period.isUpgraded = false
            period.revoked = period.revoked ?? fact.stated.instant
        case .secondSeatReplacesFirst: period.additionalReason = nil
        case .seatRefundIgnored: period.revokedSeats = nil
        case .seatPriceIsTheTotal:
            guard period.kind == .autoRenewable else { break }
            period.price = period.price.map { $0 / max(1, period.quantity) }
        case .previousTransactionForgotten: period.previous = nil
        case .bundleSwitchTakesCoins: period.isSwitched = nil
        case .upgradeSuccessorNotAsked:
            if !statesStatus, period.isUpgraded { unasked.insert(fact.purchase) }
        default: break
        }
        fact.statement = .period(period)
        return [fact] + more
    }

    /// An older status, as if it were said after a transaction was signed.
    private func restated(_ status: SubscriptionStatus?, after fact: Fact) -> Fact? {
        guard let status else { return nil }
        var again = fact
        again.stated = Stated(fact.stated.instant.advanced(by: 1), isRead: fact.stated.isRead)
        again.statement = .status(status)
        return again
    }
}
