internal import Foundation
internal import TollgateCore

/// The renewals that no read named: a read names the latest order of each item only, and several
/// renewals may lie between two reads.
///
/// Orders of a subscription are numbered: `GPA.1`, then `GPA.1..0`, `GPA.1..1`, … Each item's renewal
/// takes the next number.
enum SkippedRenewals {
    /// The most orders to ask for in one gap: the latest.
    private static let most = 60

    /// The orders between those that `facts` name and those that the record knows by reads.
    ///
    /// Nothing before the first read: another system may have credited it, and Google need not answer
    /// (RULES §18.5). Each gap raises questions once, when its second side is named, in whatever order
    /// reads come; what they do not find, the daily round over the orders asks for again.
    static func orders(_ facts: [Fact], _ known: Purchase?) -> [String] {
        let before = (known?.googlePlay?.periods ?? []).reduce(into: Named()) {
            $0.add($1.order, at: $1.first)
        }
        var now = before
        for fact in facts {
            guard case .googlePlaySubscription(let read) = fact.statement else { continue }
            for item in read.items {
                if let order = item.order { now.add(order, at: fact.stated.instant) }
            }
        }
        return before.clocks.keys.sorted().flatMap { first in
            gaps(in: now.clocks[first] ?? [:], since: before.clocks[first] ?? [:]).map {
                "\(first)..\($0)"
            }
        }
    }

    /// The orders between those that the record knows by reads, and since when each is known to be missing.
    static func orders(of known: GooglePlayRecord) -> [(order: String, since: Instant)] {
        let named = known.periods.reduce(into: Named()) { $0.add($1.order, at: $1.first) }
        return named.clocks.sorted { $0.key < $1.key }.flatMap { first, clocks in
            gaps(in: clocks, since: [:]).compactMap { number in
                clocks.filter { number < $0.key }.min { $0.key < $1.key }
                    .map { ("\(first)..\(number)", $0.value) }
            }
        }
    }

    /// The numbers that are missing beside new ones.
    private static func gaps(in now: [Int: Instant], since before: [Int: Instant]) -> [Int] {
        let firstRead = now.values.min()
        guard let begin = now.filter({ $0.value == firstRead }).keys.max() else { return [] }
        let numbers = now.keys.filter { begin <= $0 }.sorted()
        return zip(numbers, numbers.dropFirst()).flatMap { lower, upper -> [Int] in
            guard before[lower] == nil || before[upper] == nil else { return [] }
            return Array(max(lower + 1, upper - most)..<upper)
        }
    }

    /// The orders that reads have named.
    private struct Named {
        /// By the first order of a subscription, the number of each and the earliest clock that names it;
        /// the first order itself is −1.
        var clocks: [String: [Int: Instant]] = [:]

        mutating func add(_ order: String, at clock: Instant) {
            let parts = order.components(separatedBy: "..")
            let number = parts.count == 1 ? -1 : Int(parts[1]) ?? -1
            // Another form of id has no numbers.
            let isRenewal = parts.count == 2 && number >= 0 && "\(number)" == parts[1]
            guard parts.count == 1 || isRenewal else { return }
            let earliest = clocks[parts[0]]?[number] ?? clock
            clocks[parts[0], default: [:]][number] = min(earliest, clock)
        }
    }
}
