internal import Hummingbird
internal import Reports
internal import Storage
internal import Stores
internal import TollgateAPI
internal import TollgateCore
internal import TollgateService

/// Reports with their tables and plots.
struct ReportPages: DashboardPages {
    let request: DashboardRequest

    func reports() async throws -> Response {
        guard ask.path.count > 1 else { return reportList() }
        let name = ask.path[1]
        if name.hasPrefix("rows-") {
            return try await RowPages(request: request).rows(String(name.dropFirst(5)))
        }
        guard let report = Reports.Report(rawValue: name) else { throw Refusal.nothingHere }
        let question = try await question()
        let table = try await tollgate.reporting.report(
            name,
            from: question.from,
            to: question.to,
            by: question.by,
            group: question.group,
            filters: question.filters,
            environment: environment
        )
        let catalog = tollgate.store.history.current
        let title = words.of("report", report.rawValue)
        let earlier = try await rangeBefore(report, question)
        let drawn = plots(report, table, earlier, question)
        if let file = try file(of: drawn) { return file }
        let plotModels = drawn.map { model(of: $0) }
        let grids = cohorts(table, by: question.by, title: title)
        let figures = sorted(shown(table, title, by: question.by))
        if ask.query("format") == "csv" {
            return Response.csv(figures.csv(words), named: table.name)
        }
        return page(
            "dash_report",
            title,
            section: "reports",
            [
                "hasPieces": report.hasPieces,
                "address": "/dashboard/reports/\(name)", "from": question.from.description,
                "to": question.to.description,
                "steps": Reports.Step.allCases.map { step -> Model in
                    choice(step.rawValue, words["step_\(step.rawValue)"], step == question.by)
                },
                "stores": [choice("", words["all_stores"], question.filters.store == nil)]
                    + Store.selling.map {
                        choice($0.rawValue, storeName($0), $0 == question.filters.store)
                    },
                "hasApps": catalog.hasSeveralApps,
                "apps": appChoices(question.filters.app),
                "products": [choice("", words["all_products"], question.filters.product == nil)]
                    + catalog.products.map {
                        choice($0.id, $0.name, $0.id == question.filters.product)
                    },
                "groups": [choice("", words["group_usual"], question.group == nil)]
                    + report.groups.filter { $0 != .app || catalog.hasSeveralApps }.map {
                        choice($0.rawValue, words["group_\($0.rawValue)"], question.group == [$0])
                    },
                "country": question.filters.country ?? "",
                "environmentValue": environment.rawValue,
                "rowsURL": address(question, "rows-\(report.rowKind.rawValue)"),
                "plots": plotModels, "cohorts": grids, "table": placed(figures).model,
                "definitions": table.definitions.map { definition -> Model in
                    let name = words.table[definition.key("defined")] ?? definition.name
                    return [
                        "term": "\(name) · \(words["version"]) \(definition.version)",
                        "meaning": words.table[definition.key("definition")] ?? definition.text,
                    ]
                }, "notes": table.notes.map { ["pieces": read($0).models] as Model },
                "hasNotes": !table.notes.isEmpty,
                "isList": false, "hasViews": true,
            ]
        )
    }

    private func reportList() -> Response {
        page(
            "dash_report",
            words["nav_reports"],
            section: "reports",
            [
                "isList": true,
                "entries": Reports.Report.allCases.filter { $0 != .overview }.map {
                    report -> Model in
                    [
                        "entryURL": "/dashboard/reports/\(report.rawValue)",
                        "entryName": words.of("report", report.rawValue),
                        "entryText": words.of("report_text", report.rawValue),
                    ]
                },
            ]
        )
    }

    // MARK: - What was asked

    struct Question {
        var from: Reports.Day
        var to: Reports.Day
        var by: Reports.Step
        var group: [Reports.Dimension]?
        var filters: Reports.Filters
    }

    func question() async throws -> Question {
        let today = Reports.Day(await tollgate.clocks.now())
        func day(_ name: String, _ usual: Reports.Day) throws -> Reports.Day {
            guard let text = ask.query(name) else { return usual }
            guard let day = Reports.Day(text) else {
                throw Refusal.invalid(name, "A day looks like 2026-12-01.")
            }
            return day
        }
        let to = try day("to", today)
        let from = try day("from", to.advanced(by: -89))
        let days = to.number - from.number
        return Question(
            from: from,
            to: to,
            by: ask.query("by").flatMap { Reports.Step(rawValue: $0) }
                ?? (days > 400 ? .month : days > 45 ? .week : .day),
            group: ask.query("group").flatMap { Reports.Dimension(rawValue: $0) }.map { [$0] },
            filters: Reports.Filters(
                store: ask.query("store").flatMap { Store(rawValue: $0) },
                product: ask.query("product"),
                country: ask.query("country")?.uppercased(),
                app: ask.query("app")
            )
        )
    }

