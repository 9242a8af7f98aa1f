extension Reports {
    /// Figures of what was sold: sales, revenue, refunds, downloads.
    enum SalesFigures {
        static func addSales(_ request: Request, _ material: Material, to table: inout Table) {
            let slots = Slots(request, material)
            table.columns =
                [.init("day", "Day", .day)] + slots.columns + [
                    .init("units", "Units", .count),
                    .init("transactions", "Transactions", .count),
                    .init("gross", "Gross", .money),
                    .init("refunded_units", "Refunded units", .count),
                    .init("refunds", "Refunds", .money),
                    .init("net", "Net", .money),
                    .init("estimated_proceeds", "Estimated proceeds", .money),
                ]
            let cells = slots.words.indices.map { slots.cells($0) }
            for (index, piece) in slots.pieces.enumerated() {
                for (slot, entries) in slots.entries(of: index) {
                    let currency = slots.words[slot].last ?? ""
                    let charges = entries.sum(.charge)
                    let refunds = entries.sum(.refund)
                    let net = Fraction(Int128(charges.amount) - Int128(refunds.amount))
                    table.add(
                        piece.lowerBound,
                        cells[slot],
                        [
                            .count(charges.units), .count(charges.items),
                            .money(Fraction(charges.amount), currency: currency),
                            .count(refunds.units),
                            .money(Fraction(refunds.amount), currency: currency),
                            .money(net, currency: currency),
                            .money(entries.estimatedProceeds(request), currency: currency),
                        ]
                    )
                }
            }
        }

        static func addRevenue(_ request: Request, _ material: Material, to table: inout Table)
            throws(TooManyLines)
        {
            let slots = Slots(request, material)
            try slots.requireReadable()
            table.columns =
                [.init("day", "Day", .day)] + slots.columns + [
                    .init("gross", "Gross", .money), .init("refunds", "Refunds", .money),
                    .init("net", "Net", .money),
                    .init("estimated_proceeds", "Estimated proceeds", .money),
                    .init("reported_proceeds", "Reported proceeds", .money),
                ]
            let isWhole =
                request.dimensions.isEmpty && request.filters.product == nil
                && request.filters.app == nil
            let reported =
                isWhole ? ReportedSums(material.reported, slots.pieces) { $0.currency } : nil
            var lines = slots.words.indices.map {
                (slot: Optional($0), cells: slots.cells($0), currency: slots.words[$0].last ?? "")
            }
            let known = Set(lines.map(\.currency))
            for currency in reported?.names ?? []
            where !currency.isEmpty && !known.contains(currency) {
                lines.append((slot: nil, cells: [.text(currency)], currency: currency))
            }
            for (index, piece) in slots.pieces.enumerated() {
                for line in lines {
                    let currency = line.currency
                    let entries = line.slot.map { slots.entries($0, index) } ?? []
                    let gross = entries.amount(.charge)
                    let refunds = entries.amount(.refund)
                    table.add(
                        piece.lowerBound,
                        line.cells,
                        [
                            .money(gross, currency: currency), .money(refunds, currency: currency),
                            .money(gross - refunds, currency: currency),
                            .money(entries.estimatedProceeds(request), currency: currency),
                            reported?[index, currency]
                                .map { .money($0.proceeds, currency: currency) } ?? .none,
                        ]
                    )
                }
            }
        }

        static func addRefunds(_ request: Request, _ material: Material, to table: inout Table)
            throws(TooManyLines)
        {
            let slots = Slots(request, material)
            try slots.requireReadable()
            table.columns =
                [.init("day", "Day", .day)] + slots.columns + [
                    .init("paid", "Paid transactions", .count),
                    .init("refunded_by_purchase", "Refunded since", .count),
                    .init("rate_by_purchase", "Rate by purchase date", .ratio),
                    .init("refunded_by_date", "Refunded in it", .count),
                    .init("rate_by_date", "Rate by refund date", .ratio),
                    .init("amount_by_purchase", "Amount by purchase date", .money),
                    .init("amount_by_date", "Amount by refund date", .money),
                ]
            let cells = slots.words.indices.map { slots.cells($0) }
            for (index, piece) in slots.pieces.enumerated() {
                for (slot, words) in slots.words.enumerated() where words.last?.isEmpty == false {
                    let entries = slots.entries(slot, index)
                    let currency = words.last ?? ""
                    let paid = entries.items(.charge)
                    let (since, within) = (entries.sum(.refundByPurchase), entries.sum(.refund))
                    table.add(
                        piece.lowerBound,
                        cells[slot],
                        [
                            .count(paid), .count(since.items), .share(since.items, of: paid),
                            .count(within.items), .share(within.items, of: paid),
                            .money(Fraction(since.amount), currency: currency),
                            .money(Fraction(within.amount), currency: currency),
                        ]
                    )
                }
            }
        }

        static func addDownloads(
            _ request: Request,
            _ material: Material,
            to table: inout Table
        ) throws(TooManyLines) {
            let byCountry = request.dimensions.contains(.country)
            table.columns =
                [.init("day", "Day", .day)]
                + (byCountry ? [.init("country", "Country", .text)] : []) + [
                    .init("first_downloads", "First downloads", .count),
                    .init("redownloads", "Re-downloads", .count),
                    .init("updates", "Updates", .count),
                ]
            let pieces = request.by.pieces(from: request.from, to: request.to)
            let apps = material.reported.filter { !$0.productType.isEmpty }
            let rows = apps.filter {
                request.filters.country == nil || $0.country == request.filters.country
            }
            let reported = ReportedSums(rows, pieces) { byCountry ? $0.country : "" }
            guard pieces.count * max(1, reported.names.count) <= TooManyLines.most else {
                throw TooManyLines()
            }
            for (index, piece) in pieces.enumerated() {
                for country in byCountry ? reported.names : [""] {
                    let units = reported[index, country]?.units ?? [:]
                    table.add(
                        piece.lowerBound,
                        byCountry ? [.text(country)] : [],
                        ["1", "3", "7"].map { .count(units[$0] ?? 0) }
                    )
                }
            }
            if apps.isEmpty {
                table.notes.append(
                    "There is no sales report for these days; tollgate import reports imports them."
                )
            }
        }
    }
}

