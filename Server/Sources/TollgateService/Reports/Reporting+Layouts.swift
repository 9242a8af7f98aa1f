public import Reports
internal import Storage
internal import Stores
internal import TollgateAPI
public import TollgateCore

extension Reporting {
    /// Our own figures in the columns of a report that a store gives under this name.
    ///
    /// - Parameters:
    ///   - name: `sales`, say.
    ///   - owner: whose report it is: `Apple`.
    /// - Throws: refusals 404 `resource_missing`, 400 `parameter_invalid`; `StorageError`.
    public func report(
        _ name: String,
        inColumnsOf owner: String,
        from first: Reports.Day,
        to last: Reports.Day,
        filters: Reports.Filters = Reports.Filters(),
        environment: StoreEnvironment? = nil
    ) async throws -> String {
        let layouts = books.flatMap(\.layouts).filter { $0.owner == owner }
        guard let layout = layouts.first(where: { $0.name == name }) else {
            let names = layouts.map(\.name).joined(separator: ", ")
            throw Refusal.notFound(
                .resourceMissing,
                "\(owner) has no such report: '\(name.prefix(80))'. There are: \(names).",
                param: "name"
            )
        }
        guard first <= last, last.number - first.number <= 731 else {
            throw Refusal.invalid("from", "from is not after to, and at most two years before it.")
        }
        let catalog = records.history.current
        try catalog.requireSeveralApps(with: filters.app)
        await figures.catchUp()
        let question = StoreLayout.Question(
            from: first,
            to: last,
            catalog: catalog,
            terms: financeTerms
        )
        let environment = environment ?? defaultEnvironment
        switch layout.writing {
        case .sales(let write):
            let sales = try await allFigures(.sale, first, last, filters, environment)
            return write(try sales.map { try $0.sale() }, question)
        case .periods(let write):
            // Periods that were under way began up to some years before.
            let day = Reports.Day(number: 0)
            let periods = try await allFigures(.period, day, last, filters, environment)
            return write(try periods.map { try $0.period() }, question)
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
