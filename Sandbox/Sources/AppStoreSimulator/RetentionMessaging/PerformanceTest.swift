import Foundation
import SandboxClock

/// A performance test of the app's `Get Retention Message` endpoint, under way or over.
struct PerformanceTest: Sendable {
    var config: PerformanceTestConfig
    var target: String
    /// Milliseconds of each request that was answered or given up.
    var durations: [Int64] = []
    /// How many requests ended so.
    var results: [SimulatedAppStore.SendAttemptResult: Int] = [:]

    var pending: Int { config.totalRequests - durations.count }
    /// In percent, rounded down.
    var successRate: Int {
        durations.isEmpty ? 0 : (results[.success] ?? 0) * 100 / durations.count
    }
    var hasPassed: Bool { pending == 0 && successRate >= config.successRateThreshold }

    mutating func add(_ answer: RealtimeCall.Answer) {
        durations.append(answer.duration)
        results[answer.result, default: 0] += 1
    }

    var response: PerformanceTestResultResponse {
        let sorted = durations.sorted()
        func percentile(_ percent: Int) -> Int64 {
            sorted[min(sorted.count - 1, sorted.count * percent / 100)]
        }
        var times: PerformanceTestResultResponse.ResponseTimes?
        if !sorted.isEmpty {
            times = .init(
                average: sorted.reduce(0, +) / Int64(sorted.count),
                p50: percentile(50),
                p90: percentile(90),
                p95: percentile(95),
                p99: percentile(99)
            )
        }
        return PerformanceTestResultResponse(
            config: config,
            target: target,
            result: pending > 0 ? "PENDING" : hasPassed ? "PASS" : "FAIL",
            successRate: successRate,
            numPending: pending,
            responseTimes: times,
            failures: Dictionary(
                uniqueKeysWithValues: results.filter { $0.key != .success }
                    .map { ($0.key.rawValue, $0.value) }
            )
        )
    }

    /// A test at the app's endpoint
    /// (<https://developer.apple.com/documentation/retentionmessaging/initiate-performance-test>).
    ///
    /// The numbers are those of the sample in Apple's library, but for the time to respond.
    init(of url: String, within limit: Int64) {
        target = url
        config = PerformanceTestConfig(
            maxConcurrentRequests: 10,
            totalRequests: 100,
            totalDuration: 60_000,
            responseTimeThreshold: limit,
            successRateThreshold: 95
        )
    }

    /// The subscription that a request for a test names.
    static func subscription(_ id: String, in world: World) throws(APIError) -> Subscription {
        guard let transaction = world.transactions[id] else {
            if world.customers.values.contains(where: { $0.appTransactionID == id }) {
                throw .appTransactionIDNotSupported
            }
            throw .invalidTransactionID
        }
        guard transaction.ownership == .purchased else { throw .familyTransactionNotSupported }
        guard transaction.originalID == id else { throw .notOriginalTransactionID }
        guard let subscription = world.subscriptions[id] else {
            throw .invalidPerformanceTestRequest
        }
        return subscription
    }
}

/// Performance tests by their request ids.
struct PerformanceTests: Sendable {
    var tests: [String: PerformanceTest] = [:]

    func requireNoneRuns() throws(APIError) {
        guard !tests.values.contains(where: { $0.pending > 0 }) else {
            throw .existingPerformanceTestRun
        }
    }

    func result(_ id: String) throws(APIError) -> PerformanceTestResultResponse {
        guard UUID(uuidString: id) != nil else { throw .invalidRequestID }
        guard let test = tests[id.lowercased()] else {
            throw .performanceTestRunNotFound
        }
        return test.response
    }
}
