internal import Hummingbird
internal import Reports
internal import Storage
internal import Stores
internal import TollgateCore
internal import TollgateService

/// The rows behind figures: charges and refunds, paid periods, movements of coins.
struct RowPages: DashboardPages {
    let request: DashboardRequest

    func rows(_ name: String) async throws -> Response {
        guard let kind = Reports.RowKind(rawValue: name) else { throw Refusal.nothingHere }
        let question = try await ReportPages(request: request).question()
        let match = try match(kind)
        let found = try await tollgate.reporting.rows(
            kind,
            from: question.from,
            to: question.to,
            filters: question.filters,
            matching: match,
            environment: environment,
            after: ask.query("after"),
            limit: 100
        )
        let rows = found.table.rows.map { Row(found.table, $0) }
        let customers = try await customers(rows)
        let names = try await customerNames(customers.values)
        let shown: [(row: Row, customer: Cell)] = rows.map {
            ($0, customerCell(customers[$0.text("customer")], names))
        }
        let title = words["rows_\(kind.rawValue)"]
        var table: Table
        switch kind {
        case .sales: table = sales(shown)
        case .periods: table = periods(shown)
        case .coins: table = coins(shown)
        }
        table.caption = title
        table.empty = words["no_such_rows"]
        table.next = found.next.map { ask.address(with: ["after": $0, "at": nil]) }
        if tollgate.store.history.current.hasSeveralApps {
            table.columns.append(words["app"])
            table.rows = zip(table.rows, rows).map { $0 + [Cell(appName($1.text("app")))] }
        }
        table.totals = totals(table)
        return list(
            title,
            section: "reports",
            table,
            file: "rows-\(kind.rawValue)",
            filters: filters(kind, question, match),
            [
                "lead": "\(formats.day(question.from.start)) – \(formats.day(question.to.start))",
                "crumb": "/dashboard/reports", "crumbName": words["nav_reports"],
            ]
        )
    }

    /// A row of one of the tables of rows, by the keys of its columns.
    private struct Row {
        private var values: [String: Reports.Table.Value] = [:]

        init(_ table: Reports.Table, _ row: [Reports.Table.Value]) {
            for (column, value) in zip(table.columns, row) { values[column.key] = value }
        }

        func text(_ key: String) -> String {
            if case .text(let text)? = values[key] { text } else { "" }
        }

        func count(_ key: String) -> Int64? {
            if case .count(let count)? = values[key] { count } else { nil }
        }

        func flag(_ key: String) -> Bool { count(key) == 1 }
    }

    /// The customers whose rows these name.
    private func customers(_ rows: [Row]) async throws -> [String: Customer.ID] {
        let keys = Set(rows.compactMap { RowKey(hex: $0.text("customer")) })
        let found = try await tollgate.store.customers(ofRows: keys.sorted(), in: environment)
        return Dictionary(uniqueKeysWithValues: found.map { ($0.key.hex, $0.value) })
    }

    // MARK: - Cells

    private func time(_ row: Row, _ key: String) -> Cell {
        row.count(key).map { Cell.time(Instant(milliseconds: $0), formats) } ?? Cell("–")
    }

    private func amount(_ row: Row, isBack: Bool) -> Cell {
        let currency = row.text("currency")
        guard let milliunits = row.count("milliunits"), !currency.isEmpty else { return Cell("–") }
        let minor = formats.minor(Reports.Fraction(milliunits), currency)
        return Cell.money(isBack ? -minor : minor, currency, formats)
    }

    /// Leads to the page of the purchase that a row is of.
    private func purchase(_ row: Row) -> Cell {
        guard let key = Purchase.Key(canonical: row.text("purchase")) else { return Cell("–") }
        return Cell.link(
            words["open_purchase"],
            "/dashboard/purchases/\(RecordStore.row(of: key).hex)"
        ).with(id: key.id)
    }

    private func offer(_ row: Row) -> Cell {
        let offer = row.text("offer")
        return Cell(offer.isEmpty ? "–" : words.of("offer", offer))
    }

    private func word(_ text: String) -> Cell { Cell(text.isEmpty ? "–" : text) }

    private func sales(_ rows: [(row: Row, customer: Cell)]) -> Table {
        Table(
            caption: "",
            columns: [
                words["when"], words["kind"], words["product"], words["customer"],
                words["figure_amount"], words["column_quantity"], words["store"],
                words["country"], words["column_offer"], words["renewal"], words["purchase"],
            ],
            numbers: [4, 5],
            rows: rows.map { row, customer in
                let kind = row.text("kind")
                var product = productCell(row.text("product"))
                if row.flag("family_shared") { product.note = words["ground_family"] }
                return [
                    time(row, "at").with(id: row.text("transaction")),
                    Cell(words.of("payment", kind)), product, customer,
                    amount(row, isBack: kind != "charge"),
                    row.count("quantity").map { Cell.count($0, formats) } ?? Cell("–"),
                    Cell(storeName(named: row.text("store"))), word(row.text("country")),
                    offer(row), Cell(row.flag("renewal") ? words["yes"] : "–"), purchase(row),
                ]
            },
            empty: ""
        )
    }

