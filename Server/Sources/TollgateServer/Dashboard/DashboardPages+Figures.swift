internal import Reports
internal import TollgateCore
internal import TollgateService

extension DashboardPages {
    func figures(
        _ name: String,
        _ first: Reports.Day,
        _ last: Reports.Day,
        by step: Reports.Step = .day,
        group: [Reports.Dimension]? = nil,
        filters: Reports.Filters = Reports.Filters()
    ) async throws -> Reports.Table {
        try await tollgate.reporting.report(
            name,
            from: first,
            to: last,
            by: step,
            group: group,
            filters: filters,
            environment: environment
        )
    }

    /// A value as people of this language read it.
    func shown(_ value: Reports.Table.Value) -> String {
        switch value {
        case .day(let day): formats.day(day.start)
        case .text(let text): text
        case .count(let count): formats.number(count)
        case .money(let milliunits, let currency):
            formats.money(formats.minor(milliunits, currency), currency)
        case .ratio(let ratio): "\(ratio.percent(1)) %"
        case .none: "–"
        }
    }

    /// The same as a cell.
    func cell(_ value: Reports.Table.Value) -> Cell {
        var cell = Cell(shown(value))
        switch value {
        case .day(let day):
            cell.rank = Double(day.number)
            cell.plain = day.description
        case .count(let count):
            cell.rank = Double(count)
            cell.plain = value.plain
        case .money(let milliunits, let currency):
            cell.rank = milliunits.approximate
            cell.currency = currency
            cell.plain = value.plain
        case .ratio(let ratio):
            cell.rank = ratio.approximate
            cell.plain = value.plain
        case .text, .none: break
        }
        return cell
    }

    /// A column over the days of a report.
    ///
    /// - Parameters:
    ///   - rows: the rows to draw; `nil`: all.
    ///   - series: the column of texts that tells lines apart; `nil`: one line. Amounts and counts
    ///     of one day and line are added up; shares are not, so all texts tell theirs apart.
    ///   - currency: only its rows; empty: all.
    func plot(
        _ id: String,
        _ title: String,
        _ kind: Plot.Kind,
        _ table: Reports.Table,
        rows: [[Reports.Table.Value]]? = nil,
        value: String,
        series name: String?,
        currency: String,
        link: String
    ) -> Model {
        let time = table.columns.firstIndex { $0.kind == .day }
        let column = table.columns.firstIndex { $0.key == value }
        let isRatio = column.map { table.columns[$0].kind == .ratio } ?? false
        let names = table.columns.indices.filter {
            table.columns[$0].key == name || isRatio && table.columns[$0].kind == .text
        }
        var points: [String: [Int64: Double]] = [:]
        for row in rows ?? table.rows {
            guard let time, let column, case .day(let day) = row[time] else { continue }
            var height: Double?
            switch row[column] {
            case .count(let count): height = Double(count)
            case .ratio(let ratio): height = ratio.approximate * 100
            case .money(let milliunits, let own) where currency.isEmpty || own == currency:
                height = milliunits.approximate / 1000
            default: break
            }
            guard let height else { continue }
            let key = names.map { storeName(named: row[$0].text) }.filter { !$0.isEmpty }
                .joined(separator: " · ")
            points[key, default: [:]][day.number, default: 0] += height
        }
        let isMoney = column.map { table.columns[$0].kind == .money } ?? false
        return plot(
            id,
            title,
            kind,
            points.sorted { $0.key < $1.key }.map { key, heights in
                Plot.Series(
                    name: key.isEmpty ? title : key,
                    points: heights.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
                )
            },
            unit: isMoney ? currency : isRatio ? "%" : "",
            link: link
        )
    }

    func plot(
        _ id: String,
        _ title: String,
        _ kind: Plot.Kind,
        _ series: [Plot.Series],
        unit: String,
        link: String
    ) -> Model {
        let formats = formats
        let words = words
        let plot = Plot(
            id: "plot-\(id)",
            title: title,
            kind: kind,
            series: series,
            isWhole: unit.isEmpty,
            number: { formats.axis($0, unit) },
            day: { formats.day(Reports.Day(number: $0).start) },
            sentence: { name, first, last, low, high in
                words(
                    "plot_sentence",
                    ["name": name, "first": first, "last": last, "low": low, "high": high]
                )
            }
        )
        var model = plot.model
        model["plotLink"] = link
        model["isBlank"] = series.allSatisfy { $0.points.allSatisfy { $0.height == 0 } }
        return model
    }
}
