import AppStoreSimulator
import Reports
import TollgateCore
import TollgateService

extension SimulatedServer {
    /// A report as the dashboard and the command line ask for it, once all is in the figures.
    func report(
        _ name: String,
        _ days: ClosedRange<Reports.Day>,
        in environment: StoreEnvironment
    ) async throws -> Reports.Table {
        let tollgate = try tollgate
        while try await !tollgate.figures.followOnce(limit: 2_000) {}
        return try await tollgate.reporting.report(
            name,
            from: days.lowerBound,
            to: days.upperBound,
            group: [.store],
            environment: environment
        )
    }
}

extension SimulatedServer {
    func statement(
        of month: Finance.Day,
        in environment: StoreEnvironment
    ) async throws -> Finance.Statement {
        try await tollgate.accounts.statement(month: month, in: environment)
    }
}

extension SimulatedWorld {
    /// The differences between the reports and the stores' own books, up to yesterday.
    mutating func objectionsToFigures(_ books: StripeTruth) async throws -> [String] {
        let yesterday = Reports.Day(Instant(milliseconds: now)).advanced(by: -1)
        let first = Reports.Day(Instant(milliseconds: WorldPlan.beginning))
        guard first < yesterday else { return [] }
        let own: StoreEnvironment =
            play.loaded.scenario.appStore.isProduction ? .production : .sandbox
        let stores: [(Store, StoreEnvironment, FigureTruth)] = [
            (.appStore, own, try await appStoreFigures()),
            (.stripe, .sandbox, FigureTruth(books, in: catalog)),
        ]
        var objections = try await objectionsToGooglePlay(first...yesterday)
        for (store, environment, truth) in stores {
            let name = store.rawValue
            let revenue = try await server.report("revenue", first...yesterday, in: environment)
            objections += truth.objections(toRevenue: revenue.of(store), first...yesterday)
                .map { "\(name), \($0)" }
            let mrr = try await server.report("mrr", first...yesterday, in: environment)
            let ofMRR = truth.objections(toMRR: mrr.of(store), first...yesterday)
            let moves = try await server.report("mrr-movement", first...yesterday, in: environment)
            let ofMoves = truth.objections(toMovement: moves.of(store), first...yesterday)
            objections += (ofMRR.objections + ofMoves.objections).map { "\(name), \($0)" }
            outcome.figures.mrr += ofMRR.compared
            outcome.figures.movement += ofMoves.compared
            objections += try await self.objections(
                toStatementsOf: store,
                in: environment,
                truth,
                first...yesterday
            )
        }
        return objections
    }

    /// The differences to the money that came and went by Google Play's orders, without licence testers'.
    private func objectionsToGooglePlay(_ days: ClosedRange<Reports.Day>) async throws -> [String] {
        guard let books = try await googlePlayBooks() else { return [] }
        let isGone = plan.variant.googlePlay["refunded_product_is_gone"] == .truth(true)
        let truth = FigureTruth(books, at: now, refundedIsGone: isGone)
        let revenue = try await server.report("revenue", days, in: .production)
        let objections = truth.objections(toRevenue: revenue.of(.googlePlay), days)
        return objections.map { "google_play, \($0)" }
            + (try await self.objections(
                toStatementsOf: .googlePlay,
                in: .production,
                truth,
                days
            ))
    }

    private func objections(
        toStatementsOf store: Store,
        in environment: StoreEnvironment,
        _ truth: FigureTruth,
        _ days: ClosedRange<Reports.Day>
    ) async throws -> [String] {
        var objections: [String] = []
        for month in Self.monthsOver(by: days.upperBound, since: days.lowerBound) {
            let statement = try await server.statement(of: month, in: environment)
            objections += truth.objections(to: statement, of: store).map {
                "\(store.rawValue), statement of \(statement.month): \($0)"
            }
        }
        return objections
    }

    /// A day of each of the last months that are over, at most as many as lie between two quiet points.
    private static func monthsOver(by last: Reports.Day, since first: Reports.Day) -> [Finance.Day]
    {
        let ends = (first.number...last.number).map { Finance.Day(number: $0) }.filter {
            $0.month != $0.advanced(by: 1).month
        }
        return ends.suffix(3)
    }

