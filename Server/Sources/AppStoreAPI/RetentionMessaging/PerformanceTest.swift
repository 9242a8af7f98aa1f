import StrictJSON

extension AppStore {
    /// A performance test of the realtime URL that was begun: `PerformanceTestResponse`.
    public struct PerformanceTest: Hashable, Sendable {
        /// By which its results are asked for.
        public let requestID: String
        public let configuration: Configuration?

        /// The load of the test and the figures to reach: `PerformanceTestConfig`.
        public struct Configuration: Hashable, Sendable {
            public let maxConcurrentRequests: Int64?
            public let totalRequests: Int64?
            /// In milliseconds.
            public let totalDuration: Int64?
            /// In milliseconds.
            public let responseTimeThreshold: Int64?
            /// In percent.
            public let successRateThreshold: Int64?

            init(_ fields: Fields) throws(VerificationError) {
                maxConcurrentRequests = try fields.int64("maxConcurrentRequests")
                totalRequests = try fields.int64("totalRequests")
                totalDuration = try fields.int64("totalDuration")
                responseTimeThreshold = try fields.int64("responseTimeThreshold")
                successRateThreshold = try fields.int64("successRateThreshold")
            }
        }

        init(_ fields: Fields) throws(VerificationError) {
            requestID = try fields.required("requestId")
            configuration = try fields.object("config").map(Configuration.init)
        }
    }

    /// The progress and result of a performance test: `PerformanceTestResultResponse`.
    public struct PerformanceTestResult: Hashable, Sendable {
        /// `PENDING`, `PASS` or `FAIL`.
        public let result: String?
        /// The URL that was tested.
        public let target: String?
        /// In percent.
        public let successRate: Int64?
        /// The number of requests without an answer yet.
        public let pendingCount: Int64?
        public let responseTimes: ResponseTimes?
        /// The number of failed requests, by the `sendAttemptResult` of the notification history.
        public let failures: [String: Int64]

        /// In milliseconds.
        public struct ResponseTimes: Hashable, Sendable {
            public let average: Int64?
            public let p50: Int64?
            public let p90: Int64?
            public let p95: Int64?
            public let p99: Int64?

            init(_ fields: Fields) throws(VerificationError) {
                average = try fields.int64("average")
                p50 = try fields.int64("p50")
                p90 = try fields.int64("p90")
                p95 = try fields.int64("p95")
                p99 = try fields.int64("p99")
            }
        }

        init(_ fields: Fields) throws(VerificationError) {
            result = try fields.string("result")
            target = try fields.string("target")
            successRate = try fields.int64("successRate")
            pendingCount = try fields.int64("numPending")
            responseTimes = try fields.object("responseTimes").map(ResponseTimes.init)
            var failures: [String: Int64] = [:]
            if let counts = fields.field("failures") {
                for (name, count) in counts.members { failures[name] = count.int64 }
            }
            self.failures = failures
        }
    }
}
