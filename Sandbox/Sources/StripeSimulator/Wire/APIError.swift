/// A refusal in the shape that Stripe's client libraries read.
struct APIError: Error {
    var status: Int
    var type = "invalid_request_error"
    var code: String?
    var message: String
    var parameter: String?
    /// Further members of the error object: `decline_code`, `payment_intent`, `charge`, ….
    var details: [String: JSON] = [:]
    /// Whether what the request did before it failed stays, as a declined charge does.
    var keepsChanges = false

    var body: JSON {
        var error = details
        error["type"] = .string(type)
        error["message"] = .string(message)
        if let code {
            error["code"] = .string(code)
            error["doc_url"] = .string("https://stripe.com/docs/error-codes/" + code.dashed)
        }
        if let parameter { error["param"] = .string(parameter) }
        return ["error": .object(error)]
    }
}

extension APIError {
    static func invalid(_ message: String, code: String? = nil, param: String? = nil) -> APIError {
        APIError(status: 400, code: code, message: message, parameter: param)
    }

    static func missing(parameter: String) -> APIError {
        .invalid(
            "Missing required param: \(parameter).",
            code: "parameter_missing",
            param: parameter
        )
    }

    static func unknown(parameter: String) -> APIError {
        .invalid(
            "Received unknown parameter: \(parameter)",
            code: "parameter_unknown",
            param: parameter
        )
    }

    /// What a path names does not exist: 404; what a parameter names: 400.
    static func noSuch(_ noun: String, _ id: String, param: String = "id") -> APIError {
        APIError(
            status: param == "id" ? 404 : 400,
            code: "resource_missing",
            message: "No such \(noun): '\(id)'",
            parameter: param
        )
    }

    static func unrecognized(_ method: String, _ path: String) -> APIError {
        APIError(
            status: 404,
            message: "Unrecognized request URL (\(method): \(path)). "
                + "Please see https://stripe.com/docs or we can help at https://support.stripe.com/."
        )
    }

    static func card(_ decline: Decline, details: [String: JSON] = [:]) -> APIError {
        var details = details
        details["decline_code"] = .string(decline.declineCode)
        return APIError(
            status: 402,
            type: "card_error",
            code: decline.code,
            message: decline.message,
            parameter: decline.parameter,
            details: details,
            keepsChanges: true
        )
    }
}

extension String {
    fileprivate var dashed: String { String(map { $0 == "_" ? "-" : $0 }) }
}
