internal import Foundation
internal import Markup

/// A plot of days, as SVG that a strict policy allows: colours come from classes.
///
/// It says in words what it shows, for those who do not see it; the table itself lies beside it.
struct Plot {
    /// One line, or one kind of bar.
    struct Series {
        var name: String
        /// By day, as its number since 1970; sorted.
        var points: [(day: Int64, height: Double)]
    }

    enum Kind {
        /// Lines, of what holds at the end of a day.
        case lines
        /// Bars one on the other, of what happened on a day.
        case bars
    }

    /// Names it within its page.
    var id: String
    var title: String
    var kind: Kind
    var series: [Series]
    /// Whether heights count things, of which there are no halves.
    var isWhole = false
    /// How a height is written: `$1,200`.
    var number: (Double) -> String
    /// How a day is written.
    var day: (Int64) -> String
    /// `{name}: {first} … {last}`, said of each series.
    var sentence:
        (_ name: String, _ first: String, _ last: String, _ low: String, _ high: String)
            -> String

    private static let width = 400.0
    private static let height = 200.0
    private static let top = 14.0
    private static let bottom = 26.0
    /// Room for the levels' numbers.
    private static let left = 40.0

    /// More would not be told apart.
    static let mostSeries = 5

    /// What is drawn, and what names the colours.
    var model: Model {
        [
            "svg": svg, "plotTitle": title,
            "hasLegend": series.count > 1,
            "legend": series.prefix(Self.mostSeries).enumerated().map { index, series -> Model in
                ["swatch": "plot-\(index + 1)", "seriesName": series.name]
            },
        ]
    }

    private var days: [Int64] { Set(series.flatMap { $0.points.map(\.day) }).sorted() }

    var svg: String {
        let drawn = Array(series.prefix(Self.mostSeries))
        let days = days
        var text =
            "<svg class=\"plot\" viewBox=\"0 0 400 200\" role=\"img\" "
            + "aria-labelledby=\"\(id)-title \(id)-text\"><title id=\"\(id)-title\">"
            + "\(title.escapedForMarkup)</title><desc id=\"\(id)-text\">"
            + "\(description.escapedForMarkup)</desc>"
        guard let first = days.first, let last = days.last else { return text + "</svg>" }
        let heights =
            kind == .bars ? stacks(drawn) : drawn.flatMap { $0.points.map(\.height) }
        let scale = Scale(
            low: min(0, heights.min() ?? 0),
            high: max(0, heights.max() ?? 0),
            isWhole: isWhole
        )
        let slot = (Self.width - Self.left - 4) / Double(max(1, days.count))
        let places = Dictionary(uniqueKeysWithValues: zip(days, 0...))
        func x(_ day: Int64) -> Double {
            if kind == .bars {
                return Self.left + 2 + (Double(places[day] ?? 0) + 0.5) * slot
            }
            return last == first
                ? (Self.width + Self.left) / 2
                : Self.left + 2 + Double(day - first) / Double(last - first)
                    * (Self.width - Self.left - 7)
        }
        func y(_ height: Double) -> Double {
            let share = (height - scale.bottom) / scale.span
            return Self.height - Self.bottom - share * (Self.height - Self.top - Self.bottom)
        }
        for level in scale.levels {
            let at = Self.short(y(level))
            text += "<line class=\"plot-grid\" x1=\"40\" x2=\"400\" y1=\"\(at)\" y2=\"\(at)\"/>"
        }
        switch kind {
        case .bars: text += bars(drawn, slot, x, y)
        case .lines: text += lines(drawn, x, y, floor: y(max(scale.bottom, 0)))
        }
        for level in scale.levels {
            text +=
                "<text class=\"plot-label\" x=\"34\" y=\"\(Self.short(y(level) + 3.5))\" text-anchor=\"end\">"
                + "\(number(level).escapedForMarkup)</text>"
        }
        text +=
            "<text class=\"plot-label\" x=\"40\" y=\"194\">\(day(first).escapedForMarkup)</text>"
        if last != first {
            text +=
                "<text class=\"plot-label\" x=\"398\" y=\"194\" text-anchor=\"end\">"
                + "\(day(last).escapedForMarkup)</text>"
        }
        return text + "</svg>"
    }

