import Reports
import Testing
import TollgateCore
import TollgateSimulation

@Suite("Figures")
struct FigureTests {
    /// Subscriptions of all sorts, one purchase each.
    static func world(seed: UInt64, count: Int = 60) -> [Reports.PurchaseRows] {
        var random = SplitMix64(seed: seed)
        func chance(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }
        return (0..<count).map { number in
            let id = "\(number)"
            var day = Double(chance(300)) + Double(chance(24)) / 24
            var facts: [Fact] = []
            let country = ["JPN", "USA"][chance(2)]
            let currency = country == "JPN" ? "JPY" : "USD"
            if chance(3) == 0 {
                facts.append(
                    .period(
                        "\(id)-t",
                        of: id,
                        from: day,
                        to: day + 7,
                        trial: true,
                        country: country,
                        currency: currency
                    )
                )
                day += 7
            }
            for index in 0..<chance(9) {
                let isYear = chance(6) == 0
                let length: Double = isYear ? 365 : 30
                facts.append(
                    .period(
                        "\(id)-\(index)",
                        of: id,
                        from: day,
                        to: day + length,
                        product: isYear ? "app.yearly" : "app.monthly",
                        price: isYear ? 99_990 : [9_990, 8_990][chance(2)],
                        revoked: chance(10) == 0 ? day + Double(chance(29)) : nil,
                        country: country,
                        currency: currency
                    )
                )
                day += chance(5) == 0 ? length + Double(chance(40)) : length
            }
            return Shop.rows(Purchase(key: .appStore(id), joining: facts))
        }
    }

    /// All of a world's sums as a report wants them.
    static func material(
        _ world: [Reports.PurchaseRows],
        from first: Reports.Day,
        _ filters: Reports.Filters
    ) -> Reports.Material {
        var entries = Reports.Entries()
        for rows in world { entries += rows.entries }
        var material = Reports.Material()
        for (key, sum) in entries.sums {
            guard passes(filters, product: key.product, country: key.country) else { continue }
            let entry = Reports.Entry(key, sum)
            if key.day >= first {
                material.within.append(entry)
            } else if key.measure.isCumulative {
                material.opening.append(entry)
            }
        }
        return material
    }

    static func passes(_ filters: Reports.Filters, product: String, country: String) -> Bool {
        if let wanted = filters.product, wanted != product { return false }
        if let wanted = filters.country, wanted != country { return false }
        return true
    }

    static func table(
        _ report: Reports.Report,
        _ world: [Reports.PurchaseRows],
        by step: Reports.Step = .day,
        filters: Reports.Filters = Reports.Filters()
    ) throws -> Reports.Table {
        let request = Reports.Request(
            report,
            from: .story(100),
            to: .story(500),
            by: step,
            filters: filters,
            environment: .production,
            today: .story(500),
            terms: Shop.terms()
        )
        return try Reports.table(request, from: material(world, from: request.from, filters))
    }

    static let filters = [
        Reports.Filters(), Reports.Filters(product: "monthly"),
        Reports.Filters(product: "yearly", country: "JP"), Reports.Filters(country: "US"),
    ]

    @Test(
        "active and MRR at a day's end are sums over the periods that cover it",
        arguments: UInt64(1)...3,
        filters
    )
    func activeByDefinition(_ seed: UInt64, _ filters: Reports.Filters) throws {
        let world = Self.world(seed: seed)
        let table = try Self.table(.mrr, world, filters: filters)
        let all: [Reports.PaidPeriod] = world.flatMap { $0.periods }
        let periods = all.filter { period in
            period.isPaid
                && Self.passes(filters, product: period.product, country: period.country)
        }
        #expect(!table.rows.isEmpty)
        for row in table.rows {
            guard case .day(let day) = row[0], case .text(let currency) = row[1] else {
                Issue.record("\(row)")
                return
            }
            let at = day.advanced(by: 1).start.advanced(by: -1)
            let active = periods.filter {
                $0.currency == currency && $0.start <= at && at < $0.effectiveEnd
            }
            var mrr = Reports.Fraction.zero
            for period in active { mrr += period.monthlyValue }
            #expect(row[2] == .money(mrr, currency: currency), "\(day)")
            #expect(row[4] == .count(Int64(active.count)), "\(day)")
        }
    }

