public import TollgateCore

/// A row of what was sold, as it is kept: what its body says, whoever derives it knows.
public struct Figure: Hashable, Sendable {
    /// Its place: rows of one subject and kind are numbered from 0.
    public struct Place: Hashable, Comparable, Sendable {
        /// The purchase, the customer or the spend that it follows from.
        public var subject: RowKey
        public var kind: Int64
        public var number: Int64

        public init(subject: RowKey, kind: Int64, number: Int64) {
            self.subject = subject
            self.kind = kind
            self.number = number
        }

        public static func < (left: Place, right: Place) -> Bool {
            (left.subject, left.kind, left.number) < (right.subject, right.kind, right.number)
        }
    }

    public var place: Place
    public var environment: StoreEnvironment
    /// Days since 1970.
    public var day: Int64
    /// The row of the customer whom it is about.
    public var customer: RowKey
    public var body: [UInt8]

    public init(
        place: Place,
        environment: StoreEnvironment,
        day: Int64,
        customer: RowKey,
        body: [UInt8]
    ) {
        self.place = place
        self.environment = environment
        self.day = day
        self.customer = customer
        self.body = body
    }
}

/// A sum over rows of one day, week or month.
public struct Rollup: Hashable, Sendable {
    /// How much is added up in one sum: a stretch of time, and what is told apart within it.
    ///
    /// The numbers are kept.
    public enum Grain: Int64, CaseIterable, Hashable, Sendable {
        case day = 0
        case month = 1
        case dayEverywhere = 2
        case monthEverywhere = 3
        case weekEverywhere = 4
        case dayTotal = 5
        case weekTotal = 6
        case monthTotal = 7

        /// How long the stretch is; a week begins on a Monday, and all of them with the day that
        /// stands for them.
        public enum Span: Hashable, Sendable {
            case day, week, month
        }

        /// How much is told apart: what is not has an empty name.
        ///
        /// Most questions ask for little, and find it in few rows.
        public enum Breadth: Hashable, Sendable {
            /// Everything.
            case all
            /// All countries and offers are one.
            case everywhere
            /// All products are one, too, and stores where nothing depends on them.
            case total
        }

        public var span: Span {
            switch self {
            case .day, .dayEverywhere, .dayTotal: .day
            case .weekEverywhere, .weekTotal: .week
            case .month, .monthEverywhere, .monthTotal: .month
            }
        }

        public var breadth: Breadth {
            switch self {
            case .day, .month: .all
            case .dayEverywhere, .weekEverywhere, .monthEverywhere: .everywhere
            case .dayTotal, .weekTotal, .monthTotal: .total
            }
        }

        /// The grain of that span and breadth, if such sums are kept.
        public init?(_ span: Span, _ breadth: Breadth) {
            guard
                let grain = Self.allCases.first(where: { $0.span == span && $0.breadth == breadth })
            else { return nil }
            self = grain
        }
    }

    /// Columns of words that sums are kept apart by.
    public struct Columns: OptionSet, Hashable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }

        public static let store = Columns(rawValue: 1)
        public static let product = Columns(rawValue: 2)
        public static let country = Columns(rawValue: 4)
        public static let currency = Columns(rawValue: 8)
        public static let offer = Columns(rawValue: 16)
        public static let app = Columns(rawValue: 32)
        public static let all: Columns = [.store, .product, .country, .currency, .offer, .app]

        /// Those of the table, in the order of its key.
        static let named: [(column: Columns, name: String)] = [
            (.store, "store"), (.product, "product"), (.country, "country"),
            (.currency, "currency"), (.offer, "offer"), (.app, "app"),
        ]
    }

    /// What it is the sum of.
    public struct Key: Hashable, Comparable, Sendable {
        public var environment: StoreEnvironment
        public var measure: Int64
        public var grain: Grain
        /// Days since 1970.
        public var day: Int64
        public var store: String
        public var product: String
        public var country: String
        public var currency: String
        public var offer: String
        public var app: String
        public var detail: Int64
        public var extra: Int64

        public init(
            environment: StoreEnvironment,
            measure: Int64,
            grain: Grain,
            day: Int64,
            store: String,
            product: String,
            country: String,
            currency: String,
            offer: String,
            app: String,
            detail: Int64,
            extra: Int64
        ) {
            self.environment = environment
            self.measure = measure
            self.grain = grain
            self.day = day
            self.store = store
            self.product = product
            self.country = country
            self.currency = currency
            self.offer = offer
            self.app = app
            self.detail = detail
            self.extra = extra
        }

        /// The order in which rows are locked; any would do that is always the same.
        public static func < (left: Key, right: Key) -> Bool {
            if left.measure != right.measure { return left.measure < right.measure }
            if left.day != right.day { return left.day < right.day }
            if left.grain != right.grain { return left.grain.rawValue < right.grain.rawValue }
            if left.product != right.product { return left.product < right.product }
            if left.country != right.country { return left.country < right.country }
            if left.currency != right.currency { return left.currency < right.currency }
            if left.offer != right.offer { return left.offer < right.offer }
            if left.store != right.store { return left.store < right.store }
            if left.app != right.app { return left.app < right.app }
            if left.environment != right.environment {
                return left.environment.number < right.environment.number
            }
            return (left.detail, left.extra) < (right.detail, right.extra)
        }

        var values: [SQLValue] {
            [
                .integer(environment.number), .integer(measure), .integer(grain.rawValue),
                .integer(day), .text(store), .text(product), .text(country), .text(currency),
                .text(offer), .text(app), .integer(detail), .integer(extra),
            ]
        }
    }

    public var key: Key
    public var items: Int64
    public var units: Int64
    public var amount: Int64

    public init(key: Key, items: Int64, units: Int64, amount: Int64) {
        self.key = key
        self.items = items
        self.units = units
        self.amount = amount
    }
}
