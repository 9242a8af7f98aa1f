/// A refusal of one of Google's APIs, in the shape that they share.
struct APIError: Error, Hashable, Sendable {
    var code: Int
    var message: String
    /// As in `errors[].reason`.
    var reason: String
    var status: String?
    var domain = "androidpublisher"
    var retryAfter: Int?

    static func invalid(_ message: String) -> Self {
        Self(code: 400, message: message, reason: "invalid", status: "INVALID_ARGUMENT")
    }

    static func required(_ name: String) -> Self {
        Self(
            code: 400,
            message: "Required parameter: \(name)",
            reason: "required",
            status: "INVALID_ARGUMENT"
        )
    }

    static func failedPrecondition(_ message: String) -> Self {
        Self(
            code: 400,
            message: message,
            reason: "failedPrecondition",
            status: "FAILED_PRECONDITION"
        )
    }

    static func notFound(_ message: String) -> Self {
        Self(code: 404, message: message, reason: "notFound", status: "NOT_FOUND")
    }

    static func conflict(_ message: String) -> Self {
        Self(code: 409, message: message, reason: "alreadyExists", status: "ALREADY_EXISTS")
    }

    static let tokenNotFound = Self(
        code: 404,
        message: "The purchase token was not found.",
        reason: "purchaseTokenNotFound",
        status: "NOT_FOUND"
    )
    static let concurrentUpdate = Self(
        code: 409,
        message: "The purchase was updated concurrently. Please read it again and retry.",
        reason: "concurrentUpdate",
        status: "ABORTED"
    )
    static let tokenNoLongerValid = Self(
        code: 410,
        message: "The purchase token is no longer valid.",
        reason: "purchaseTokenNoLongerValid"
    )
    static let subscriptionGone = Self(
        code: 410,
        message: "The subscription purchase is no longer available for query because it has been "
            + "expired for too long.",
        reason: "subscriptionPurchaseNoLongerAvailable"
    )
    static let permissionDenied = Self(
        code: 401,
        message:
            "The current user has insufficient permissions to perform the requested operation.",
        reason: "permissionDenied"
    )
    static let unauthenticated = Self(
        code: 401,
        message: "Request had invalid authentication credentials. Expected OAuth 2 access token, "
            + "login cookie or other valid authentication credential. See "
            + "https://developers.google.com/identity/sign-in/web/devconsole-project.",
        reason: "authError",
        status: "UNAUTHENTICATED",
        domain: "global"
    )
    static let forbidden = Self(
        code: 403,
        message: "The caller does not have permission",
        reason: "forbidden",
        status: "PERMISSION_DENIED",
        domain: "global"
    )
    static let rateLimited = Self(
        code: 429,
        message: "Quota exceeded for quota metric 'Queries' and limit 'Queries per minute' of "
            + "service 'androidpublisher.googleapis.com'.",
        reason: "rateLimitExceeded",
        status: "RESOURCE_EXHAUSTED",
        domain: "usageLimits",
        retryAfter: 1
    )
    static let unavailable = Self(
        code: 503,
        message: "The service is currently unavailable.",
        reason: "backendError",
        status: "UNAVAILABLE",
        domain: "global"
    )
    static let internalError = Self(
        code: 500,
        message: "Internal error encountered.",
        reason: "backendError",
        status: "INTERNAL",
        domain: "global"
    )

    /// The error for a fault that names a status.
    static func fault(_ status: Int) -> Self {
        switch status {
        case 401: .permissionDenied
        case 403: .forbidden
        case 409: .concurrentUpdate
        case 410: .tokenNoLongerValid
        case 429: .rateLimited
        case 500: .internalError
        default: .unavailable
        }
    }

    var wire: JSON {
        [
            "error": [
                "code": .integer(Int64(code)), "message": .string(message),
                "status": .text(status),
                "errors": [
                    [
                        "message": .string(message), "domain": .string(domain),
                        "reason": .string(reason),
                    ]
                ],
            ]
        ]
    }
}
