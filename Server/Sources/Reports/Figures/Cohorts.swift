extension Reports {
    /// Figures of what becomes of customers: trials, retention, lifetime value, coins.
    enum CohortFigures {
        static func addTrials(
            _ request: Request,
            _ material: Material,
            to table: inout Table
        ) throws(TooManyLines) {
            let slots = Slots(request, material, currency: false) {
                Report.trials.measures.contains($0.measure)
            }
            try slots.requireReadable()
            table.columns =
                [.init("day", "Begun in", .day)] + slots.columns + [
                    .init("conversion", "Conversion", .ratio),
                    .init("started", "Started", .count), .init("converted", "Converted", .count),
                    .init("pending", "Pending", .count), .init("abandoned", "Abandoned", .count),
                ]
            let cells = slots.words.indices.map { slots.cells($0) }
            for (index, piece) in slots.pieces.enumerated() {
                for slot in slots.words.indices {
                    let entries = slots.entries(slot, index)
                    let started = entries.items(.trialStarted)
                    let converted = entries.items(.trialConverted)
                    let pending = entries.filter {
                        $0.key.measure == .trialUnconverted && $0.key.detail >= request.today.number
                    }.reduce(0) { $0 + $1.sum.items }
                    table.add(
                        piece.lowerBound,
                        cells[slot],
                        [
                            .share(converted, of: started), .count(started), .count(converted),
                            .count(pending), .count(started - converted - pending),
                        ]
                    )
                }
            }
        }

        /// How many periods of a cohort are looked at, after the first.
        private static let lastPeriod = 60

        static func addRetention(_ request: Request, _ material: Material, to table: inout Table) {
            // The details of other sums are no numbers of periods.
            let slots = Slots(request, material, currency: false) { $0.measure == .retained }
            table.columns =
                [.init("day", "Begun in", .day)] + slots.columns + [
                    .init("period", "Period", .count), .init("retention", "Retention", .ratio),
                    .init("paid", "Paid", .count), .init("subscriptions", "Of", .count),
                ]
            let cells = slots.words.indices.map { slots.cells($0) }
            var due = DuePeriods(today: request.today, last: lastPeriod)
            for (index, piece) in slots.pieces.enumerated() {
                for slot in slots.words.indices where slots.has(slot, index) {
                    // Who paid for a period, of those who had the chance to.
                    var paid = [Int64](repeating: 0, count: lastPeriod + 1)
                    var had = paid
                    for entry in slots.entries(slot, index) {
                        let last = due.last(from: entry.key.day, length: entry.key.extra)
                        if entry.key.detail == -1, last >= 0 {
                            for number in 0...last { had[number] += entry.sum.items }
                        } else if entry.key.detail >= 0, entry.key.detail <= Int64(last) {
                            paid[Int(entry.key.detail)] += entry.sum.items
                        }
                    }
                    for (number, had) in had.prefix(while: { $0 > 0 }).enumerated() {
                        table.add(
                            piece.lowerBound,
                            cells[slot],
                            [
                                .count(Int64(number)), .share(paid[number], of: had),
                                .count(paid[number]), .count(had),
                            ]
                        )
                    }
                }
            }
        }

        static func addLifetimeValue(
            _ request: Request,
            _ material: Material,
            to table: inout Table
        ) {
            let slots = Slots(request, material) { $0.measure == .lifetimeValue }
            let people = Slots(request, material, currency: false) {
                $0.measure == .customers || $0.measure == .payers
            }
            table.columns =
                [.init("day", "First seen in", .day)] + slots.columns + [
                    .init("age", "Age in days", .count), .init("ltv", "LTV", .money),
                    .init("per_payer", "Per payer", .money), .init("revenue", "Revenue", .money),
                    .init("customers", "Customers", .count), .init("payers", "Payers", .count),
                ]
            let cells = slots.words.indices.map { slots.cells($0) }
            let cohorts = slots.words.map { people.slot(of: Array($0.dropLast())) }
            for (index, piece) in slots.pieces.enumerated() {
                let ages = standardAges.filter { piece.upperBound.advanced(by: $0) < request.today }
                guard !ages.isEmpty else { continue }
                // Of each cohort, once: all currencies share it.
                let counted = people.words.indices.map { cohort in
                    let entries = people.entries(cohort, index)
                    return (
                        customers: entries.items(.customers),
                        payers: entries.upToAges(.payers) { $0.items }
                    )
                }
                for (slot, words) in slots.words.enumerated() where slots.has(slot, index) {
                    let currency = words.last ?? ""
                    let revenues = slots.entries(slot, index).upToAges(.lifetimeValue) { $0.amount }
                    let cohort = cohorts[slot].map { counted[$0] }
                    for (number, age) in ages.enumerated() {
                        let revenue = Fraction(revenues[number])
                        let customers = cohort?.customers ?? 0
                        let payers = cohort?.payers[number] ?? 0
                        func per(_ count: Int64) -> Table.Value {
                            count == 0
                                ? .none
                                : .money(
                                    Fraction(Int128(revenues[number]), Int128(count)),
                                    currency: currency
                                )
                        }
                        table.add(
                            piece.lowerBound,
                            cells[slot],
                            [
                                .count(age), per(customers), per(payers),
                                .money(revenue, currency: currency), .count(customers),
                                .count(payers),
                            ]
                        )
                    }
                }
            }
        }

        static func addCoins(_ request: Request, _ material: Material, to table: inout Table)
            throws(TooManyLines)
        {
            let slots = Slots(request, material, currency: false)
            try slots.requireReadable()
            table.columns =
                [.init("day", "Day", .day)] + slots.columns + [
                    .init("outstanding", "Outstanding", .count), .init("sold", "Sold", .count),
                    .init("refunded", "Refunded", .count), .init("spent", "Spent", .count),
                ]
            // Spends belong to no pack and no store.
            let isWhole = request.dimensions.isEmpty && request.filters == Filters()
            for slot in slots.words.indices {
                let cells = slots.cells(slot)
                var outstanding = slots.entries(slot, -1).outstandingCoins
                for (index, piece) in slots.pieces.enumerated() {
                    let entries = slots.entries(slot, index)
                    outstanding += entries.outstandingCoins
                    table.add(
                        piece.lowerBound,
                        cells,
                        [
                            isWhole ? .count(outstanding) : .none,
                            .count(entries.sum(.coinsSold).units),
                            .count(entries.sum(.coinsRefunded).units),
                            .count(entries.sum(.coinsSpent).units),
                        ]
                    )
                }
            }
            table.sortByDay()
        }

        /// One row for each currency, over the whole range.
        static func addOverview(_ request: Request, _ material: Material, to table: inout Table) {
            table.columns = [
                .init("day", "At the end of", .day), .init("currency", "Currency", .text),
                .init("gross", "Gross", .money), .init("refunds", "Refunds", .money),
                .init("net", "Net", .money),
                .init("estimated_proceeds", "Estimated proceeds", .money),
                .init("mrr", "MRR", .money), .init("mrr_change", "Change of MRR", .money),
                .init("active", "Active", .count), .init("trials", "Trials", .count),
                .init("churn_rate", "Churn rate", .ratio),
                .init("coins_outstanding", "Coins outstanding", .count),
            ]
            let all = material.opening + material.within
            let before = material.opening.active
            let expired = -material.within.items(.churned) - material.within.items(.returned)
            let common: [Table.Value] = [
                .count(all.active), .count(all.items(.trials)), .share(expired, of: before),
                .count(all.outstandingCoins),
            ]
            let currencies = Set(all.map(\.key.currency)).subtracting([""]).sorted()
            for currency in currencies.isEmpty ? [""] : currencies {
                let within = material.within.filter { $0.key.currency == currency }
                let gross = within.amount(.charge)
                let refunds = within.amount(.refund)
                func money(_ value: Fraction) -> Table.Value { .money(value, currency: currency) }
                table.rows.append(
                    [
                        .day(request.to), .text(currency), money(gross), money(refunds),
                        money(gross - refunds), money(within.estimatedProceeds(request)),
                        money(all.filter { $0.key.currency == currency }.value(Measure.movements)),
                        money(within.value(Measure.movements)),
                    ] + common
                )
            }
            table.notes.append("Active, trials, churn and coins are over all currencies.")
        }
    }
}