    private func appStoreFigures() async throws -> FigureTruth {
        let store = play.world.appStore
        var all: [SimulatedAppStore.Transaction] = []
        for person in play.loaded.scenario.customers {
            guard let account = play.appleAccounts[person.name] else { continue }
            all += try await store.transactions(customer: account)
        }
        var subscriptions: [String: SimulatedAppStore.Subscription] = [:]
        for original in Set(all.map(\.originalID)) {
            subscriptions[original] = try? await store.subscription(original)
        }
        return FigureTruth(
            all,
            subscriptions: subscriptions,
            refundedSeats: refundedSeats,
            AppStoreTruth(catalog: catalog, now: now, reversed: reversed, shown: [])
        )
    }
}

extension Reports.Table {
    /// The lines of one store.
    fileprivate func of(_ store: Store) -> Reports.Table {
        var table = self
        guard let index = columns.firstIndex(where: { $0.key == "store" }) else { return table }
        table.rows.removeAll { $0[index] != .text(store.rawValue) }
        return table
    }

    /// The values under some columns, by day and currency; of what is there more than once, the sum.
    fileprivate func sums(_ keys: [String]) -> [FigureTruth.Place: [Double]] {
        func index(_ key: String) -> Int? { columns.firstIndex { $0.key == key } }
        guard let day = index("day") else { return [:] }
        let currency = index("currency")
        let wanted = keys.compactMap(index)
        var sums: [FigureTruth.Place: [Double]] = [:]
        for row in rows {
            guard case .day(let date) = row[day] else { continue }
            let place = FigureTruth.Place(
                day: date,
                currency: currency.map { row[$0].text.uppercased() } ?? ""
            )
            let values = wanted.map { row[$0].amount }
            let known = sums[place] ?? Array(repeating: 0, count: values.count)
            sums[place] = zip(known, values).map { $0 + $1 }
        }
        return sums
    }
}

extension Reports.Table.Value {
    fileprivate var amount: Double {
        switch self {
        case .count(let count): Double(count)
        case .money(let milliunits, _): milliunits.approximate
        default: 0
        }
    }
}

extension FigureTruth {
    private static func days(_ range: ClosedRange<Reports.Day>) -> [Reports.Day] {
        (range.lowerBound.number...range.upperBound.number).map { Reports.Day(number: $0) }
    }

    /// Gross and refunds of each day.
    func objections(toRevenue table: Reports.Table, _ days: ClosedRange<Reports.Day>) -> [String] {
        let told = table.sums(["gross", "refunds"])
        let places = Set(told.keys).union(money.keys).filter { days.contains($0.day) }
        return places.sorted { ($0.day, $0.currency) < ($1.day, $1.currency) }.compactMap { place in
            let own = money[place] ?? Money()
            let said = told[place] ?? [0, 0]
            let slack = Double(own.slack) + 0.5
            guard
                abs(said[0] - Double(own.gross)) > slack
                    || abs(said[1] - Double(own.refunds)) > slack
            else { return nil }
            return "\(place.day): the books have \(own.gross) gross and \(own.refunds) refunds in "
                + "thousandths of \(place.currency), the report \(said[0]) and \(said[1])"
        }
    }

    /// The sums of what was charged in a month, and of what went back in it.
    func objections(to statement: Finance.Statement, of store: Store) -> [String] {
        var own: [String: Money] = [:]
        for (place, money) in money where place.day.month == statement.month {
            own[place.currency, default: Money()].gross += money.gross
            own[place.currency, default: Money()].refunds += money.refunds
            own[place.currency, default: Money()].slack += money.slack
        }
        let totals = statement.totals.filter { $0.store == store }
        return Set(own.keys).union(totals.map(\.currency)).sorted().compactMap { currency in
            let said = totals.filter { $0.currency == currency }
            func sum(_ amount: (Finance.Statement.Total) -> Finance.Money) -> Int64 {
                said.reduce(0) { $0 + abs(amount($1).millionths) } / 1000
            }
            let (gross, back) = (sum(\.gross), sum(\.refunded) + sum(\.disputed))
            let books = own[currency] ?? Money()
            guard
                abs(gross - books.gross) > books.slack + 1
                    || abs(back - books.refunds) > books.slack + 1
            else { return nil }
            return
                "the books have \(books.gross) gross and \(books.refunds) back in thousandths of "
                + "\(currency), the statement \(gross) and \(back)"
        }
    }

