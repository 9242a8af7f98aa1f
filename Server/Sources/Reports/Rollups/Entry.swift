public import TollgateCore

extension Reports {
    /// What a sum is kept under.
    public struct EntryKey: Hashable, Sendable {
        public var environment: StoreEnvironment
        public var measure: Measure
        public var day: Day
        /// Raw value of `Store`; empty where none is behind it.
        public var store: String
        public var product: String
        public var country: String
        public var currency: String
        /// Raw value of `Offer`.
        public var offer: String
        /// The catalog's id; empty where no app is behind it.
        public var app: String
        /// What these two mean depends on the measure.
        public var detail: Int64
        public var extra: Int64

        public init(
            environment: StoreEnvironment,
            measure: Measure,
            day: Day,
            store: String,
            product: String,
            country: String,
            currency: String,
            offer: String,
            app: String,
            detail: Int64 = 0,
            extra: Int64 = 0
        ) {
            self.environment = environment
            self.measure = measure
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
    }

    /// What is added up under one key.
    public struct Sum: Hashable, Sendable {
        public var items: Int64
        public var units: Int64
        public var amount: Int64

        public init(items: Int64 = 0, units: Int64 = 0, amount: Int64 = 0) {
            self.items = items
            self.units = units
            self.amount = amount
        }

        public var isZero: Bool { items == 0 && units == 0 && amount == 0 }

        public static func += (left: inout Sum, right: Sum) {
            // Wrapping: what is added is taken away again by the same amount.
            left.items &+= right.items
            left.units &+= right.units
            left.amount &+= right.amount
        }

        public static func -= (left: inout Sum, right: Sum) {
            left.items &-= right.items
            left.units &-= right.units
            left.amount &-= right.amount
        }
    }

    /// A sum with what it is the sum of.
    public struct Entry: Hashable, Sendable {
        public var key: EntryKey
        public var sum: Sum

        public init(_ key: EntryKey, _ sum: Sum) {
            self.key = key
            self.sum = sum
        }
    }

    /// Sums by key.
    public struct Entries: Hashable, Sendable {
        public private(set) var sums: [EntryKey: Sum] = [:]

        public init() {}

        public mutating func add(_ key: EntryKey, _ sum: Sum) {
            sums[key, default: Sum()] += sum
            if sums[key]?.isZero == true { sums[key] = nil }
        }

        public static func += (left: inout Entries, right: Entries) {
            for (key, sum) in right.sums { left.add(key, sum) }
        }

        public static func -= (left: inout Entries, right: Entries) {
            for (key, sum) in right.sums {
                left.sums[key, default: Sum()] -= sum
                if left.sums[key]?.isZero == true { left.sums[key] = nil }
            }
        }
    }
}
