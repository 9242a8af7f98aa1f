package import Reports
package import Storage
internal import TollgateCore

extension Reports.Request {
    /// Which sums to read for measures over days, both included.
    ///
    /// Whole weeks and months are read as such, and what is left over at both ends by the day; and
    /// of all that is kept, the sums that tell apart the least of what is asked for.
    ///
    /// - Parameter step: what has to be told apart; `nil`: all days are one.
    package func selections(
        of measures: [Reports.Measure],
        _ days: ClosedRange<Reports.Day>,
        step: Reports.Step?
    ) -> [RollupSelection] {
        measures.flatMap { measure in
            let breadth = breadth(of: measure)
            let parts: [(span: Rollup.Grain.Span, days: ClosedRange<Reports.Day>)] =
                switch step {
                case .day?: [(.day, days)]
                case .week? where Rollup.Grain(.week, breadth) != nil:
                    Self.parts(of: days, .week, .week)
                case .week?: [(.day, days)]
                case .month?, nil: Self.parts(of: days, .month, .month)
                }
            return parts.compactMap { part -> RollupSelection? in
                guard let grain = Rollup.Grain(part.span, breadth) else { return nil }
                // Days left over at an end lie in one month; where no month is whole, in two.
                let isOne = step == nil || step == .month && part.span == .day && parts.count > 1
                let isWeek = step == .week && part.span == .day
                return RollupSelection(
                    measure.rawValue,
                    grain,
                    days: part.days.lowerBound.number...part.days.upperBound.number,
                    step: isOne ? .whole : isWeek ? .week : .kept,
                    columns: columns(of: measure),
                    // Apps that nobody asked for add up wherever their sums meet.
                    empty: measure.emptyColumns(of: breadth).union(
                        dimensions.contains(.app) ? [] : .app
                    ),
                    store: filters.store?.rawValue,
                    product: filters.product,
                    country: filters.country,
                    app: filters.app
                )
            }
        }
    }

    /// The whole stretches among days, by the first days of the first and the last, and what is
    /// left over before and behind them.
    private static func parts(
        of days: ClosedRange<Reports.Day>,
        _ span: Rollup.Grain.Span,
        _ step: Reports.Step
    ) -> [(span: Rollup.Grain.Span, days: ClosedRange<Reports.Day>)] {
        let (first, last) = (days.lowerBound, days.upperBound)
        let begin = step.start(of: first) == first ? first : step.next(after: step.start(of: first))
        let end = step.start(of: last.advanced(by: 1))
        guard begin < end else { return [(.day, days)] }
        var parts = [(span: span, days: begin...step.start(of: end.advanced(by: -1)))]
        if first < begin { parts.append((.day, first...begin.advanced(by: -1))) }
        if end <= last { parts.append((.day, end...last)) }
        return parts
    }

    /// The least that tells apart what is kept apart or filtered by.
    private func breadth(of measure: Reports.Measure) -> Rollup.Grain.Breadth {
        var wanted = columns(of: measure)
        if filters.store != nil { wanted.insert(.store) }
        if filters.product != nil { wanted.insert(.product) }
        if filters.country != nil { wanted.insert(.country) }
        if filters.app != nil { wanted.insert(.app) }
        let breadths: [Rollup.Grain.Breadth] = [.total, .everywhere]
        return breadths.first { measure.emptyColumns(of: $0).isDisjoint(with: wanted) } ?? .all
    }

    /// What has to be told apart of a measure.
    private func columns(of measure: Reports.Measure) -> Rollup.Columns {
        var columns: Rollup.Columns = []
        if dimensions.contains(.store) || measure.dependsOnStore { columns.insert(.store) }
        if dimensions.contains(.product) { columns.insert(.product) }
        if dimensions.contains(.country) { columns.insert(.country) }
        if dimensions.contains(.offer) { columns.insert(.offer) }
        if dimensions.contains(.app) { columns.insert(.app) }
        if report.hasAmounts, measure.hasCurrency { columns.insert(.currency) }
        return columns
    }
}

extension RecordStore {
    /// The sums that a request's figures are made from.
    package func material(of request: Reports.Request) async throws -> Reports.Material {
        let measures = request.report.measures
        let cumulative = measures.filter(\.isCumulative)
        var material = Reports.Material()
        // No purchase is older.
        let firstDay = Reports.Day(number: 0)
        if !cumulative.isEmpty, firstDay < request.from {
            let before = firstDay...request.from.advanced(by: -1)
            material.opening = try await entries(
                request.selections(of: cumulative, before, step: nil),
                in: request.environment
            )
        }
        if !measures.isEmpty {
            material.within = try await entries(
                request.selections(of: measures, request.from...request.to, step: request.step),
                in: request.environment
            )
        }
        if request.report.needsShowings { material.placements = try await placements(request) }
        return material
    }

    /// What selections answer, each on the day that its stretch begins with as far as it was asked
    /// for.
    private func entries(
        _ selections: [RollupSelection],
        in environment: StoreEnvironment
    ) async throws -> [Reports.Entry] {
        let answers = try await figures.rollups(selections, in: environment)
        var entries: [Reports.Entry] = []
        entries.reserveCapacity(answers.reduce(0) { $0 + $1.count })
        for (selection, rollups) in zip(selections, answers) {
            for rollup in rollups {
                guard var entry = rollup.entry else { continue }
                entry.key.day.number = max(entry.key.day.number, selection.days.lowerBound)
                entries.append(entry)
            }
        }
        return entries
    }
}
