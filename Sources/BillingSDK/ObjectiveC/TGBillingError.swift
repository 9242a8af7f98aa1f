#if canImport(ObjectiveC) || BILLING_APPLE_STUBS
    import Foundation

    /// ``BillingSDKError`` for Objective-C: the codes of ``TGBilling/errorDomain``.
    #if canImport(ObjectiveC)
        @objc(TGBillingErrorCode)
    #endif
    public enum TGBillingErrorCode: Int, Sendable, CaseIterable {
        /// Nobody is signed in, and the call needs somebody.
        case unauthenticated = 1
        /// The app's own session provider failed; `NSUnderlyingErrorKey` has its error.
        case customerSessionProviderFailed = 2
        /// The server refused a session that the provider had just given.
        case sessionRejected = 3
        /// The server does not know the publishable key.
        case invalidPublishableKey = 4
        /// The SDK cannot work as it was configured; the description says what to change.
        case invalidConfiguration = 5
        /// The session may not do this.
        case notPermitted = 6
        /// The server does not know what was asked for.
        case notFound = 7
        /// The server refused the request for another reason; see ``TGBilling/serverCodeKey``.
        case requestRefused = 8
        /// The server could not be reached; `NSUnderlyingErrorKey` has the reason.
        case networkUnavailable = 9
        /// The server was reached but could not answer (5xx, 429).
        case serverUnavailable = 10
        /// The answer was not what the API promises.
        case invalidResponse = 11
        /// The customer changed again and again while the call ran.
        case interrupted = 12
    }

    extension TGBilling {
        /// The domain of the SDK's errors.
        public static let errorDomain = "TGBillingErrorDomain"
        /// The key in an error's `userInfo` for the server's code, such as `already_active`.
        public static let serverCodeKey = "TGBillingServerCode"
        /// The key in an error's `userInfo` for the HTTP status, a number.
        public static let statusKey = "TGBillingStatus"

        /// The SDK's errors with stable codes; others as they are.
        static func error(_ error: any Error) -> any Error {
            guard let error = error as? BillingSDKError else { return error }
            var info: [String: Any] = [NSLocalizedDescriptionKey: error.errorDescription ?? ""]
            let code: TGBillingErrorCode
            switch error {
            case .unauthenticated: code = .unauthenticated
            case .customerSessionProviderFailed(let reason):
                code = .customerSessionProviderFailed
                info[NSUnderlyingErrorKey] = reason
            case .sessionRejected: code = .sessionRejected
            case .invalidPublishableKey: code = .invalidPublishableKey
            case .invalidConfiguration: code = .invalidConfiguration
            case .notPermitted(let serverCode, _):
                code = .notPermitted
                info[serverCodeKey] = serverCode
            case .notFound: code = .notFound
            case .requestRefused(let status, let serverCode, _):
                code = .requestRefused
                info[serverCodeKey] = serverCode
                info[statusKey] = status
            case .networkUnavailable(let reason):
                code = .networkUnavailable
                info[NSUnderlyingErrorKey] = reason
            case .serverUnavailable(let status, _):
                code = .serverUnavailable
                info[statusKey] = status
            case .invalidResponse: code = .invalidResponse
            case .interrupted: code = .interrupted
            }
            return NSError(domain: errorDomain, code: code.rawValue, userInfo: info)
        }
    }
#endif
