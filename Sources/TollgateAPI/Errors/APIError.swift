import Foundation

/// What a call was refused with: `{"error":{"type","code","message","param"}}`.
public struct APIError: Error, Hashable, Codable, Sendable {
    /// The family of the error, in Stripe's words.
    public var type: Kind
    /// What exactly happened; stable, made for `switch`.
    public var code: Code
    /// For a developer's eyes, in English; its wording is no contract.
    public var message: String
    /// The parameter that is at fault, if one is.
    public var param: String?
    /// With `already_active`: until when the customer has it; nil is for ever.
    public var until: API.Milliseconds?

    public init(type: Kind, code: Code, message: String, param: String? = nil) {
        self.type = type
        self.code = code
        self.message = message
        self.param = param
    }

    private enum CodingKeys: String, CodingKey { case type, code, message, param, until }
    private enum EnvelopeKeys: String, CodingKey { case error }

    /// Reads the envelope; one that lacks a field still gives an error, for that is what it is.
    public init(from decoder: any Decoder) throws {
        let envelope = try decoder.container(keyedBy: EnvelopeKeys.self)
        let error = try envelope.nestedContainer(keyedBy: CodingKeys.self, forKey: .error)
        type = try error.decodeIfPresent(Kind.self, forKey: .type) ?? .apiError
        code = try error.decodeIfPresent(Code.self, forKey: .code) ?? .internalError
        message = try error.decodeIfPresent(String.self, forKey: .message) ?? ""
        param = try error.decodeIfPresent(String.self, forKey: .param)
        until = try error.decodeIfPresent(API.Milliseconds.self, forKey: .until)
    }

    public func encode(to encoder: any Encoder) throws {
        var envelope = encoder.container(keyedBy: EnvelopeKeys.self)
        var error = envelope.nestedContainer(keyedBy: CodingKeys.self, forKey: .error)
        try error.encode(type, forKey: .type)
        try error.encode(code, forKey: .code)
        try error.encode(message, forKey: .message)
        try error.encode(param, forKey: .param)
        if code == .alreadyActive { try error.encode(until, forKey: .until) }
    }
}

extension APIError {
    /// The family of an error.
    public struct Kind: OpenValue {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public static let invalidRequestError = Self(rawValue: "invalid_request_error")
        public static let authenticationError = Self(rawValue: "authentication_error")
        public static let permissionError = Self(rawValue: "permission_error")
        public static let idempotencyError = Self(rawValue: "idempotency_error")
        public static let rateLimitError = Self(rawValue: "rate_limit_error")
        public static let apiError = Self(rawValue: "api_error")
    }

    /// The stable code of an error; new ones may come.
    public struct Code: OpenValue {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        // 401
        /// No `Authorization` header, or no bearer key in it.
        public static let missingKey = Self(rawValue: "missing_key")
        /// The key is none of this server's.
        public static let invalidKey = Self(rawValue: "invalid_key")
        /// The customer session's time is over; a new one is needed.
        public static let sessionExpired = Self(rawValue: "session_expired")
        /// The call needs a customer session and there is none.
        public static let noSessionPresent = Self(rawValue: "no_session_present")

        // 403
        /// This kind of key may not make this call.
        public static let keyNotPermitted = Self(rawValue: "key_not_permitted")
        /// The session was created without this component.
        public static let componentDisabled = Self(rawValue: "component_disabled")
        /// The session belongs to another customer.
        public static let customerMismatch = Self(rawValue: "customer_mismatch")

        // 400, 404, 405, 413, 422
        public static let malformedBody = Self(rawValue: "malformed_body")
        public static let parameterMissing = Self(rawValue: "parameter_missing")
        public static let parameterInvalid = Self(rawValue: "parameter_invalid")
        public static let parameterUnknown = Self(rawValue: "parameter_unknown")
        public static let resourceMissing = Self(rawValue: "resource_missing")
        public static let methodNotAllowed = Self(rawValue: "method_not_allowed")
        public static let bodyTooLarge = Self(rawValue: "body_too_large")
        /// A store's signature, or what it covers, does not hold.
        public static let signatureInvalid = Self(rawValue: "signature_invalid")
        /// Signed for another app or another environment.
        public static let appMismatch = Self(rawValue: "app_mismatch")
        /// The buy button or product is not for sale.
        public static let inactive = Self(rawValue: "inactive")

        // 409
        public static let insufficientCoins = Self(rawValue: "insufficient_coins")
        public static let idempotencyMismatch = Self(rawValue: "idempotency_mismatch")
        public static let idempotencyInProgress = Self(rawValue: "idempotency_in_progress")
        public static let conflict = Self(rawValue: "conflict")
        /// The customer has the product, and the catalog says `while_active: refuse`.
        public static let alreadyActive = Self(rawValue: "already_active")

        // 410, 429, 5xx
        public static let customerErased = Self(rawValue: "customer_erased")
        public static let rateLimited = Self(rawValue: "rate_limited")
        public static let storageUnavailable = Self(rawValue: "storage_unavailable")
        public static let storeUnavailable = Self(rawValue: "store_unavailable")
        public static let internalError = Self(rawValue: "internal_error")
    }
}
