/// How many calls of each kind Apple allows an app, counted over one real second each.
struct RateLimits: Sendable {
    private var counts: [String: (second: Int64, calls: Int)] = [:]
    private let divisor: Int

    /// The sandbox allows a tenth of what production does.
    init(environment: SimulatedAppStore.Environment) {
        divisor = environment == .production ? 1 : 10
    }

    /// Counts one call.
    /// - Parameter wall: UNIX seconds.
    mutating func admit(method: String, path: String, wall: Double) throws(APIError) {
        let (kind, perSecond) = Self.limit(method: method, path: path)
        let second = Int64(wall)
        var count = counts[kind] ?? (second, 0)
        if count.second != second { count = (second, 0) }
        count.calls += 1
        counts[kind] = count
        guard count.calls > max(1, perSecond / divisor) else { return }
        throw APIError(4_290_000, "Rate limit exceeded.", retryAfter: (second + 1) * 1000)
    }

    /// The kind that a call is counted as, and production's limit per second.
    static func limit(method: String, path: String) -> (kind: String, perSecond: Int) {
        let words = path.split(separator: "/")
        if words.count > 3, words[2] == "messaging" {
            // What is after this word names one object.
            let kind = words[3]
            let isConfiguring = method == "PUT" && kind == "default"
            return ("\(method) \(kind)", isConfiguring ? 10 : 1)
        }
        if path.contains("/extend/mass") { return ("mass extension", 1) }
        if path.contains("/subscriptions/extend/") { return ("extension", 20) }
        if path.contains("/notifications/test") {
            return (method == "POST" ? "test request" : "test status", 1)
        }
        if path.hasSuffix("/appAccountToken") { return ("app account token", 20) }
        if path.contains("/lookup/") {
            return (path.contains("/refund/") ? "refund history" : "order lookup", 10)
        }
        for kind in [
            "appTransactions", "finish", "consumption", "transactions", "notifications/history",
            "v1/history", "v2/history", "subscriptions",
        ] where path.contains(kind) { return (kind, 50) }
        return ("other", 50)
    }
}
