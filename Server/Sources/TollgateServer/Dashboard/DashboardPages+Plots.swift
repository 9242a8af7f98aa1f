internal import Hummingbird
internal import Reports
internal import Stores
internal import TollgateCore
internal import TollgateService

/// The days that the plots of a page are over.
struct PlotRange {
    var first: Reports.Day
    var last: Reports.Day
    var step: Reports.Step

    /// The range of the same length that ends where this one begins.
    var before: PlotRange {
        let days = last.number - first.number + 1
        return PlotRange(
            first: first.advanced(by: -days),
            last: first.advanced(by: -1),
            step: step
        )
    }

    /// The slots of a plot, by their first days, or their last where values are those of an end.
    func slots(atEnd: Bool) -> [Int64] {
        step.pieces(from: first, to: last).map {
            atEnd ? $0.upperBound.number : $0.lowerBound.number
        }
    }

    /// The first days of weeks and months that the range cuts short.
    var partial: Set<Int64> {
        Set(
            step.pieces(from: first, to: last).filter { piece in
                let start = step.start(of: piece.lowerBound)
                return start < piece.lowerBound
                    || step.next(after: start).advanced(by: -1) > piece.upperBound
            }.map(\.lowerBound.number)
        )
    }
}

extension DashboardPages {
    /// A column over the days of a report.
    ///
    /// - Parameters:
    ///   - rows: the rows to draw; `nil`: all.
    ///   - series: the column of texts that tells lines apart; `nil`: one line. Amounts and counts
    ///     of one day and line are added up; shares are not, so all texts tell theirs apart.
    ///   - currency: only its rows; empty: all.
    ///   - before: the same of the range before.
    func plot(
        _ id: String,
        _ title: String,
        _ kind: Plot.Kind,
        _ table: Reports.Table,
        over range: PlotRange,
        rows: [[Reports.Table.Value]]? = nil,
        value: String,
        series name: String?,
        currency: String,
        before: Reports.Table? = nil,
        link: String
    ) -> Plot {
        let column = table.columns.first { $0.key == value }
        let isRatio = column?.kind == .ratio
        let heights = PlotHeights(
            table,
            rows: rows ?? table.rows,
            value: value,
            series: isRatio
                ? table.columns.filter { $0.kind == .text }.map(\.key) : name.map { [$0] } ?? [],
            currency: currency
        )
        let series = heights.lines.map { texts, points -> Plot.Series in
            let named = texts.map { self.name(of: $0.text, under: $0.column) }
                .filter { !$0.isEmpty }.joined(separator: " · ")
            return Plot.Series(
                name: named.isEmpty ? title : named,
                tone: Plot.Tone(of: texts.first?.text ?? ""),
                points: points
            )
        }
        var earlier: [Double] = []
        if let before, !isRatio, kind == .bars || series.count == 1,
            let old = PlotHeights(
                before,
                rows: before.rows,
                value: value,
                series: [],
                currency: currency
            ).lines.first
        {
            let points = Dictionary(uniqueKeysWithValues: old.points.map { ($0.day, $0.height) })
            let isAtEnd = !Set(points.keys).isSubset(of: range.before.slots(atEnd: false))
            earlier = range.before.slots(atEnd: isAtEnd).map { points[$0] ?? 0 }
        }
        return plot(
            id,
            title,
            kind,
            series,
            over: range,
            unit: column?.kind == .money ? currency : isRatio ? "%" : "",
            before: earlier,
            link: link
        )
    }

    /// Series that are known already.
    func plot(
        _ id: String,
        _ title: String,
        _ kind: Plot.Kind,
        _ series: [Plot.Series],
        over range: PlotRange,
        unit: String,
        before: [Double] = [],
        link: String
    ) -> Plot {
        let days = Set(series.flatMap { $0.points.map(\.day) })
        let starts = range.slots(atEnd: false)
        let slots = days.isSubset(of: starts) ? starts : range.slots(atEnd: true)
        return Plot(
            id: "plot-\(id)",
            title: title,
            kind: kind,
            series: Plot.toned(
                Plot.largest(series, others: words["others"], hasSum: unit != "%")
            ),
            slots: days.isSubset(of: slots) ? slots : days.sorted(),
            partial: kind == .bars ? range.partial : [],
            before: before,
            isWhole: unit.isEmpty,
            unit: unit,
            link: link,
            texts: texts(unit, range.step)
        )
    }

