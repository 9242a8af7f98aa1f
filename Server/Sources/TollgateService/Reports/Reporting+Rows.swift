public import Reports
internal import Storage
internal import Stores
public import TollgateCore

/// A page of the rows behind figures.
public struct ReportRows: Sendable {
    public var table: Reports.Table
    /// Where the next page begins; `nil` at the end.
    public var next: String?
    /// Where this one ends, whether or not there is more; `nil` where it is empty.
    public var last: String?
}

/// What rows have of their own: figures are not told apart by it.
public struct RowMatch: Hashable, Sendable {
    /// A kind such as `charge`, `refund` or `sold`; `nil`: any.
    ///
    /// Periods have none.
    public var kind: String?
    /// The least amount in milliunits, of whatever currency.
    public var leastMilliunits: Int64?

    public init(kind: String? = nil, leastMilliunits: Int64? = nil) {
        self.kind = kind
        self.leastMilliunits = leastMilliunits
    }
}

extension Reporting {
    /// The rows behind figures, by the days on which they happened, oldest first.
    ///
    /// - Parameters:
    ///   - next: of the page before; `nil` begins.
    ///   - limit: 1 to 10 000.
    /// - Throws: a refusal 400 `parameter_invalid`; `StorageError`.
    public func rows(
        _ kind: Reports.RowKind,
        from first: Reports.Day,
        to last: Reports.Day,
        filters: Reports.Filters = Reports.Filters(),
        matching match: RowMatch = RowMatch(),
        environment: StoreEnvironment? = nil,
        after next: String? = nil,
        limit: Int64 = 100
    ) async throws -> ReportRows {
        guard (1...10_000).contains(limit) else {
            throw Refusal.invalid("limit", "limit is between 1 and 10000.")
        }
        guard first <= last else { throw Refusal.invalid("from", "from is not after to.") }
        try records.history.current.requireSeveralApps(with: filters.app)
        // Filters may pass few of them, or none.
        let size = max(limit, 1_000)
        var place = try next.map { try Self.place($0) }
        var found: [Figure] = []
        var end: String?
        search: while true {
            let page = try await records.figures.rows(
                kind: FigureKind(kind).rawValue,
                in: environment ?? defaultEnvironment,
                days: first.number...last.number,
                after: place,
                limit: size
            )
            for figure in page {
                place = (figure.day, figure.place)
                guard try figure.passes(filters), try figure.passes(match) else { continue }
                found.append(figure)
                if Int64(found.count) == limit {
                    end = Self.text(figure)
                    break search
                }
            }
            if Int64(page.count) < size { break }
        }
        return ReportRows(
            table: try table(kind, found),
            next: end,
            last: found.last.map { Self.text($0) }
        )
    }

    private func table(_ kind: Reports.RowKind, _ figures: [Figure]) throws -> Reports.Table {
        var table: Reports.Table
        let apps: [String?]
        switch kind {
        case .sales:
            let sales = try figures.map { try $0.sale() }
            (table, apps) = (Reports.RowTables.table(of: sales), sales.map(\.app))
        case .periods:
            let periods = try figures.map { try $0.period() }
            (table, apps) = (Reports.RowTables.table(of: periods), periods.map(\.app))
        case .coins:
            let moves = try figures.map { try $0.coinMove() }
            (table, apps) = (Reports.RowTables.table(of: moves), moves.map(\.app))
        }
        if records.history.current.hasSeveralApps { table.add(apps: apps) }
        return table
    }

    /// `20454_7f…_0`: day, subject, number.
    private static func text(_ figure: Figure) -> String {
        "\(figure.day)_\(figure.place.subject.hex)_\(figure.place.number)"
    }

    private static func place(_ text: String) throws -> (day: Int64, place: Figure.Place) {
        let parts = text.split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count == 3, let day = Int64(parts[0]),
            let subject = RowKey(hex: String(parts[1])), let number = Int64(parts[2])
        else {
            throw Refusal.invalid("starting_after", "starting_after is what a page ended with.")
        }
        return (day, Figure.Place(subject: subject, kind: 0, number: number))
    }
}

extension FigureKind {
    init(_ kind: Reports.RowKind) {
        switch kind {
        case .sales: self = .sale
        case .periods: self = .period
        case .coins: self = .coins
        }
    }
}

extension Figure {
    func passes(_ match: RowMatch) throws -> Bool {
        guard match != RowMatch() else { return true }
        let (kind, amount): (String?, Int64?)
        switch FigureKind(rawValue: place.kind) {
        case .sale?:
            let sale = try sale()
            (kind, amount) = (sale.kind.rawValue, sale.amount)
        case .period?: (kind, amount) = (nil, try period().amount)
        case .coins?: (kind, amount) = (try coinMove().kind.rawValue, nil)
        case .customer?, .shown?, nil: return false
        }
        return (match.kind == nil || match.kind == kind)
            && (match.leastMilliunits.map { (amount ?? 0) >= $0 } ?? true)
    }

    func passes(_ filters: Reports.Filters) throws -> Bool {
        guard filters != Reports.Filters() else { return true }
        let (store, product, country, app): (Store?, String, String, String?)
        switch FigureKind(rawValue: place.kind) {
        case .sale?:
            let sale = try sale()
            (store, product, country, app) = (sale.store, sale.product, sale.country, sale.app)
        case .period?:
            let period = try period()
            (store, product, country) = (period.store, period.product, period.country)
            app = period.app
        case .coins?:
            let move = try coinMove()
            (store, product, country, app) = (move.store, move.product, move.country, move.app)
        case .customer?, .shown?, nil: return false
        }
        return (filters.store == nil || filters.store == store)
            && (filters.product == nil || filters.product == product)
            && (filters.country == nil || filters.country == country)
            && (filters.app == nil || filters.app == app)
    }
}
