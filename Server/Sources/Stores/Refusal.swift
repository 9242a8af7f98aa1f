internal import Storage
public import TollgateAPI

/// An answer other than yes: what the caller got wrong, or what is out of order here.
///
/// It becomes an HTTP answer in one place, `TollgateServer/ErrorResponse.swift`.
public struct Refusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The HTTP status.
    public var status: Int
    public var error: APIError
    /// In how many seconds the same may be asked again, if that is known.
    public var retryAfter: Int64?

    public typealias Code = APIError.Code

    public init(
        _ status: Int,
        _ type: APIError.Kind,
        _ code: Code,
        _ message: String,
        param: String? = nil
    ) {
        self.status = status
        error = APIError(type: type, code: code, message: message, param: param)
    }

    /// The type is the one that Stripe has for most errors of this status.
    public init(_ status: Int, _ code: Code, _ message: String, param: String? = nil) {
        let type: APIError.Kind =
            switch status {
            case 401: .authenticationError
            case 403: .permissionError
            case 429: .rateLimitError
            case ..<500: .invalidRequestError
            default: .apiError
            }
        self.init(status, type, code, message, param: param)
    }

    /// What a person is told: the message.
    public var description: String { error.message }

    public static func invalid(_ param: String, _ message: String) -> Refusal {
        Refusal(400, .parameterInvalid, message, param: param)
    }

    /// 400: a parameter that is needed was not given.
    public static func missingParameter(_ name: String) -> Refusal {
        Refusal(400, .parameterMissing, "Missing required param: \(name).", param: name)
    }

    public static func missing(_ what: String, _ id: String, param: String = "id") -> Refusal {
        Refusal(404, .resourceMissing, "No such \(what): '\(id.prefix(80))'.", param: param)
    }
    /// What a caller is told of `error`.
    ///
    /// An error that is nobody's fault but ours says no more than that; the log says the rest.
    public init(telling error: any Error) {
        switch error {
        case let refusal as Refusal:
            self = refusal
        case let fault as any StoreFault:
            self = fault.refusal
        // An update of another server has changed the schema: whoever asks again reaches a newer one.
        case let error as StorageError
        where error.isRetryable || error.kind == .closed || error.kind == .schema:
            self.init(
                503,
                .storageUnavailable,
                "The database cannot take this now; nothing was done. Try again."
            )
        default:
            self.init(500, .internalError, "Something failed here; nothing was done.")
        }
    }
}

// By HTTP status, in Stripe's words.
extension Refusal {
    /// 409: it contradicts what is already there.
    public static func conflict(_ code: Code, _ message: String, param: String? = nil) -> Self {
        Refusal(409, code, message, param: param)
    }

    /// 403: this key may not.
    public static func forbidden(_ code: Code, _ message: String, param: String? = nil) -> Self {
        Refusal(403, code, message, param: param)
    }

    /// 401: nobody says who asks, or nobody whom we know.
    public static func unauthenticated(_ code: Code, _ message: String) -> Self {
        Refusal(401, code, message)
    }

    /// 409: an idempotency key was used for something else, or is in use.
    public static func idempotency(_ code: Code, _ message: String) -> Self {
        Refusal(409, .idempotencyError, code, message)
    }

    /// 404: there is none.
    public static func notFound(_ code: Code, _ message: String, param: String? = nil) -> Self {
        Refusal(404, code, message, param: param)
    }
}
