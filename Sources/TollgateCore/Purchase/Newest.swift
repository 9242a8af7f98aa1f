import Foundation

/// Keeps the newest of many statements about one thing, whatever order they come in.
///
/// Of two with the same clock the one with the larger canonical bytes stays, so that the result
/// does not depend on which came first (RULES §4.3, §11).
public struct Newest<Value: Hashable & Codable & Sendable>: Hashable, Codable, Sendable {
    public private(set) var value: Value
    public private(set) var stated: Stated
    /// The message that said so.
    public private(set) var source: String

    public init(_ value: Value, stated: Stated, source: String) {
        self.value = value
        self.stated = stated
        self.source = source
    }

    /// Joins another statement about the same thing.
    public mutating func join(_ other: Newest<Value>) {
        if stated < other.stated {
            self = other
        } else if stated == other.stated {
            // By bytes, not by `==`: Swift takes texts for equal that differ in normalisation.
            if Self.precedes(value, other.value) {
                self = other
            } else if !Self.precedes(other.value, value) {
                source = min(source, other.source)
            }
        }
    }

    /// Returns `true` if it is newer than another statement and came in another message.
    ///
    /// The parts of a message bear one id and are signed within a minute, in any order.
    func isNewer(than other: Stated, by otherSource: String) -> Bool {
        guard other.instant < stated.instant else { return false }
        return source != otherSource || other.instant.advanced(by: 60_000) < stated.instant
    }

    /// Puts `value` in the place of what was stated, keeping clock and source.
    mutating func amend(_ value: Value) {
        self.value = value
    }

    /// An order on values that differ but bear the same clock.
    ///
    /// Rare, so it may be slow.
    static func precedes(_ left: Value, _ right: Value) -> Bool {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let leftBytes = (try? encoder.encode(left)) ?? Data()
        let rightBytes = (try? encoder.encode(right)) ?? Data()
        return leftBytes.lexicographicallyPrecedes(rightBytes)
    }
}

extension Optional {
    /// Joins into the statement that is there, or takes the first one.
    mutating func join<Value>(_ other: Newest<Value>) where Wrapped == Newest<Value> {
        if self == nil { self = other } else { self?.join(other) }
    }
}
