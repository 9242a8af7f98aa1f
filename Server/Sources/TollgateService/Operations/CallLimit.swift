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
            .rateLimitError,
            .rateLimited,
            "Too many requests from here; try again in \(seconds) s."
        )
        refusal.retryAfter = seconds
        throw refusal
    }
}

/// How often each caller may make this server call a store, or keep something for good.
public struct CallLimits: Sendable {
    /// Opening Checkout for nobody in particular, per network address.
    public let visits = CallLimit(calls: 20, seconds: 60)
    /// Coming back from Checkout, per network address.
    public let returns = CallLimit(calls: 60, seconds: 60)
    /// Beginning a sign-in at the issuer of staff, per network address.
    public let signIns = CallLimit(calls: 20, seconds: 60)
    /// The same where everybody may have one address.
    public let signInsOfMany = CallLimit(calls: 600, seconds: 60)
    /// Looking at what a store has to say, per customer, or per network address of who is not
    /// signed in: how a checkout went, the portal's pages.
    public let questions = CallLimit(calls: 60, seconds: 60)
    /// Telling what StoreKit holds, per customer; the SDK does so once a day.
    public let observations = CallLimit(calls: 4, seconds: 3_600)
    /// Having a store do something, per customer: open Checkout or Stripe's portal, change a plan,
    /// read a receipt.
    public let storeCalls = CallLimit(calls: 20, seconds: 60)
    /// The same for everybody who is signed in at one network address.
    public let addresses = CallLimit(calls: 300, seconds: 60)
    /// The same for the app's backend: below what Stripe lets an account do.
    public let backend = CallLimit(calls: 1200, seconds: 60)
    /// The same for one secret key with scopes, so that it leaves room for the others.
    public let scopedKeys = CallLimit(calls: 600, seconds: 60)
    /// Restores by who does not have the purchase, per customer and purchase: each is kept, because
    /// the latest may own it.
    public let restores = CallLimit(calls: 10, seconds: 86_400)
    /// Claims of checkouts, per customer: each secret that is shown is kept.
    public let claims = CallLimit(calls: 50, seconds: 86_400)
    /// Links to the portal, per customer: each is a session.
    public let portalLinks = CallLimit(calls: 60, seconds: 3600)
}
