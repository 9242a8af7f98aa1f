import StrictJSON

extension GooglePlay {
    /// A failed call to Google.
    public struct APIFault: Error, Sendable, CustomStringConvertible {
        /// The method, in Google's words: `purchases.subscriptionsv2.get`.
        public var operation: String
        public var cause: Cause

        public enum Cause: Sendable {
            /// Google answered with an error.
            case refused(Refusal)
            /// No answer came.
            case unreachable(any Error)
            /// The answer has another form than Google documents.
            case unreadable(DecodingError)
        }

        /// An error answer.
        public struct Refusal: Hashable, Sendable {
            public var status: Int
            /// `errors[0].reason`: `purchaseTokenNotFound`.
            public var reason: String?
            public var message: String?
            /// Seconds, from `Retry-After`.
            public var retryAfter: Int64?
        }

        /// The consequence of an error for its question.
        public enum Meaning: Hashable, Sendable {
            /// The credentials, their permissions or the package are not ours: an alarm, and no change
            /// of anybody's access. The question stays.
            case notAllowed
            /// Google knows no such purchase: a forged or foreign token, or an older purchase of the
            /// same consumable. Asking again is of no use.
            case notFound
            /// The purchase can no longer be read: 60 days after its end, after a refund of a one-time
            /// product, or after its account was deleted. This is no revocation: what the record
            /// knows stays.
            case noLongerReadable
            /// The question itself is wrong, for example a token of another kind of product.
            case invalid
            /// The purchase changed meanwhile: read it, then act again.
            case changedMeanwhile
            /// The quota is used up.
            case tooMany
            /// Google is in trouble, or out of reach.
            case unavailable
            /// The answer has a form that we do not know.
            case unreadable
        }

        public var meaning: Meaning {
            switch cause {
            case .unreachable: .unavailable
            case .unreadable: .unreadable
            case .refused(let refusal): refusal.meaning
            }
        }

        public var description: String {
            switch cause {
            case .unreachable: "Google Play: no answer to \(operation)"
            case .unreadable(let error): "Google Play: unreadable answer to \(operation): \(error)"
            case .refused(let refusal):
                "Google Play answered \(operation) with \(refusal.status)"
                    + (refusal.reason.map { " (\($0))" } ?? "")
                    + ": \(refusal.message ?? "no message")"
            }
        }
    }
}

extension GooglePlay.APIFault.Refusal {
    private static let quotaReasons: Set<String> = [
        "rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded", "dailyLimitExceeded",
    ]

    var meaning: GooglePlay.APIFault.Meaning {
        switch status {
        case 403 where reason.map(Self.quotaReasons.contains) ?? false, 429: .tooMany
        case 401, 403: .notAllowed
        case 404: .notFound
        case 409, 412: .changedMeanwhile
        case 410: .noLongerReadable
        case 408, 500...: .unavailable
        // The token endpoint says so in a 400: the key was deleted, or the clock is wrong.
        case 400 where reason == "invalid_grant" || reason == "invalid_client": .notAllowed
        default: .invalid
        }
    }

    init(_ response: GooglePlay.HTTPResponse) {
        let error = (try? JSON(response.body))?["error"]
        var reasons: [String] = []
        if let errors = error?["errors"]?.elements {
            for one in errors { if let reason = one["reason"]?.string { reasons.append(reason) } }
        }
        self.init(
            status: response.status,
            reason: reasons.first ?? error?["status"]?.string,
            message: error?["message"]?.string,
            retryAfter: response.headers["retry-after"].flatMap { Int64($0) }.map { max(0, $0) }
        )
    }
}
