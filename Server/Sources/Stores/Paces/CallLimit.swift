internal import Synchronization
internal import TollgateAPI
public import TollgateCore

/// How often each caller may do something: a bucket of calls that fills again as time goes by.
///
/// What makes this server call Stripe for anybody who opens an address would otherwise spend Stripe's
/// own limit, and with it everybody's checkouts. What is kept for good would fill the disk. The
/// buckets are kept in memory, by each server for itself:
/// what matters is the order of magnitude.
public final class CallLimit: Sendable {
    /// So many calls at once, and after them one each `seconds / calls`.
    private let calls: Int64
    private let interval: Int64
    /// Callers whose bucket is not full; more than these are a flood of addresses, and each then has
    /// a fresh bucket now and then.
    private let capacity: Int
    /// By caller, when the bucket will be full again.
    private let full = Mutex<[String: Int64]>([:])

    /// - Parameters:
    ///   - calls: at least 1.
    ///   - seconds: in which an empty bucket fills.
    public init(calls: Int64, seconds: Int64, capacity: Int = 20_000) {
        precondition(calls > 0 && seconds > 0 && capacity > 0)
        self.calls = calls
        interval = seconds * 1000 / calls
        self.capacity = capacity
    }

    /// Returns whether a call of `caller` would be admitted; counts nothing.
    ///
    /// - Parameter now: real time.
    public func hasRoom(for caller: String, at now: Instant) -> Bool {
        let now = now.milliseconds
        return full.withLock { ($0[caller] ?? now) + interval <= now + calls * interval }
    }

    /// Counts one call.
    ///
    /// - Parameter now: real time.
    /// - Throws: a refusal 429 `rate_limited` that says when to come back, and counts nothing.
    public func admit(_ caller: String, at now: Instant) throws {
        let now = now.milliseconds
        let wait: Int64 = full.withLock { full in
            // A clock that was set back must lock nobody out for longer than a full bucket takes.
            let known = min(max(full[caller] ?? now, now), now + calls * interval)
            if full[caller] != nil { full[caller] = known }
            guard known + interval <= now + calls * interval else {
                return known + interval - (now + calls * interval)
            }
            if full.count >= capacity, full[caller] == nil {
                full = full.filter { $0.value > now }
                if full.count >= capacity { full = [:] }
            }
            full[caller] = known + interval
            return 0
        }
        guard wait > 0 else { return }
        let seconds = (wait + 999) / 1000
        var refusal = Refusal(
            429,
            .rateLimited,
            "Too many requests from here; try again in \(seconds) s."
        )
        refusal.retryAfter = seconds
        throw refusal
    }
}
