internal import Hummingbird
internal import Reports
internal import Stores
internal import TollgateCore
internal import TollgateService

/// The first page: figures of the last days beside those before.
struct OverviewPage: DashboardPages {
    let request: DashboardRequest

    func overview() async throws -> Response {
        let today = Reports.Day(await tollgate.clocks.now())
        let span = Span(ask.query("span"))
        let first = today.advanced(by: 1 - span.days)
        let now = try await figures("overview", first, today)
        let then = try await figures(
            "overview",
            first.advanced(by: -span.days),
            first.advanced(by: -1)
        )
        let currency = now.mainCurrency
        let query = "from=\(first)&to=\(today)&by=\(span.step.rawValue)"
        let drawn = try await plots(
            PlotRange(first: first, last: today, step: span.step),
            currency,
            query
        )
        if let file = try file(of: drawn) { return file }
        let plotModels = drawn.map { model(of: $0) }
        let news = OverviewNews(request: request)
        let yesterday = try await news.sinceYesterday(today, currency)
        let needs = try await news.needs(today)
        return page(
            "dash_overview",
            words["nav_overview"],
            section: "overview",
            [
                "spans": Span.allCases.map { choice -> Model in
                    [
                        "spanURL": "/dashboard?span=\(choice.rawValue)",
                        "spanName": words["span_\(choice.rawValue)"],
                        "isHere": choice == span,
                    ]
                },
                "rangeText":
                    "\(formats.day(first.start)) – \(formats.day(today.start))",
                "yesterday": yesterday, "hasYesterday": !yesterday.isEmpty, "needs": needs,
                "hasNeeds": !needs.isEmpty, "tiles": tiles(now, then, currency, query),
                "isEmpty": now.rows.isEmpty || currency.isEmpty,
                "plots": plotModels,
                "stores": try await storesSideBySide(first, today, currency).model,
            ]
        )
    }

    /// All over the same range, those of what was sold and of MRR beside the range before.
    private func plots(
        _ range: PlotRange,
        _ currency: String,
        _ query: String
    ) async throws -> [Plot] {
        let (first, last, step) = (range.first, range.last, range.step)
        let before = range.before
        return [
            plot(
                "revenue",
                words["plot_revenue"],
                .bars,
                try await figures("revenue", first, last, by: step, group: [.store]),
                over: range,
                value: "gross",
                series: "store",
                currency: currency,
                before: try await figures("revenue", before.first, before.last, by: step),
                link: "/dashboard/reports/revenue?\(query)&group=store"
            ),
            plot(
                "mrr",
                words["plot_mrr"],
                .lines,
                try await figures("mrr", first, last, by: step),
                over: range,
                value: "mrr",
                series: nil,
                currency: currency,
                before: try await figures("mrr", before.first, before.last, by: step),
                link: "/dashboard/reports/mrr?\(query)"
            ),
            movementPlot(
                "movement",
                words["plot_movement"],
                try await figures("mrr-movement", first, last, by: step),
                over: range,
                currency: currency,
                link: "/dashboard/reports/mrr-movement?\(query)"
            ),
            plot(
                "active",
                words["plot_active"],
                .lines,
                try await figures("subscriptions", first, last, by: step, group: [.store]),
                over: range,
                value: "active",
                series: "store",
                currency: "",
                link: "/dashboard/reports/subscriptions?\(query)&group=store"
            ),
        ]
    }

    /// How far back the overview looks.
    enum Span: String, CaseIterable {
        case week = "7"
        case month = "30"
        case quarter = "90"
        case year = "365"

        init(_ text: String?) {
            self = text.flatMap { Span(rawValue: $0) } ?? .month
        }

        var days: Int64 { Int64(rawValue) ?? 30 }

        var step: Reports.Step {
            switch self {
            case .week, .month: .day
            case .quarter: .week
            case .year: .month
            }
        }
    }

    // MARK: - Tiles

    private func tiles(
        _ now: Reports.Table,
        _ then: Reports.Table,
        _ currency: String,
        _ query: String
    ) -> [Model] {
        func tile(
            _ key: String,
            _ label: String,
            _ report: String,
            isGoodUp: Bool? = true,
            more: String = ""
        ) -> Model {
            let value = now.value(key, currency)
            var model: Model = [
                "label": words[label], "value": shown(value),
                "link": "/dashboard/reports/\(report)?\(query)\(more)", "change": false,
                "note": others(now, key, currency) ?? false,
            ]
            if let change = change(from: then.value(key, currency), to: value) {
                let tone = isGoodUp.map { $0 == (change.rate > 0) ? "up" : "down" } ?? "quiet"
                model["change"] =
                    [
                        "changeText": words("against_before", ["change": change.text]),
                        "tone": change.rate == 0 ? "quiet" : tone,
                    ] as Model
            }
            return model
        }
        return [
            tile("gross", "figure_gross", "revenue"),
            tile("mrr", "figure_mrr", "mrr-movement"),
            tile("active", "figure_active", "subscriptions"),
            tile("trials", "figure_trials", "trials"),
            tile("churn_rate", "figure_churn", "churn", isGoodUp: false),
            tile("refunds", "figure_refunds", "refunds", isGoodUp: false),
            tile("estimated_proceeds", "figure_proceeds", "revenue"),
            tile("coins_outstanding", "figure_coins", "coins", isGoodUp: nil),
        ]
    }

    /// The same figure in the other currencies.
    private func others(_ table: Reports.Table, _ key: String, _ currency: String) -> String? {
        guard case .money = table.value(key, currency) else { return nil }
        let values = table.currencies.filter { $0 != currency && !$0.isEmpty }
            .map { table.value(key, $0) }.filter { !$0.isZero }
        return values.isEmpty
            ? nil : values.prefix(3).map { "+ \(shown($0))" }.joined(separator: " ")
    }

