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

    public init(
        _ status: Int,
        _ type: APIError.Kind,
        _ code: APIError.Code,
        _ message: String,
        param: String? = nil
    ) {
        self.status = status
        error = APIError(type: type, code: code, message: message, param: param)
    }

    /// What a person is told: the message.
    public var description: String { error.message }

    public static func invalid(_ param: String, _ message: String) -> Refusal {
        Refusal(400, .invalidRequestError, .parameterInvalid, message, param: param)
    }

    /// 400: a parameter that is needed was not given.
    public static func missingParameter(_ name: String) -> Refusal {
        Refusal(
            400,
            .invalidRequestError,
            .parameterMissing,
            "Missing required param: \(name).",
            param: name
        )
    }

    public static func missing(_ what: String, _ id: String, param: String = "id") -> Refusal {
        Refusal(
            404,
            .invalidRequestError,
            .resourceMissing,
            "No such \(what): '\(id.prefix(80))'.",
            param: param
        )
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
        case let error as StorageError where error.isRetryable || error.kind == .closed:
            self.init(
                503,
                .apiError,
                .storageUnavailable,
                "The database cannot take this now; nothing was done. Try again."
            )
        default:
            self.init(500, .apiError, .internalError, "Something failed here; nothing was done.")
        }
    }
}

// By HTTP status, in Stripe's words.
extension Refusal {
    /// 409: it contradicts what is already there.
    public static func conflict(
        _ code: APIError.Code,
        _ message: String,
        param: String? = nil
    ) -> Refusal {
        Refusal(409, .invalidRequestError, code, message, param: param)
    }

    /// 403: this key may not.
    public static func forbidden(
        _ code: APIError.Code,
        _ message: String,
        param: String? = nil
    ) -> Refusal {
        Refusal(403, .permissionError, code, message, param: param)
    }

    /// 401: nobody says who asks, or nobody whom we know.
    public static func unauthenticated(
        _ code: APIError.Code,
        _ message: String,
        param: String? = nil
    ) -> Refusal {
        Refusal(401, .authenticationError, code, message, param: param)
    }

    /// 409: an idempotency key was used for something else, or is in use.
    public static func idempotency(
        _ code: APIError.Code,
        _ message: String,
        param: String? = nil
    ) -> Refusal {
        Refusal(409, .idempotencyError, code, message, param: param)
    }

    /// 404: there is none.
    public static func notFound(
        _ code: APIError.Code,
        _ message: String,
        param: String? = nil
    ) -> Refusal {
        Refusal(404, .invalidRequestError, code, message, param: param)
    }
}
