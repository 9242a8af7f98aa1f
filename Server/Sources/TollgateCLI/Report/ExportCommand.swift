import CommandOutput
import ArgumentParser
import Foundation
import Reports
import Stores
import TollgateCore
import TollgateService

/// `tollgate export journal|sales|periods|coins`: rows for a warehouse.
struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Export the journal, or the rows behind the figures, for a warehouse.",
        discussion: """
            Columns are documented in docs/reports.md. With --cursor-file the place that was \
            reached is kept in a file, and the next export goes on from there.
            """
    )

    enum Source: String, ExpressibleByArgument, CaseIterable {
        case journal, sales, periods, coins
    }

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case csv, ndjson
    }

    @Argument(help: "journal, sales, periods or coins.")
    var source: Source

    @Option(help: "The first day, in UTC; the beginning if left out.")
    var from: String?

    @Option(help: "The last day, included; without it, everything.")
    var to: String?

    @Option(help: "csv or ndjson.")
    var format: Format = .csv

    @Option(help: "Continue after this place, where an earlier export ended.")
    var after: String?

    @Option(name: .customLong("cursor-file"), help: "The file that keeps the place.")
    var cursorFile: String?

    @Option(help: "The largest number of rows.")
    var limit: Int?

    @OptionGroup var only: ReportFilters

    @Option(help: "production or sandbox; of the journal always both.")
    var environment: String?

    @Option(help: "sqlite:PATH or postgres://USER@HOST:PORT/NAME.")
    var database: String?

    @Flag(help: "As --format ndjson.")
    var json = false

    func run() async throws {
        if let limit, limit < 1 { throw ValidationError("--limit is above zero.") }
        var selection = try ReportSelection(
            from: from,
            to: to,
            filters: try only.filters,
            environment: environment
        )
        selection.from = selection.from ?? Reports.Day(number: 0)
        // What is dated later, such as by a sandbox's clock, would lie behind the place that is kept.
        selection.to = selection.to ?? Reports.Day(year: 9999, month: 12, day: 30)
        let asked = selection
        let begin = try after ?? keptPlace()
        try await FiguresReading.run(database: database, json: true) { tollgate in
            try await give(asked, from: begin, tollgate)
        }
    }

    private func give(
        _ selection: ReportSelection,
        from begin: String?,
        _ tollgate: Tollgate
    ) async throws {
        let range = await selection.range(tollgate)
        try await AsOf(tollgate).tell(withSentence: true)
        // What servers commit meanwhile may have smaller ids than what is seen already: the place
        // that is kept must not pass them.
        let horizon =
            source == .journal ? try await tollgate.journalExport.horizon(after: begin) : 0
        let format: Format = json ? .ndjson : self.format
        let line = ProgressLine(json: false)
        var place = begin
        var given = 0
        var isFirst = begin == nil
        while true {
            let size = min(1_000, limit.map { $0 - given } ?? 1_000)
            let page = try await page(
                selection,
                range,
                after: place,
                upTo: horizon,
                limit: size,
                tollgate
            )
            var text = format == .csv ? page.table.csv : page.table.ndjson
            if format == .csv, !isFirst {
                // The columns' names stand in the first line only.
                text = String(text.drop { $0 != "\r\n" }.dropFirst())
            }
            // Before the place is kept: rows that nobody got are given out again.
            try Terminal.put(Data(text.utf8))
            isFirst = false
            given += page.table.rows.count
            line.report(WorkProgress(step: "rows", done: given))
            if let last = page.last {
                place = last
                try keep(last)
            }
            guard page.next != nil, limit.map({ given < $0 }) ?? true else { break }
        }
        line.end()
    }

    private struct Page {
        var table: Reports.Table
        var next: String?
        /// Where the page ends, whether or not there is more.
        var last: String?
    }

    private func page(
        _ selection: ReportSelection,
        _ range: ClosedRange<Reports.Day>,
        after place: String?,
        upTo horizon: Int64,
        limit: Int,
        _ tollgate: Tollgate
    ) async throws -> Page {
        guard let kind = Reports.RowKind(rawValue: source.rawValue) else {
            let rows = try await tollgate.journalExport.rows(
                from: range.lowerBound,
                to: range.upperBound,
                after: place,
                upTo: horizon,
                limit: Int64(limit)
            )
            let last = rows.table.values("id").last.map(\.text)
            return Page(table: rows.table, next: rows.next, last: last)
        }
        let rows = try await tollgate.reporting.rows(
            kind,
            from: range.lowerBound,
            to: range.upperBound,
            filters: selection.filters,
            environment: selection.environment,
            after: place,
            limit: Int64(limit)
        )
        return Page(table: rows.table, next: rows.next, last: rows.last)
    }

    private func keptPlace() throws -> String? {
        guard let cursorFile, let bytes = FileManager.default.contents(atPath: cursorFile) else {
            return nil
        }
        let text = String(decoding: bytes, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        return text.isEmpty ? nil : text
    }

    private func keep(_ place: String) throws {
        guard let cursorFile else { return }
        try Data((place + "\n").utf8).write(to: URL(fileURLWithPath: cursorFile), options: .atomic)
    }
}
