internal import Hummingbird
internal import Reports
internal import Storage
internal import Stores
internal import TollgateAPI
internal import TollgateCore
internal import TollgateService

/// Stores' reports compared with the record, payments and the monthly statement.
struct FinancePages: DashboardPages {
    let request: DashboardRequest
    private var accounts: Accounts { tollgate.accounts }

    /// More sales than these are not compared while somebody waits.
    private static let quickly: Int64 = 5_000

    func reconciliation() async throws -> Response {
        let (first, last) = try await days()
        if ask.query("format") == "csv" {
            let found = try await dashboard.allSales.run {
                try await accounts.reconciliation(from: first, to: last, in: environment)
            }
            return Response.csv(found.sheet.csv, named: "reconciliation-\(first)-\(last)")
        }
        let count = try await accounts.salesToCompare(from: first, to: last)
        let isMany = count > Self.quickly
        var found: Finance.Reconciliation?
        var made: Instant?
        if !isMany {
            found = try await accounts.reconciliation(from: first, to: last, in: environment)
        } else {
            let kept = try await accounts.keptReconciliation(in: environment)
            found = kept?.reconciliation
            made = kept?.made
        }
        let open = found?.summaries.filter { !$0.isExplained }.reduce(0) { $0 + $1.count } ?? 0
        // Where nothing was found and nothing is missing, there was nothing to compare.
        let covered =
            found.map { found in
                found.coverage.contains { $0.matched > 0 } || !found.differences.isEmpty
            } ?? false
        let pending = found?.coverage.contains { $0.pending > 0 } ?? false
        var model: Model = [
            "address": "/dashboard/reconciliation", "from": first.description,
            "to": last.description, "environmentValue": environment.rawValue,
            "csvURL": "/dashboard/reconciliation?\(query(first, last))&format=csv",
            "isCovered": covered, "isFine": open == 0, "isMany": isMany,
            "isPending": pending && !covered, "form": visit.formToken,
            "compareURL": "/dashboard/reconciliation/compare?\(query(first, last))",
            "verdict": words(
                open == 0 ? "verdict_fine" : "verdict_open",
                ["count": formats.number(Int64(open))]
            ),
        ]
        if isMany {
            let many: String =
                if let found, let made {
                    words(
                        "compared_earlier",
                        [
                            "time": formats.moment(made), "from": formats.day(found.first.start),
                            "to": formats.day(found.last.start),
                        ]
                    )
                } else {
                    words("compared_never", ["count": formats.number(count)])
                }
            model["many"] = many
        }
        if let found {
            model["hasResult"] = true
            model["coverage"] = coverage(found).model
            model["summaries"] = summaries(found).model
            model["differences"] = differences(found).model
            model["hasReissues"] = !found.reissues.isEmpty
            model["reissues"] = found.reissues.map { ["pieces": read($0.text).models] as Model }
        }
        return page(
            "dash_reconciliation",
            words["nav_reconciliation"],
            section: "reconciliation",
            model
        )
    }

    /// Compares anew, however long it takes, and keeps what was found for everybody.
    func compare() async throws -> Response {
        try visit.require(.support)
        let (first, last) = try await days()
        let kept = try await audited(
            Deed(
                "reconciliation.compare",
                "reconciliation:\(environment.rawValue)",
                "\(first) \(last)"
            )
        ) {
            try await dashboard.allSales.run {
                try await accounts.reconcileAndKeep(from: first, to: last, in: environment)
            }
        }
        return done(
            kept == nil ? "not_compared" : "compared",
            "/dashboard/reconciliation?\(query(first, last))"
        )
    }

    /// The days asked for; the last ninety if none are.
    private func days() async throws -> (Finance.Day, Finance.Day) {
        let today = Finance.Day(utc: await tollgate.clocks.now())
        func day(_ name: String, _ usual: Finance.Day) throws -> Finance.Day {
            guard let text = ask.query(name) else { return usual }
            guard let day = Finance.Day(text) else {
                throw Refusal(400, .parameterInvalid, "A day looks like 2026-12-01.", param: name)
            }
            return day
        }
        let last = try day("to", today)
        return (try day("from", last.advanced(by: -89)), last)
    }

    private func query(_ first: Finance.Day, _ last: Finance.Day) -> String {
        "from=\(first)&to=\(last)&environment=\(environment.rawValue)"
    }

    private func coverage(_ found: Finance.Reconciliation) -> Table {
        Table(
            caption: words["coverage"],
            columns: [
                words["store"], words["report"], words["from_day"], words["to_day"],
                words["matched"], words["pending"],
            ],
            numbers: [4, 5],
            rows: found.coverage.map { part in
                [
                    Cell(storeName(part.store)), Cell(words.of("source", part.source)),
                    Cell(part.first.map { formats.day($0.start) } ?? "–"),
                    Cell(part.last.map { formats.day($0.start) } ?? "–"),
                    Cell(formats.number(Int64(part.matched))),
                    Cell(formats.number(Int64(part.pending))),
                ]
            },
            empty: words["no_reconciliation"]
        )
    }

