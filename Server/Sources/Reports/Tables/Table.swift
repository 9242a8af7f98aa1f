extension Reports {
    /// A report as it is shown: named columns of one kind each, and what they mean.
    public struct Table: Hashable, Sendable {
        public struct Column: Hashable, Sendable {
            public enum Kind: String, Codable, Hashable, Sendable {
                case day, text, count, money, ratio
            }

            /// What programs call it: `gross`.
            public var key: String
            /// What people read: `Gross`.
            public var title: String
            public var kind: Kind

            public init(_ key: String, _ title: String, _ kind: Kind) {
                self.key = key
                self.title = title
                self.kind = kind
            }
        }

        public enum Value: Hashable, Sendable {
            case day(Day)
            case text(String)
            case count(Int64)
            /// Milliunits of a currency, exact.
            case money(Fraction, currency: String)
            /// 1 is all of it.
            case ratio(Fraction)
            /// Nothing can be said, as of a share of nothing.
            case none
        }

        /// What it is called on the command line and in addresses: `mrr-movement`.
        public var name: String
        public var title: String
        public var columns: [Column]
        public var rows: [[Value]]
        /// What the figures mean, each with its version.
        public var definitions: [Definition]
        /// What has to be known about these very figures.
        public var notes: [String]

        public init(
            name: String,
            title: String,
            columns: [Column],
            rows: [[Value]] = [],
            definitions: [Definition] = [],
            notes: [String] = []
        ) {
            self.name = name
            self.title = title
            self.columns = columns
            self.rows = rows
            self.definitions = definitions
            self.notes = notes
        }

        /// The values under a column, from top to bottom.
        public func values(_ key: String) -> [Value] {
            guard let index = columns.firstIndex(where: { $0.key == key }) else { return [] }
            return rows.map { $0[index] }
        }
    }

    /// What a figure means.
    public struct Definition: Codable, Hashable, Sendable {
        /// The figure: `MRR`.
        public var name: String
        /// Raised when its meaning changes.
        public var version: Int
        public var text: String

        public init(_ name: String, version: Int = 1, _ text: String) {
            self.name = name
            self.version = version
            self.text = text
        }
    }
}

extension Reports.Table.Value {
    /// As people and spreadsheets read it, without thousands separators or currency.
    ///
    /// Ratios are per cent with two decimals.
    public var text: String {
        switch self {
        case .day(let day): day.description
        case .text(let text): text
        case .count(let count): String(count)
        case .money(let milliunits, let currency):
            Reports.Currency.text(milliunits: milliunits, currency: currency)
        case .ratio(let ratio): (ratio * Reports.Fraction(Int128(100))).text(decimals: 2)
        case .none: ""
        }
    }

    /// As programs read it: ratios as decimals of 1, money in main units with three decimals.
    public var plain: String {
        var bytes: [UInt8] = []
        writePlain(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Writes what `plain` says: tables have rows by the hundred thousand.
    func writePlain(to bytes: inout [UInt8]) {
        switch self {
        case .day(let day): day.write(to: &bytes)
        case .text(let text): bytes += text.utf8
        case .count(let count): bytes.append(number: count)
        case .money(let milliunits, _): milliunits.write(decimals: 3, per: 3, to: &bytes)
        case .ratio(let ratio): ratio.write(decimals: 6, to: &bytes)
        case .none: break
        }
    }

    /// How high it stands in a plot; nil for what is no number.
    var height: Double? {
        switch self {
        case .count(let count): Double(count)
        case .money(let milliunits, _): milliunits.approximate / 1000
        case .ratio(let ratio): ratio.approximate * 100
        case .day, .text, .none: nil
        }
    }
}
