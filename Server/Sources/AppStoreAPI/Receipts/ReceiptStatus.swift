extension AppStore {
    /// What `verifyReceipt` says of a receipt; HTTP says 200 to all of them.
    public struct ReceiptStatus: RawRepresentable, Hashable, Codable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Valid; says nothing of expiry for app receipts.
        public static let valid = Self(rawValue: 0)
        public static let notPost = Self(rawValue: 21_000)
        public static let noLongerSent = Self(rawValue: 21_001)
        /// Malformed, or something passing.
        public static let malformed = Self(rawValue: 21_002)
        public static let notAuthenticated = Self(rawValue: 21_003)
        public static let wrongSharedSecret = Self(rawValue: 21_004)
        public static let serverUnavailable = Self(rawValue: 21_005)
        /// Valid, but the subscription has expired; only transaction receipts of iOS 6 get it.
        public static let expired = Self(rawValue: 21_006)
        public static let sandboxReceiptInProduction = Self(rawValue: 21_007)
        public static let productionReceiptInSandbox = Self(rawValue: 21_008)
        public static let internalAccess = Self(rawValue: 21_009)
        public static let accountNotFound = Self(rawValue: 21_010)

        /// Whether the answer holds the receipt.
        public var isValid: Bool { self == .valid || self == .expired }

        /// Whether Apple calls it an internal error, of which `is_retryable` says more.
        public var isInternal: Bool { (21_100...21_199).contains(rawValue) }

        /// Whether asking again may help.
        ///
        /// - Parameter isRetryable: `is_retryable` of the answer.
        public func mayPass(_ isRetryable: Bool) -> Bool {
            self == .serverUnavailable || self == .internalAccess || isInternal && isRetryable
        }

        /// For people.
        public var sentence: String {
            switch self {
            case .valid: "the receipt is valid"
            case .notPost: "the App Store wants POST"
            case .noLongerSent: "a status that the App Store no longer sends"
            case .malformed: "the receipt is malformed, or the App Store is out of order"
            case .notAuthenticated: "the receipt is not genuine"
            case .wrongSharedSecret: "the shared secret is not the app's"
            case .serverUnavailable: "the receipt server is unavailable"
            case .expired: "the receipt is valid, its subscription has expired"
            case .sandboxReceiptInProduction: "a receipt of the sandbox was sent to production"
            case .productionReceiptInSandbox: "a receipt of production was sent to the sandbox"
            case .internalAccess: "the App Store could not look at its own data"
            case .accountNotFound: "the account was not found or was deleted"
            default:
                isInternal ? "an internal error of the App Store" : "an unknown status"
            }
        }
    }
}
