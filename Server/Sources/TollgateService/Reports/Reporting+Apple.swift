public import Reports
internal import Storage
internal import Stores
internal import TollgateAPI
public import TollgateCore

extension Reporting {
    /// Our own figures in the columns of the report that Apple gives under this name, so that tools
    /// which read Apple's read these.
    ///
    /// - Parameter name: `sales`, `subscriptions`, `events` or `subscribers`.
    /// - Throws: refusals 404 `resource_missing`, 400 `parameter_invalid`; `StorageError`.
    public func appleReport(
        _ name: String,
        from first: Reports.Day,
        to last: Reports.Day,
        filters: Reports.Filters = Reports.Filters(),
        environment: StoreEnvironment? = nil
    ) async throws -> String {
        guard let layout = Reports.AppleLayout(rawValue: name) else {
            let names = Reports.AppleLayout.allCases.map(\.rawValue).joined(separator: ", ")
            throw Refusal.notFound(
                .resourceMissing,
                "Apple has no such report: '\(name.prefix(80))'. There are: \(names).",
                param: "name"
            )
        }
        guard first <= last, last.number - first.number <= 731 else {
            throw Refusal.invalid("from", "from is not after to, and at most two years before it.")
        }
        try records.history.current.requireSeveralApps(with: filters.app)
        await figures.catchUp()
        let environment = environment ?? defaultEnvironment
        let catalog = records.history.current
        switch layout {
        case .sales, .subscribers:
            let sales = try await allFigures(.sale, first, last, filters, environment).map {
                try $0.sale()
            }
            return layout == .sales
                ? Reports.AppleFiles.sales(
                    sales,
                    from: first,
                    to: last,
                    catalog: catalog,
                    terms: financeTerms
                )
                : Reports.AppleFiles.subscribers(sales, catalog: catalog, terms: financeTerms)
        case .subscriptions, .events:
            // Periods that were under way began up to some years before, and what happens to one
            // depends on the one before it.
            let periods = try await allFigures(
                .period,
                Reports.Day(number: 0),
                last,
                filters,
                environment
            ).map { try $0.period() }
            return layout == .subscriptions
                ? Reports.AppleFiles.subscriptions(periods, at: last, catalog: catalog)
                : Reports.AppleFiles.events(periods, from: first, to: last, catalog: catalog)
        }
    }

    private func allFigures(
        _ kind: FigureKind,
        _ first: Reports.Day,
        _ last: Reports.Day,
        _ filters: Reports.Filters,
        _ environment: StoreEnvironment
    ) async throws -> [Figure] {
        var all: [Figure] = []
        var place: (day: Int64, place: Figure.Place)?
        while true {
            let page = try await records.figures.rows(
                kind: kind.rawValue,
                in: environment,
                days: first.number...last.number,
                after: place,
                limit: 5_000
            )
            all += try page.filter { try $0.passes(filters) }
            guard let end = page.last, page.count == 5_000 else { return all }
            place = (end.day, end.place)
        }
    }
}
