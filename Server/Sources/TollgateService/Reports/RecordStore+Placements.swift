package import Reports
package import Storage
internal import TollgateCore

extension RecordStore {
    /// The showings at placements and the purchases that follow, added up while rows are read in pages.
    ///
    /// - Parameter size: how many rows a page has.
    package func placements(
        _ request: Reports.Request,
        pages size: Int64 = 1_000
    ) async throws -> Reports.PlacementOutcomes {
        let shown = FigureKind.shown.rawValue
        let days = request.from.number...request.to.number
        var outcomes = Reports.PlacementOutcomes()
        var last: Figure?
        while true {
            let page = try await figures.rows(
                kind: shown,
                in: request.environment,
                days: days,
                after: last.map { ($0.day, $0.place) },
                limit: size
            )
            let customers = Set(page.map(\.customer)).sorted()
            let all = try await figures.rows(aboutEach: customers, kind: shown)
            let places = Set(page.map(\.place))
            // Each customer counts once: with the first of their rows that a page has.
            let fresh = zip(customers, all).filter { _, showings in
                showings.filter { days.contains($0.day) }.min {
                    ($0.day, $0.place) < ($1.day, $1.place)
                }.map { places.contains($0.place) } ?? false
            }
            let sales = try await figures.rows(
                aboutEach: fresh.map { $0.0 },
                kind: FigureKind.sale.rawValue
            )
            for ((_, showings), sales) in zip(fresh, sales) {
                outcomes.add(
                    try showings.map { try $0.showing() },
                    try sales.map { try $0.sale() },
                    request
                )
            }
            last = page.last
            guard Int64(page.count) == size else { return outcomes }
        }
    }
}