    private func summaries(_ found: Finance.Reconciliation) -> Table {
        Table(
            caption: words["reasons"],
            columns: [
                words["reason"], words["store"], words["report"], words["count"],
                words["amount"], words["meaning"],
            ],
            numbers: [3, 4],
            rows: found.summaries.map { summary in
                [
                    Cell.badge(
                        words.of("difference", summary.reason.rawValue),
                        summary.isExplained ? "plain" : "bad"
                    ), Cell(storeName(summary.store)), Cell(words.of("source", summary.source)),
                    Cell(formats.number(Int64(summary.count))),
                    Cell(
                        summary.amounts.isEmpty
                            ? "–"
                            : summary.amounts.map { formats.money($0) }.joined(separator: ", ")
                    ), explanation(of: summary),
                ]
            },
            empty: words["no_differences"]
        )
    }

    /// What a reason means; in English, the words of the API.
    private func explanation(of summary: Finance.Reconciliation.Summary) -> Cell {
        words.table["explained_\(summary.reason.rawValue)"].map { Cell($0) }
            ?? readCell(summary.explanation)
    }

    private func differences(_ found: Finance.Reconciliation) -> Table {
        Table(
            caption: words["differences"],
            columns: [
                words["reason"], words["when"], words["product"], words["ours"], words["theirs"],
                words["expected"], words["reported"], words["note"],
            ],
            numbers: [5, 6],
            rows: found.differences.prefix(200).map { difference in
                [
                    Cell.badge(
                        words.of("difference", difference.reason.rawValue),
                        difference.reason.isExplained ? "plain" : "bad"
                    ),
                    Cell(
                        (difference.day ?? difference.reportedDay).map {
                            formats.day($0.start)
                        } ?? "–"
                    ), productCell(difference.product, of: difference.store),
                    Cell(difference.movement ?? "–"),
                    Cell(difference.line ?? "–"),
                    Cell(difference.expected.map { formats.money($0) } ?? "–"),
                    Cell(difference.reported.map { formats.money($0) } ?? "–"),
                    readCell(difference.detail),
                ]
            },
            empty: words["no_differences"]
        )
    }

    // MARK: - Payments

    func payments() async throws -> Response {
        let (first, last) = try await days()
        let app = ask.query("app")
        let filter = try PaymentFilter(ask, tollgate.store.history.current)
        if ask.query("format") == "csv" {
            let payments = try await dashboard.allSales.run {
                try await accounts.payments(from: first, to: last, of: app, in: environment)
            }
            let sheet = Finance.Payment.sheet(
                payments.filter { filter.passes($0) },
                apps: tollgate.store.history.current.hasSeveralApps
            )
            return Response.csv(sheet.csv, named: "payments-\(first)-\(last)")
        }
        let isMany =
            try await accounts.salesToCompare(from: first, to: last) > Self.quickly
        let payments =
            isMany
            ? try await accounts
                .newestPayments(100, from: first, to: last, of: app, in: environment)
            : try await accounts.payments(from: first, to: last, of: app, in: environment)
        let payouts = try await accounts.payouts(
            from: first,
            to: last,
            in: environment,
            estimates: !isMany
        )
        let month = ask.query("month") ?? last.month
        var table = sorted(try await paymentTable(payments.filter { filter.passes($0) }))
        // The file has the same rows with all that is known of each.
        table.csvAddress = nil
        var filters = [
            field("from", words["from_day"], kind: "date", first.description),
            field("to", words["to_day"], kind: "date", last.description),
        ]
        if tollgate.store.history.current.hasSeveralApps {
            filters.append(chooser("app", words["app"], appChoices(app)))
        }
        let chosen = filters + fields(of: filter)
        return page(
            "dash_payments",
            words["nav_payments"],
            section: "payments",
            [
                "address": "/dashboard/payments", "hasFilters": true,
                "filters": chosen, "kept": keptFields(chosen),
                "csvURL": ask.address(with: ["format": "csv", "sort": nil, "at": nil]),
                "statementURL":
                    "/dashboard/statement?month=\(month)&environment=\(environment.rawValue)",
                "month": formats.month(named: month), "isMany": isMany,
                "payments": placed(table).model,
                "payouts": payoutTable(payouts).model,
            ]
        )
    }

    /// The filters of payments as fields of a form.
    private func fields(of filter: PaymentFilter) -> [Model] {
        [
            storeFilter(filter.store), productFilter(filter.product),
            chooser(
                "kind",
                words["kind"],
                [choice("", words["all"], filter.kind == nil)]
                    + Finance.Movement.Kind.allCases.map {
                        choice(
                            $0.rawValue,
                            words.of("payment", $0.rawValue),
                            $0 == filter.kind
                        )
                    }
            ), field("country", words["country"], kind: "text", filter.country ?? ""),
            field("least", words["least_amount"], kind: "text", ask.query("least") ?? ""),
        ]
    }