    private func change(
        from old: Reports.Table.Value,
        to new: Reports.Table.Value
    ) -> (rate: Double, text: String)? {
        switch (old, new) {
        case (.ratio(let old), .ratio(let new)):
            let points = new - old
            return (
                points.approximate,
                "\(points < .zero ? "−" : "+")\((points < .zero ? -points : points).percent(1)) pt"
            )
        case (.count(let old), .count(let new)) where old > 0:
            return rate(Reports.Fraction(new), Reports.Fraction(old))
        case (.money(let old, _), .money(let new, _)) where old > .zero:
            return rate(new, old)
        default: return nil
        }
    }

    private func rate(
        _ new: Reports.Fraction,
        _ old: Reports.Fraction
    ) -> (rate: Double, text: String)? {
        guard let share = (new - old).divided(by: old) else { return nil }
        let size = share < .zero ? -share : share
        return (share.approximate, "\(share < .zero ? "−" : "+")\(size.percent(1)) %")
    }

    // MARK: - The stores side by side

    private func storesSideBySide(
        _ first: Reports.Day,
        _ last: Reports.Day,
        _ currency: String
    ) async throws -> Table {
        var columns: [(name: String, table: Reports.Table)] = []
        for store in Store.selling {
            let table = try await figures(
                "overview",
                first,
                last,
                filters: Reports.Filters(store: store)
            )
            columns.append((storeName(store), table))
        }
        let keys = [
            ("gross", "figure_gross"), ("refunds", "figure_refunds"), ("net", "figure_net"),
            ("estimated_proceeds", "figure_proceeds"), ("mrr", "figure_mrr"),
            ("active", "figure_active"), ("trials", "figure_trials"),
            ("churn_rate", "figure_churn"),
        ]
        return Table(
            caption: words["side_by_side"],
            columns: [words["figure"]] + columns.map(\.name),
            numbers: Set(1...columns.count),
            rows: keys.map { key, label in
                [Cell(words[label])]
                    + columns.map { column in
                        Cell.number(shown(column.table.value(key, currency)))
                    }
            },
            empty: words["nothing_yet"]
        )
    }
}

extension Reports.Table {
    /// The value under a column in the row of a currency, else in the first row.
    func value(_ key: String, _ currency: String) -> Value {
        guard let column = columns.firstIndex(where: { $0.key == key }) else { return .none }
        let place = columns.firstIndex { $0.key == "currency" }
        let row =
            rows.first { row in
                place.map { row[$0] == .text(currency) } ?? true
            }
        if let row { return row[column] }
        // Nothing was paid in it.
        guard columns[column].kind == .money else { return rows.first?[column] ?? .none }
        return currency.isEmpty ? .none : .money(.zero, currency: currency)
    }

    var currencies: [String] {
        values("currency").compactMap { value in
            if case .text(let text) = value { text } else { nil }
        }
    }

    /// The currency in which most was charged.
    var mainCurrency: String { Self.largest(currencies.map { value("gross", $0) }) }

    /// The currency of which there is most, by minor units, since nothing is converted: a cent and a yen
    /// are worth about the same, a dollar and a yen are not.
    static func largest(_ amounts: [Value]) -> String {
        var sizes: [String: Double] = [:]
        for case .money(let money, let currency) in amounts {
            let minor = (0..<Reports.Currency.decimals(of: currency)).reduce(1.0) { size, _ in
                size * 10
            }
            sizes[currency, default: 0] += abs(money.approximate) * minor
        }
        return sizes.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key ?? ""
    }
}

extension Reports.Table.Value {
    var isZero: Bool {
        switch self {
        case .money(let money, _): money.isZero
        case .count(let count): count == 0
        case .ratio(let ratio): ratio.isZero
        default: true
        }
    }
}

extension Reports.Fraction {
    /// `12.5` for 1/8.
    func percent(_ decimals: Int) -> String {
        (self * Reports.Fraction(Int128(100))).text(decimals: decimals)
    }
}

extension Formats {
    /// Milliunits as minor units, halves away from zero.
    func minor(_ milliunits: Reports.Fraction, _ currency: String) -> Int64 {
        let scale: Int128
        switch decimals(of: currency) {
        case 0: scale = 1000
        case 3: scale = 1
        default: scale = 10
        }
        let text = (milliunits * Reports.Fraction(1, scale)).text(decimals: 0)
        return Int64(text) ?? 0
    }

    /// A level of a plot, short: `$1.2k`.
    func axis(_ value: Double, _ unit: String) -> String {
        let size = abs(value)
        var text: String
        switch size {
        case 1e9...: text = Self.trimmed(size / 1e9) + "B"
        case 1e6...: text = Self.trimmed(size / 1e6) + "M"
        case 1e4...: text = Self.trimmed(size / 1e3) + "k"
        case 1e3...: text = number(Int64(size.rounded()))
        default: text = Self.trimmed(size)
        }
        let sign = value < 0 ? "−" : ""
        if unit.isEmpty { return sign + text }
        if unit == "%" { return "\(sign)\(text) %" }
        return symbol(of: unit).map { "\(sign)\($0)\(text)" } ?? "\(sign)\(text) \(unit)"
    }

    private static func trimmed(_ value: Double) -> String {
        guard value.isFinite, value < 1e15 else { return "∞" }
        let hundredths = Int64((value * 100).rounded())
        if hundredths.isMultiple(of: 100) { return "\(hundredths / 100)" }
        let rest = hundredths % 100
        let text = rest.isMultiple(of: 10) ? "\(rest / 10)" : rest < 10 ? "0\(rest)" : "\(rest)"
        return "\(hundredths / 100).\(text)"
    }
}
