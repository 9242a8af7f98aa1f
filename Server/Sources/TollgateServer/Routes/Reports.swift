internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Reports
internal import Stores
internal import TollgateAPI
internal import TollgateCore
internal import TollgateService

/// Figures and the rows behind them, for the secret key.
func addReports(to api: APIRoutes) {
    let tollgate = api.tollgate
    api.answer(.get, .report, by: .secretKey) {
        let name = try $0.context.parameters.require("name")
        let today = Reports.Day(await tollgate.clocks.now())
        let question = try ReportQuestion($0.request, today: today)
        if question.format == .appleTSV {
            let text = try await tollgate.reporting.report(
                name,
                inColumnsOf: "Apple",
                from: question.from,
                to: question.to,
                filters: question.filters,
                environment: question.environment
            )
            return Response.text(text, type: "text/tab-separated-values; charset=utf-8")
        }
        let table = try await tollgate.reporting.report(
            name,
            from: question.from,
            to: question.to,
            by: question.by,
            group: question.group,
            filters: question.filters,
            environment: question.environment
        )
        return try Response.report(table, as: question.format)
    }
    api.answer(.get, .reportRows, by: .secretKey) { call in
        let name = try call.context.parameters.require("name")
        guard
            let kind = Reports.RowKind(rawValue: name)
                ?? Reports.Report(rawValue: name)?.rowKind
        else {
            throw Refusal.notFound(
                .resourceMissing,
                "No such report: '\(name.prefix(80))'.",
                param: "name"
            )
        }
        let today = Reports.Day(await tollgate.clocks.now())
        let question = try ReportQuestion(call.request, today: today)
        let rows = try await tollgate.reporting.rows(
            kind,
            from: question.from,
            to: question.to,
            filters: question.filters,
            environment: question.environment,
            after: question.startingAfter,
            limit: question.limit
        )
        var response = try Response.report(rows.table, as: question.format)
        if let next = rows.next, let field = HTTPField.Name("Tollgate-Next") {
            response.headers[field] = next
        }
        return response
    }
}

/// How a report is written.
private enum ReportFormat: String, CaseIterable {
    case json, csv, tsv, svg, text
    /// In the columns of Apple's own reports.
    case appleTSV = "apple_tsv"
}

/// What the query of a request for a report says.
private struct ReportQuestion {
    var from: Reports.Day
    var to: Reports.Day
    var by: Reports.Step
    var group: [Reports.Dimension]?
    var filters: Reports.Filters
    var environment: StoreEnvironment?
    var format: ReportFormat
    var startingAfter: String?
    var limit: Int64

    init(_ request: Request, today: Reports.Day) throws {
        let query = request.uri.query == nil ? [:] : Self.values(request)
        func word<Value>(
            _ name: String,
            _ read: (String) -> Value?,
            _ hint: String
        ) throws -> Value? {
            guard let text = query[name] else { return nil }
            guard let value = read(text) else {
                throw Refusal.invalid(name, "\(name) is \(hint).")
            }
            return value
        }
        func words(_ all: [String]) -> String { all.joined(separator: ", ") }
        let day = { (text: String) in Reports.Day(text) }
        to = try word("to", day, "a day like 2026-01-31") ?? today
        from = try word("from", day, "a day like 2026-01-31") ?? to.advanced(by: -29)
        by =
            try word("by", { Reports.Step(rawValue: $0) }, "day, week or month") ?? .day
        group = try word(
            "group",
            { text in
                let names = text.split(separator: ",")
                let found = names.compactMap { Reports.Dimension(rawValue: String($0)) }
                return Set(found).count == names.count ? found : nil
            },
            "a list of " + words(Reports.Dimension.allCases.map(\.rawValue))
        )
        filters = Reports.Filters(
            store: try word("store", { Store(rawValue: $0) }, Store.sellingWords),
            product: query["product"],
            country: query["country"],
            app: query["app"]
        )
        environment = try request.environment()
        format =
            try word(
                "format",
                { ReportFormat(rawValue: $0) },
                "one of " + words(ReportFormat.allCases.map(\.rawValue))
            ) ?? .json
        startingAfter = query[APIQuery.startingAfter]
        limit = try word(APIQuery.limit, { Int64($0) }, "a number") ?? 100
    }

    private static func values(_ request: Request) -> [String: String] {
        var values: [String: String] = [:]
        for (name, value) in request.uri.queryParameters { values[String(name)] = String(value) }
        return values
    }
}

extension Response {
    fileprivate static func report(
        _ table: Reports.Table,
        as format: ReportFormat
    ) throws -> Response {
        switch format {
        case .json: Response.json(bytes: Data(table.json.utf8))
        case .csv: Response.text(table.csv, type: "text/csv; charset=utf-8")
        case .tsv, .appleTSV:
            Response.text(table.tsv, type: "text/tab-separated-values; charset=utf-8")
        case .svg: Response.text(table.svg(), type: "image/svg+xml; charset=utf-8")
        case .text: Response.text(table.alignedText, type: "text/plain; charset=utf-8")
        }
    }
}
