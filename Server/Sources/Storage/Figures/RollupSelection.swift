internal import TollgateCore

/// Which sums are asked for, and what is kept apart in them.
public struct RollupSelection: Hashable, Sendable {
    /// How days are told apart.
    public enum Step: Hashable, Sendable {
        /// All of a range are one: the day of the sums is 0.
        case whole
        /// As they are kept.
        case kept
        /// Days by the Monday of their week.
        case week
    }

    public var measure: Int64
    /// Which of the sums are read.
    public var grain: Rollup.Grain
    /// Both included; of weeks and months, the first days of the first and the last.
    public var days: ClosedRange<Int64>
    public var step: Step
    /// What is kept apart; the rest is added up.
    public var columns: Rollup.Columns
    /// What is empty in all sums of the measure and grain: it need not be added up.
    public var empty: Rollup.Columns
    /// Only this store's, product's, country's or app's; `nil`: all.
    public var store: String?
    public var product: String?
    public var country: String?
    public var app: String?

    public init(
        _ measure: Int64,
        _ grain: Rollup.Grain,
        days: ClosedRange<Int64>,
        step: Step = .kept,
        columns: Rollup.Columns = [],
        empty: Rollup.Columns = [],
        store: String? = nil,
        product: String? = nil,
        country: String? = nil,
        app: String? = nil
    ) {
        self.measure = measure
        self.grain = grain
        self.days = days
        self.step = step
        self.columns = columns
        self.empty = empty
        self.store = store
        self.product = product
        self.country = country
        self.app = app
    }

    /// The statement, one of few: names come from here, values go beside it.
    ///
    /// Its columns: the day, the words that are kept apart, detail, extra, items, units, amount.
    /// What is kept apart, and what is empty, is grouped in the order of the key, so that a database
    /// that reads along the key has nothing to sort; where nothing is to be added up, nothing is
    /// grouped either.
    var sql: String {
        let words = Rollup.Columns.named.filter { columns.contains($0.column) }.map(\.name)
        let day =
            switch step {
            case .whole: "CAST(0 AS bigint)"
            case .kept: "day"
            // 1970-01-01 was a Thursday.
            case .week: "day - (day + 3) % 7"
            }
        let isKept = step == .kept && columns.union(empty) == .all
        let sums = ["items", "units", "amount"].map { isKept ? $0 : "CAST(sum(\($0)) AS bigint)" }
        let selected = ["\(day) AS on_day"] + words + ["detail", "extra"] + sums
        var text =
            "SELECT \(selected.joined(separator: ", ")) FROM rollup "
            + "WHERE environment = $1 AND measure = $2 AND grain = $3 AND day >= $4 AND day <= $5"
        for (index, name) in filters.map(\.name).enumerated() {
            text += " AND \(name) = $\(index + 6)"
        }
        guard !isKept else { return text }
        let grouped =
            (step == .whole ? [] : [step == .kept ? "day" : "on_day"])
            + Rollup.Columns.named.filter { columns.union(empty).contains($0.column) }.map(\.name)
            + ["detail", "extra"]
        return text + " GROUP BY \(grouped.joined(separator: ", "))"
    }

    private var filters: [(name: String, value: String)] {
        [("store", store), ("product", product), ("country", country), ("app", app)]
            .compactMap { name, value in value.map { (name, $0) } }
    }

    /// The values of the statement.
    func values(in environment: StoreEnvironment) -> [SQLValue] {
        [
            .integer(environment.number), .integer(measure), .integer(grain.rawValue),
            .integer(days.lowerBound), .integer(days.upperBound),
        ] + filters.map { .text($0.value) }
    }
}

extension Rollup {
    /// A row of what a selection's statement answers.
    init(
        _ row: Row,
        of selection: RollupSelection,
        in environment: StoreEnvironment
    ) throws(StorageError) {
        var column = 1
        func word(_ wanted: Columns) throws(StorageError) -> String {
            guard selection.columns.contains(wanted) else { return "" }
            column += 1
            return try row.text(column - 1)
        }
        // In the order of the table's key.
        let store = try word(.store)
        let product = try word(.product)
        let country = try word(.country)
        let currency = try word(.currency)
        let offer = try word(.offer)
        let app = try word(.app)
        self.init(
            key: Key(
                environment: environment,
                measure: selection.measure,
                grain: selection.grain,
                day: try row.int64(0),
                store: store,
                product: product,
                country: country,
                currency: currency,
                offer: offer,
                app: app,
                detail: try row.int64(column),
                extra: try row.int64(column + 1)
            ),
            items: try row.int64(column + 2),
            units: try row.int64(column + 3),
            amount: try row.int64(column + 4)
        )
    }
}
