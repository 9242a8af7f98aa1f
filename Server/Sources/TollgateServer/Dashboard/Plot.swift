internal import Foundation
internal import Markup

/// A plot of days, as SVG that a strict policy allows: colours come from classes.
///
/// It fills whatever width it is given, and its texts keep their size: places from left to right
/// are per cent, heights are pixels. It says in words what it shows, for those who do not see it.
struct Plot {
    /// One line, or one kind of bar.
    struct Series {
        var name: String
        /// Which colour: one meaning has the same one everywhere; `nil`: one that is free.
        var tone: Tone?
        /// By day, as its number since 1970; sorted.
        var points: [(day: Int64, height: Double)]
    }

    /// The colours by their meaning; the numbers are those of the style sheet's classes.
    enum Tone: Int {
        /// What is left when the largest are named.
        case others = 0
        case first, second, third, fourth
        /// What is lost: cancelled, refunded, charged back. Nothing else is red.
        case loss
        case sixth, seventh
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
    /// The days, weeks or months from left to right, by their first or last day.
    var slots: [Int64]
    /// Those of them that the range cuts short.
    var partial: Set<Int64> = []
    /// What the range before came to in its first slot, its second and so on.
    var before: [Double?] = []
    /// Whether heights count things, of which there are no halves.
    var isWhole = false
    /// What heights are, such as a currency or `%`; empty: a number of things.
    var unit: String
    /// The page with the table behind it.
    var link: String
    var texts: Texts

    /// How a plot writes numbers and days.
    struct Texts {
        /// A level of the axis, short: `$1.2k`.
        var level: (Double) -> String
        /// A value in full: `$1,234.50`.
        var value: (Double) -> String
        var day: (Int64) -> String
        /// A day on the axis, short: `1 Jun`.
        var tick: (Int64) -> String
        /// `{name}: {first} … {last}`, said of each series.
        var sentence:
            (_ name: String, _ first: String, _ last: String, _ low: String, _ high: String)
                -> String
        /// What the range before is called.
        var before: String
        /// Said of a slot that the range cuts short.
        var partial: String
    }

    static let height = 240.0
    private static let top = 20.0
    private static let bottom = 26.0
    /// Per cent that are left free for the levels' numbers.
    private static let left = 7.0
    private static let right = 1.0

    /// More would not be told apart; the others are one.
    static let mostSeries = 6

    var isBlank: Bool {
        series.allSatisfy { $0.points.allSatisfy { $0.height == 0 } }
    }

    /// The plot on a page; `file`: on its own, with its colours.
    func svg(file: Bool = false) -> String {
        var text = "<svg class=\"plot\" width=\"\(file ? "900" : "100%")\" height=\"240\" "
        if file { text += "xmlns=\"http://www.w3.org/2000/svg\" " }
        text +=
            "role=\"img\" aria-labelledby=\"\(id)-title \(id)-text\"><title id=\"\(id)-title\">"
            + "\(title.escapedForMarkup)</title><desc id=\"\(id)-text\">"
            + "\(description.escapedForMarkup)</desc>"
        if file { text += Self.fileStyle }
        guard !slots.isEmpty, !series.isEmpty else { return text + "</svg>" }
        let drawing = Drawing(self)
        text += drawing.grid
        if before.contains(where: { $0 != nil }) { text += drawing.rangeBefore }
        for (index, line) in series.enumerated() {
            text += "<g class=\"series-\(index + 1) plot-\((line.tone ?? .others).rawValue)\">"
            text += kind == .bars ? drawing.bars(index) : drawing.line(index)
            text += "</g>"
        }
        return text + drawing.labels + drawing.hits + "</svg>"
    }

    /// What a file of its own needs, which a page has in its style sheet.
    private static let fileStyle: String = {
        var rules = [
            "text{font:13px sans-serif;fill:#444}", ".plot-grid{stroke:#ddd}",
            ".plot-zero{stroke:#555}", "rect{stroke:none}", ".plot-hit{fill:none}",
            ".plot-before{fill:none;stroke:#888;stroke-dasharray:4 4}",
            ".plot-partial{opacity:.5}",
        ]
        for (tone, colour) in fileColours.enumerated() {
            rules.append(".plot-\(tone){fill:\(colour);stroke:\(colour)}")
        }
        rules.append(".plot-line{fill:none;stroke-width:2}")
        rules.append(".plot-fill{opacity:.12;stroke:none}")
        return "<style>\(rules.joined())</style>"
    }()

    /// By the numbers of the tones.
    private static let fileColours = [
        "#6b7280", "#2f5bea", "#b4540a", "#0f7a57", "#8a3fb8", "#a3241f", "#0e7490", "#8a6100",
    ]