/// How many periods were due by now, since some day.
private struct DuePeriods {
    let today: Reports.Day
    let last: Int
    private var known: [Int64: (day: Reports.Day, last: Int)] = [:]

    init(today: Reports.Day, last: Int) {
        self.today = today
        self.last = last
    }

    /// The last period that everybody who began on `day` had the chance to pay for; -1: none.
    mutating func last(from day: Reports.Day, length: Int64) -> Int {
        if let known = known[length], known.day == day { return known.last }
        var (low, high) = (-1, last)
        while low < high {
            let middle = (low + high + 1) / 2
            let isDue = Reports.due(Int64(middle), from: day, length: length) <= today
            if isDue { low = middle } else { high = middle - 1 }
        }
        known[length] = (day, low)
        return low
    }
}

extension Collection where Element == Reports.Entry {
    /// Sums of a measure up to each of the standard ages.
    fileprivate func upToAges(
        _ measure: Reports.Measure,
        _ value: (Reports.Sum) -> Int64
    ) -> [Int64] {
        var sums = [Int64](repeating: 0, count: Reports.standardAges.count)
        for entry in self where entry.key.measure == measure {
            guard let first = Reports.standardAges.firstIndex(where: { entry.key.detail <= $0 })
            else { continue }
            sums[first] &+= value(entry.sum)
        }
        for index in sums.indices.dropFirst() { sums[index] &+= sums[index - 1] }
        return sums
    }

    var outstandingCoins: Int64 {
        sum(.coinsSold).units - sum(.coinsRefunded).units - sum(.coinsSpent).units
    }
}
