import Foundation
import Hummingbird
import NIOCore
import SandboxClock

/// The sales and finance reports of the App Store Connect API.
///
/// Days are those of UTC here, not Apple's Pacific ones, unless `ReportDifference.Kind.timeZone`
/// makes them so.
struct ConnectReportRoutes: Sendable {
    var store: SimulatedAppStore

    func add(to router: some RouterMethods<BasicRequestContext>) {
        let api = router.group("v1").add(middleware: ConnectTokenMiddleware(store: store))
        api.get("salesReports") { [store] request, _ in
            let query = try ReportQuery(
                request.uri.queryParameters,
                required: ["vendorNumber", "reportType", "reportSubType", "frequency"]
            )
            guard let kind = ReportQuery.Kind(rawValue: query["reportType"]),
                query["reportSubType"] == (kind == .subscriber ? "DETAILED" : "SUMMARY")
            else { throw ConnectError.invalid("reportType") }
            guard kind == .sales || query["frequency"] == "DAILY",
                let span = try query.span()
            else { throw ConnectError.invalid("frequency") }
            return try await answer(
                store.report(until: span.to) { $0.report(kind, from: span.from, to: span.to) }
            )
        }
        api.get("financeReports") { [store] request, _ in
            let query = try ReportQuery(
                request.uri.queryParameters,
                required: ["vendorNumber", "reportType", "regionCode", "reportDate"]
            )
            guard query["reportType"] == "FINANCIAL" else {
                throw ConnectError.invalid("reportType")
            }
            let span = try FiscalMonth(query["reportDate"]).span
            return try await answer(
                store.report(until: span.to) { $0.finance(from: span.from, to: span.to) }
            )
        }
    }

    private func answer(_ report: Data?) throws -> Response {
        guard let report else { throw ConnectError.noData }
        return Response(
            status: .ok,
            headers: [.contentType: "application/a-gzip"],
            body: .init(byteBuffer: ByteBuffer(bytes: GzipFile.packed(report)))
        )
    }
}

extension SimulatedAppStore {
    /// Nil where there is nothing to report, or the time is not over yet.
    func report(until to: Int64, _ write: @Sendable (ConnectReports) -> Data?) async -> Data? {
        guard await clock.now >= to else { return nil }
        return write(ConnectReports(world: world))
    }
}

/// The filters of a request for a report.
struct ReportQuery: Sendable {
    enum Kind: String, Sendable {
        case sales = "SALES"
        case subscription = "SUBSCRIPTION"
        case subscriptionEvent = "SUBSCRIPTION_EVENT"
        case subscriber = "SUBSCRIBER"
    }

    private var filters: [String: String] = [:]

    init(_ parameters: Parameters, required: [String]) throws {
        for (key, value) in parameters {
            let key = String(key).removingPercentEncoding ?? String(key)
            guard key.hasPrefix("filter["), key.hasSuffix("]") else { continue }
            filters[String(key.dropFirst(7).dropLast())] =
                String(value).removingPercentEncoding ?? String(value)
        }
        for name in required where filters[name] == nil { throw ConnectError.missing(name) }
        guard self["vendorNumber"].allSatisfy(\.isNumber) else {
            throw ConnectError.invalid("vendorNumber")
        }
    }

    subscript(name: String) -> String { filters[name] ?? "" }

    /// What time the report covers, half-open; nil for an unknown frequency.
    func span() throws -> (from: Int64, to: Int64)? {
        let parts = self["reportDate"].split(separator: "-").compactMap { Int64($0) }
        func start(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
            CivilDate(year: year, month: month, day: day).daysSince1970
                * CivilDate.millisecondsPerDay
        }
        switch (self["frequency"], parts.count) {
        case ("DAILY", 3):
            let from = start(parts[0], parts[1], parts[2])
            return (from, from + CivilDate.millisecondsPerDay)
        case ("WEEKLY", 3):  // Named by its Sunday, which is its last day.
            let last = start(parts[0], parts[1], parts[2])
            return (
                last - 6 * CivilDate.millisecondsPerDay, last + CivilDate.millisecondsPerDay
            )
        case ("MONTHLY", 2):
            let from = start(parts[0], parts[1], 1)
            return (from, CivilDate.adding(months: 1, to: from))
        case ("YEARLY", 1):
            return (start(parts[0], 1, 1), start(parts[0] + 1, 1, 1))
        case ("DAILY", _), ("WEEKLY", _), ("MONTHLY", _), ("YEARLY", _):
            throw ConnectError.invalid("reportDate")
        default: return nil
        }
    }
}

