import CommandOutput
import ArgumentParser
import Foundation
import Reports
import Storage
import Stores
import TollgateCore
import TollgateService

/// `tollgate report NAME`: figures over what was recorded.
struct ReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Figures: sales, MRR, churn, trials, retention and the others.",
        discussion: """
            `tollgate report list` names all reports. Days are UTC and YYYY-MM-DD; without --from \
            the last 30 are covered. What each figure means stands below the table, and in \
            docs/reports.md.
            """
    )

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case table, csv, tsv, json, svg
        /// In the columns of Apple's own reports.
        case apple
    }

    @Argument(help: "The report; `list` names them.")
    var name: String

    @Option(help: "The first day.")
    var from: String?

    @Option(help: "The last day, included.")
    var to: String?

    @Option(help: "day, week or month.")
    var by: String = "day"

    @Option(help: "table, csv, tsv, json, svg; or apple: the columns of Apple's own files.")
    var format: Format = .table

    @Option(help: "The groups: store, app, product, country, offer; separated by commas.")
    var group: String?

    @OptionGroup var only: ReportFilters

    @Option(help: "production or sandbox.")
    var environment: String?

    @Option(help: "sqlite:PATH or postgres://USER@HOST:PORT/NAME.")
    var database: String?

    @Flag(help: "Answer in JSON, as --format json.")
    var json = false

    func run() async throws {
        if name == "list" { return try list() }
        if let report = FinanceReport(rawValue: name) { return try await report.run(self) }
        guard let step = Reports.Step(rawValue: by) else {
            throw ValidationError("--by is day, week or month.")
        }
        let selection = try ReportSelection(
            from: from,
            to: to,
            filters: try only.filters,
            environment: environment
        )
        let format: Format = json ? .json : self.format
        let group = try group.map { try Self.dimensions($0) }
        let name = name
        let (output, asOf) = try await FiguresReading.run(
            database: database,
            json: format != .table
        ) { tollgate -> (Output, AsOf) in
            let asOf = try await AsOf(tollgate)
            let range = await selection.range(tollgate)
            if format == .apple {
                let text =
                    try await tollgate.reporting.report(
                        name,
                        inColumnsOf: "Apple",
                        from: range.lowerBound,
                        to: range.upperBound,
                        filters: selection.filters,
                        environment: selection.environment
                    )
                return (.text(text), asOf)
            }
            var table =
                try await tollgate.reporting.report(
                    name,
                    from: range.lowerBound,
                    to: range.upperBound,
                    by: step,
                    group: group,
                    filters: selection.filters,
                    environment: selection.environment
                )
            table.notes.append(asOf.sentence)
            return (.table(table), asOf)
        }
        // Tables and JSON have a place for notes.
        asOf.tell(withSentence: ![.table, .json].contains(format))
        func write(_ piece: [UInt8]) throws {
            try Terminal.put(Data(piece))
        }
        func say(_ text: String) throws { try write(Array(text.utf8)) }
        switch output {
        case .text(let text): try say(text)
        case .table(let table):
            switch format {
            case .table: try say(table.alignedText)
            case .csv: try table.writeCSV(to: write)
            case .tsv, .apple: try table.writeTSV(to: write)
            case .json:
                try table.writeJSON(to: write)
                try say("\n")
            case .svg: try say(table.svg() + "\n")
            }
        }
    }

    private enum Output: Sendable {
        case text(String)
        case table(Reports.Table)
    }

    private static func dimensions(_ text: String) throws -> [Reports.Dimension] {
        try text.split(separator: ",").map { word in
            guard let dimension = Reports.Dimension(rawValue: String(word)) else {
                throw ValidationError("--group knows store, app, product, country and offer.")
            }
            return dimension
        }
    }

    private struct Line: Encodable {
        var name: String
        var title: String
        var summary: String
    }

    private func list() throws {
        let lines =
            Reports.Report.allCases.map {
                Line(name: $0.rawValue, title: $0.title, summary: $0.summary)
            }
            + FinanceReport.allCases.map {
                Line(name: $0.rawValue, title: $0.title, summary: $0.summary)
            }
        if json || format == .json { return try Terminal.sayJSON(lines) }
        for line in lines {
            let name = line.name.padding(toLength: 14, withPad: " ", startingAt: 0)
            Terminal.say("\(name)  \(line.summary)")
        }
    }
}

/// The options that leave rows out of a report.
struct ReportFilters: ParsableArguments {
    @Option(help: "Only app_store, stripe or google_play.")
    var store: String?

    @Option(help: "Only this app, where the catalog lists several.")
    var app: String?

    @Option(help: "Only this product of the catalog.")
    var product: String?

    @Option(help: "Only this country, in two letters.")
    var country: String?

    var filters: Reports.Filters {
        get throws {
            let known: Store? = try store.map { word in
                guard let found = Store(rawValue: word) else {
                    throw ValidationError("--store is \(Store.sellingWords).")
                }
                return found
            }
            return Reports.Filters(store: known, product: product, country: country, app: app)
        }
    }
}

/// The range and filters that the commands about figures share.
struct ReportSelection: Sendable {
    var from: Reports.Day?
    var to: Reports.Day?
    var filters: Reports.Filters
    var environment: StoreEnvironment?

    init(
        from: String?,
        to: String?,
        filters: Reports.Filters,
        environment: String?
    ) throws {
        self.from = try from.map { try Self.day($0, "--from") }
        self.to = try to.map { try Self.day($0, "--to") }
        if let first = self.from, let last = self.to, last < first {
            throw ValidationError("--from \(first) is after --to \(last).")
        }
        self.filters = filters
        self.environment = try StoreEnvironment(option: environment)
    }

    private static func day(_ text: String, _ option: String) throws -> Reports.Day {
        guard let day = Reports.Day(text) else {
            throw ValidationError("\(option): '\(text)' is no day like 2026-01-31.")
        }
        return day
    }

    /// Both days; the last 30 where nothing is said.
    func range(_ tollgate: Tollgate) async -> ClosedRange<Reports.Day> {
        let today = Reports.Day(await tollgate.clocks.now())
        let last = to ?? max(today, from ?? today)
        let first = from ?? last.advanced(by: -29)
        return min(first, last)...max(first, last)
    }
}
