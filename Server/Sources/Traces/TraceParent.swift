// SPDX-License-Identifier: Apache-2.0
internal import Tracing

/// The place in a trace, as the header `traceparent` has it.
/// <https://www.w3.org/TR/trace-context/#traceparent-header>
package struct TraceParent: Hashable, Sendable {
    /// The trace's 16 bytes, in two halves.
    package var trace: (high: UInt64, low: UInt64)
    package var span: UInt64
    package var isSampled: Bool

    package init(trace: (high: UInt64, low: UInt64), span: UInt64, isSampled: Bool) {
        self.trace = trace
        self.span = span
        self.isSampled = isSampled
    }

    /// - Parameter header: `00-…-…-01`; later versions may say more behind it.
    package init?(header: String) {
        let parts = header.utf8.split(
            separator: UInt8(ascii: "-"),
            omittingEmptySubsequences: false
        )
        guard parts.count >= 4, parts[1].count == 32,
            let version = Self.number(parts[0], digits: 2), version != 0xff,
            version > 0 || parts.count == 4,
            let high = Self.number(parts[1].prefix(16), digits: 16),
            let low = Self.number(parts[1].suffix(16), digits: 16),
            let span = Self.number(parts[2], digits: 16),
            let flags = Self.number(parts[3], digits: 2),
            high != 0 || low != 0, span != 0
        else { return nil }
        self.init(trace: (high, low), span: span, isSampled: flags & 1 == 1)
    }

    package var header: String { "00-\(traceID)-\(spanID)-0\(isSampled ? 1 : 0)" }

    package var traceID: String { Self.hex(trace.high) + Self.hex(trace.low) }
    package var spanID: String { Self.hex(span) }

    package static func hex(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// Small letters only, and no sign.
    private static func number(_ text: Substring.UTF8View.SubSequence, digits: Int) -> UInt64? {
        guard text.count == digits else { return nil }
        var number: UInt64 = 0
        for byte in text {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(byte - 48)
            case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt64(byte - 87)
            default: return nil
            }
        }
        return number
    }

    package static func == (one: TraceParent, other: TraceParent) -> Bool {
        one.trace == other.trace && one.span == other.span && one.isSampled == other.isSampled
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(trace.high)
        hasher.combine(trace.low)
        hasher.combine(span)
    }
}

private enum TraceParentKey: ServiceContextKey {
    typealias Value = TraceParent
    static let nameOverride: String? = "traceparent"
}

extension ServiceContext {
    var traceParent: TraceParent? {
        get { self[TraceParentKey.self] }
        set { self[TraceParentKey.self] = newValue }
    }
}
