extension Reports {
    /// An exact rational number.
    ///
    /// Shares and monthly values stay exact until they are shown.
    public struct Fraction: Hashable, Comparable, Sendable {
        /// Most fit in 16 bytes; tables have them by the million.
        private enum Storage: Hashable, Sendable {
            case small(Int64, over: Int32)
            /// What does not fit.
            case large(Large)
        }
        private final class Large: Hashable, Sendable {
            let numerator: Int128
            let denominator: Int128

            init(_ numerator: Int128, over denominator: Int128) {
                self.numerator = numerator
                self.denominator = denominator
            }

            static func == (left: Large, right: Large) -> Bool {
                left.numerator == right.numerator && left.denominator == right.denominator
            }

            func hash(into hasher: inout Hasher) {
                hasher.combine(numerator)
                hasher.combine(denominator)
            }
        }
        private let storage: Storage

        /// In lowest terms.
        public var numerator: Int128 {
            switch storage {
            case .small(let numerator, _): Int128(numerator)
            case .large(let large): large.numerator
            }
        }

        /// Above zero.
        public var denominator: Int128 {
            switch storage {
            case .small(_, let denominator): Int128(denominator)
            case .large(let large): large.denominator
            }
        }

        /// - Parameter denominator: not zero; zero counts as one, so that no division traps.
        public init(_ numerator: Int128, _ denominator: Int128 = 1) {
            var (part, whole) = (numerator, denominator == 0 ? 1 : denominator)
            if whole != 1 {
                let divisor = max(1, Self.divisor(part.magnitude, whole.magnitude))
                let sign: Int128 = whole < 0 ? -1 : 1
                part = sign * part / Int128(divisor)
                whole = sign * whole / Int128(divisor)
            }
            if let small = Int64(exactly: part), let other = Int32(exactly: whole) {
                storage = .small(small, over: other)
            } else {
                storage = .large(Large(part, over: whole))
            }
        }

        public init(_ value: Int64) {
            storage = .small(value, over: 1)
        }

        public static let zero = Fraction(Int128(0))

        /// `part / whole`, or nil where there is no whole.
        public static func share(_ part: Int64, of whole: Int64) -> Fraction? {
            whole == 0 ? nil : Fraction(Int128(part), Int128(whole))
        }

        private static func divisor(_ left: UInt128, _ right: UInt128) -> UInt128 {
            var (left, right) = (left, right)
            while right != 0 {
                if let small = UInt64(exactly: left), let other = UInt64(exactly: right) {
                    return UInt128(Self.smallDivisor(small, other))
                }
                (left, right) = (right, left % right)
            }
            return left
        }

        /// The same of what most numbers fit in, which is many times as fast.
        private static func smallDivisor(_ left: UInt64, _ right: UInt64) -> UInt64 {
            var (left, right) = (left, right)
            while right != 0 { (left, right) = (right, left % right) }
            return left
        }

        /// The nearest with a given denominator, halves away from zero.
        func rounded(to denominator: Int128) -> Fraction {
            let scaled = numerator.multipliedReportingOverflow(by: denominator)
            guard !scaled.overflow else { return self }
            let (whole, rest) = scaled.partialValue.quotientAndRemainder(
                dividingBy: self.denominator
            )
            let isUp = rest.magnitude * 2 >= self.denominator.magnitude
            let step: Int128 = isUp ? (scaled.partialValue < 0 ? -1 : 1) : 0
            return Fraction(whole + step, denominator)
        }

        /// Of numbers that no longer fit, the nearest that does: a report must not end a process.
        private static func nearest(_ value: Double) -> Fraction {
            let millionths = (value * 1_000_000).rounded()
            if let numerator = Int128(exactly: millionths) { return Fraction(numerator, 1_000_000) }
            return Fraction(
                Int128(exactly: value.rounded()) ?? (value < 0 ? -Int128.max : Int128.max)
            )
        }

        public static func + (left: Fraction, right: Fraction) -> Fraction {
            let divisor =
                left.denominator == right.denominator
                ? left.denominator
                : Int128(Self.divisor(left.denominator.magnitude, right.denominator.magnitude))
            let (scale, other) = (right.denominator / divisor, left.denominator / divisor)
            let one = left.numerator.multipliedReportingOverflow(by: scale)
            let two = right.numerator.multipliedReportingOverflow(by: other)
            let sum = one.partialValue.addingReportingOverflow(two.partialValue)
            let whole = left.denominator.multipliedReportingOverflow(by: scale)
            guard !one.overflow, !two.overflow, !sum.overflow, !whole.overflow else {
                return nearest(left.approximate + right.approximate)
            }
            return Fraction(sum.partialValue, whole.partialValue)
        }

        public static prefix func - (value: Fraction) -> Fraction {
            Fraction(-value.numerator, value.denominator)
        }