    @Test(
        "the five movements add up to the change of MRR, under any filter and by any step",
        arguments: filters,
        Reports.Step.allCases
    )
    func movementAddsUp(_ filters: Reports.Filters, _ step: Reports.Step) throws {
        let table = try Self.table(.mrrMovement, Self.world(seed: 7), by: step, filters: filters)
        #expect(!table.rows.isEmpty)
        for row in table.rows {
            var values: [Reports.Fraction] = []
            for case .money(let amount, _) in row[2...8] { values.append(amount) }
            #expect(values.count == 7)
            var sum = Reports.Fraction.zero
            for value in values.dropLast() { sum += value }
            #expect(sum == values.last)
        }
    }

    @Test("what began is converted, pending or abandoned, and a refund takes a conversion back")
    func trials() throws {
        func rows(_ facts: [Fact]) -> Reports.PurchaseRows {
            Shop.rows(Purchase(key: .appStore("1"), joining: facts))
        }
        let trial = Fact.period("t", of: "1", from: 200, to: 207, trial: true)
        let stories: [(String, [Fact], [Int64])] = [
            ("nothing followed", [trial], [1, 0, 0, 1]),
            (
                "it became paid", [trial, .period("a", of: "1", from: 207, to: 238)],
                [1, 1, 0, 0]
            ),
            (
                "it was paid and given back",
                [trial, .period("a", of: "1", from: 207, to: 238, revoked: 210)], [1, 0, 0, 1]
            ),
            (
                "another plan took its place in the instant in which it began",
                [
                    .period("t", of: "1", from: 200, to: 207, trial: true, upgraded: 203),
                    .period("y", of: "1", from: 200, to: 565, product: "app.yearly"),
                ], [1, 1, 0, 0]
            ),
            (
                "it goes on",
                [.period("t", of: "1", from: 499.5, to: 506.5, trial: true)], [1, 0, 1, 0]
            ),
            (
                "it ends later today",
                [.period("t", of: "1", from: 493.9, to: 500.9, trial: true)], [1, 0, 1, 0]
            ),
            (
                "it ended yesterday",
                [.period("t", of: "1", from: 492.9, to: 499.9, trial: true)], [1, 0, 0, 1]
            ),
            (
                "it began today, was paid and given back",
                [
                    .period("t", of: "1", from: 500.1, to: 500.2, trial: true),
                    .period("a", of: "1", from: 500.2, to: 531, revoked: 500.3),
                ], [1, 0, 0, 1]
            ),
        ]
        for (name, facts, expected) in stories {
            let table = try Self.table(.trials, [rows(facts)])
            var found: [Int64] = []
            for key in ["started", "converted", "pending", "abandoned"] {
                var total: Int64 = 0
                for case .count(let count) in table.values(key) { total += count }
                found.append(total)
            }
            #expect(found == expected, "\(name)")
        }
    }

    @Test("retention counts payments by the period's number, and only who had the chance")
    func retention() throws {
        func month(_ index: Int, _ id: String, of purchase: String) -> Fact {
            let start: Double = 120 + 30 * Double(index)
            return Fact.period(id, of: purchase, from: start, to: start + 30)
        }
        let stays: [Fact] = (0..<12).map { month($0, "\($0 + 10)", of: "1") }
        let leaves: [Fact] = (0..<2).map { month($0, "l\($0)", of: "2") }
        let world = [
            Shop.rows(Purchase(key: .appStore("1"), joining: stays)),
            Shop.rows(Purchase(key: .appStore("2"), joining: leaves)),
        ]
        let table = try Self.table(.retention, world, by: .month)
        let paid = table.values("paid")
        let counts: [Reports.Table.Value] = [.count(2), .count(2), .count(1), .count(1)]
        #expect(Array(paid.prefix(4)) == counts)
        let two = Reports.Table.Value.count(2)
        #expect(table.values("subscriptions").allSatisfy { $0 == two })
        // Twelve months had passed of the thirteen that the range holds.
        #expect(paid.count == 13)
    }

