internal import Foundation
internal import Markup

extension Reports.Table {
    /// A line for each series over the days of the first column, as accessible SVG.
    ///
    /// Colours come from classes (`plot-1` … `plot-6`) with presentation attributes as the default,
    /// so that it keeps to a strict content security policy and can be restyled. The table itself
    /// belongs behind it.
    ///
    /// - Parameter columns: the keys of the columns to draw; `nil`: what the report is about.
    public func svg(columns keys: [String]? = nil) -> String {
        let plot = Plot(self, keys: keys)
        return plot.svg
    }

    /// What a plot shows where nobody chooses.
    public struct Plotted: Sendable {
        /// The key of the column; `nil`: there are no numbers.
        public var column: String?
        /// Of cohorts only those of one period or one age: shares of several are no line.
        public var rows: [[Value]]
        /// Which that is: the key of its column, and its number.
        public var part: (column: String, value: Int64)?
    }

    /// What a plot shows where nobody chooses.
    public var plotted: Plotted {
        let report = Reports.Report(rawValue: name)
        let first = columns.first { [.count, .money, .ratio].contains($0.kind) }
        let key = columns.contains { $0.key == report?.plotted } ? report?.plotted : first?.key
        guard let (part, usual) = report?.plottedPart,
            let place = columns.firstIndex(where: { $0.key == part })
        else { return Plotted(column: key, rows: rows) }
        func value(_ row: [Value]) -> Int64? {
            if case .count(let value) = row[place] { value } else { nil }
        }
        // Young cohorts have not come that far.
        let values = Set(rows.compactMap { value($0) })
        let shown = values.filter { $0 <= usual }.max() ?? usual
        return Plotted(column: key, rows: rows.filter { value($0) == shown }, part: (part, shown))
    }
}

/// A plot being drawn.
private struct Plot {
    struct Series {
        var name: String
        var points: [(day: Reports.Day, height: Double)]
    }

    let title: String
    var series: [Series] = []

    static let colours = ["#2563eb", "#c2410c", "#15803d", "#7c3aed", "#b91c1c", "#0f766e"]
    /// More lines than colours could not be told apart.
    static let limit = colours.count

    init(_ table: Reports.Table, keys: [String]?) {
        var title = table.title
        if keys == nil, let part = table.plotted.part {
            let name = table.columns.first { $0.key == part.column }?.title ?? part.column
            title += ", \(name.lowercased()) \(part.value)"
        }
        self.title = title
        let texts = table.columns.indices.filter { table.columns[$0].kind == .text }
        guard let time = table.columns.firstIndex(where: { $0.kind == .day }) else { return }
        let plotted = table.plotted
        let wanted = keys ?? plotted.column.map { [$0] } ?? []
        let drawn = table.columns.indices.filter { index in
            let column = table.columns[index]
            return [.count, .money, .ratio].contains(column.kind) && wanted.contains(column.key)
        }
        var found: [String: Series] = [:]
        var order: [String] = []
        for row in keys == nil ? plotted.rows : table.rows {
            guard case .day(let day) = row[time] else { continue }
            for column in drawn {
                guard let height = row[column].height else { continue }
                var words = texts.map { row[$0].text }.filter { !$0.isEmpty }
                if drawn.count > 1 || words.isEmpty { words.append(table.columns[column].title) }
                let name = words.joined(separator: " ")
                if found[name] == nil { order.append(name) }
                found[name, default: Series(name: name, points: [])].points.append((day, height))
            }
        }
        let all = order.compactMap { found[$0] }
        series = Array(
            all.sorted { left, right in
                (left.points.map { abs($0.height) }.max() ?? 0)
                    > (right.points.map { abs($0.height) }.max() ?? 0)
            }.prefix(Self.limit)
        )
    }

    static let width = 720.0
    static let height = 320.0
    static let left = 64.0
    static let right = 12.0
    static let top = 12.0
    static let bottom = 56.0

    var svg: String {
        let id = "plot-" + title.lowercased().map { $0.isLetter || $0.isNumber ? $0 : "-" }
        var text =
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 720 320\" role=\"img\" "
            + "class=\"plot\" aria-labelledby=\"\(id)-title \(id)-desc\">"
            + "<title id=\"\(id)-title\">\(title.escapedForMarkup)</title>"
            + "<desc id=\"\(id)-desc\">\(description.escapedForMarkup)</desc>"
        if !series.isEmpty { text += drawing } else { text += Self.nothing }
        return text + "</svg>"
    }

    private static let nothing =
        "<text x=\"360\" y=\"160\" text-anchor=\"middle\" class=\"plot-label\" "
        + "fill=\"currentColor\">Nothing to show</text>"

