import Reports
import Storage
import Testing
import TollgateAssembly
import TollgateCore
import TollgateService
import TollgateSimulation

@Suite("Which sums a report reads")
struct SelectionTests {
    static let steps: [Reports.Step] = [.day, .week, .month]
    static let groups: [[Reports.Dimension]?] = [
        nil, [], [.store], [.product, .store], [.country], [.offer], [.app], [.app, .product],
        [.store, .country, .product],
    ]
    static let filters = [
        Reports.Filters(), Reports.Filters(store: .appStore), Reports.Filters(store: .stripe),
        Reports.Filters(product: "monthly"), Reports.Filters(country: "JP"),
        Reports.Filters(store: .appStore, product: "yearly", country: "US"),
        Reports.Filters(app: "reader"), Reports.Filters(product: "monthly", app: "studio"),
    ]

    /// What a report is made from if every sum of every day is looked at.
    static func material(
        _ entries: [Reports.Entry],
        of request: Reports.Request
    ) -> Reports.Material {
        var material = Reports.Material()
        for entry in entries {
            let key = entry.key
            guard request.report.measures.contains(key.measure), key.day <= request.to,
                key.environment == request.environment,
                request.filters.store.map({ $0.rawValue == key.store }) ?? true,
                request.filters.product.map({ $0 == key.product }) ?? true,
                request.filters.country.map({ $0 == key.country }) ?? true,
                request.filters.app.map({ $0 == key.app }) ?? true
            else { continue }
            if key.day >= request.from {
                material.within.append(entry)
            } else if key.measure.isCumulative {
                material.opening.append(entry)
            }
        }
        return material
    }

    /// The sums of the finest grain, which `DerivationTests` compares with a recomputation.
    static func entries(_ store: RecordStore) async throws -> [Reports.Entry] {
        try await store.driver.read { connection in
            try connection.query(
                """
                SELECT environment, measure, day, store, product, country, currency, offer, app,
                detail, extra, items, units, amount FROM rollup
                WHERE grain = 0 AND environment = 1
                """
            ).compactMap { row -> Reports.Entry? in
                guard let measure = Reports.Measure(rawValue: try row.int64(1)) else { return nil }
                return Reports.Entry(
                    Reports.EntryKey(
                        environment: .production,
                        measure: measure,
                        day: Reports.Day(number: try row.int64(2)),
                        store: try row.text(3),
                        product: try row.text(4),
                        country: try row.text(5),
                        currency: try row.text(6),
                        offer: try row.text(7),
                        app: try row.text(8),
                        detail: try row.int64(9),
                        extra: try row.int64(10)
                    ),
                    Reports.Sum(
                        items: try row.int64(11),
                        units: try row.int64(12),
                        amount: try row.int64(13)
                    )
                )
            }
        }
    }

    @Test(
        "whatever is kept apart or left out, coarse sums say what all days say",
        arguments: Backend.allCases
    )
    func sameFigures(_ backend: Backend) async throws {
        let store = try await RecordStore(backend.makeDatabase().open())
        try await store.adopt(Shop.catalogOfTwoApps, at: .day(-1000))
        for item in DerivationTests.history(seed: 11, count: 240) {
            _ = try await store.submit(item.sold(by: ["app", "studio"]))
        }
        try await FigureDerivation(store, rows: Tollgate.storeRows).followToTheEnd(now: .day(0))
        let entries = try await Self.entries(store)
        #expect(entries.count > 150)
        #expect(Set(entries.map(\.key.app)) == ["", "reader", "studio"])
        // From the middle of a week and a month to the middle of others; whole ones; a part of one;
        // across the end of a month with none whole.
        let ranges: [(Int64, Int64)] = [(-40, 260), (20, 97), (31, 58), (33, 36), (50, 65)]
        var random = SplitMix64(seed: 5)
        var shown = 0
        for (first, last) in ranges {
            for report in Reports.Report.allCases where report != .downloads {
                for step in Self.steps {
                    for group in Self.groups {
                        // One in six of all combinations.
                        for filters in Self.filters where Int.random(in: 0..<6, using: &random) == 0
                        {
                            let request = Reports.Request(
                                report,
                                from: .story(first),
                                to: .story(last),
                                by: step,
                                group: group,
                                filters: filters,
                                environment: .production,
                                today: .story(300),
                                terms: Shop.terms()
                            )
                            let table = try Reports.table(
                                request,
                                from: try await store.material(of: request)
                            )
                            let expected = try Reports.table(
                                request,
                                from: Self.material(entries, of: request)
                            )
                            shown += table.rows.count
                            guard Self.figures(table) != Self.figures(expected) else { continue }
                            Issue.record("\(request): \(table.csv) is not \(expected.csv)")
                        }
                    }
                }
            }
        }
        #expect(shown > 5_000)
        await store.driver.close()
    }

