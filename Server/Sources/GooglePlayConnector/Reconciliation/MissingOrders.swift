internal import Synchronization

/// The orders that Google did not show, and when each is asked for again.
///
/// The pauses grow from a day to 512 days, as long as Google refunds an order: it documents no age up to
/// which orders can be read. Kept in memory: forgetting one costs a few more calls. Whether people are
/// told depends on the record alone, see `Purchase.isLongMissing`.
final class MissingOrders: Sendable {
    private struct Misses {
        var count: Int64
        /// Of the last one, in milliseconds of the stores' time.
        var at: Int64
    }

    /// After this many misses in a row an order is left.
    private static let most: Int64 = 11
    private static let day: Int64 = 86_400_000
    private static let capacity = 50_000

    private let orders = Mutex<[String: Misses]>([:])

    /// Returns `true` if the order was missing when it was last asked for.
    func holds(_ order: String) -> Bool { orders.withLock { $0[order] != nil } }

    /// Returns `true` if the order may be asked for now.
    func isDue(_ order: String, at now: Int64) -> Bool {
        guard let misses = orders.withLock({ $0[order] }) else { return true }
        guard misses.count < Self.most else { return false }
        // A round may begin a moment less than a day after the last one.
        let pause = Self.day * (1 << (misses.count - 1)) - Self.day / 24
        return now < misses.at || now - misses.at >= pause
    }

    func note(_ order: String, at now: Int64) {
        orders.withLock { orders in
            if orders[order] == nil, orders.count >= Self.capacity,
                let oldest = orders.min(by: { $0.value.at < $1.value.at })?.key
            {
                orders[oldest] = nil
            }
            orders[order] = Misses(count: (orders[order]?.count ?? 0) + 1, at: now)
        }
    }

    func forget(_ order: String) { orders.withLock { $0[order] = nil } }

    func forgetAll() { orders.withLock { $0.removeAll() } }
}