    private func address(_ question: Question, _ name: String) -> String {
        var text =
            "/dashboard/reports/\(name)?from=\(question.from)&to=\(question.to)"
            + "&by=\(question.by.rawValue)&environment=\(environment.rawValue)"
        if let group = question.group?.first { text += "&group=\(group.rawValue)" }
        if let store = question.filters.store { text += "&store=\(store.rawValue)" }
        if let app = question.filters.app { text += "&app=\(Ask.escaped(app))" }
        if let product = question.filters.product { text += "&product=\(Ask.escaped(product))" }
        if let country = question.filters.country { text += "&country=\(Ask.escaped(country))" }
        return text
    }

    // MARK: - What is shown

    /// The table in the words of this language, with its sums.
    func shown(_ table: Reports.Table, _ caption: String, by step: Reports.Step) -> Table {
        let numbers = table.columns.indices.filter {
            [.count, .money, .ratio].contains(table.columns[$0].kind)
        }
        return Table(
            caption: caption,
            columns: table.columns.map { column in
                let key = column.kind == .day && step == .month ? "month" : column.key
                return words.table["column_\(key)"] ?? column.title
            },
            numbers: Set(numbers),
            rows: table.rows.map { row in
                row.enumerated().map { cell($1, under: table.columns[$0].key, by: step) }
            },
            empty: words["no_figures"],
            totals: totals(table),
            subtotals: subtotals(table)
        )
    }

    private func cell(
        _ value: Reports.Table.Value,
        under key: String,
        by step: Reports.Step = .day
    ) -> Cell {
        if case .day(let day) = value, step == .month {
            var month = cell(value)
            month.text = formats.month(day)
            month.iso = String(day.description.prefix(7))
            return month
        }
        guard case .text(let text) = value else { return cell(value) }
        switch key {
        case "store": return Cell(storeName(named: text))
        case "app": return Cell(appName(text))
        case "product": return productCell(text)
        case "event": return Cell(words.of("happened", text))
        default: return Cell(text.isEmpty ? "–" : text)
        }
    }

    /// The sums of what happened in the range, for each currency.
    ///
    /// What holds at the end of a day, and shares, have no sum.
    private func totals(_ table: Reports.Table) -> [[Cell]] {
        table.rows.count > 1 ? sums(of: table, by: table.currencyColumn) : []
    }

    /// The same sums for each store, product or other group that has several rows.
    private func subtotals(_ table: Reports.Table) -> [[Cell]] {
        let group = table.columns.indices.first { column in
            !table.currencyColumn.contains(column) && table.columns[column].kind == .text
                && Set(table.rows.map { $0[column].text }).count > 1
        }
        guard let group else { return [] }
        let sums = sums(of: table, by: [group] + table.currencyColumn)
        // Groups of one row each would repeat the rows, and many would hide the total.
        return sums.count < table.rows.count && sums.count <= 24 ? sums : []
    }

    /// The sums of the rows that are equal in some columns, in the order of these.
    private func sums(of table: Reports.Table, by columns: [Int]) -> [[Cell]] {
        let summed = Reports.Report(rawValue: table.name).flatMap { Self.summed[$0] } ?? []
        guard table.columns.contains(where: { summed.contains($0.key) }) else { return [] }
        let groups = Dictionary(grouping: table.rows) { row in columns.map { row[$0].text } }
        return groups.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { _, rows in
            table.columns.indices.map { index in
                let key = table.columns[index].key
                if columns.contains(index) { return cell(rows[0][index], under: key) }
                if index == 0 { return Cell(words["total"]) }
                guard summed.contains(key) else { return Cell("") }
                return Reports.Table.Value.sum(of: rows.map { $0[index] }).map { cell($0) }
                    ?? Cell("–")
            }
        }
    }