    /// The numbers of the periods that were paid for, and the lengths that they go by.
    private static func retained(
        _ facts: [Fact],
        _ product: String = "monthly"
    ) -> (numbers: [Int64], lengths: Set<Int64>) {
        let rows = Shop.rows(Purchase(key: .stripe("sub_1"), joining: facts))
        let keys = rows.entries.sums.keys.filter {
            $0.measure == .retained && $0.product == product
        }
        return (keys.map(\.detail).sorted(), Set(keys.map(\.extra)))
    }

    @Test("who changed to a plan in mid-month pays for every month of it from then on")
    func retentionAfterAChange() {
        func month(_ number: Int, _ price: String = "price_monthly") -> Fact {
            .invoice(
                "in_\(number)",
                of: "sub_1",
                paid: Double(number) * 31,
                amount: 1000,
                [
                    .line(
                        "il_\(number)",
                        1000,
                        from: Double(number) * 31,
                        to: Double(number) * 31 + 31,
                        price: price
                    )
                ]
            )
        }
        func change(_ day: Double, from old: String) -> Fact {
            .invoice(
                "in_change",
                of: "sub_1",
                paid: day,
                amount: 100,
                [
                    .line("il_a", -400, from: day, to: 31, price: old, proration: true),
                    .line("il_b", 500, from: day, to: 31, proration: true),
                ]
            )
        }
        for day: Double in [2, 15, 29] {
            let changed = Self.retained(
                [month(0, "price_small"), change(day, from: "price_small")]
                    + (1..<6).map { month($0) }
            )
            // Whichever half of the month is left, none is skipped.
            let expected: ClosedRange<Int64> = day < 15.5 ? -1...5 : -1...4
            #expect(changed.numbers == Array(expected), "day \(day)")
            #expect(changed.lengths == [1_000_001])
        }
        // More seats in mid-month pay for that month, not for the one to come.
        for day: Double in [3, 29] {
            let more = Self.retained([month(0), change(day, from: "price_monthly")])
            #expect(more.numbers == [-1, 0], "day \(day)")
        }
    }

    @Test("instants that no calendar has are counted somewhere, and nothing overflows")
    func farInstants() {
        let far: Double = 106_751_991_167
        for (start, end) in [(-far, far), (-far, 0), (0, far), (-far, -far + 1)] {
            let facts: [Fact] = [
                .invoice(
                    "in_1",
                    of: "sub_1",
                    paid: 0,
                    amount: 1000,
                    [
                        StripeInvoice.Line(
                            id: "il_1",
                            price: "price_unknown",
                            quantity: 1,
                            amount: 1000,
                            start: Instant(milliseconds: Int64(start) * 86_400_000),
                            end: Instant(milliseconds: Int64(end) * 86_400_000),
                            isProration: false
                        ),
                        .line("il_2", 1000, from: 5, to: 36, price: "price_unknown"),
                    ]
                )
            ]
            let rows = Shop.rows(Purchase(key: .stripe("sub_1"), joining: facts))
            #expect(rows.periods.count == 2)
            #expect(!rows.entries.sums.isEmpty)
        }
    }

