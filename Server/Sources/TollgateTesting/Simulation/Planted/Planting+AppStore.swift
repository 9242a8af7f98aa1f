import TollgateCore

extension Planting {
    static func alterOfAppStore(
        _ fact: Fact,
        _ bug: PlantedBug,
        _ memory: inout Memory
    ) -> [Fact] {
        var fact = fact
        switch fact.statement {
        case .period(let period): return alter(period, of: fact, bug, &memory)
        case .renewal(var terms):
            if bug == .graceIgnored { terms.graceEnd = nil }
            fact.statement = .renewal(terms)
        case .status(var status):
            if bug == .graceIgnored, status.value == SubscriptionStatus.billingGrace {
                status.value = SubscriptionStatus.billingRetry
            }
            if bug == .retryIsGrace, status.value == SubscriptionStatus.billingRetry {
                status.value = SubscriptionStatus.billingGrace
            }
            fact.statement = .status(status)
            let known = memory.statuses[fact.purchase]
            if known.map({ $0.stated < fact.stated }) ?? true {
                memory.statuses[fact.purchase] = Newest(
                    status,
                    stated: fact.stated,
                    source: fact.source
                )
            }
        case .refundReversed:
            if bug == .reversedRefundForgotten { return [] }
            guard bug == .reversalVoidsAllRefunds else { break }
            let void = memory.revocations[fact.purchase] ?? [:]
            return [fact]
                + void.values.sorted { $0.id < $1.id }.map { revoked in
                    var period = revoked
                    (period.revoked, period.revokedShare) = (nil, nil)
                    return fact.followed(by: .period(period))
                }
        default: break
        }
        return [fact]
    }

    private static func alter(
        _ period: Period,
        of fact: Fact,
        _ bug: PlantedBug,
        _ memory: inout Memory
    ) -> [Fact] {
        var fact = fact
        var period = alter(period, of: &fact, bug)
        var more: [Fact] = []
        switch bug {
        case .renewalIgnored:
            guard period.kind == .autoRenewable else { break }
            let first = memory.first[fact.purchase] ?? period.id
            memory.first[fact.purchase] = first
            if first != period.id { return [] }
        case .upgradeIgnored:
            guard period.kind == .autoRenewable else { break }
            let known = memory.ends[fact.purchase] ?? period.start
            if period.start < known, memory.first[fact.purchase] != period.id { return [] }
            if let end = period.end { memory.ends[fact.purchase] = max(known, end) }
            memory.first[fact.purchase] = period.id
        case .refundOfOldPeriodEndsAccess:
            guard period.revoked != nil, period.kind == .autoRenewable else { break }
            more = [
                fact.followed(by: .status(SubscriptionStatus(value: SubscriptionStatus.revoked)))
            ]
        case .reversedRefundForgotten:
            if let revoked = period.revoked { memory.revoked[period.id] = revoked }
            period.revoked = memory.revoked[period.id]
        case .reversalVoidsAllRefunds:
            if period.revoked != nil { memory.revocations[fact.purchase, default: [:]][period.id] = period }
        case .revokedStaysRevoked:
            let known = memory.statuses[fact.purchase]
            guard let known, known.value.value == SubscriptionStatus.revoked else { break }
            more = [fact.followed(by: .status(known.value))]
        case .statusOutlivesPlan:
            let known = memory.statuses[fact.purchase]
            guard let known, known.value.isFailed == false, known.stated.instant < period.start else {
                break
            }
            more = [fact.followed(by: .status(known.value))]
        case .creditedPerDelivery: period.id += "-\(memory.count)"
        default: break
        }
        fact.statement = .period(period)
        return [fact] + more
    }

    /// What takes no memory.
    private static func alter(_ period: Period, of fact: inout Fact, _ bug: PlantedBug) -> Period {
        var period = period
        let isOfReceipt = fact.source.hasPrefix("receipt:")
        switch bug {
        case .accessBeyondPaid: period.end = period.end?.advanced(by: 3 * 86_400_000)
        case .refundIgnored: period.revoked = nil
        case .partialRefundTakesAll: period.revokedShare = nil
        case .quantityIgnored: period.quantity = 1
        case .familyShareIsAPurchase: period.isFamilyShared = false
        case .tokenIgnored: period.token = nil
        case .receiptErases:
            if isOfReceipt { fact.source = "read:" + fact.source }
        case .receiptUpgradeIsRefund:
            guard isOfReceipt, period.isUpgraded else { break }
            (period.isUpgraded, period.revoked) = (false, fact.stated.instant)
        case .addedSeatsReplace: period.additionalReason = nil
        case .seatRefundTakesAll:
            if period.revokedSeats != nil { period.revoked = fact.stated.instant }
        case .seatPriceIsTotal:
            guard period.kind == .autoRenewable, period.quantity > 1 else { break }
            period.price = period.price.map { $0 / period.quantity }
        case .bundleIsNobodys: period.previous = nil
        case .bundleIsRefund: period.isSwitched = nil
        default: break
        }
        return period
    }
}
