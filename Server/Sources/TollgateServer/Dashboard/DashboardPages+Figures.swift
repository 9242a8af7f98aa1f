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
            cell.iso = day.description
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
}
