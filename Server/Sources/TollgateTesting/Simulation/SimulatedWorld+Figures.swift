import Reports
import TollgateCore
import TollgateService

extension SimulatedWorld {
    /// Compares every day's figures with the stores' own books.
    mutating func compareFigures() async throws {
        guard let books else { return }
        let tollgate = try server.tollgate
        while try await !tollgate.followJournalOnce(limit: 5_000) {}
        let apple = try await AppStoreBooks(
            of: play.world.appStore,
            reversed: Set(reversed.keys)
        )
        for environment in StoreEnvironment.allCases {
            var truth = FigureTruth()
            if environment == self.environment { truth.add(apple, catalog) }
            if environment == .sandbox { truth.add(books, catalog) }
            try await compare(truth, tollgate, in: environment)
        }
        try await compareStatement(books, tollgate)
    }

    /// Compares the statement of the last whole month with what Stripe's balance says.
    ///
    /// The days are fetched as a server does that is set up late: the first time the last five weeks.
    private mutating func compareStatement(_ books: StripeBooks, _ tollgate: Tollgate) async throws {
        guard let client = tollgate.stripe, outcome.failures.isEmpty else { return }
        let today = Instant(milliseconds: now)
        let days = hasFetchedReports ? 400 : 35
        _ = try await StripeReports(tollgate.store).fetch(with: client, today: today, days: days)
        hasFetchedReports = true
        let first = Reports.Day(Instant(milliseconds: now)).startOfMonth.advanced(by: -1).startOfMonth
        let last = first.startOfNextMonth.advanced(by: -1)
        guard first.start.milliseconds >= WorldPlan.beginning else { return }
        let statement = try await tollgate.statement(month: Finance.Day(first), in: .sandbox)
        let balance = statement.balances.first { $0.currency == "USD" }
        let total = statement.totals.first { $0.store == .stripe && $0.currency == "USD" }
        var truth = FigureTruth()
        truth.add(books, catalog)
        func balanced(before day: Reports.Day) -> ClosedRange<Double> {
            let net = books.entries.filter { $0.created * 1000 < day.start.milliseconds }
                .reduce(0) { $0 + $1.net }
            return Double(net * 10)...Double(net * 10)
        }
        let range = first.number...last.number
        func milliunits(_ money: Finance.Money?) -> Double {
            Double(money?.millionths ?? 0) / 1000
        }
        let back = milliunits(total?.refunded) + milliunits(total?.disputed)
        let checks = [
            Check("opening balance of", milliunits(balance?.opening), balanced(before: first)),
            Check(
                "closing balance of",
                milliunits(balance?.closing),
                balanced(before: last.advanced(by: 1))
            ),
            Check(
                "gross in the statement of",
                milliunits(total?.gross),
                FigureTruth.total(truth.charges, in: range).asDouble
            ),
            Check(
                "refunds in the statement of",
                abs(back),
                FigureTruth.total(truth.refunds, in: range).asDouble
            ),
        ]
        outcome.comparisons += checks.count
        for check in checks where !check.holds {
            return object(
                "Stripe: \(check.name) the month of \(first) is \(check.found), and by the store's "
                    + "books \(check.expected)"
            )
        }
    }

    private mutating func compare(
        _ truth: FigureTruth,
        _ tollgate: Tollgate,
        in environment: StoreEnvironment
    ) async throws {
        let first = Reports.Day(Instant(milliseconds: WorldPlan.beginning))
        // Today is not over.
        let last = Reports.Day(Instant(milliseconds: now - WorldPlan.day))
        guard first <= last else { return }
        let revenue = try await tollgate.report(
            "revenue",
            from: first,
            to: last,
            environment: environment
        )
        let mrr = try await tollgate.report("mrr", from: first, to: last, environment: environment)
        let moved = try await tollgate.report(
            "mrr-movement",
            from: first,
            to: last,
            environment: environment
        )
        let gone = moved.byDay("churned_count")
        let (new, returned) = (moved.byDay("new_count"), moved.byDay("returned_count"))
        let (gross, refunds) = (revenue.byDay("gross"), revenue.byDay("refunds"))
        let (values, counts) = (mrr.byDay("mrr"), mrr.byDay("active"))
        var (charged, back) = (0.0, 0.0)
        for day in first.number...last.number {
            charged += gross[day] ?? 0
            back += refunds[day] ?? 0
            let there = truth.active(on: day)
            var checks = [
                Check("gross through", charged, truth.gross(through: day).asDouble),
                Check("refunds through", back, truth.refunded(through: day).asDouble),
                Check("active at the end of", counts[day] ?? 0, there.count.asDouble),
                Check("MRR at the end of", values[day] ?? 0, there.value, slack: 5),
            ]
            if let moves = truth.moves(on: day) {
                let came = (new[day] ?? 0) + (returned[day] ?? 0)
                checks += [
                    Check("churn on", gone[day] ?? 0, moves.gone.asDouble),
                    Check("new and returned on", came, moves.came.asDouble),
                    Check("returned on", returned[day] ?? 0, moves.back.asDouble),
                ]
            }
            outcome.comparisons += checks.count
            for check in checks where !check.holds {
                return object(
                    "\(environment.rawValue): \(check.name) \(Reports.Day(number: day)) is "
                        + "\(check.found), and by the stores' books \(check.expected)"
                )
            }
        }
    }

    private struct Check {
        var name: String
        var found: Double
        var expected: ClosedRange<Double>

        /// Shares of milliunits are rounded.
        var slack: Double

        init(
            _ name: String,
            _ found: Double,
            _ expected: ClosedRange<Double>,
            slack: Double = 0
        ) {
            (self.name, self.found, self.expected, self.slack) = (name, found, expected, slack)
        }

        var holds: Bool {
            found >= expected.lowerBound - slack && found <= expected.upperBound + slack
        }
    }
}

extension ClosedRange<Int64> {
    fileprivate var asDouble: ClosedRange<Double> { Double(lowerBound)...Double(upperBound) }
}

extension Reports.Table {
    /// The numbers of a column by day, over all currencies.
    fileprivate func byDay(_ key: String) -> [Int64: Double] {
        var sums: [Int64: Double] = [:]
        for (day, value) in zip(values("day"), values(key)) {
            guard case .day(let day) = day else { continue }
            switch value {
            case .count(let count): sums[day.number, default: 0] += Double(count)
            case .money(let amount, _): sums[day.number, default: 0] += amount.approximate
            default: break
            }
        }
        return sums
    }
}