    @Test("two items of one subscription each renew; neither changes into the other")
    func events() {
        func events(_ facts: [Fact]) -> [String: Int64] {
            let rows = Shop.rows(Purchase(key: .stripe("sub_1"), joining: facts))
            var counts: [String: Int64] = [:]
            for (key, sum) in rows.entries.sums where key.measure == .event {
                let event = Reports.SubscriptionEvent(rawValue: key.detail)
                counts[event?.name ?? "", default: 0] += sum.items
            }
            return counts
        }
        func invoice(_ number: Int, _ lines: [StripeInvoice.Line]) -> Fact {
            .invoice("in_\(number)", of: "sub_1", paid: Double(number), amount: 3000, lines)
        }
        let base: (Int) -> StripeInvoice.Line = { month in
            let start = Double(month) * 31
            return .line("a\(month)", 1000, from: start, to: start + 31)
        }
        let addOn: (Int) -> StripeInvoice.Line = { month in
            let start = Double(month) * 31
            return .line("b\(month)", 2000, from: start, to: start + 31, price: "price_addon")
        }
        let both = (0..<3).map { invoice($0 * 31, [base($0), addOn($0)]) }
        #expect(events(both) == ["Subscribe": 2, "Renew": 4, "Cancel": 2])
        let joined = [invoice(0, [base(0)]), invoice(31, [base(1), addOn(1)])]
        #expect(events(joined) == ["Subscribe": 2, "Renew": 1, "Cancel": 2])
        // To a dearer plan, and back to the one before.
        let changes = [
            invoice(0, [base(0)]), invoice(31, [addOn(1)]), invoice(62, [base(2)]),
        ]
        #expect(events(changes) == ["Subscribe": 1, "Upgrade": 1, "Downgrade": 1, "Cancel": 1])
        // A seat more in mid-month is no renewal.
        let seats = [
            invoice(0, [base(0)]),
            invoice(
                15,
                [
                    .line("c1", -500, from: 15, to: 31, proration: true),
                    .line("c2", 1000, from: 15, to: 31, proration: true),
                ]
            ), invoice(31, [base(1)]),
        ]
        #expect(events(seats) == ["Subscribe": 1, "Renew": 1, "Cancel": 1])
        // A change of plan in mid-month is one, and its next month a renewal.
        let upgrade = [
            invoice(0, [base(0)]),
            invoice(
                15,
                [
                    .line("c1", -500, from: 15, to: 31, proration: true),
                    .line("c2", 1000, from: 15, to: 31, price: "price_addon", proration: true),
                ]
            ), invoice(31, [addOn(1)]),
            .subscription("sub_1", "active", price: "price_addon", from: 31, to: 62, said: 31),
        ]
        #expect(events(upgrade) == ["Subscribe": 1, "Upgrade": 1, "Renew": 1, "Cancel": 1])
    }

    @Test("lifetime value is what was paid by an age, less what went back")
    func lifetimeValue() throws {
        let rows = Shop.rows(
            Purchase(
                key: .appStore("1"),
                joining: [
                    .period("a", of: "1", from: 100.5, to: 131),
                    .period("b", of: "1", from: 131, to: 161, revoked: 140),
                ]
            )
        )
        let entries = Reports.customerEntries(rows.sales)
        let table = try Reports.table(
            Reports.Request(
                .ltv,
                from: .story(100),
                to: .story(100),
                by: .day,
                environment: .production,
                today: .story(500),
                terms: Shop.terms()
            ),
            from: Reports.Material(
                within: entries.sums.map { Reports.Entry($0.key, $0.value) }
            )
        )
        let values: [String] = table.values("ltv").map(\.plain)
        let ages: [String] = table.values("age").map(\.plain)
        #expect(Array(ages.prefix(7)) == ["0", "1", "3", "7", "14", "30", "60"])
        #expect(Set(values.prefix(7)) == ["9.990"])
        let withSecond = Reports.customerEntries(rows.sales.filter { $0.kind == .charge })
        #expect(withSecond.sums.filter { $0.key.measure == .lifetimeValue }.count == 2)
    }