    private func payoutTable(_ payouts: [Finance.Payout]) -> Table {
        Table(
            caption: words["payouts"],
            columns: [words["when"], words["store"], words["state"], words["amount"]],
            numbers: [3],
            rows: payouts.map { payout in
                [
                    Cell(formats.day(payout.arrival.start)), Cell(storeName(payout.store)),
                    Cell(words.of("payout", payout.status)), cell(payout.amount),
                ]
            },
            empty: words["no_payouts"]
        )
    }

    private func paymentTable(_ payments: [Finance.Payment]) async throws -> Table {
        let payments = Array(payments.reversed())
        let customers = payments.compactMap { $0.customer.map { Customer.ID($0) } }
        // Names are read for the rows that one page shows.
        let names = try await customerNames(customers.prefix(1000))
        var table = Table(
            caption: words["nav_payments"],
            columns: [
                words["when"], words["store"], words["kind"], words["product"],
                words["customer"], words["country"], words["figure_gross"], words["tax"],
                words["commission"], words["figure_net"],
            ],
            numbers: [6, 7, 8, 9],
            rows: payments.map { row(of: $0, names) },
            empty: words["no_figures"]
        )
        if tollgate.store.history.current.hasSeveralApps {
            table.columns.append(words["app"])
            table.rows = zip(table.rows, payments).map { $0 + [Cell(appName($1.app))] }
        }
        table.totals = totals(of: payments, columns: table.columns.count)
        return table
    }

    private func row(of payment: Finance.Payment, _ names: [Customer.ID: String]) -> [Cell] {
        var net = cell(payment.net)
        net.note = words.of("basis", payment.basis.rawValue)
        let customer = payment.customer.map { Customer.ID($0) }
        return [
            Cell.time(payment.at, formats).with(id: payment.id),
            Cell(storeName(payment.store)), Cell(words.of("payment", payment.kind.rawValue)),
            productCell(payment.product, of: payment.store), customerCell(customer, names),
            Cell(payment.country ?? "–"), cell(payment.gross),
            payment.tax.map { cell($0) } ?? Cell("–"),
            payment.commission.map { cell($0) } ?? Cell("–"), net,
        ]
    }

    /// What was charged and given back, in all and one row for each currency.
    private func totals(of payments: [Finance.Payment], columns: Int) -> [[Cell]] {
        guard payments.count > 1 else { return [] }
        var sums: [String: Int64] = [:]
        for payment in payments {
            sums[payment.gross.currency, default: 0] &+= payment.gross.millionths
        }
        return sums.sorted { $0.key < $1.key }.map { currency, millionths in
            (0..<columns).map { index in
                if index == 0 { return Cell(words["total"]) }
                guard index == 6 else { return Cell("") }
                return cell(Finance.Money(millionths: millionths, currency: currency))
            }
        }
    }

    /// An amount as a cell, rounded to what can be paid.
    private func cell(_ amount: Finance.Money) -> Cell {
        var cell = Cell.number(formats.money(amount.rounded))
        cell.rank = Double(amount.millionths)
        cell.currency = amount.currency
        cell.plain = amount.decimal
        return cell
    }

    /// The statement of a month, as it is printed.
    func statement() async throws -> Response {
        guard let text = ask.query("month"), let month = Finance.Day("\(text)-01") else {
            throw Refusal(400, .parameterInvalid, "month is a month like 2026-06.", param: "month")
        }
        let statement = try await dashboard.allSales.run {
            try await accounts.statement(month: month, in: environment)
        }
        if ask.query("format") == "csv" {
            return Response.csv(statement.sheet.csv, named: "statement-\(statement.month)")
        }
        return try PageTemplates().page(
            "statement",
            StatementPage(statement, ask.language, tollgate.name)
        )
    }
}

/// Which payments are looked at.
private struct PaymentFilter: Sendable {
    var store: Store?
    var kind: Finance.Movement.Kind?
    /// The catalog's id.
    var product: String?
    private let catalog: Catalog
    var country: String?
    /// Of the gross, whichever way it went.
    var leastMilliunits: Int64?

    /// - Throws: a refusal 400 `parameter_invalid`.
    init(_ ask: Ask, _ catalog: Catalog) throws {
        self.catalog = catalog
        store = ask.query("store").flatMap { Store(rawValue: $0) }
        kind = ask.query("kind").flatMap { Finance.Movement.Kind(rawValue: $0) }
        product = ask.query("product")
        country = ask.query("country")?.uppercased()
        leastMilliunits = try ask.milliunits("least")
    }

    func passes(_ payment: Finance.Payment) -> Bool {
        (store == nil || store == payment.store) && (kind == nil || kind == payment.kind)
            && isChosen(payment)
            && (country == nil || country == payment.country)
            && (leastMilliunits.map { payment.gross.millionths.magnitude / 1000 >= $0.magnitude }
                ?? true)
    }

    /// Whether the chosen product is among those of a payment, which have the store's ids.
    private func isChosen(_ payment: Finance.Payment) -> Bool {
        guard let product else { return true }
        return payment.product.split(separator: ",").contains { id in
            catalog.product(StoreProduct(payment.store, String(id)))?.id == product
        }
    }
}