    private func stacks(_ series: [Series]) -> [Double] {
        var above: [Int64: Double] = [:]
        var below: [Int64: Double] = [:]
        for point in series.flatMap(\.points) {
            if point.height > 0 {
                above[point.day, default: 0] += point.height
            } else {
                below[point.day, default: 0] += point.height
            }
        }
        return Array(above.values) + Array(below.values)
    }

    private func bars(
        _ series: [Series],
        _ slot: Double,
        _ x: (Int64) -> Double,
        _ y: (Double) -> Double
    ) -> String {
        var text = ""
        let width = min(28, max(1.5, slot * 0.72))
        var above: [Int64: Double] = [:]
        var below: [Int64: Double] = [:]
        for (index, line) in series.enumerated() {
            for point in line.points where point.height != 0 {
                let start = (point.height > 0 ? above[point.day] : below[point.day]) ?? 0
                let end = start + point.height
                if point.height > 0 { above[point.day] = end } else { below[point.day] = end }
                let (upper, lower) = (y(max(start, end)), y(min(start, end)))
                text +=
                    "<rect class=\"plot-\(index + 1)\" x=\"\(Self.short(x(point.day) - width / 2))\" "
                    + "y=\"\(Self.short(upper))\" width=\"\(Self.short(width))\" "
                    + "height=\"\(Self.short(max(0.5, lower - upper)))\"/>"
            }
        }
        return text
    }

    private func lines(
        _ series: [Series],
        _ x: (Int64) -> Double,
        _ y: (Double) -> Double,
        floor: Double
    ) -> String {
        var text = ""
        for (index, line) in series.enumerated() {
            let path = line.points.map { "\(Self.short(x($0.day))),\(Self.short(y($0.height)))" }
            guard let first = line.points.first, let last = line.points.last else { continue }
            if series.count == 1, line.points.count > 1 {
                text +=
                    "<polygon class=\"plot-area plot-\(index + 1)\" points=\""
                    + "\(Self.short(x(first.day))),\(Self.short(floor)) "
                    + path.joined(separator: " ")
                    + " \(Self.short(x(last.day))),\(Self.short(floor))\"/>"
            }
            text +=
                "<polyline class=\"plot-line plot-\(index + 1)\" points=\""
                + "\(path.joined(separator: " "))\"/>"
                + "<circle class=\"plot-\(index + 1)\" cx=\"\(Self.short(x(last.day)))\" "
                + "cy=\"\(Self.short(y(last.height)))\" r=\"3\"/>"
        }
        return text
    }

    private var description: String {
        series.prefix(Self.mostSeries).compactMap { line in
            let heights = line.points.map(\.height)
            guard let first = line.points.first, let last = line.points.last,
                let low = heights.min(), let high = heights.max()
            else { return nil }
            return sentence(
                line.name,
                "\(number(first.height)) (\(day(first.day)))",
                "\(number(last.height)) (\(day(last.day)))",
                number(low),
                number(high)
            )
        }.joined(separator: " ")
    }

    /// Round levels that hold everything.
    private struct Scale {
        var bottom: Double
        var levels: [Double]
        var span: Double

        init(low: Double, high: Double, isWhole: Bool) {
            let range = max(high - low, 1e-9)
            let power = pow(10, (log10(range / 3)).rounded(.down))
            var step = power * 10
            for factor in [1.0, 2, 2.5, 5] where range / (power * factor) <= 4 {
                step = power * factor
                break
            }
            if range <= 1e-9 { step = 1 }
            if isWhole { step = max(1, step.rounded(.up)) }
            bottom = (low / step).rounded(.down) * step
            var level = bottom
            levels = []
            while level < high + step * 0.999, levels.count < 8 {
                levels.append(abs(level) < step / 1000 ? 0 : level)
                level += step
            }
            span = max((levels.last ?? 1) - bottom, step)
        }
    }

    private static func short(_ value: Double) -> String {
        guard value.isFinite, abs(value) < 1e6 else { return "0" }
        let tenths = Int((value * 10).rounded())
        return tenths.isMultiple(of: 10) ? "\(tenths / 10)" : "\(Double(tenths) / 10)"
    }
}
