internal import Reports
internal import Storage
internal import TollgateCore
internal import TollgateService

/// Cohorts as a grid: one row for those who began together, one column for each period or age.
///
/// The darker a cell, the more: of a share all of it is darkest, of money the largest of the grid.
struct CohortGrid {
    /// What a report of cohorts has, by the keys of its columns.
    struct Shape {
        /// The number of the period, or the age in days.
        var part: String
        /// What a cell shows.
        var value: String
        /// The column whose sum, over that of the next one, is the average of a column of cells.
        var counted: String
        /// How many people that is of.
        var of: String
    }

    /// One row.
    struct Cohort {
        var day: Reports.Day
        /// By period or age.
        var cells: [Int64: [String: Reports.Table.Value]] = [:]
    }

    /// What tells it apart from the report's other grids, such as a product and a currency.
    var group: [(column: String, text: String)]
    var shape: Shape
    var cohorts: [Cohort]

    static let shapes: [Reports.Report: Shape] = [
        .retention: Shape(
            part: "period",
            value: "retention",
            counted: "paid",
            of: "subscriptions"
        ), .ltv: Shape(part: "age", value: "ltv", counted: "revenue", of: "customers"),
    ]

    /// The grids of a report, one for each group; none of a report that is not about cohorts.
    static func grids(_ table: Reports.Table) -> [CohortGrid] {
        guard let shape = Reports.Report(rawValue: table.name).flatMap({ shapes[$0] }),
            let time = table.columns.firstIndex(where: { $0.kind == .day })
        else { return [] }
        let texts = table.columns.indices.filter { table.columns[$0].kind == .text }
        var grids: [CohortGrid] = []
        var places: [[String]: Int] = [:]
        for row in table.rows {
            guard case .day(let day) = row[time] else { continue }
            var values: [String: Reports.Table.Value] = [:]
            for (column, value) in zip(table.columns, row) { values[column.key] = value }
            guard case .count(let part)? = values[shape.part] else { continue }
            let group = texts.map { row[$0].text }
            let place = places[group] ?? grids.count
            if place == grids.count {
                places[group] = place
                let names: [(column: String, text: String)] = texts.map {
                    (table.columns[$0].key, row[$0].text)
                }
                grids.append(CohortGrid(group: names, shape: shape, cohorts: []))
            }
            if grids[place].cohorts.last?.day != day {
                grids[place].cohorts.append(Cohort(day: day))
            }
            grids[place].cohorts[grids[place].cohorts.count - 1].cells[part] = values
        }
        return grids
    }

    /// Every period or age that any cohort has come to.
    var parts: [Int64] { Set(cohorts.flatMap { $0.cells.keys }).sorted() }

    /// How many began in a cohort.
    func size(of cohort: Cohort) -> Int64 {
        cohort.cells.values.compactMap { count($0[shape.of]) }.max() ?? 0
    }

    /// Whether only some of a cohort have come this far: they began on different days.
    func isPartial(_ part: Int64, of cohort: Cohort) -> Bool {
        cohort.cells[part].flatMap { count($0[shape.of]) }.map { $0 < size(of: cohort) } ?? false
    }

    /// The average of a column over all cohorts, each by its size.
    func average(_ part: Int64) -> Reports.Table.Value {
        var counted: Reports.Table.Value?
        var of: Int64 = 0
        for cohort in cohorts {
            guard let cell = cohort.cells[part], let value = cell[shape.counted],
                let people = count(cell[shape.of])
            else { continue }
            counted = Reports.Table.Value.sum(of: [counted, value].compactMap { $0 })
            of &+= people
        }
        switch counted {
        case .count(let count)?:
            return Reports.Fraction.share(count, of: of).map { Reports.Table.Value.ratio($0) }
                ?? .none
        case .money(let money, let currency)?:
            return money.divided(by: Reports.Fraction(of))
                .map { Reports.Table.Value.money($0, currency: currency) }
                ?? .none
        default: return .none
        }
    }