    private var description: String {
        series.compactMap { line in
            let heights = line.points.map(\.height)
            guard let first = line.points.first, let last = line.points.last,
                let low = heights.min(), let high = heights.max()
            else { return nil }
            return texts.sentence(
                line.name,
                "\(texts.level(first.height)) (\(texts.day(first.day)))",
                "\(texts.level(last.height)) (\(texts.day(last.day)))",
                texts.level(low),
                texts.level(high)
            )
        }.joined(separator: " ")
    }

    /// All values of a slot in words: `1 Jun 2026: App Store $12.00, Stripe $3.00`.
    fileprivate func said(_ slot: Int) -> String {
        let day = slots[slot]
        var parts = series.compactMap { line -> String? in
            guard let point = line.points.first(where: { $0.day == day }) else { return nil }
            return "\(line.name) \(texts.value(point.height))"
        }
        if slot < before.count, let height = before[slot] {
            parts.append("\(texts.before) \(texts.value(height))")
        }
        let mark = partial.contains(day) ? " (\(texts.partial))" : ""
        return "\(texts.day(day))\(mark): \(parts.isEmpty ? "–" : parts.joined(separator: ", "))"
    }

    /// The series keeping the largest and adding up the rest; of shares the rest is left out, since
    /// they have no sum.
    static func largest(_ series: [Series], others: String, hasSum: Bool) -> [Series] {
        guard series.count > mostSeries else { return series }
        func size(_ line: Series) -> Double { line.points.reduce(0) { $0 + abs($1.height) } }
        let kept = Set(
            series.indices.sorted { size(series[$0]) > size(series[$1]) }
                .prefix(hasSum ? mostSeries - 1 : mostSeries)
        )
        let named = series.indices.filter { kept.contains($0) }.map { series[$0] }
        guard hasSum else { return named }
        var rest: [Int64: Double] = [:]
        for index in series.indices where !kept.contains(index) {
            for point in series[index].points { rest[point.day, default: 0] += point.height }
        }
        return named + [
            Series(
                name: others,
                tone: .others,
                points: rest.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
            )
        ]
    }

    /// Where things stand, and what is drawn there.
    private struct Drawing {
        let plot: Plot
        let scale: Scale
        /// The series' heights by slot.
        let heights: [[Double?]]

        init(_ plot: Plot) {
            self.plot = plot
            let heights = plot.series.map { line in
                let byDay = Dictionary(
                    line.points.map { ($0.day, $0.height) },
                    uniquingKeysWith: { $1 }
                )
                return plot.slots.map { byDay[$0] }
            }
            self.heights = heights
            var all = heights.flatMap { $0.compactMap(\.self) } + plot.before.compactMap(\.self)
            if plot.kind == .bars {
                for slot in plot.slots.indices {
                    let here = heights.compactMap { $0[slot] }
                    all.append(here.filter { $0 > 0 }.reduce(0, +))
                    all.append(here.filter { $0 < 0 }.reduce(0, +))
                }
            }
            scale = Scale(
                low: min(0, all.min() ?? 0),
                high: max(0, all.max() ?? 0),
                isWhole: plot.isWhole
            )
        }

        private var slotWidth: Double {
            (100 - Plot.left - Plot.right) / Double(plot.slots.count)
        }

        private func x(_ slot: Int) -> Double { Plot.left + (Double(slot) + 0.5) * slotWidth }

        private func y(_ height: Double) -> Double {
            let share = (height - scale.bottom) / scale.span
            return Plot.height - Plot.bottom - share * (Plot.height - Plot.top - Plot.bottom)
        }

        /// Levels; that of zero is marked.
        var grid: String {
            scale.levels.map { level in
                let at = short(y(level))
                return "<line class=\"\(level == 0 ? "plot-zero" : "plot-grid")\" x1=\"0\" "
                    + "x2=\"100%\" y1=\"\(at)\" y2=\"\(at)\"/>"
            }.joined()
        }

        var rangeBefore: String {
            strokes(
                "plot-before",
                plot.slots.indices.map { $0 < plot.before.count ? plot.before[$0] : nil }
            )
        }

        func bars(_ index: Int) -> String {
            var text = ""
            let width = max(slotWidth * 0.72, 0.15)
            for (slot, height) in heights[index].enumerated() {
                guard let height, height != 0 else { continue }
                // On those of the same sign before it.
                let start = heights[..<index].compactMap { $0[slot] }
                    .filter { ($0 > 0) == (height > 0) }.reduce(0, +)
                let (one, other) = (y(start), y(start + height))
                let mark =
                    plot.partial.contains(plot.slots[slot]) ? " class=\"plot-partial\"" : ""
                text +=
                    "<rect\(mark) x=\"\(short(x(slot) - width / 2))%\" y=\"\(short(min(one, other)))\" "
                    + "width=\"\(short(width))%\" height=\"\(short(max(0.5, abs(one - other))))\"/>"
            }
            return text
        }

