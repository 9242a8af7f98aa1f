internal import SandboxClock

extension SimulatedAppStore {
    /// A subscription's duration: an ISO 8601 duration with one unit, such as `P1W` or `P3M`.
    public struct Period: Hashable, Sendable, Codable, CustomStringConvertible {
        enum Unit: Character, Sendable {
            case day = "D"
            case week = "W"
            case month = "M"
            case year = "Y"
        }

        static let month = Self(count: 1, unit: .month)

        let count: Int
        let unit: Unit

        private init(count: Int, unit: Unit) {
            self.count = count
            self.unit = unit
        }

        /// - Parameter description: `P<count><D|W|M|Y>` with a count of 1 to 999; else `nil`.
        public init?(_ description: String) {
            guard description.first == "P", let last = description.last,
                let unit = Unit(rawValue: last),
                let count = Int(description.dropFirst().dropLast()), (1...999).contains(count)
            else { return nil }
            self.count = count
            self.unit = unit
        }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            guard let period = Self(try container.decode(String.self)) else {
                throw DecodingError.dataCorruptedError(
                    in: container,
                    debugDescription: "A period is written like P1W, P1M or P1Y."
                )
            }
            self = period
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(description)
        }

        /// The ISO 8601 spelling.
        public var description: String { "P\(count)\(unit.rawValue)" }

        /// The instant `times` periods after `start` by the UTC calendar; a day that the month
        /// lacks becomes its last one.
        func adding(_ times: Int, to start: Int64) -> Int64 {
            let steps = count * times
            let offset = SandboxCalendar.offset
            switch unit {
            case .day: return start + Int64(steps) * CivilDate.millisecondsPerDay
            case .week: return start + Int64(steps) * 7 * CivilDate.millisecondsPerDay
            case .month: return CivilDate.adding(months: steps, to: start - offset) + offset
            case .year: return CivilDate.adding(months: 12 * steps, to: start - offset) + offset
            }
        }

        /// Months, for comparing and compressing; days and weeks are fractions of one.
        var months: Double {
            switch unit {
            case .day: Double(count) / 30
            case .week: Double(count) * 7 / 30
            case .month: Double(count)
            case .year: Double(count) * 12
            }
        }
    }
}
