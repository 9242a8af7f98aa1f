import StrictJSON

extension Stripe {
    /// Why a call failed.
    public enum RequestError: Error, Sendable {
        /// Stripe answered with an error.
        case refused(APIError)
        /// No answer came, after all tries.
        case unreachable(any Error)
        /// The answer could not be read.
        case unreadable(DecodingError)
        /// The list did not move on: its pages repeat.
        case endlessList
        /// The task was cancelled.
        case cancelled

        /// Whether the same call, with the same key, may succeed later.
        public var isRetryable: Bool {
            switch self {
            case .refused(let error): error.isRetryable
            case .unreachable, .cancelled: true
            case .unreadable, .endlessList: false
            }
        }

        /// Returns whether the object that `param` names does not exist at Stripe.
        ///
        /// A deleted customer is one, and so is a customer of test mode for a live key.
        public func isMissing(_ param: String) -> Bool {
            guard case .refused(let error) = self else { return false }
            return error.code == "resource_missing" && error.param == param
        }
    }

    /// An error as Stripe answers it.
    public struct APIError: Error, Hashable, Sendable {
        /// The HTTP status.
        public var status: Int
        /// `api_error`, `card_error`, `idempotency_error` or `invalid_request_error`; nil if the
        /// body was none of Stripe's.
        public var type: String?
        /// What programs look at: `resource_missing`.
        public var code: String?
        /// Which parameter is meant.
        public var param: String?
        /// For people who develop.
        public var message: String?
        /// Why the bank declined.
        public var declineCode: String?
        /// What Stripe's support asks for.
        public var requestID: String?
        /// What `Stripe-Should-Retry` said, if it was there.
        public var shouldRetry: Bool?

        /// Whether the same call, with the same key, may succeed later: Stripe's own word, else a
        /// conflict, a limit or a fault of the server.
        public var isRetryable: Bool {
            shouldRetry ?? (status == 409 || status == 429 || status >= 500)
        }

        /// Reads an answer whose status is an error's.
        init(_ response: Response) {
            status = response.status
            requestID = response.headers["request-id"]
            shouldRetry = response.headers["stripe-should-retry"].flatMap { Bool($0) }
            guard let json = try? JSON(response.body), let error = json["error"] else { return }
            type = error["type"]?.string
            code = error["code"]?.string
            param = error["param"]?.string
            message = error["message"]?.string
            declineCode = error["decline_code"]?.string
        }
    }
}

extension Stripe.RequestError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .refused(let error): error.description
        case .unreachable: "Stripe: no answer"
        case .unreadable(let error): "Stripe: unreadable answer: \(error)"
        case .endlessList: "Stripe: the same page came twice"
        case .cancelled: "Stripe: the call was stopped"
        }
    }
}

extension Stripe.APIError: CustomStringConvertible {
    public var description: String {
        let details = [code ?? type, param.map { "param \($0)" }, requestID].compactMap(\.self)
        let place = details.isEmpty ? "" : " (" + details.joined(separator: ", ") + ")"
        return "Stripe answered \(status)\(place): \(message ?? "no message")"
    }
}