    @Test(
        "the lines of a long report are those of its stretches, one after the other",
        arguments: Reports.Report.allCases,
        [Reports.Step.day, .week]
    )
    func stretches(_ report: Reports.Report, _ step: Reports.Step) throws {
        let world = Self.world(seed: 7, count: 20)
        for (length, count): (Int64, Int) in [(99, 2), (399, 2), (400, 3), (1_200, 7)] {
            let request = Reports.Request(
                report,
                from: .story(20),
                to: .story(20 + length),
                by: step,
                environment: .production,
                today: .story(500),
                terms: Shop.terms()
            )
            func table(_ request: Reports.Request) throws -> Reports.Table {
                var material = Self.material(world, from: request.from, request.filters)
                material.within.removeAll { $0.key.day > request.to }
                return try Reports.table(request, from: material)
            }
            let whole = try table(request)
            let stretches = request.stretches(count)
            let tables = try stretches.map(table)
            let pieces = step.pieces(from: request.from, to: request.to).count
            let isSplit = report == .sales && pieces >= 100
            #expect(stretches.count == (isSplit ? count : 1))
            #expect(tables.flatMap { $0.rows } == whole.rows)
            #expect(tables.allSatisfy { $0.columns == whole.columns && $0.notes == whole.notes })
            #expect(request.stretches(1) == [request])
        }
    }

    @Test("estimated proceeds are 70 %, 85 % after a year, and less what went back")
    func proceeds() throws {
        let facts: [Fact] = (0..<14).map { (index: Int) -> Fact in
            let start: Double = 100 + 28 * Double(index)
            return Fact.period(
                "\(index + 10)",
                of: "1",
                from: start,
                to: start + 28,
                currency: "USD"
            )
        }
        let table = try Self.table(
            .sales,
            [Shop.rows(Purchase(key: .appStore("1"), joining: facts))],
            by: .month
        )
        var total = Reports.Fraction.zero
        for case .money(let amount, _) in table.values("estimated_proceeds") { total += amount }
        let expected = Reports.Fraction(Int128(9_990 * 14 * 70), 100)
        #expect(total == expected)
    }

    @Test("Stripe's fixed fee is one for a payment, and a small business keeps 85 %")
    func feesAndTerms() throws {
        let checkout = StripePayment(
            session: "cs_1",
            status: "complete",
            isPaid: true,
            customer: nil,
            reference: nil,
            lines: [.init(price: "price_a", quantity: 1), .init(price: "price_b", quantity: 1)],
            amount: 1000,
            currency: "usd",
            created: .day(200)
        )
        let stripe = Fact.said(.payment(checkout), on: 200, about: .stripe("pi_1"))
        let plan = Fact.period("a", of: "1", from: 200, to: 231, price: 100_000, currency: "EUR")
        let world = [
            Shop.rows(Purchase(key: .stripe("pi_1"), joining: [stripe])),
            Shop.rows(Purchase(key: .appStore("1"), joining: [plan])),
        ]
        func proceeds(_ isSmallBusiness: Bool) throws -> [String: Reports.Fraction] {
            var found: [String: Reports.Fraction] = [:]
            for report: Reports.Report in [.sales, .revenue] {
                let request = Reports.Request(
                    report,
                    from: .story(200),
                    to: .story(200),
                    by: .day,
                    environment: .production,
                    today: .story(500),
                    terms: Shop.terms(isSmallBusiness: isSmallBusiness)
                )
                let table = try Reports.table(
                    request,
                    from: Self.material(world, from: request.from, request.filters)
                )
                var sums: [String: Reports.Fraction] = [:]
                for case .money(let amount, let currency) in table.values("estimated_proceeds") {
                    sums[currency, default: .zero] += amount
                }
                #expect(found.isEmpty || found == sums)
                found = sums
            }
            return found
        }
        #expect(try proceeds(false)["USD"] == Reports.Fraction(9_410))
        #expect(try proceeds(false)["EUR"] == Reports.Fraction(70_000))
        #expect(try proceeds(true)["EUR"] == Reports.Fraction(85_000))
    }
}