    /// In words, for who does not see it: each line's first, last, lowest and highest value.
    private var description: String {
        if series.isEmpty { return "There is nothing to show." }
        return series.map { line in
            let heights = line.points.map(\.height)
            guard let first = line.points.first, let last = line.points.last,
                let low = heights.min(), let high = heights.max()
            else { return line.name }
            return "\(line.name): \(Self.number(first.height)) on \(first.day), "
                + "\(Self.number(last.height)) on \(last.day), "
                + "between \(Self.number(low)) and \(Self.number(high))."
        }.joined(separator: " ")
    }

    private var drawing: String {
        let points = series.flatMap(\.points)
        let days = points.map(\.day.number)
        let (first, last) = (days.min() ?? 0, days.max() ?? 0)
        let high = max(points.map(\.height).max() ?? 1, 0)
        let low = min(points.map(\.height).min() ?? 0, 0)
        let step = Self.step(high - low)
        let (bottom, top) = ((low / step).rounded(.down) * step, (high / step).rounded(.up) * step)
        let span = max(top - bottom, step)
        func x(_ day: Int64) -> Double {
            let share = last == first ? 0.5 : Double(day - first) / Double(last - first)
            return Self.left + share * (Self.width - Self.left - Self.right)
        }
        func y(_ height: Double) -> Double {
            let share = (height - bottom) / span
            return Self.height - Self.bottom - share * (Self.height - Self.top - Self.bottom)
        }
        var text = "<g class=\"plot-grid\" stroke=\"currentColor\" stroke-opacity=\"0.2\">"
        var labels = "<g class=\"plot-label\" fill=\"currentColor\" font-size=\"12\">"
        var level = bottom
        while level <= bottom + span + step / 2 {
            let at = Self.short(y(level))
            text +=
                "<line x1=\"\(Self.short(Self.left))\" x2=\"\(Self.short(Self.width - Self.right))\" "
                + "y1=\"\(at)\" y2=\"\(at)\"/>"
            labels +=
                "<text x=\"\(Self.short(Self.left - 6))\" y=\"\(Self.short(y(level) + 4))\" "
                + "text-anchor=\"end\">\(Self.number(level))</text>"
            level += step
        }
        let ends = first == last ? [first] : [first, (first + last) / 2, last]
        for (index, day) in ends.enumerated() {
            let anchor = index == 0 ? "start" : index == ends.count - 1 ? "end" : "middle"
            labels +=
                "<text x=\"\(Self.short(x(day)))\" y=\"\(Self.short(Self.height - 36))\" "
                + "text-anchor=\"\(anchor)\">\(Reports.Day(number: day))</text>"
        }
        text += "</g>"
        for (index, line) in series.enumerated() {
            let colour = Self.colours[index]
            let path = line.points.map {
                "\(Self.short(x($0.day.number))),\(Self.short(y($0.height)))"
            }
            text +=
                "<polyline class=\"plot-\(index + 1)\" fill=\"none\" stroke=\"\(colour)\" "
                + "stroke-width=\"2\" points=\"\(path.joined(separator: " "))\"/>"
            if let only = line.points.first, line.points.count == 1 {
                text +=
                    "<circle class=\"plot-\(index + 1)\" fill=\"\(colour)\" r=\"3\" "
                    + "cx=\"\(Self.short(x(only.day.number)))\" "
                    + "cy=\"\(Self.short(y(only.height)))\"/>"
            }
            let place = Self.left + Double(index % 3) * 215
            let under = Self.height - 18 + Double(index / 3) * 14
            text +=
                "<rect class=\"plot-\(index + 1)\" fill=\"\(colour)\" width=\"10\" height=\"10\" "
                + "x=\"\(Self.short(place))\" y=\"\(Self.short(under - 9))\"/>"
            labels +=
                "<text x=\"\(Self.short(place + 15))\" y=\"\(Self.short(under))\">"
                + "\(line.name.prefix(30).escapedForMarkup)</text>"
        }
        return text + labels + "</g>"
    }

    /// A round distance that cuts a range into four to eight.
    private static func step(_ range: Double) -> Double {
        guard range > 0, range.isFinite else { return 1 }
        let power = pow(10, (log10(range / 5)).rounded(.down))
        for factor in [1.0, 2, 5] where range / (power * factor) <= 8 { return power * factor }
        return power * 10
    }

    private static func short(_ value: Double) -> String {
        let tenths = Int64((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(Double(tenths) / 10)"
    }

    private static func number(_ value: Double) -> String {
        if abs(value) >= 1_000_000_000_000_000 { return "\(value)" }
        let hundredths = Int64((value * 100).rounded())
        if hundredths % 100 == 0 { return "\(hundredths / 100)" }
        return "\(Double(hundredths) / 100)"
    }
}
