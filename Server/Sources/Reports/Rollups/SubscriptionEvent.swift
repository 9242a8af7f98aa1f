package import TollgateCore

extension Reports {
    /// What happens to a subscription, in the words of Apple's SUBSCRIPTION_EVENT.
    public enum SubscriptionEvent: Int64, CaseIterable, Codable, Hashable, Sendable {
        case subscribe = 1
        case startIntroductoryOffer = 2
        case startPromotionalOffer = 3
        case startOfferCode = 4
        case startWinBackOffer = 5
        case paidSubscriptionFromIntroductoryOffer = 6
        case renew = 7
        case upgrade = 8
        case downgrade = 9
        case crossgrade = 10
        case reactivate = 11
        case cancel = 12
        case refund = 13

        /// As Apple writes it.
        public var name: String {
            switch self {
            case .subscribe: "Subscribe"
            case .startIntroductoryOffer: "Start Introductory Offer"
            case .startPromotionalOffer: "Start Promotional Offer"
            case .startOfferCode: "Start Offer Code"
            case .startWinBackOffer: "Start Win-Back Offer"
            case .paidSubscriptionFromIntroductoryOffer:
                "Paid Subscription from Introductory Offer"
            case .renew: "Renew"
            case .upgrade: "Upgrade"
            case .downgrade: "Downgrade"
            case .crossgrade: "Crossgrade"
            case .reactivate: "Reactivate"
            case .cancel: "Cancel"
            case .refund: "Refund"
            }
        }

        /// What a period is, by the one before it.
        init(_ period: PaidPeriod, after last: PaidPeriod?) {
            guard let last else {
                self = Self.beginning(of: period.offer)
                return
            }
            if period.start > last.effectiveEnd {
                self = .reactivate
            } else if period.product != last.product {
                let (before, now) = (last.monthlyValue, period.monthlyValue)
                self = now > before ? .upgrade : now < before ? .downgrade : .crossgrade
            } else if period.offer != last.offer, period.offer != .none,
                period.offer != .discount
            {
                self = Self.beginning(of: period.offer)
            } else if period.offer == .none,
                last.offer == .trial || last.offer == .introductory
            {
                self = .paidSubscriptionFromIntroductoryOffer
            } else {
                self = .renew
            }
        }

        private static func beginning(of offer: Offer) -> Self {
            switch offer {
            case .none, .discount: .subscribe
            case .trial, .introductory: .startIntroductoryOffer
            case .promotional: .startPromotionalOffer
            case .code: .startOfferCode
            case .winBack: .startWinBackOffer
            }
        }
    }
}

extension Reports.SubscriptionEvent {
    /// Something that happened to a subscription.
    package struct Noted {
        package var event: Reports.SubscriptionEvent
        /// The period that it is about.
        package var period: Reports.PaidPeriod
        /// The one before.
        package var last: Reports.PaidPeriod?
        package var at: Instant
    }

    /// All that happened to one purchase, period by period.
    ///
    /// - Parameter isReturn: whether it follows another of its customer's that had ended.
    package static func all(
        of periods: [Reports.PaidPeriod],
        isReturn: Bool = false
    ) -> [Noted] {
        let periods = periods.filter { !$0.isFamilyShared }
        let before = predecessors(of: periods)
        var continued: Set<Int> = []
        for (index, last) in before.enumerated() {
            guard let last else { continue }
            if periods[index].start <= periods[last].effectiveEnd { continued.insert(last) }
        }
        var noted: [Noted] = []
        for (index, period) in periods.enumerated() {
            let last = before[index].map { periods[$0] }
            // More seats of the same plan in the middle of a period are no renewal.
            let isMore =
                (period.isProration == true || period.isAddition == true)
                && last?.isContinued(by: period) == true
            if !isMore {
                var event = Self(period, after: last)
                if isReturn, event == .subscribe, period.start == periods.first?.start {
                    event = .reactivate
                }
                noted.append(Noted(event: event, period: period, last: last, at: period.start))
            }
            if let refunded = period.refunded {
                noted.append(Noted(event: .refund, period: period, last: last, at: refunded))
            }
            if !continued.contains(index) {
                noted.append(
                    Noted(event: .cancel, period: period, last: last, at: period.effectiveEnd)
                )
            }
        }
        return noted
    }

    /// For each period the one that it comes after.
    ///
    /// The App Store's periods follow one another. A subscription of Stripe's may have several
    /// items side by side, each with periods of its own: one comes after that of its own product
    /// which it goes on with, else after the last one that ended before it and that nothing else
    /// goes on with.
    private static func predecessors(of periods: [Reports.PaidPeriod]) -> [Int?] {
        guard periods.contains(where: { $0.store.lineOfPeriods == .manyItems }) else {
            return periods.indices.map { $0 == 0 ? nil : $0 - 1 }
        }
        var before = periods.indices.map { index in
            periods[..<index].lastIndex { $0.isContinued(by: periods[index]) }
        }
        var taken = Set(before.compactMap(\.self))
        for (index, period) in periods.enumerated() where before[index] == nil {
            let ended = periods[..<index].indices.filter {
                !taken.contains($0) && periods[$0].effectiveEnd <= period.start
            }
            before[index] = ended.max { left, right in
                periods[left].isEarlier(than: periods[right], for: period)
            }
            if let last = before[index] { taken.insert(last) }
        }
        return before
    }
}

extension Reports.PaidPeriod {
    /// Whether another goes on with the same product before this one is over.
    fileprivate func isContinued(by other: Reports.PaidPeriod) -> Bool {
        product == other.product && other.start <= effectiveEnd
    }

    /// Whether another is rather the one that a third comes after.
    fileprivate func isEarlier(
        than other: Reports.PaidPeriod,
        for next: Reports.PaidPeriod
    ) -> Bool {
        guard effectiveEnd == other.effectiveEnd else { return effectiveEnd < other.effectiveEnd }
        return product != next.product && other.product == next.product
    }
}