    /// New, expansion, contraction, churned and returned, one on the other.
    func movementPlot(
        _ id: String,
        _ title: String,
        _ table: Reports.Table,
        over range: PlotRange,
        currency: String,
        link: String
    ) -> Plot {
        var series: [Plot.Series] = []
        for key in ["new", "expansion", "returned", "contraction", "churned"] {
            guard let column = table.columns.firstIndex(where: { $0.key == key }) else { continue }
            var heights: [Int64: Double] = [:]
            for row in table.rows {
                guard case .day(let day) = row[0], case .money(let money, let own) = row[column],
                    own == currency
                else { continue }
                heights[day.number, default: 0] += money.approximate / 1000
            }
            series.append(
                Plot.Series(
                    name: words["movement_\(key)"],
                    tone: Plot.Tone(of: key),
                    points: heights.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
                )
            )
        }
        return plot(
            id,
            title,
            .bars,
            series,
            over: range,
            unit: currency,
            link: link
        )
    }

    private func texts(_ unit: String, _ step: Reports.Step) -> Plot.Texts {
        let formats = formats
        let words = words
        return Plot.Texts(
            level: { formats.axis($0, unit) },
            value: { formats.value($0, unit) },
            day: { formats.begin(Reports.Day(number: $0), of: step) },
            tick: { formats.tick(Reports.Day(number: $0), of: step) },
            sentence: { name, first, last, low, high in
                words(
                    "plot_sentence",
                    ["name": name, "first": first, "last": last, "low": low, "high": high]
                )
            },
            before: words["range_before"],
            partial: words["partial_piece"]
        )
    }

    /// A plot as the template `dash_plot` takes it.
    func model(of plot: Plot) -> Model {
        let svg = ask.address(with: ["plot": plot.id, "format": "svg"])
        let csv = ask.address(with: ["plot": plot.id, "format": "csv"])
        return [
            "svg": plot.svg(), "plotTitle": plot.title, "plotLink": plot.link,
            "plotUnit": plot.unit.isEmpty ? false : plot.unit,
            "isBlank": plot.isBlank, "plotSVG": svg, "plotCSV": csv,
            "hasLegend": plot.series.count > 1,
            "hasPartialPiece": plot.partial.isEmpty == false,
            "hasRangeBefore": plot.before.contains { $0 != nil },
            "legend": plot.series.enumerated().map { index, series -> Model in
                [
                    "swatch": "plot-\((series.tone ?? .others).rawValue)",
                    "show": "show-\(index + 1)",
                    "seriesName": series.name,
                ]
            },
        ]
    }

    /// One of a page's plots as a file, where the address asks for that.
    func file(of plots: [Plot]) throws -> Response? {
        guard let id = ask.query("plot") else { return nil }
        guard let plot = plots.first(where: { $0.id == id }) else { throw Refusal.nothingHere }
        if ask.query("format") == "svg" {
            return Response.svg(plot.svg(file: true), named: plot.id)
        }
        let table = Table(
            caption: plot.title,
            columns: [words["column_day"]] + plot.series.map(\.name)
                + (plot.before.isEmpty ? [] : [words["range_before"]]),
            rows: plot.slots.enumerated().map { slot, day in
                let values = plot.series.map { line in
                    line.points.first { $0.day == day }.map { formats.plain($0.height) }
                }
                let before = slot < plot.before.count ? plot.before[slot] : nil
                let cells =
                    [Reports.Day(number: day).description] + values.map { $0 ?? "" }
                    + (plot.before.isEmpty ? [] : [before.map { formats.plain($0) } ?? ""])
                return cells.map { Cell($0) }
            },
            empty: ""
        )
        return Response.csv(table.csv(words), named: plot.id)
    }
}

/// The values of a column by line and day.
private struct PlotHeights {
    var lines: [(texts: [(column: String, text: String)], points: [(day: Int64, height: Double)])]