    /// The lines of a table without those in which nothing happened: what was added and taken away
    /// again leaves a line of zeros where days were kept apart, and none where they were not.
    private static func figures(_ table: Reports.Table) -> [[Reports.Table.Value]] {
        let labels = ["age", "customers", "payers"]
        let figures = table.columns.indices.filter { !labels.contains(table.columns[$0].key) }
        return table.rows.filter { row in
            figures.contains { column in
                switch row[column] {
                case .count(let count): count != 0
                case .money(let amount, _): !amount.isZero
                case .day, .text, .ratio, .none: false
                }
            }
        }
    }

    /// At most so many sums are read for two years by day, week and month, where there are sums of
    /// a hundred thousand in twelve countries and currencies.
    static let limits: [(report: Reports.Report, rows: [Int64])] = [
        (.overview, [3_000, 3_000, 3_000]), (.sales, [12_000, 6_000, 2_000]),
        (.revenue, [9_000, 3_000, 2_000]), (.subscriptions, [9_000, 3_000, 2_000]),
        (.events, [1_500, 300, 200]), (.mrr, [9_000, 3_000, 2_000]),
        (.mrrMovement, [9_000, 3_000, 2_000]), (.churn, [9_000, 3_000, 2_000]),
        (.retention, [9_000, 9_000, 9_000]), (.ltv, [9_000, 3_000, 2_000]),
        (.refunds, [9_000, 3_000, 2_000]),
    ]

    @Test(
        "two years of a million transactions are answered from few sums",
        arguments: Backend.allCases
    )
    func million(_ backend: Backend) async throws {
        let store = try await RecordStore(backend.makeDatabase().open())
        let (entries, transactions) = Self.twoYears()
        #expect(transactions >= 1_000_000)
        try await store.load(entries)
        let kept = try await Self.count(store, "")
        for (report, limits) in Self.limits {
            for (step, limit) in zip(Self.steps, limits) {
                let request = Reports.Request(
                    report,
                    from: .story(-1),
                    to: .story(731),
                    by: step,
                    environment: .production,
                    today: .story(731),
                    terms: Shop.terms()
                )
                var rows: Int64 = 0
                for selection in request.selections(
                    of: report.measures,
                    request.from...request.to,
                    step: request.step
                ) {
                    rows += try await Self.count(
                        store,
                        """
                        WHERE environment = 1 AND measure = \(selection.measure)
                        AND grain = \(selection.grain.rawValue)
                        AND day >= \(selection.days.lowerBound)
                        AND day <= \(selection.days.upperBound)
                        """
                    )
                }
                #expect(rows > 0 && rows <= limit, "\(report) by \(step): \(rows) of \(kept)")
                let table = try Reports.table(request, from: try await store.material(of: request))
                #expect(!table.rows.isEmpty)
                guard report == .sales else { continue }
                let sold = table.values("transactions").reduce(Int64(0)) {
                    if case .count(let count) = $1 { $0 + count } else { $0 }
                }
                #expect(sold == transactions)
            }
        }
        // The range is looked up by its key, not gone through.
        let plan = try await store.driver.read { connection in
            try connection.query(
                "\(connection.dialect.name == "SQLite" ? "EXPLAIN QUERY PLAN" : "EXPLAIN") SELECT sum(amount) FROM rollup WHERE environment = 1 AND measure = 1 AND grain = 1 AND day >= 1 AND day <= 2"
            ).map { "\($0.values)" }.joined()
        }
        #expect(plan.contains("SEARCH") || plan.contains("Index") || plan.contains("Bitmap"))
        await store.driver.close()
    }

