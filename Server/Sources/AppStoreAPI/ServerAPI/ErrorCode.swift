extension AppStore {
    /// Apple's error codes; the first three digits are the HTTP status.
    public struct ErrorCode: RawRepresentable, Hashable, Codable, Sendable {
        public let rawValue: Int64
        public init(rawValue: Int64) { self.rawValue = rawValue }

        public static let startDateTooFarInPast = Self(rawValue: 4_000_012)
        public static let invalidPaginationToken = Self(rawValue: 4_000_014)
        public static let paginationTokenExpired = Self(rawValue: 4_000_017)
        public static let accountNotFound = Self(rawValue: 4_040_001)
        public static let accountNotFoundRetryable = Self(rawValue: 4_040_002)
        public static let appNotFoundRetryable = Self(rawValue: 4_040_004)
        public static let originalTransactionIDNotFound = Self(rawValue: 4_040_005)
        public static let originalTransactionIDNotFoundRetryable = Self(rawValue: 4_040_006)
        public static let testNotificationNotFound = Self(rawValue: 4_040_008)
        public static let transactionIDNotFound = Self(rawValue: 4_040_010)
        public static let rateLimitExceeded = Self(rawValue: 4_290_000)
        public static let generalInternalRetryable = Self(rawValue: 5_000_001)
    }
}