    /// Active subscriptions and MRR at the end of each month and of the last day.
    ///
    /// - Returns: also the number of days on which the books are sure of MRR.
    func objections(
        toMRR table: Reports.Table,
        _ days: ClosedRange<Reports.Day>
    ) -> (objections: [String], compared: Int) {
        let told = table.sums(["active", "mrr"])
        var (objections, compared): ([String], Int) = ([], 0)
        for day in Self.days(days)
        where day == days.upperBound || day.advanced(by: 1).civil.day == 1 {
            let own = active(atEndOf: day)
            let lines = told.filter { $0.key.day == day }
            let count = lines.values.reduce(0) { $0 + Int($1[0]) }
            if !own.count.contains(count) {
                objections.append(
                    "end of \(day): by the books \(own.count.lowerBound) to "
                        + "\(own.count.upperBound) subscriptions are active, by the report \(count)"
                )
            }
            guard let mrr = own.mrr() else { continue }
            if !mrr.isEmpty { compared += 1 }
            for currency in Set(mrr.keys).union(lines.keys.map(\.currency)).sorted() {
                let said = lines.filter { $0.key.currency == currency }.values.reduce(0) {
                    $0 + $1[1]
                }
                guard abs(said - (mrr[currency] ?? 0)) > 0.5 else { continue }
                objections.append(
                    "end of \(day): by the books MRR is \(mrr[currency] ?? 0) thousandths of "
                        + "\(currency), by the report \(said)"
                )
            }
        }
        return (objections, compared)
    }

    /// New and churned subscriptions of each day before and after which the books are sure, and what
    /// they are worth a month.
    ///
    /// - Returns: also the number of those days on which somebody came or went.
    func objections(
        toMovement table: Reports.Table,
        _ days: ClosedRange<Reports.Day>
    ) -> (objections: [String], compared: Int) {
        let told = table.sums(["new_count", "churned_count", "returned_count"])
        let worth = table.sums(["new", "returned", "churned", "expansion", "contraction"])
        var (objections, compared): ([String], Int) = ([], 0)
        var before = active(atEndOf: days.lowerBound.advanced(by: -1))
        for day in Self.days(days) {
            let own = active(atEndOf: day)
            defer { before = own }
            guard own.open.isEmpty, before.open.isEmpty else { continue }
            let come = own.count(besides: before.subscriptions)
            let gone = before.count(besides: own.subscriptions)
            if come + gone > 0 { compared += 1 }
            let said = told.filter { $0.key.day == day }.values.reduce([0, 0, 0]) { sum, line in
                [sum[0] + line[0], sum[1] + line[1], sum[2] + line[2]]
            }
            // Who comes back makes another subscription at Stripe, which the books do not join.
            let arrived = Int(said[0] + said[2])
            if arrived != come || Int(said[1]) != gone {
                objections.append(
                    "\(day): by the books \(come) subscriptions came and \(gone) went, "
                        + "by the report \(arrived) and \(Int(said[1]))"
                )
            }
            objections += Self.objections(toWorth: worth, on: day, from: before, to: own)
        }
        return (objections, compared)
    }

    /// The MRR that came, went and changed on one day, by currency.
    private static func objections(
        toWorth told: [Place: [Double]],
        on day: Reports.Day,
        from before: Active,
        to after: Active
    ) -> [String] {
        guard let old = before.mrr(), let new = after.mrr(),
            let came = after.mrr(besides: before.subscriptions),
            let went = before.mrr(besides: after.subscriptions)
        else { return [] }
        let said = told.filter { $0.key.day == day }
        let currencies = Set(old.keys).union(new.keys).union(said.keys.map(\.currency))
        return currencies.sorted().compactMap { currency in
            let (came, went) = (came[currency] ?? 0, went[currency] ?? 0)
            let changed = (new[currency] ?? 0) - (old[currency] ?? 0) - came + went
            let lines = said.filter { $0.key.currency == currency }.values
            func sum(_ columns: Range<Int>) -> Double {
                lines.reduce(0) { $0 + $1[columns].reduce(0, +) }
            }
            let (arrived, gone, moved) = (sum(0..<2), -sum(2..<3), sum(3..<5))
            guard abs(arrived - came) > 1 || abs(gone - went) > 1 || abs(moved - changed) > 1
            else { return nil }
            return "\(day): by the books \(came) came, \(went) went and \(changed) changed of MRR "
                + "in thousandths of \(currency), by the report \(arrived), \(gone) and \(moved)"
        }
    }
}
