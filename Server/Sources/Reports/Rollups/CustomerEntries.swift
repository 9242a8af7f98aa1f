internal import TollgateCore

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