    init(
        _ table: Reports.Table,
        rows: [[Reports.Table.Value]],
        value: String,
        series: [String],
        currency: String
    ) {
        lines = []
        guard let time = table.columns.firstIndex(where: { $0.kind == .day }),
            let column = table.columns.firstIndex(where: { $0.key == value })
        else { return }
        let places = table.columns.indices.filter { series.contains(table.columns[$0].key) }
        var points: [[String]: [Int64: Double]] = [:]
        for row in rows {
            guard case .day(let day) = row[time],
                let height = Self.height(row[column], currency)
            else { continue }
            points[places.map { row[$0].text }, default: [:]][day.number, default: 0] += height
        }
        for (texts, heights) in points.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            var named: [(column: String, text: String)] = []
            for (place, text) in zip(places, texts) {
                named.append((table.columns[place].key, text))
            }
            var line: [(day: Int64, height: Double)] = []
            for (day, height) in heights.sorted(by: { $0.key < $1.key }) {
                line.append((day, height))
            }
            lines.append((named, line))
        }
    }

    private static func height(_ value: Reports.Table.Value, _ currency: String) -> Double? {
        switch value {
        case .count(let count): Double(count)
        case .ratio(let ratio): ratio.approximate * 100
        case .money(let milliunits, let own):
            currency.isEmpty || own == currency ? milliunits.approximate / 1000 : nil
        case .day, .text, .none: nil
        }
    }
}

extension Plot.Tone {
    /// The colour of what always has the same one; `nil` of anything else.
    init?(of word: String) {
        switch word {
        case "app_store", "Renew": self = .first
        case "google_play", "new", "Subscribe", "Start Introductory Offer",
            "Paid Subscription from Introductory Offer":
            self = .third
        case "stripe", "returned", "Reactivate", "Start Win-Back Offer": self = .fourth
        case "contraction", "Downgrade", "Crossgrade": self = .second
        case "expansion", "Upgrade", "Start Promotional Offer", "Start Offer Code": self = .sixth
        case "Refund": self = .seventh
        case "churned", "Cancel": self = .loss
        default: return nil
        }
    }
}

extension Plot {
    /// Gives a colour of its own, never that of losses, to each series that has none by its
    /// meaning.
    static func toned(_ series: [Series]) -> [Series] {
        var free: [Tone] = [.first, .third, .fourth, .second, .sixth, .seventh]
        free.removeAll { tone in series.contains { $0.tone == tone } }
        return series.map { line in
            var line = line
            if line.tone == nil, !free.isEmpty { line.tone = free.removeFirst() }
            return line
        }
    }
}

extension Formats {
    /// A height of a plot in full: `$1,234.50`, `12`, `3.4 %`.
    func value(_ height: Double, _ unit: String) -> String {
        guard height.isFinite, abs(height) < 1e15 else { return "–" }
        if unit == "%" {
            let tenths = Int64((height * 10).rounded())
            return tenths.isMultiple(of: 10) ? "\(tenths / 10) %" : "\(Double(tenths) / 10) %"
        }
        if unit.isEmpty { return number(Int64(height.rounded())) }
        let scale = (0..<decimals(of: unit)).reduce(1.0) { value, _ in value * 10 }
        return money(Int64((height * scale).rounded()), unit)
    }

    /// The same for programs: at most three decimals.
    func plain(_ height: Double) -> String {
        guard height.isFinite, abs(height) < 1e12 else { return "" }
        let thousandths = Int64((height * 1000).rounded())
        return thousandths.isMultiple(of: 1000)
            ? "\(thousandths / 1000)" : "\(Double(thousandths) / 1000)"
    }

    /// A day under a plot: `1 Jun`; of a month `Jun 26`.
    func tick(_ day: Reports.Day, of step: Reports.Step) -> String {
        let (year, month, date) = day.civil
        switch (language, step) {
        case (.english, .month): return "\(Self.months[Int(month) - 1]) \(year % 100)"
        case (.english, _): return "\(date) \(Self.months[Int(month) - 1])"
        case (.japanese, .month): return "\(year)/\(month)"
        case (.japanese, _): return "\(month)/\(date)"
        }
    }
}