    /// The columns of each report that may be added up over days and lines.
    private static let summed: [Reports.Report: Set<String>] = [
        .sales: [
            "units", "transactions", "gross", "refunded_units", "refunds", "net",
            "estimated_proceeds",
        ],
        .revenue: ["gross", "refunds", "net", "estimated_proceeds", "reported_proceeds"],
        .refunds: [
            "paid", "refunded_by_purchase", "refunded_by_date", "amount_by_purchase",
            "amount_by_date",
        ],
        .downloads: ["first_downloads", "redownloads", "updates"],
        .events: ["count"],
        .mrrMovement: [
            "new", "expansion", "contraction", "churned", "returned", "new_count",
            "churned_count", "returned_count",
        ],
        .churn: ["expired", "resubscribed"],
        .trials: ["started", "converted", "pending", "abandoned"],
        .coins: ["sold", "refunded", "spent"],
    ]

    /// The same report of the range before; `nil` where its plot shows none.
    private func rangeBefore(
        _ report: Reports.Report,
        _ question: Question
    ) async throws -> Reports.Table? {
        guard Self.happened.contains(report) || report == .mrr else { return nil }
        let range = PlotRange(first: question.from, last: question.to, step: question.by).before
        return try await tollgate.reporting.report(
            report.rawValue,
            from: range.first,
            to: range.last,
            by: range.step,
            group: question.group,
            filters: question.filters,
            environment: environment
        )
    }

    private func plots(
        _ report: Reports.Report,
        _ table: Reports.Table,
        _ before: Reports.Table?,
        _ question: Question
    ) -> [Plot] {
        // Cohorts are no line over time: they have grids.
        guard CohortGrid.shapes[report] == nil,
            table.columns.contains(where: { $0.kind == .day })
        else { return [] }
        let texts = table.columns.filter { $0.kind == .text && $0.key != "currency" }.map(\.key)
        guard let value = table.plotted.column,
            let column = table.columns.first(where: { $0.key == value })
        else { return [] }
        let title = words.table["column_\(value)"] ?? column.title
        let currencies = column.kind == .money ? Set(table.currencies).subtracting([""]) : [""]
        let main = table.mainCurrencyOfPlot(value)
        let range = PlotRange(first: question.from, last: question.to, step: question.by)
        return currencies.sorted { ($0 == main ? 0 : 1, $0) < ($1 == main ? 0 : 1, $1) }.prefix(3)
            .map { currency in
                // What moved MRR tells more than what it closed with.
                guard report != .mrrMovement else {
                    let title = words["plot_movement"]
                    return movementPlot(
                        "report-\(currency.lowercased())",
                        currencies.count > 1 ? "\(title) · \(currency)" : title,
                        table,
                        over: range,
                        currency: currency,
                        link: ""
                    )
                }
                return plot(
                    "report-\(currency.isEmpty ? "all" : currency.lowercased())",
                    currencies.count > 1 ? "\(title) · \(currency)" : title,
                    Self.happened.contains(report) ? .bars : .lines,
                    table,
                    over: range,
                    rows: table.plotted.rows,
                    value: value,
                    series: texts.first,
                    currency: currency,
                    before: before,
                    link: ""
                )
            }
    }

    /// Reports of what happened on days, not of what held at their end.
    private static let happened: Set<Reports.Report> = [
        .sales, .revenue, .downloads, .events, .trials,
    ]
}

extension Reports.Table {
    /// The place of the currency, where there is one.
    fileprivate var currencyColumn: [Int] {
        columns.firstIndex { $0.key == "currency" }.map { [$0] } ?? []
    }

    /// The currency of which a column holds most.
    func mainCurrencyOfPlot(_ key: String) -> String {
        guard let column = columns.firstIndex(where: { $0.key == key }) else { return "" }
        return Self.largest(rows.map { $0[column] })
    }
}

extension Reports.Table.Value {
    /// The sum of counts, or of amounts of one currency; `nil` where there is none of either.
    static func sum(of values: [Self]) -> Self? {
        var sum: Self?
        for value in values {
            switch (sum, value) {
            case (nil, .count), (nil, .money): sum = value
            case (.count(let left)?, .count(let right)): sum = .count(left &+ right)
            case (.money(let left, let currency)?, .money(let right, let other))
            where currency == other:
                sum = .money(left + right, currency: currency)
            case (.money?, .money): return nil
            default: continue
            }
        }
        return sum
    }
}

extension Reports.Definition {
    /// The key of its text in a language other than English, which has its own.
    fileprivate func key(_ kind: String) -> String {
        "\(kind)_\(name.lowercased().replacing(" ", with: "_"))"
    }
}
