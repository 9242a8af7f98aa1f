internal import Synchronization

/// The quota of one kind of call to one app: a count of the calls in the last minute.
///
/// Google counts calls per minute and does not say where a minute begins. So any sixty seconds count.
/// A value; times are UNIX milliseconds of the wall clock.
struct QuotaBucket: Hashable, Sendable {
    /// Calls per minute.
    let perMinute: Int64
    /// The calls of each of the last 61 seconds, by the second's number.
    ///
    /// With sixty, a call at the end of a second would be forgotten 59 seconds later.
    private var made = [Int64](repeating: 0, count: 61)
    private var used: Int64 = 0
    /// The second up to which `made` is counted.
    private var second: Int64?
    private var blockedUntil: Int64 = .min
    private var refusals: Int64 = 0
    private var refusedAt: Int64?
    /// The end of the time in which Google refuses our credentials; `nil`: it does not.
    private(set) var forbiddenUntil: Int64?

    /// The longest pause after refusals in a row, in milliseconds.
    static let longestPause: Int64 = 120_000

    init(perMinute: Int64) {
        precondition(perMinute > 0)
        self.perMinute = perMinute
    }

    /// Takes one call out of the quota.
    ///
    /// - Parameter reserve: hundredths of the quota that have to be left for more important calls.
    /// - Returns: `false` where none is left now, or where Google wants to be left alone.
    mutating func take(now: Int64, leaving reserve: Int64 = 0) -> Bool {
        forget(before: now)
        guard now >= blockedUntil, (perMinute - used - 1) * 100 >= perMinute * reserve else {
            return false
        }
        made[slot(second ?? 0)] += 1
        used += 1
        return true
    }

    /// Returns `true` if a call may be made now.
    mutating func isOpen(now: Int64) -> Bool {
        forget(before: now)
        return now >= blockedUntil && used < perMinute
    }

    /// Takes note that Google said ‘too many’, or that our credentials may not ask.
    ///
    /// - Parameters:
    ///   - isForbidden: our credentials may not ask.
    ///   - begun: when the call began: those that were under way together are one refusal.
    mutating func refused(
        retryAfter seconds: Int64?,
        isForbidden: Bool = false,
        begun: Int64,
        now: Int64
    ) {
        forget(before: now)
        defer { forbiddenUntil = isForbidden ? blockedUntil : nil }
        let asked = (seconds ?? 0) * 1000
        guard refusedAt.map({ $0 < begun }) ?? true else {
            blockedUntil = max(blockedUntil, now + asked)
            return
        }
        refusedAt = now
        let ladder = min(1000 << min(refusals, 7), Self.longestPause)
        refusals += 1
        blockedUntil = max(blockedUntil, now + max(ladder, asked))
    }

    /// Takes note of an answer.
    ///
    /// - Parameter begun: the start of the call: one that was under way beside a refusal takes nothing of
    ///   its pause.
    mutating func answered(begun: Int64) {
        if let refusedAt, begun <= refusedAt { return }
        refusals = 0
        blockedUntil = .min
        forbiddenUntil = nil
    }

    private func slot(_ second: Int64) -> Int {
        let remainder = Int(second % Int64(made.count))
        return remainder < 0 ? remainder + made.count : remainder
    }

    /// Forgets the calls of more than a minute ago.
    private mutating func forget(before now: Int64) {
        let current = now / 1000
        guard let second, current >= second else {
            // Calls that began side by side come in any order.
            if let second, second - current < 5 { return }
            // A clock that went back gives nothing and blocks nothing: what was used counts from now on.
            if second != nil { (blockedUntil, refusedAt) = (.min, nil) }
            made = [Int64](repeating: 0, count: made.count)
            made[slot(current)] = used
            self.second = current
            return
        }
        for passed in 0..<min(Int64(made.count), current - second) {
            let slot = slot(second + 1 + passed)
            used -= made[slot]
            made[slot] = 0
        }
        self.second = current
    }
}

/// The quotas of Google's API, by app and kind of call.
///
/// Kept in memory by each server: what matters is that one kind of call does not spend another's.
public final class PlayQuotas: Sendable {
    /// Google's buckets.
    ///
    /// https://developers.google.com/android-publisher/quotas
    public enum Bucket: String, Hashable, Sendable, CaseIterable {
        case subscriptions, oneTime, orders
        /// `purchases.voidedpurchases`, which has a quota of its own.
        case voided
        /// Reports of sales outside Google Play's billing.
        case external
        /// Acts: they spend the quota of reads, and have a permission of their own.
        case subscriptionActs, oneTimeActs, orderActs

        /// The bucket whose quota a call spends.
        var quota: Bucket {
            switch self {
            case .subscriptionActs: .subscriptions
            case .oneTimeActs: .oneTime
            case .orderActs: .orders
            case .subscriptions, .oneTime, .orders, .voided, .external: self
            }
        }
    }

    /// Calls per minute.
    public struct Limits: Hashable, Sendable {
        public var perMinute: [Bucket: Int64] = [
            .subscriptions: 3_000, .oneTime: 3_000, .orders: 3_000,
            // 30 within 30 seconds.
            .voided: 30, .external: 1_200,
        ]

        public init() {}
    }

    private let limits: Limits
    private let buckets = Mutex<[String: QuotaBucket]>([:])

    init(_ limits: Limits) { self.limits = limits }

    private func change<Result: Sendable>(
        _ bucket: Bucket,
        of app: String,
        _ body: (inout QuotaBucket) -> Result
    ) -> Result {
        buckets.withLock { buckets in
            let key = "\(bucket.rawValue) \(app)"
            var value =
                buckets[key] ?? QuotaBucket(perMinute: limits.perMinute[bucket] ?? 3_000)
            defer { buckets[key] = value }
            return body(&value)
        }
    }

    func take(_ bucket: Bucket, of app: String, now: Int64, leaving reserve: Int64 = 0) -> Bool {
        guard isOpen(bucket, of: app, now: now) else { return false }
        return change(bucket.quota, of: app) { $0.take(now: now, leaving: reserve) }
    }

    func isOpen(_ bucket: Bucket, of app: String, now: Int64) -> Bool {
        Set([bucket, bucket.quota]).allSatisfy { change($0, of: app) { $0.isOpen(now: now) } }
    }

    func refused(
        _ bucket: Bucket,
        of app: String,
        retryAfter: Int64?,
        isForbidden: Bool,
        begun: Int64,
        now: Int64
    ) {
        change(bucket, of: app) {
            $0.refused(retryAfter: retryAfter, isForbidden: isForbidden, begun: begun, now: now)
        }
    }

    /// The end of the time in which Google refuses our credentials; `nil`: it does not.
    func forbiddenUntil(_ bucket: Bucket, of app: String) -> Int64? {
        change(bucket, of: app) { $0.forbiddenUntil }
    }

    func answered(_ bucket: Bucket, of app: String, begun: Int64) {
        change(bucket, of: app) { $0.answered(begun: begun) }
    }
}
