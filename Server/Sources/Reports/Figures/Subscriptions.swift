extension Reports {
    /// Figures of subscriptions: how many, what they bring in, and what changes.
    enum SubscriptionFigures {
        static func addSubscriptions(
            _ request: Request,
            _ material: Material,
            to table: inout Table
        ) throws(TooManyLines) {
            let slots = Slots(request, material, currency: false)
            try slots.requireReadable()
            table.columns =
                [.init("day", "At the end of", .day)] + slots.columns + [
                    .init("active", "Active", .count), .init("trials", "Trials", .count),
                    .init("grace", "In grace", .count), .init("retry", "Billing retry", .count),
                    .init("granted", "Granted", .count),
                ]
            // Nobody is a figure, too.
            let isEmpty = slots.words.isEmpty && request.dimensions.isEmpty
            for slot in isEmpty ? 0..<1 : slots.words.indices {
                let cells = isEmpty ? [] : slots.cells(slot)
                var running = [Int64](repeating: 0, count: 5)
                func count(_ piece: Int) {
                    let entries = slots.entries(slot, piece)
                    running[0] += entries.active
                    for (index, measure) in [Measure.trials, .grace, .retry, .granted].enumerated()
                    {
                        running[index + 1] += entries.items(measure)
                    }
                }
                count(-1)
                for (index, piece) in slots.pieces.enumerated() {
                    count(index)
                    table.add(piece.upperBound, cells, running.map { .count($0) })
                }
            }
            table.sortByDay()
        }

        static func addEvents(_ request: Request, _ material: Material, to table: inout Table) {
            let slots = Slots(request, material, currency: false)
            table.columns =
                [.init("day", "Day", .day), .init("event", "Event", .text)] + slots.columns
                + [.init("count", "Count", .count)]
            let cells = slots.words.indices.map { slots.cells($0) }
            for (index, piece) in slots.pieces.enumerated() {
                for slot in slots.words.indices where slots.has(slot, index) {
                    var counts: [Int64: Int64] = [:]
                    for entry in slots.entries(slot, index) {
                        counts[entry.key.detail, default: 0] += entry.sum.items
                    }
                    for event in SubscriptionEvent.allCases {
                        guard let count = counts[event.rawValue], count != 0 else { continue }
                        table.add(
                            piece.lowerBound,
                            [.text(event.name)] + cells[slot],
                            [.count(count)]
                        )
                    }
                }
            }
        }

        static func addMRR(_ request: Request, _ material: Material, to table: inout Table)
            throws(TooManyLines)
        {
            let slots = Slots(request, material)
            try slots.requireReadable()
            table.columns =
                [.init("day", "At the end of", .day)] + slots.columns + [
                    .init("mrr", "MRR", .money), .init("arr", "ARR", .money),
                    .init("active", "Active", .count),
                ]
            for (slot, words) in slots.words.enumerated() {
                let currency = words.last ?? ""
                let cells = slots.cells(slot)
                let opening = slots.entries(slot, -1)
                var mrr = opening.value(Measure.movements)
                var active = opening.active
                for (index, piece) in slots.pieces.enumerated() {
                    let entries = slots.entries(slot, index)
                    mrr += entries.value(Measure.movements)
                    active += entries.active
                    table.add(
                        piece.upperBound,
                        cells,
                        [
                            .money(mrr, currency: currency),
                            .money(mrr * Fraction(Int128(12)), currency: currency), .count(active),
                        ]
                    )
                }
            }
            table.sortByDay()
        }

        static func addMovement(_ request: Request, _ material: Material, to table: inout Table)
            throws(TooManyLines)
        {
            let slots = Slots(request, material)
            try slots.requireReadable()
            table.columns =
                [.init("day", "Day", .day)] + slots.columns + [
                    .init("opening", "Opening", .money), .init("new", "New", .money),
                    .init("expansion", "Expansion", .money),
                    .init("contraction", "Contraction", .money),
                    .init("churned", "Churned", .money), .init("returned", "Returned", .money),
                    .init("closing", "Closing", .money),
                    .init("new_count", "New subscriptions", .count),
                    .init("churned_count", "Churned subscriptions", .count),
                    .init("returned_count", "Returned subscriptions", .count),
                ]
            for (slot, words) in slots.words.enumerated() {
                let currency = words.last ?? ""
                let cells = slots.cells(slot)
                var mrr = slots.entries(slot, -1).value(Measure.movements)
                for (index, piece) in slots.pieces.enumerated() {
                    let entries = slots.entries(slot, index)
                    let opening = mrr
                    mrr += entries.value(Measure.movements)
                    table.add(
                        piece.lowerBound,
                        cells,
                        [.money(opening, currency: currency)]
                            + Measure.movements.map {
                                .money(entries.value([$0]), currency: currency)
                            } + [
                                .money(mrr, currency: currency),
                                .count(entries.items(.newSubscriptions)),
                                .count(-entries.items(.churned)), .count(entries.items(.returned)),
                            ]
                    )
                }
            }
            table.sortByDay()
        }

        static func addChurn(_ request: Request, _ material: Material, to table: inout Table)
            throws(TooManyLines)
        {
            let slots = Slots(request, material, currency: false)
            try slots.requireReadable()
            table.columns =
                [.init("day", "Day", .day)] + slots.columns + [
                    .init("rate", "Churn rate", .ratio),
                    .init("active_at_start", "Active at start", .count),
                    .init("expired", "Expired", .count),
                    .init("resubscribed", "Resubscribed", .count),
                ]
            for slot in slots.words.indices {
                let cells = slots.cells(slot)
                var active = slots.entries(slot, -1).active
                for (index, piece) in slots.pieces.enumerated() {
                    let entries = slots.entries(slot, index)
                    let expired = -entries.items(.churned)
                    let returned = entries.items(.returned)
                    table.add(
                        piece.lowerBound,
                        cells,
                        [
                            .share(expired - returned, of: active), .count(active),
                            .count(expired), .count(returned),
                        ]
                    )
                    active += entries.active
                }
            }
            table.sortByDay()
        }
    }
}

extension Reports.Table {
    /// Rows by their days, keeping the order among those of one day.
    mutating func sortByDay() {
        let days = rows.map { row -> Reports.Day in
            if case .day(let day) = row.first { day } else { Reports.Day(number: 0) }
        }
        rows = rows.indices.sorted { (days[$0], $0) < (days[$1], $1) }.map { rows[$0] }
    }
}
