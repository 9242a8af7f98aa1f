extension AppStore {
    /// An amount of money in a report, exactly as it is written there.
    public struct ReportAmount: Hashable, Codable, Sendable, Comparable {
        /// Millionths of the currency's main unit: 6.99 is 6990000.
        public var millionths: Int64

        public init(millionths: Int64) {
            self.millionths = millionths
        }

        /// Reads `-1234.5`, with at most six decimals; nil for anything else.
        public init?(_ text: some StringProtocol) {
            var digits = Substring(text)
            let isNegative = digits.first == "-"
            if isNegative { digits.removeFirst() }
            let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
            guard (1...2).contains(parts.count), let whole = parts.first,
                whole.allSatisfy(\.isASCIIDigit),
                parts.count == 2 || !whole.isEmpty
            else { return nil }
            let decimals = parts.count == 2 ? parts[1] : ""
            guard decimals.allSatisfy(\.isASCIIDigit), !whole.isEmpty || !decimals.isEmpty,
                decimals.dropFirst(6).allSatisfy({ $0 == "0" }),
                let main = Int64(whole.isEmpty ? "0" : whole)
            else { return nil }
            let padded = (decimals.prefix(6) + "000000").prefix(6)
            let (scaled, overflow) = main.multipliedReportingOverflow(by: 1_000_000)
            guard !overflow, let fraction = Int64(padded),
                case let (sum, isTooMuch) = scaled.addingReportingOverflow(fraction), !isTooMuch
            else { return nil }
            millionths = isNegative ? -sum : sum
        }

        public static func < (left: Self, right: Self) -> Bool {
            left.millionths < right.millionths
        }
    }

    /// A day of a report, in Apple's own time (Pacific); it names no instant.
    public struct ReportDay: Hashable, Codable, Sendable, Comparable, CustomStringConvertible {
        /// `YYYY-MM-DD`.
        public let description: String

        /// Reads `YYYY-MM-DD`, `YYYYMMDD` and `MM/DD/YYYY`.
        public init?(_ text: some StringProtocol) {
            let text = String(text)
            let parts = text.split(whereSeparator: { $0 == "-" || $0 == "/" }).map(String.init)
            let (year, month, day): (String, String, String)
            switch parts.count {
            case 3 where text.contains("/"): (month, day, year) = (parts[0], parts[1], parts[2])
            case 3: (year, month, day) = (parts[0], parts[1], parts[2])
            case 1 where text.count == 8:
                year = String(text.prefix(4))
                month = String(text.dropFirst(4).prefix(2))
                day = String(text.suffix(2))
            default: return nil
            }
            guard year.count == 4, (1...2).contains(month.count), (1...2).contains(day.count),
                let numbers = [year, month, day].wholeNumbers, (1...12).contains(numbers[1]),
                (1...31).contains(numbers[2])
            else { return nil }
            func padded(_ text: String) -> String { text.count == 1 ? "0" + text : text }
            description = "\(year)-\(padded(month))-\(padded(day))"
        }

        public static func < (left: Self, right: Self) -> Bool {
            left.description < right.description
        }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            let text = try container.decode(String.self)
            guard let day = Self(text) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "no day")
            }
            self = day
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(description)
        }
    }
}

extension Character {
    fileprivate var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}

extension [String] {
    fileprivate var wholeNumbers: [Int]? {
        let numbers = compactMap { $0.allSatisfy(\.isASCIIDigit) ? Int($0) : nil }
        return numbers.count == count ? numbers : nil
    }
}
