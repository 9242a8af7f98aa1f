internal import Reports
internal import Storage
internal import TollgateCore

extension Reports.Entries {
    /// As they are added to what is kept, in every grain.
    var rollups: [Rollup] {
        var rollups: [Rollup] = []
        rollups.reserveCapacity(sums.count * Rollup.Grain.allCases.count)
        for grain in Rollup.Grain.allCases {
            if grain == .day {
                rollups += sums.map { Rollup($0.key, $0.value, grain: grain) }
                continue
            }
            var coarse: [Reports.EntryKey: Reports.Sum] = [:]
            for (key, sum) in sums { coarse[key.asKept(in: grain), default: .init()] += sum }
            for (key, sum) in coarse where !sum.isZero {
                rollups.append(Rollup(key, sum, grain: grain))
            }
        }
        return rollups
    }
}

extension Reports.EntryKey {
    /// What it is added to in a grain.
    fileprivate func asKept(in grain: Rollup.Grain) -> Reports.EntryKey {
        var key = self
        switch grain.span {
        case .day: break
        case .week: key.day = day.startOfWeek
        case .month: key.day = day.startOfMonth
        }
        let empty = measure.emptyColumns(of: grain.breadth)
        if empty.contains(.store) { key.store = "" }
        if empty.contains(.product) { key.product = "" }
        if empty.contains(.country) { key.country = "" }
        if empty.contains(.currency) { key.currency = "" }
        if empty.contains(.offer) { key.offer = "" }
        if empty.contains(.app) { key.app = "" }
        return key
    }
}

extension Reports.Measure {
    /// What sums of a breadth do not tell apart.
    func emptyColumns(of breadth: Rollup.Grain.Breadth) -> Rollup.Columns {
        guard breadth != .all else { return [] }
        var empty: Rollup.Columns = [.country, .offer, .app]
        if !hasCurrency { empty.insert(.currency) }
        guard breadth == .total else { return empty }
        empty.insert(.product)
        if !dependsOnStore { empty.insert(.store) }
        return empty
    }
}

extension Rollup {
    init(_ key: Reports.EntryKey, _ sum: Reports.Sum, grain: Grain) {
        self.init(
            key: Key(
                environment: key.environment,
                measure: key.measure.rawValue,
                grain: grain,
                day: key.day.number,
                store: key.store,
                product: key.product,
                country: key.country,
                currency: key.currency,
                offer: key.offer,
                app: key.app,
                detail: key.detail,
                extra: key.extra
            ),
            items: sum.items,
            units: sum.units,
            amount: sum.amount
        )
    }

    /// What is kept, for a report; nil for measures of a newer program.
    var entry: Reports.Entry? {
        guard let measure = Reports.Measure(rawValue: key.measure) else { return nil }
        return Reports.Entry(
            Reports.EntryKey(
                environment: key.environment,
                measure: measure,
                day: Reports.Day(number: key.day),
                store: key.store,
                product: key.product,
                country: key.country,
                currency: key.currency,
                offer: key.offer,
                app: key.app,
                detail: key.detail,
                extra: key.extra
            ),
            Reports.Sum(items: items, units: units, amount: amount)
        )
    }
}