    private static func count(_ store: RecordStore, _ condition: String) async throws -> Int64 {
        try await store.driver.read { connection in
            try connection.query("SELECT count(*) FROM rollup \(condition)").first?.int64(0) ?? 0
        }
    }

    /// Every day somebody buys each of two products in each store, in two of twelve countries.
    private static func twoYears() -> (Reports.Entries, Int64) {
        var entries = Reports.Entries()
        let each: Int64 = 1 + 1_000_000 / (730 * 8)
        var transactions: Int64 = 0
        for day in Int64(0)..<730 {
            for number in Int64(0)..<8 {
                let country = (day * 2 + number / 4) % 12
                func add(
                    _ measure: Reports.Measure,
                    detail: Int64 = 0,
                    extra: Int64 = 0,
                    sign: Int64 = 1,
                    currency: String? = nil
                ) {
                    entries.add(
                        Reports.EntryKey(
                            environment: .production,
                            measure: measure,
                            day: .story(day),
                            store: number % 2 == 0 ? "app_store" : "stripe",
                            product: "product\(number / 2 % 2)",
                            country: "C\(country)",
                            currency: currency ?? "X\(country)",
                            offer: "",
                            app: "",
                            detail: detail,
                            extra: extra
                        ),
                        Reports.Sum(items: sign * each, units: each, amount: each * 9_990)
                    )
                }
                add(.charge)
                add(.newSubscriptions, detail: 12)
                add(.retained, detail: -1, extra: 1_000_001)
                add(.retained, detail: 0, extra: 1_000_001)
                add(.customers, currency: "")
                add(.payers, currency: "")
                add(.lifetimeValue)
                add(.event, detail: 1)
                transactions += each
            }
        }
        return (entries, transactions)
    }
}

extension JournalItem {
    /// The same, where the App Store's purchases are of several apps by turns.
    fileprivate func sold(by apps: [String]) -> JournalItem {
        guard case .facts(var facts) = content else { return self }
        for index in facts.indices where facts[index].purchase.store == .appStore {
            let number = Int(facts[index].purchase.id) ?? 0
            facts[index].purchase.application = apps[number % apps.count]
        }
        var item = self
        item.content = .facts(facts)
        item.subject = RecordStore.subject(of: facts[0].purchase)
        return item
    }
}

extension RecordStore {
    /// Puts sums there as if somebody had followed a journal.
    fileprivate func load(_ entries: Reports.Entries) async throws {
        var change = FigureChange()
        for grain in Rollup.Grain.allCases {
            var sums: [Rollup.Key: Reports.Sum] = [:]
            for (key, sum) in entries.sums {
                let kept = Rollup.Key(
                    environment: key.environment,
                    measure: key.measure.rawValue,
                    grain: grain,
                    day: key.day(in: grain).number,
                    store: grain.breadth == .total && !key.measure.dependsOnStore ? "" : key.store,
                    product: grain.breadth == .total ? "" : key.product,
                    country: grain.breadth == .all ? key.country : "",
                    currency: grain.breadth == .all || key.measure.hasCurrency ? key.currency : "",
                    offer: grain.breadth == .all ? key.offer : "",
                    app: "",
                    detail: key.detail,
                    extra: key.extra
                )
                sums[kept, default: Reports.Sum()] += sum
            }
            change.added += sums.map { key, sum in
                Rollup(key: key, items: sum.items, units: sum.units, amount: sum.amount)
            }
        }
        let isApplied = try await figures.apply(change, from: nil, to: [1], now: .day(0))
        #expect(isApplied)
    }
}

extension Reports.EntryKey {
    fileprivate func day(in grain: Rollup.Grain) -> Reports.Day {
        switch grain.span {
        case .day: day
        case .week: day.startOfWeek
        case .month: day.startOfMonth
        }
    }
}
