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
    }
}
