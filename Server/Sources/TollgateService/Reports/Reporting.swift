internal import Foundation
public import Reports
internal import Storage
internal import Stores
internal import TollgateAPI
public import TollgateCore

/// Reports over a range of days.
public struct Reporting: Sendable {
    let records: RecordStore
    let clocks: Clocks
    let figures: Figures
    let defaultEnvironment: StoreEnvironment
    /// Of every store.
    let books: [any StoreBooks]

    /// What the stores are expected to keep.
    var financeTerms: Finance.Terms {
        Finance.Terms(
            fees: Dictionary(
                books.map { ($0.store, $0.fee) },
                uniquingKeysWith: { first, _ in first }
            )
        )
    }

    /// Figures over a range of days.
    ///
    /// - Parameters:
    ///   - name: `Reports.Report`'s: `mrr-movement`.
    ///   - last: included; days after today are left out, which a note says.
    ///   - group: what is kept apart; `nil`: what the report keeps apart by itself.
    ///   - environment: `nil` is the server's own.
    /// - Throws: refusals 404 `resource_missing` for a report that there is not, and 400
    ///   `parameter_invalid`; `StorageError`.
    public func report(
        _ name: String,
        from first: Reports.Day,
        to last: Reports.Day,
        by step: Reports.Step = .day,
        group: [Reports.Dimension]? = nil,
        filters: Reports.Filters = Reports.Filters(),
        environment: StoreEnvironment? = nil
    ) async throws -> Reports.Table {
        guard let report = Reports.Report(rawValue: name) else {
            let names = Reports.Report.allCases.map(\.rawValue).joined(separator: ", ")
            throw Refusal.notFound(
                .resourceMissing,
                "No such report: '\(name.prefix(80))'. There are: \(names).",
                param: "name"
            )
        }
        let hasApps = records.history.current.hasSeveralApps
        if let group, let word = group.first(where: { !report.groups.contains($0) }) {
            throw Refusal.invalid("group", "\(name) cannot be grouped by \(word.rawValue).")
        }
        if let group, group.contains(.app), !hasApps { throw Refusal.oneApp("group") }
        try records.history.current.requireSeveralApps(with: filters.app)
        // What is sold by several apps says by which.
        let ofApps: [Reports.Dimension] = [.store, .app, .product]
        let today = Reports.Day(await clocks.now())
        try Self.check(first, last)
        let end = min(last, max(today, first))
        let request = Reports.Request(
            report,
            from: first,
            to: end,
            by: step,
            group: group ?? (hasApps && report == .sales ? ofApps : nil),
            filters: filters,
            environment: environment ?? defaultEnvironment,
            today: today,
            terms: financeTerms
        )
        await figures.catchUp()
        var table = try await table(of: request)
        if end < last { table.notes.append("Days after \(end) have not come yet.") }
        let lag = try await FigureDerivation.lag(of: records)
        if lag > 0 {
            table.notes.append("The figures are \(lag) messages behind; ask again soon.")
        }
        return table
    }

    /// A long table is made by several cores at once, each with a read of its own.
    ///
    /// So what arrives meanwhile may be in a later stretch and not yet in an earlier one; each line
    /// is of one moment. Four at most: a report must not take the database's readers from others.
    private func table(of request: Reports.Request) async throws -> Reports.Table {
        let stretches = request.stretches(min(4, ProcessInfo.processInfo.activeProcessorCount))
        return try await withThrowingTaskGroup(of: (Int, [[Reports.Table.Value]]).self) { group in
            for number in stretches.indices.dropFirst() {
                group.addTask {
                    (number, try await self.table(ofStretch: stretches[number]).rows)
                }
            }
            var table = try await self.table(ofStretch: stretches[0])
            var rows: [[[Reports.Table.Value]]] = stretches.map { _ in [] }
            for try await (number, found) in group { rows[number] = found }
            table.rows += rows.joined()
            return table
        }
    }

    private func table(ofStretch request: Reports.Request) async throws -> Reports.Table {
        let material = try await material(of: request)
        do {
            return try Reports.table(request, from: material)
        } catch {
            throw Refusal.invalid("by", "\(error)")
        }
    }

    /// Ranges that make sense, so that nobody asks for a million rows by mistake.
    private static func check(_ first: Reports.Day, _ last: Reports.Day) throws {
        guard first <= last else {
            throw Refusal.invalid("from", "from is not after to.")
        }
        guard last.number - first.number <= 7_320 else {
            throw Refusal.invalid("from", "A report covers at most twenty years.")
        }
    }

    // MARK: - From what figures are made

    private func material(of request: Reports.Request) async throws -> Reports.Material {
        var material = try await records.material(of: request)
        if request.report.needsReported {
            material.reported = try await reportedSales(request)
        }
        return material
    }

    /// What the stores reported of the days, as far as it was imported.
    private func reportedSales(_ request: Reports.Request) async throws -> [Reports.ReportedSale] {
        // Nobody reports anything of a sandbox.
        guard request.environment == .production else { return [] }
        var sales: [Reports.ReportedSale] = []
        for books in books where (request.filters.store ?? books.store) == books.store {
            sales += try await books.reportedSales(from: request.from, to: request.to)
        }
        return sales.filter {
            request.filters.country == nil || request.filters.country == $0.country
        }
    }
}

extension Catalog {
    /// - Throws: a refusal 400 `parameter_invalid` for an app that is not one of several.
    func requireSeveralApps(with app: String?) throws {
        guard let app else { return }
        guard hasSeveralApps else { throw Refusal.oneApp("app") }
        guard self.app(id: app) == nil else { return }
        throw Refusal.invalid(
            "app",
            "The catalog lists no app '\(app.prefix(80))'; its apps are "
                + apps.map(\.id).joined(separator: ", ") + "."
        )
    }
}

extension Refusal {
    fileprivate static func oneApp(_ param: String) -> Refusal {
        .invalid(param, "The catalog does not list several apps: all figures are of the only one.")
    }
}