    /// How dark a value is, from 0 to 9.
    func shade(_ value: Reports.Table.Value?) -> Int {
        let share: Double
        switch value {
        case .ratio(let ratio)?: share = ratio.approximate
        case .money(let money, _)?:
            share = largest > 0 ? money.approximate / largest : 0
        default: return 0
        }
        return max(0, min(9, Int((share * 9).rounded())))
    }

    private var largest: Double {
        cohorts.flatMap { $0.cells.values }.compactMap { cell in
            if case .money(let money, _)? = cell[shape.value] { money.approximate } else { nil }
        }.max() ?? 0
    }

    private func count(_ value: Reports.Table.Value?) -> Int64? {
        if case .count(let count)? = value { count } else { nil }
    }
}

extension DashboardPages {
    /// The grids of a report of cohorts as the template `dash_cohorts` takes them.
    func cohorts(_ table: Reports.Table, by step: Reports.Step, title: String) -> [Model] {
        CohortGrid.grids(table).prefix(24).enumerated().map { number, grid -> Model in
            let names = grid.group.map { name(of: $0.text, under: $0.column) }
                .filter { !$0.isEmpty }
            let parts = grid.parts
            return [
                "gridID": "cohorts-\(number)",
                "gridTitle": ([title] + names).joined(separator: " · "),
                "firstHeading": words["begun_in"], "sizeHeading": words["cohort_size"],
                "parts": parts.map { part -> Model in
                    [
                        "part": words(
                            grid.shape.part == "age" ? "age_of" : "period_of",
                            ["number": formats.number(part)]
                        )
                    ]
                },
                "gridRows": grid.cohorts.map { cohort in
                    row(of: cohort, in: grid, parts, by: step)
                },
                "averages": parts.map { part -> Model in
                    ["text": shown(grid.average(part))]
                },
                "hasPartial": grid.cohorts.contains { cohort in
                    parts.contains { grid.isPartial($0, of: cohort) }
                },
            ]
        }
    }

    private func row(
        of cohort: CohortGrid.Cohort,
        in grid: CohortGrid,
        _ parts: [Int64],
        by step: Reports.Step
    ) -> Model {
        [
            "cohort": formats.begin(cohort.day, of: step),
            "size": formats.number(grid.size(of: cohort)),
            "gridCells": parts.map { part -> Model in
                let value = cohort.cells[part]?[grid.shape.value]
                return [
                    "text": value.map { shown($0) } ?? "",
                    "shade": value == nil ? "none" : "shade-\(grid.shade(value))",
                    "isPartial": grid.isPartial(part, of: cohort),
                ]
            },
        ]
    }

    /// What people call a value of one of a report's columns of texts.
    func name(of text: String, under key: String) -> String {
        switch key {
        case "store": storeName(named: text)
        case "app": text.isEmpty ? "" : appName(text)
        case "product": tollgate.store.history.current.product(id: text)?.name ?? text
        case "offer": text.isEmpty ? "" : words.of("offer", text)
        case "event": words.of("happened", text)
        default: text
        }
    }
}

extension Formats {
    /// The day, week or month that begins on a day: `Jun 2026` of a month.
    func begin(_ day: Reports.Day, of step: Reports.Step) -> String {
        switch step {
        case .day, .week: self.day(day.start)
        case .month: month(day)
        }
    }

    /// A month by the name that programs give it, `2026-06`; other names stay as they are.
    func month(named name: String) -> String {
        Reports.Day("\(name)-01").map { month($0) } ?? name
    }

    /// A month: `Jun 2026`, `2026年6月`.
    func month(_ day: Reports.Day) -> String {
        let (year, month, _) = day.civil
        switch language {
        case .english: return "\(Self.months[Int(month) - 1]) \(year)"
        case .japanese: return "\(year)年\(month)月"
        }
    }
}