        /// A line through what lies side by side; where a value is missing, it ends and begins
        /// anew.
        func line(_ index: Int) -> String {
            let heights = heights[index]
            var text = ""
            if plot.series.count == 1, heights.count > 1, heights.allSatisfy({ $0 != nil }) {
                let floor = short(y(max(scale.bottom, 0)))
                let path = heights.enumerated().map { slot, height in
                    "\(short(x(slot))),\(short(y(height ?? 0)))"
                }
                text += Self.stretched(
                    "<polygon class=\"plot-fill\" points=\"\(short(x(0))),\(floor) "
                        + path.joined(separator: " ")
                        + " \(short(x(heights.count - 1))),\(floor)\"/>"
                )
            }
            text += strokes("plot-line", heights)
            let last = heights.lastIndex { $0 != nil }
            for (slot, height) in heights.enumerated() {
                guard let height else { continue }
                let hasLeft = slot > 0 && heights[slot - 1] != nil
                let hasRight = slot + 1 < heights.count && heights[slot + 1] != nil
                guard slot == last || !hasLeft && !hasRight else { continue }
                text +=
                    "<circle cx=\"\(short(x(slot)))%\" cy=\"\(short(y(height)))\" r=\"3\"/>"
            }
            return text
        }

        private func strokes(_ style: String, _ heights: [Double?]) -> String {
            var lines: [[String]] = [[]]
            for (slot, height) in heights.enumerated() {
                if let height {
                    lines[lines.count - 1].append("\(short(x(slot))),\(short(y(height)))")
                } else if lines.last?.isEmpty == false {
                    lines.append([])
                }
            }
            return Self.stretched(
                lines.filter { $0.count > 1 }.map {
                    "<polyline class=\"\(style)\" vector-effect=\"non-scaling-stroke\" "
                        + "points=\"\($0.joined(separator: " "))\"/>"
                }.joined()
            )
        }

        /// Shapes whose places from left to right are per cent.
        private static func stretched(_ shapes: String) -> String {
            shapes.isEmpty
                ? ""
                : "<svg width=\"100%\" height=\"240\" viewBox=\"0 0 100 240\" "
                    + "preserveAspectRatio=\"none\">\(shapes)</svg>"
        }

        /// The levels above their lines, and up to five days below, fewer where their names are long.
        var labels: String {
            var text = scale.levels.map { level in
                "<text class=\"plot-label\" x=\"0\" y=\"\(short(y(level) - 4))\">"
                    + "\(plot.texts.level(level).escapedForMarkup)</text>"
            }.joined()
            let count = plot.slots.count
            let ticks = plot.slots.map(plot.texts.tick)
            let most = ticks.contains { $0.count > 5 } ? 4 : 5
            for slot in stride(from: 0, to: count, by: max(1, (count + most - 1) / most)) {
                let isLast = slot > 0 && slot == count - 1
                text +=
                    "<text class=\"plot-label\" x=\"\(short(isLast ? 100 : x(slot)))%\" y=\"234\" "
                    + "text-anchor=\"\(isLast ? "end" : "middle")\">"
                    + "\(ticks[slot].escapedForMarkup)</text>"
            }
            return text
        }

        /// What is under the pointer, with its values in words.
        var hits: String {
            plot.slots.indices.map { slot in
                "<g class=\"plot-slot\"><rect class=\"plot-hit\" "
                    + "x=\"\(short(Plot.left + Double(slot) * slotWidth))%\" y=\"0\" "
                    + "width=\"\(short(slotWidth))%\" height=\"214\"/>"
                    + "<title>\(plot.said(slot).escapedForMarkup)</title></g>"
            }.joined()
        }

        private func short(_ value: Double) -> String {
            guard value.isFinite, abs(value) < 1e6 else { return "0" }
            let hundredths = Int((value * 100).rounded())
            return hundredths.isMultiple(of: 100)
                ? "\(hundredths / 100)" : "\(Double(hundredths) / 100)"
        }
    }

    /// Three to eight round levels that hold everything, zero among them.
    struct Scale {
        var bottom: Double
        var levels: [Double]
        var span: Double

        init(low: Double, high: Double, isWhole: Bool) {
            let range = max(high - low, 1e-9)
            let power = pow(10, (log10(range / 3)).rounded(.down))
            var step = power * 10
            for factor in [1.0, 2, 2.5, 5] where range / (power * factor) <= 5 {
                step = power * factor
                break
            }
            if range <= 1e-9 { step = 1 }
            if isWhole { step = max(1, step.rounded(.up)) }
            bottom = (low / step).rounded(.down) * step
            var level = bottom
            levels = []
            while levels.count < 8, level < high + step * 0.999 || levels.count < 3 {
                levels.append(abs(level) < step / 1000 ? 0 : level)
                level += step
            }
            span = max((levels.last ?? 1) - bottom, step)
        }
    }
}
