internal import TollgateCore

extension Reports.PurchaseRows {
    /// What these rows add to the sums of their days.
    public var entries: Reports.Entries {
        var entries = Reports.Entries()
        var payments: Set<String> = []
        for sale in sales where !sale.isFamilyShared {
            let isFirst = sale.payment.map {
                sale.kind != .charge || sale.amount == 0 || payments.insert($0).inserted
            }
            entries.add(sale, isFirstOfPayment: isFirst ?? true)
        }
        for move in coins { entries.add(move) }
        entries.addMovements(of: periods)
        entries.addStates(of: periods)
        entries.addTrials(of: periods)
        entries.addRetention(of: periods)
        entries.addEvents(of: periods)
        return entries
    }
}

extension Reports.EntryKey {
    init(_ measure: Reports.Measure, _ sale: Reports.Sale, at day: Reports.Day) {
        self.init(
            environment: sale.environment,
            measure: measure,
            day: day,
            store: sale.store.rawValue,
            product: sale.product,
            country: sale.country,
            currency: sale.currency,
            offer: sale.offer.rawValue,
            app: sale.app ?? ""
        )
    }

    init(_ measure: Reports.Measure, _ period: Reports.PaidPeriod, at day: Reports.Day) {
        self.init(
            environment: period.environment,
            measure: measure,
            day: day,
            store: period.store.rawValue,
            product: period.product,
            country: period.country,
            currency: period.currency,
            offer: period.offer.rawValue,
            app: period.app ?? ""
        )
    }
}

extension Reports.Entries {
    fileprivate mutating func add(_ sale: Reports.Sale, isFirstOfPayment: Bool) {
        var key = Reports.EntryKey(.charge, sale, at: sale.day)
        key.detail = sale.isAfterOneYear ? 1 : 0
        key.extra = isFirstOfPayment ? 0 : 1
        switch sale.kind {
        case .charge:
            add(
                key,
                Reports.Sum(
                    items: sale.amount > 0 ? 1 : 0,
                    units: sale.quantity,
                    amount: sale.amount
                )
            )
        case .refund, .chargeback:
            let sum = Reports.Sum(
                items: sale.isFirstRefund && sale.amount > 0 ? 1 : 0,
                units: sale.isFirstRefund ? sale.quantity : 0,
                amount: sale.amount
            )
            key.measure = .refund
            key.extra = sale.kind == .chargeback ? 1 : 0
            add(key, sum)
            key.measure = .refundByPurchase
            key.day = Reports.Day(sale.purchased)
            add(key, sum)
        }
        addStatedProceeds(of: sale, isFirstOfPayment: isFirstOfPayment)
    }

    private mutating func addStatedProceeds(of sale: Reports.Sale, isFirstOfPayment: Bool) {
        guard let proceeds = sale.proceeds else { return }
        let isBack = sale.kind != .charge
        var key = Reports.EntryKey(.statedProceeds, sale, at: sale.day)
        key.detail = sale.isAfterOneYear ? 1 : 0
        key.extra = isBack ? 1 : 0
        let items: Int64 = !isBack && isFirstOfPayment && sale.amount > 0 ? 1 : 0
        add(key, Reports.Sum(items: items, units: sale.amount, amount: proceeds))
    }

    fileprivate mutating func add(_ move: Reports.CoinMove) {
        let measure: Reports.Measure =
            switch move.kind {
            case .sold: .coinsSold
            case .refunded: .coinsRefunded
            case .spent: .coinsSpent
            }
        add(
            Reports.EntryKey(
                environment: move.environment,
                measure: measure,
                day: Reports.Day(move.at),
                store: move.store?.rawValue ?? "",
                product: move.product,
                country: move.country,
                currency: "",
                offer: "",
                app: move.app ?? ""
            ),
            Reports.Sum(items: 1, units: move.coins)
        )
    }

    /// Numbers of an interval: one more from the day in which it begins, one less from the day in
    /// which it ends; what does not reach a day's end counts nowhere.
    private mutating func add(
        _ measure: Reports.Measure,
        _ period: Reports.PaidPeriod,
        from start: Instant,
        to end: Instant?
    ) {
        let first = Reports.Day(start)
        let last = end.map { Reports.Day($0) }
        if let last, last <= first { return }
        add(Reports.EntryKey(measure, period, at: first), Reports.Sum(items: 1))
        if let last {
            add(Reports.EntryKey(measure, period, at: last), Reports.Sum(items: -1))
        }
    }

    fileprivate mutating func addStates(of periods: [Reports.PaidPeriod]) {
        for period in periods where !period.isFamilyShared {
            if period.offer == .trial {
                add(.trials, period, from: period.start, to: period.effectiveEnd)
            } else if period.isGranted {
                add(.granted, period, from: period.start, to: period.effectiveEnd)
            }
            for grace in period.graces where grace.lowerBound < grace.upperBound {
                add(.grace, period, from: grace.lowerBound, to: grace.upperBound)
            }
            if let since = period.retriedSince {
                add(.retry, period, from: max(since, period.effectiveEnd), to: nil)
            }
        }
    }

    /// A trial became paid if the period after it was paid for and not given back.
    ///
    /// A product that ran beside it, as a base plan beside an add-on, is no continuation.
    fileprivate mutating func addTrials(of periods: [Reports.PaidPeriod]) {
        for (index, trial) in periods.enumerated()
        where trial.offer == .trial && !trial.isFamilyShared {
            let day = Reports.Day(trial.start)
            add(Reports.EntryKey(.trialStarted, trial, at: day), Reports.Sum(items: 1))
            let beside = Set(periods.filter { $0.runs(beside: trial) }.map(\.storeProduct))
            let paid = periods.dropFirst(index + 1).first {
                ($0.isPaid || $0.refunded != nil) && !beside.contains($0.storeProduct)
            }
            if let paid, paid.refunded == nil {
                add(Reports.EntryKey(.trialConverted, trial, at: day), Reports.Sum(items: 1))
            } else {
                var key = Reports.EntryKey(.trialUnconverted, trial, at: day)
                // Given back after it was paid for: nothing of it is pending.
                key.detail =
                    paid == nil ? Reports.Day(trial.effectiveEnd).number : day.number - 1
                add(key, Reports.Sum(items: 1))
            }
        }
    }

    /// - Parameter isReturn: whether the purchase follows another of its customer's that had ended.
    mutating func addEvents(of periods: [Reports.PaidPeriod], isReturn: Bool = false) {
        for noted in Reports.SubscriptionEvent.all(of: periods, isReturn: isReturn) {
            var key = Reports.EntryKey(.event, noted.period, at: Reports.Day(noted.at))
            key.detail = noted.event.rawValue
            add(key, Reports.Sum(items: 1))
        }
    }
}

extension Reports.PaidPeriod {
    /// Returns `true` if another product's period shares time with this one, besides grace.
    fileprivate func runs(beside other: Self) -> Bool {
        storeProduct != other.storeProduct && start < other.paidUntil && other.start < paidUntil
    }
}
