import Foundation

/// The reason why the SDK has no answer.
///
/// A call whose task is cancelled may throw `CancellationError` instead. Cancelling ends only the waiting
/// of that caller: requests that others share, and transactions on their way to the server, go on.
public enum BillingSDKError: Error, Sendable {
    /// Nobody is signed in, and the call needs somebody.
    case unauthenticated
    /// The app's own session provider threw this error; nothing is known about the customer.
    case customerSessionProviderFailed(any Error)
    /// The server refused a session that the provider had just given.
    case sessionRejected(String)
    /// The server does not know the publishable key.
    case invalidPublishableKey(String)
    /// The SDK cannot work as it was configured; the text says what to change.
    case invalidConfiguration(String)
    /// The session may not do this (a component was not enabled, for instance).
    case notPermitted(code: String, message: String)
    /// The server does not know what was asked for.
    case notFound(String)
    /// The server refused the request for another reason.
    case requestRefused(status: Int, code: String, message: String)
    /// The server could not be reached.
    case networkUnavailable(any Error)
    /// The server was reached but could not answer (5xx, 429), or a proxy answered in its place.
    case serverUnavailable(status: Int, message: String)
    /// The answer was not what the API promises.
    case invalidResponse(String)
    /// The customer changed again and again while the call ran.
    case interrupted
}

extension BillingSDKError {
    /// Whether the same call may succeed later because the server could not answer now.
    var isTemporary: Bool {
        switch self {
        // An answer that is not Tollgate's is a proxy's, or a page that wants a sign-in to a network.
        case .networkUnavailable, .serverUnavailable, .invalidResponse: true
        default: false
        }
    }

    var isUnauthenticated: Bool {
        if case .unauthenticated = self { true } else { false }
    }

    /// `true`: our server itself answered with a refusal; the same request may succeed later.
    var deniesForNow: Bool {
        switch self {
        case .sessionRejected, .invalidPublishableKey, .notPermitted, .notFound, .requestRefused:
            true
        default: false
        }
    }

    /// Whether an earlier signed answer may stand in: nobody has said that it no longer holds.
    var permitsEarlierAnswer: Bool {
        switch self {
        case .customerSessionProviderFailed: true
        default: isTemporary
        }
    }

    /// Whether the server has said that it will not vouch for this customer any more.
    var withdrawsEarlierAnswer: Bool {
        switch self {
        case .sessionRejected, .notPermitted, .notFound: true
        default: false
        }
    }
}

extension BillingSDKError: LocalizedError {
    /// A sentence for a log; never holds a key or a session's secret.
    public var errorDescription: String? {
        switch self {
        case .unauthenticated: "Nobody is signed in."
        case .customerSessionProviderFailed(let error):
            "The customer session provider failed: \(error)"
        case .sessionRejected(let message): "The server refused a fresh session: \(message)"
        case .invalidPublishableKey(let message):
            "The server refused the publishable key: \(message)"
        case .invalidConfiguration(let message): message
        case .notPermitted(let code, let message): "Not permitted (\(code)): \(message)"
        case .notFound(let message): "Not found: \(message)"
        case .requestRefused(let status, let code, let message):
            "The server refused the request (\(status) \(code)): \(message)"
        case .networkUnavailable(let error): "The server could not be reached: \(error)"
        case .serverUnavailable(let status, let message):
            "The server could not answer (\(status)): \(message)"
        case .invalidResponse(let message): "The server's answer was not understood: \(message)"
        case .interrupted: "The customer changed while the call ran."
        }
    }
}
