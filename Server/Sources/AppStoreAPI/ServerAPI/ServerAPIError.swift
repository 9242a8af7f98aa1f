extension AppStore {
    /// Why a call to the App Store Server API failed.
    public struct ServerAPIError: Error, Sendable, CustomStringConvertible {
        /// Apple's name of the endpoint, as in "Get Transaction Info".
        public let operation: String
        /// What went wrong.
        public let cause: Cause

        /// The kinds of failures.
        public enum Cause: Sendable {
            /// Apple answered with an error.
            case refused(Refusal)
            /// No answer came.
            case unreachable(any Error)
            /// The answer is not what is documented.
            case unreadable(VerificationError)
            /// The App Store says that there is more, but the next page is the same again.
            case pagingStuck
            /// An identifier that could not be one of Apple's; nothing was sent.
            case invalidIdentifier
            /// The request could not be signed.
            case unsigned(any Error)
        }

        /// An error that Apple answered with.
        public struct Refusal: Hashable, Sendable {
            /// The HTTP status.
            public let status: Int
            /// Apple's error code; some answers, such as 401, have none.
            public let code: ErrorCode?
            /// Apple's text for it.
            public let message: String?
            /// When to ask again, in UNIX milliseconds, as Apple sends it with status 429.
            public let retryAfter: Int64?

            /// Returns `true` if asking again later may help.
            ///
            /// An internal error of the App Store's (5000000) says nothing about what was asked, so it
            /// refuses nothing for good.
            public var isRetryable: Bool { isRetryableAtOnce || status >= 500 }

            /// Returns `true` if Apple's code, or a missing body, allows the same call again at once.
            var isRetryableAtOnce: Bool {
                switch code {
                case .generalInternalRetryable, .accountNotFoundRetryable, .appNotFoundRetryable,
                    .originalTransactionIDNotFoundRetryable, .rateLimitExceeded:
                    true
                case nil: status == 429 || (500...599).contains(status)
                default: false
                }
            }
        }

        /// An error of this call.
        public init(operation: String, cause: Cause) {
            self.operation = operation
            self.cause = cause
        }

        /// Whether asking again later may help.
        public var isRetryable: Bool {
            switch cause {
            case .refused(let refusal): refusal.isRetryable
            case .unreachable: true
            case .unreadable, .pagingStuck, .invalidIdentifier, .unsigned: false
            }
        }

        /// Returns `true` if the same call may be sent again at once.
        var isRetryableAtOnce: Bool {
            guard case .refused(let refusal) = cause else { return isRetryable }
            return refusal.isRetryableAtOnce
        }

        /// Whether the App Store does not know the identifier in this environment; the other one
        /// may.
        public var isNotFound: Bool {
            guard case .refused(let refusal) = cause else { return false }
            return refusal.code == .transactionIDNotFound
                || refusal.code == .originalTransactionIDNotFound
        }

        /// Whether our key was refused: then every call fails until somebody mends it.
        public var isForbidden: Bool {
            guard case .refused(let refusal) = cause else { return false }
            return refusal.status == 401 || (refusal.status == 403 && refusal.code == nil)
        }

        public var description: String {
            switch cause {
            case .refused(let refusal):
                "\(operation): the App Store answered \(refusal.status)"
                    + (refusal.code.map { ", error \($0.rawValue)" } ?? "")
                    + (refusal.message.map { " (\($0))" } ?? "")
            case .unreachable(let error): "\(operation): no answer (\(error))"
            case .unreadable(let error): "\(operation): unreadable answer: \(error)"
            case .pagingStuck: "\(operation): the same page came twice"
            case .invalidIdentifier: "\(operation): an identifier cannot be one of the App Store's"
            case .unsigned(let error): "\(operation): the request could not be signed (\(error))"
            }
        }
    }
}