/// A month of Apple's fiscal year, which ends with the last Saturday of September.
///
/// Of each quarter the first month has five weeks and the others four; the 53rd week that some
/// years have is the fifth of the third month.
struct FiscalMonth {
    let span: (from: Int64, to: Int64)

    /// - Parameter text: `YYYY-MM`, of the fiscal year.
    init(_ text: String) throws {
        let parts = text.split(separator: "-").compactMap { Int64($0) }
        guard parts.count == 2, (2000...2100).contains(parts[0]), (1...12).contains(parts[1])
        else { throw ConnectError.invalid("reportDate") }
        let begin = Self.end(ofYear: parts[0] - 1)
        let isLong = Self.end(ofYear: parts[0]) - begin == 53 * 7
        var lengths: [Int64] = [5, 4, 4, 5, 4, 4, 5, 4, 4, 5, 4, 4]
        if isLong { lengths[2] = 5 }
        let index = Int(parts[1] - 1)
        let weeks = lengths[..<index].reduce(0, +)
        let day = CivilDate.millisecondsPerDay
        span = ((begin + weeks * 7) * day, (begin + (weeks + lengths[index]) * 7) * day)
    }

    /// The day after the year's last, which is a Saturday.
    private static func end(ofYear year: Int64) -> Int64 {
        let lastOfSeptember = CivilDate(year: year, month: 9, day: 30).daysSince1970
        // 1970-01-01 was a Thursday; a Saturday is 6.
        let weekday = (lastOfSeptember + 4) % 7
        return lastOfSeptember - (weekday + 1) % 7 + 1
    }
}

/// An error in the form of the App Store Connect API.
struct ConnectError: Error, HTTPResponseError {
    var status: HTTPResponse.Status
    var code: String
    var detail: String

    static let noData = Self(
        status: .notFound,
        code: "NOT_FOUND",
        detail: "There were no sales for the date specified."
    )
    static let unauthorized = Self(
        status: .unauthorized,
        code: "NOT_AUTHORIZED",
        detail: "Provide a properly configured and signed bearer token."
    )

    static func missing(_ name: String) -> Self {
        Self(
            status: .badRequest,
            code: "PARAMETER_ERROR.REQUIRED",
            detail: "The parameter 'filter[\(name)]' is required."
        )
    }

    static func invalid(_ name: String) -> Self {
        Self(
            status: .badRequest,
            code: "PARAMETER_ERROR.INVALID",
            detail: "The parameter 'filter[\(name)]' has an invalid value."
        )
    }

    private struct Body: Encodable {
        struct Item: Encodable {
            var status: String
            var code: String
            var title: String
            var detail: String
        }

        var errors: [Item]
    }

    func response(from request: Request, context: some RequestContext) throws -> Response {
        try Response.json(
            Body(errors: [
                .init(
                    status: "\(status.code)",
                    code: code,
                    title: status.reasonPhrase,
                    detail: detail
                )
            ]),
            status: status
        )
    }
}

/// Lets only requests with a good token of the team through: no `bid`, at most twenty minutes.
struct ConnectTokenMiddleware: RouterMiddleware {
    typealias Context = BasicRequestContext
    var store: SimulatedAppStore

    func handle(
        _ request: Request,
        context: BasicRequestContext,
        next: (Request, BasicRequestContext) async throws -> Response
    ) async throws -> Response {
        let check = TokenCheck(bundleID: nil, keys: await store.apiKeys, longestLife: 1200)
        guard check.accepts(authorization: request.headers[.authorization]) else {
            throw ConnectError.unauthorized
        }
        return try await next(request, context)
    }
}
