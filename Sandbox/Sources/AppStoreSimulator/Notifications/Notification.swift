/// Something to be told to the app's server, as it was when it happened, not yet signed.
struct Announcement: Sendable {
    var type: String
    var subtype: String?
    var transaction: Transaction?
    var subscription: Subscription?
    var consumptionRequestReason: String?
    var summary: NotificationPayload.Summary?
    var testToken: String?
    var unclaimedSeats: [String]?
}

extension SimulatedAppStore {
    /// A notification that was signed, with the story of its delivery.
    public struct Notification: Codable, Hashable, Sendable {
        /// One try to deliver it.
        public struct Attempt: Codable, Hashable, Sendable {
            /// UNIX milliseconds on the virtual clock.
            public var attemptDate: Int64
            public var sendAttemptResult: SendAttemptResult
        }

        /// `notificationUUID`, the same over all attempts.
        public var id: String
        public var type: String
        public var subtype: String?
        public var signedDate: Int64
        /// As it was first sent.
        public var signedPayload: String
        public var transactionID: String?
        public var originalTransactionID: String?
        /// Where it goes; `nil` when no address was configured, and then it is not sent.
        public var url: String?
        public var attempts: [Attempt] = []
        public var nextAttempt: Int64?
        /// The whole body of a version 1 notification; version 2 sends `signedPayload`.
        public var versionOneBody: String?

        /// Whether any attempt succeeded.
        public var isDelivered: Bool { attempts.contains { $0.sendAttemptResult == .success } }
    }

    /// How an attempt went, in the words of the notification history.
    public enum SendAttemptResult: String, Codable, Sendable {
        case success = "SUCCESS"
        case timedOut = "TIMED_OUT"
        case tlsIssue = "TLS_ISSUE"
        case circularRedirect = "CIRCULAR_REDIRECT"
        case noResponse = "NO_RESPONSE"
        case socketIssue = "SOCKET_ISSUE"
        case unsupportedCharset = "UNSUPPORTED_CHARSET"
        case invalidResponse = "INVALID_RESPONSE"
        case prematureClose = "PREMATURE_CLOSE"
        case unsuccessfulHTTPResponseCode = "UNSUCCESSFUL_HTTP_RESPONSE_CODE"
        case other = "OTHER"
    }
}
