extension AppStore {
    /// One attempt of the App Store to deliver a notification.
    public struct SendAttempt: Hashable, Sendable {
        /// When it was made.
        public let attemptDate: Int64?
        /// How it ended.
        public let sendAttemptResult: SendAttemptResult?

        init(_ fields: Fields) throws(VerificationError) {
            attemptDate = try fields.date("attemptDate")
            sendAttemptResult = try fields.value("sendAttemptResult")
        }
    }
}

extension AppStore {
    /// How an attempt to deliver a notification ended.
    public struct SendAttemptResult: RawRepresentable, Hashable, Codable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        public static let success = Self(rawValue: "SUCCESS")
        public static let timedOut = Self(rawValue: "TIMED_OUT")
        public static let tlsIssue = Self(rawValue: "TLS_ISSUE")
        public static let circularRedirect = Self(rawValue: "CIRCULAR_REDIRECT")
        public static let noResponse = Self(rawValue: "NO_RESPONSE")
        public static let socketIssue = Self(rawValue: "SOCKET_ISSUE")
        public static let unsupportedCharset = Self(rawValue: "UNSUPPORTED_CHARSET")
        public static let invalidResponse = Self(rawValue: "INVALID_RESPONSE")
        public static let prematureClose = Self(rawValue: "PREMATURE_CLOSE")
        public static let unsuccessfulHttpResponseCode = Self(
            rawValue: "UNSUCCESSFUL_HTTP_RESPONSE_CODE"
        )
        public static let other = Self(rawValue: "OTHER")
    }
}