    private func periods(_ rows: [(row: Row, customer: Cell)]) -> Table {
        Table(
            caption: "",
            columns: [
                words["period_start"], words["period_end"], words["product"], words["customer"],
                words["figure_amount"], words["paid_until"], words["refunded_at"],
                words["store"], words["country"], words["column_offer"], words["purchase"],
            ],
            numbers: [4],
            rows: rows.map { row, customer in
                var product = productCell(row.text("product"))
                if row.flag("family_shared") { product.note = words["ground_family"] }
                var until = time(row, "paid_until")
                if row.count("retried_since") != nil { until.note = words["column_retry"] }
                return [
                    time(row, "start").with(id: row.text("transaction")), time(row, "end"), product,
                    customer,
                    amount(row, isBack: false), until, time(row, "refunded_at"),
                    Cell(storeName(named: row.text("store"))), word(row.text("country")),
                    offer(row), purchase(row),
                ]
            },
            empty: ""
        )
    }

    private func coins(_ rows: [(row: Row, customer: Cell)]) -> Table {
        Table(
            caption: "",
            columns: [
                words["when"], words["kind"], words["product"], words["customer"],
                words["coins"], words["store"], words["country"], words["purchase"],
            ],
            numbers: [4],
            rows: rows.map { row, customer in
                let kind = row.text("kind")
                let coins = (row.count("coins") ?? 0) * (kind == "sold" ? 1 : -1)
                let store = row.text("store")
                return [
                    time(row, "at"), Cell(words.of("coins", kind)),
                    productCell(row.text("product")), customer, Cell.count(coins, formats),
                    Cell(store.isEmpty ? "–" : storeName(named: store)),
                    word(row.text("country")), purchase(row),
                ]
            },
            empty: ""
        )
    }

    /// The sums of the rows shown, one for each currency.
    private func totals(_ table: Table) -> [[Cell]] {
        let column = 4
        guard table.rows.count > 1 else { return [] }
        var sums: [String: Double] = [:]
        for row in table.rows {
            guard let rank = row[column].rank else { continue }
            sums[row[column].currency ?? "", default: 0] += rank
        }
        return sums.sorted { $0.key < $1.key }.map { currency, sum in
            table.columns.indices.map { index in
                if index == 0 { return Cell(words["total_of_page"]) }
                guard index == column, let whole = Int64(exactly: sum) else { return Cell("") }
                return currency.isEmpty
                    ? Cell.count(whole, formats) : Cell.money(whole, currency, formats)
            }
        }
    }

    // MARK: - Filters

    private func match(_ kind: Reports.RowKind) throws -> RowMatch {
        try RowMatch(
            kind: kind == .periods ? nil : ask.query("kind"),
            leastMilliunits: kind == .coins ? nil : ask.milliunits("least")
        )
    }

    private func filters(
        _ kind: Reports.RowKind,
        _ question: ReportPages.Question,
        _ match: RowMatch
    ) -> [Model] {
        let kinds: [(String, String)]
        switch kind {
        case .sales:
            kinds = Reports.Sale.Kind.allCases.map {
                ($0.rawValue, words.of("payment", $0.rawValue))
            }
        case .periods: kinds = []
        case .coins:
            kinds = Reports.CoinMove.Kind.allCases.map {
                ($0.rawValue, words.of("coins", $0.rawValue))
            }
        }
        var filters = [
            field("from", words["from_day"], kind: "date", question.from.description),
            field("to", words["to_day"], kind: "date", question.to.description),
            storeFilter(question.filters.store), productFilter(question.filters.product),
            field("country", words["country"], kind: "text", question.filters.country ?? ""),
        ]
        if !kinds.isEmpty {
            filters.append(
                chooser(
                    "kind",
                    words["kind"],
                    [choice("", words["all"], match.kind == nil)]
                        + kinds.map { choice($0.0, $0.1, $0.0 == match.kind) }
                )
            )
        }
        if kind != .coins {
            filters.append(
                field("least", words["least_amount"], kind: "text", ask.query("least") ?? "")
            )
        }
        if tollgate.store.history.current.hasSeveralApps {
            filters.append(chooser("app", words["app"], appChoices(question.filters.app)))
        }
        return filters
    }
}
