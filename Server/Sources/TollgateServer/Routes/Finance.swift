internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Reports
internal import Storage
internal import Stores
internal import TollgateAPI
internal import TollgateCore
internal import TollgateService

/// Payments, statements and how far our figures agree with the stores'.
func addFinance(to api: APIRoutes) throws {
    let tollgate = api.tollgate
    let pages = try PageTemplates()
    api.answer(.get, .payments, by: .secretKey) { call in
        let request = call.request
        let (first, last, environment) = try request.days()
        let payments = try await tollgate.accounts
            .payments(from: first, to: last, of: request.parameter("app"), in: environment)
        let hasApps = tollgate.store.history.current.hasSeveralApps
        return try request.answer(
            try request.page(of: payments),
            Finance.Payment.sheet(payments, apps: hasApps),
            named: "payments-\(first)-\(last)"
        )
    }
    api.answer(.get, .reconciliation, by: .secretKey) { call in
        let request = call.request
        let (first, last, environment) = try request.days()
        let found = try await tollgate.accounts
            .reconciliation(from: first, to: last, in: environment)
        return try request.answer(found, found.sheet, named: "reconciliation-\(first)-\(last)")
    }
    api.answer(.get, .payouts, by: .secretKey) { call in
        let request = call.request
        let (first, last, environment) = try request.days()
        let payouts = try await tollgate.accounts.payouts(from: first, to: last, in: environment)
        return try request.answer(
            PaymentPage(data: payouts, hasMore: false),
            Finance.Payout.sheet(payouts),
            named: "payouts-\(first)-\(last)"
        )
    }
    api.answer(.get, .statement, by: .secretKey) { call in
        let request = call.request
        let statement = try await tollgate.accounts
            .statement(month: try request.month(), in: try request.environment())
        switch try request.format(of: "json", "csv", "html") {
        case "csv": return Response.csv(statement.sheet.csv, named: "statement-\(statement.month)")
        case "html":
            let language = Language(accepting: request.headers[.acceptLanguage])
            return pages.page("statement", StatementPage(statement, language, tollgate.name))
        default: return try Response.json(statement)
        }
    }
}

/// A list in the form of the API.
private struct PaymentPage<Element: Encodable>: Encodable {
    var data: [Element]
    var hasMore: Bool

    enum CodingKeys: String, CodingKey {
        case data
        case hasMore = "has_more"
    }
}

extension Request {
    /// The days that `from` and `to` name, both included, and the environment.
    fileprivate func days() throws -> (Finance.Day, Finance.Day, StoreEnvironment?) {
        (try day("from"), try day("to"), try environment())
    }

    private func day(_ name: String) throws -> Finance.Day {
        guard let text = parameter(name) else { throw Refusal.missingParameter(name) }
        guard let day = Finance.Day(text) else {
            throw Refusal.invalid(name, "\(name) is a day like 2026-06-01.")
        }
        return day
    }

    /// The first day of the month that `month` names.
    fileprivate func month() throws -> Finance.Day {
        guard let text = parameter("month") else { throw Refusal.missingParameter("month") }
        guard let day = Finance.Day("\(text)-01") else {
            throw Refusal.invalid("month", "month is a month like 2026-06.")
        }
        return day
    }

    /// An answer in JSON, or its sheet where `format` asks for CSV.
    fileprivate func answer(
        _ answer: @autoclosure () throws -> some Encodable,
        _ sheet: Finance.Sheet,
        named name: String
    ) throws -> Response {
        guard try format(of: "json", "csv") == "csv" else { return try Response.json(answer()) }
        return Response.csv(sheet.csv, named: name)
    }

    /// The `format` that is asked for; the first one if none is.
    fileprivate func format(of known: String...) throws -> String {
        guard let text = parameter("format") else { return known[0] }
        guard known.contains(text) else {
            throw Refusal.invalid("format", "format is one of \(known.joined(separator: ", ")).")
        }
        return text
    }

    /// The payments after `starting_after`, at most `limit` of them.
    fileprivate func page(of payments: [Finance.Payment]) throws -> some Encodable {
        var rest = payments[...]
        if let text = parameter(APIQuery.startingAfter) {
            guard let index = payments.firstIndex(where: { $0.id == text }) else {
                throw Refusal.invalid(
                    APIQuery.startingAfter,
                    "There is no such payment in these days."
                )
            }
            rest = payments[(index + 1)...]
        }
        var limit = 100
        if let text = parameter(APIQuery.limit) {
            guard let number = Int(text), (1...1000).contains(number) else {
                throw Refusal.invalid(APIQuery.limit, "limit is between 1 and 1000.")
            }
            limit = number
        }
        return PaymentPage(data: Array(rest.prefix(limit)), hasMore: rest.count > limit)
    }
}

extension Response {
    /// A file that a browser keeps and a spreadsheet opens.
    static func csv(_ text: String, named name: String) -> Response {
        var response = Response.text(text, type: "text/csv; charset=utf-8")
        response.headers[.contentDisposition] = "attachment; filename=\"\(name).csv\""
        response.headers[.cacheControl] = "no-store"
        response.headers[.xContentTypeOptions] = "nosniff"
        return response
    }

    /// A picture to be kept as a file; it may run nothing.
    static func svg(_ text: String, named name: String) -> Response {
        var response = Response.text(text, type: "image/svg+xml; charset=utf-8")
        response.headers[.contentDisposition] = "attachment; filename=\"\(name).svg\""
        response.headers[.contentSecurityPolicy] =
            "default-src 'none'; style-src 'unsafe-inline'; sandbox"
        response.headers[.cacheControl] = "no-store"
        response.headers[.xContentTypeOptions] = "nosniff"
        return response
    }
}
