package import TollgateCore

extension Reports {
    /// The ages, in days, at which a customer's value is looked at.
    public static let standardAges: [Int64] = [0, 1, 3, 7, 14, 30, 60, 90, 180, 365, 730]

    /// Beyond the last standard age.
    static let anyAge: Int64 = 1_000_000

    /// What all rows of one customer in one environment add to the sums of the day on which they
    /// were first seen.
    ///
    /// The dimensions are those of the first row, so that filtered values are of filtered customers.
    public static func customerEntries(_ sales: [Sale]) -> Entries {
        var entries = Entries()
        let sales = sales.filter { !$0.isFamilyShared }
        guard
            let first = sales.filter({ $0.kind == .charge }).min(by: {
                ($0.at, $0.purchase.canonical, $0.transaction)
                    < ($1.at, $1.purchase.canonical, $1.transaction)
            })
        else { return entries }
        let day = Day(first.at)
        func key(_ measure: Measure, _ currency: String, _ age: Int64 = 0) -> EntryKey {
            var key = EntryKey(measure, first, at: day)
            key.currency = currency
            key.offer = ""
            key.detail = age
            return key
        }
        entries.add(key(.customers, ""), Sum(items: 1))
        let paid = sales.filter { $0.kind == .charge && $0.amount > 0 }.map(\.at).min()
        if let paid { entries.add(key(.payers, "", age(paid, since: day)), Sum(items: 1)) }
        for sale in sales where sale.amount > 0 {
            let sign: Int64 = sale.kind == .charge ? 1 : -1
            entries.add(
                key(.lifetimeValue, sale.currency, age(sale.at, since: day)),
                Sum(amount: sign * sale.amount)
            )
        }
        return entries
    }

    /// The least standard age that includes an instant.
    private static func age(_ instant: Instant, since day: Day) -> Int64 {
        let days = Day(instant).number - day.number
        return standardAges.first { days <= $0 } ?? anyAge
    }
}

// MARK: - Subscribers of Stripe who came back

extension Reports {
    /// What changes in the sums of purchases because of those of the same customer: a subscription of
    /// Stripe's that follows one which has ended is no new one.
    ///
    /// The App Store goes on with the same original transaction when somebody comes back; Stripe makes
    /// another subscription.
    ///
    /// - Parameter periods: all of one customer's.
    public static func returnEntries(_ periods: [PaidPeriod]) -> Entries {
        var entries = Entries()
        let purchases = Dictionary(grouping: periods, by: \.purchase)
        for purchase in returns(periods) {
            let periods = (purchases[purchase] ?? []).sorted {
                ($0.start, $0.id) < ($1.start, $1.id)
            }
            var own = Entries()
            own.addMovements(of: periods)
            for (key, sum) in own.sums where key.measure == .newSubscriptions {
                entries.move(sum, from: key) { $0.measure = .returned }
            }
            own = Entries()
            own.addEvents(of: periods)
            var returned = Entries()
            returned.addEvents(of: periods, isReturn: true)
            entries += returned
            entries -= own
        }
        return entries
    }

    /// Subscriptions of Stripe's with which customers came back: each follows one that had ended, and
    /// that no other follows.
    package static func returns(_ periods: [PaidPeriod]) -> Set<Purchase.Key> {
        struct Subscription {
            var key: Purchase.Key
            var first: Day
            var last: Day
        }
        var returns: Set<Purchase.Key> = []
        let counted = periods.filter { $0.store.lineOfPeriods == .manyItems && $0.isCounted }
        for (_, own) in Dictionary(grouping: counted, by: \.customer) {
            let subscriptions = Dictionary(grouping: own, by: \.purchase).compactMap {
                key,
                periods -> Subscription? in
                guard let first = periods.map({ Day($0.start) }).min(),
                    let last = periods.map(\.lastDay).max()
                else { return nil }
                return Subscription(key: key, first: first, last: last)
            }.sorted { ($0.first, $0.key.canonical) < ($1.first, $1.key.canonical) }
            var followed: Set<Purchase.Key> = []
            for subscription in subscriptions {
                let ended = subscriptions.filter {
                    $0.key != subscription.key && $0.last <= subscription.first
                        && !followed.contains($0.key)
                }
                guard
                    let last = ended.max(by: {
                        ($0.last, $0.key.canonical) < ($1.last, $1.key.canonical)
                    })
                else { continue }
                followed.insert(last.key)
                returns.insert(subscription.key)
            }
        }
        return returns
    }
}

extension Reports.Entries {
    fileprivate mutating func move(
        _ sum: Reports.Sum,
        from key: Reports.EntryKey,
        _ change: (inout Reports.EntryKey) -> Void
    ) {
        var other = key
        change(&other)
        add(other, sum)
        add(key, Reports.Sum(items: -sum.items, units: -sum.units, amount: -sum.amount))
    }
}