/// What a store reported, added up over the pieces of a range.
private struct ReportedSums {
    struct Sum {
        /// Of an app, by `1`, `3` or `7`.
        var units: [Character: Int64] = [:]
        var proceeds = Reports.Fraction.zero
    }

    /// All names, in order.
    let names: [String]
    private var sums: [String: [Int: Sum]] = [:]

    init(
        _ sales: [Reports.ReportedSale],
        _ pieces: [ClosedRange<Reports.Day>],
        by name: (Reports.ReportedSale) -> String
    ) {
        var numbers: [Reports.Day: Int] = [:]
        for (number, piece) in pieces.enumerated() {
            var day = piece.lowerBound
            while day <= piece.upperBound {
                numbers[day] = number
                day = day.advanced(by: 1)
            }
        }
        for sale in sales {
            let name = name(sale)
            guard let piece = numbers[sale.day] else {
                if sums[name] == nil { sums[name] = [:] }
                continue
            }
            var sum = sums[name]?[piece] ?? Sum()
            if let type = sale.appProductType { sum.units[type, default: 0] += sale.units }
            sum.proceeds += sale.proceeds
            sums[name, default: [:]][piece] = sum
        }
        names = sums.keys.sorted()
    }

    subscript(piece: Int, name: String) -> Sum? { sums[name]?[piece] }
}

extension Reports.ReportedSale {
    /// `1`, `3` or `7` of an app's types (`1F`, `F1`, `7T`, …); nil of others.
    fileprivate var appProductType: Character? {
        guard !productType.hasPrefix("I"), !productType.hasPrefix("FI") else { return nil }
        return productType.first { "137".contains($0) }
    }
}

extension Reports.Table.Value {
    static func share(_ part: Int64, of whole: Int64) -> Self {
        Reports.Fraction.share(part, of: whole).map { .ratio($0) } ?? .none
    }
}