        public static func - (left: Fraction, right: Fraction) -> Fraction { left + -right }

        public static func += (left: inout Fraction, right: Fraction) { left = left + right }

        public static func * (left: Fraction, right: Fraction) -> Fraction {
            let part = left.numerator.multipliedReportingOverflow(by: right.numerator)
            let whole = left.denominator.multipliedReportingOverflow(by: right.denominator)
            guard !part.overflow, !whole.overflow else {
                return nearest(left.approximate * right.approximate)
            }
            return Fraction(part.partialValue, whole.partialValue)
        }

        /// Nil where the divisor is zero.
        public func divided(by other: Fraction) -> Fraction? {
            other.numerator == 0 ? nil : self * Fraction(other.denominator, other.numerator)
        }

        public static func < (left: Fraction, right: Fraction) -> Bool {
            let one = left.numerator.multipliedReportingOverflow(by: right.denominator)
            let two = right.numerator.multipliedReportingOverflow(by: left.denominator)
            guard !one.overflow, !two.overflow else {
                return left.approximate < right.approximate
            }
            return one.partialValue < two.partialValue
        }

        public var isZero: Bool { numerator == 0 }

        /// The nearest multiple of 10 to the minus `decimals`, halves away from zero.
        public func text(decimals: Int) -> String {
            var bytes: [UInt8] = []
            write(decimals: decimals, to: &bytes)
            return String(decoding: bytes, as: UTF8.self)
        }

        /// Writes what `text(decimals:)` says of it divided by a power of ten.
        func write(decimals: Int, per powerOfTen: Int = 0, to bytes: inout [UInt8]) {
            let decimals = max(0, min(decimals, 12))
            let scale = Self.power(decimals)
            // Both sides by as little as needed: 9990 thousandths with three decimals stay 9990.
            let common = min(decimals, max(0, powerOfTen))
            let (scaled, whole) = Self.scaled(
                numerator.magnitude,
                by: Self.power(decimals - common),
                denominator.magnitude,
                by: Self.power(max(0, powerOfTen) - common)
            )
            let rounded: UInt128
            if let small = UInt64(exactly: scaled), let other = UInt64(exactly: whole),
                small < 1 << 62, other < 1 << 62
            {
                rounded = UInt128((small * 2 + other) / (other * 2))
            } else {
                let (quotient, rest) = scaled.quotientAndRemainder(dividingBy: whole)
                rounded = rest >= whole - rest ? quotient &+ 1 : quotient
            }
            if numerator < 0, rounded > 0 { bytes.append(UInt8(ascii: "-")) }
            guard let small = UInt64(exactly: rounded), let unit = UInt64(exactly: scale) else {
                bytes += Self.digits(rounded, decimals)
                return
            }
            bytes.append(number: small / unit)
            guard decimals > 0 else { return }
            bytes.append(UInt8(ascii: "."))
            var digit = unit / 10
            while digit > 0 {
                bytes.append(UInt8(ascii: "0") + UInt8(small / digit % 10))
                digit /= 10
            }
        }

        /// Both sides multiplied, of what is too large only the leading digits.
        private static func scaled(
            _ numerator: UInt128,
            by factor: UInt128,
            _ denominator: UInt128,
            by other: UInt128
        ) -> (UInt128, UInt128) {
            var (part, whole) = (numerator, denominator)
            while part > .max / factor || whole > .max / other, whole > 1 {
                (part, whole) = (part >> 1, whole >> 1)
            }
            let product = part.multipliedReportingOverflow(by: factor)
            return (product.overflow ? .max : product.partialValue, whole * other)
        }

        private static func power(_ exponent: Int) -> UInt128 {
            var scale: UInt128 = 1
            for _ in 0..<exponent { scale *= 10 }
            return scale
        }

        private static func digits(_ value: UInt128, _ decimals: Int) -> [UInt8] {
            let scale = power(decimals)
            guard decimals > 0 else { return Array("\(value)".utf8) }
            let rest = String(value % scale)
            return Array(
                "\(value / scale).\(String(repeating: "0", count: decimals - rest.utf8.count))\(rest)"
                    .utf8
            )
        }

        /// For plots, which are no figures.
        public var approximate: Double { Double(numerator) / Double(denominator) }
    }
}

extension [UInt8] {
    /// Its decimal digits.
    mutating func append(number: UInt64) {
        // From the last digit on; twenty are the most.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var (rest, first) = (number, digits.count)
            repeat {
                first -= 1
                digits[first] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            } while rest > 0
            append(contentsOf: digits[first...])
        }
    }

    /// Its decimal digits, with a minus where it is negative.
    mutating func append(number: Int64) {
        if number < 0 { append(UInt8(ascii: "-")) }
        append(number: number.magnitude)
    }
}
