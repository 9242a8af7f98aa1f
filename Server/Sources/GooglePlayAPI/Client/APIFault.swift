import StrictJSON
import TextFormats

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

        /// The addresses of Google's, each of which means something else by the same status.
        public enum Endpoint: Hashable, Sendable {
            /// The Play Developer API.
            case publisher
            /// The token endpoint, which knows no purchases.
            case token
            /// Pub/Sub, which knows no purchases.
            case pubSub
            /// Cloud Storage, where the reports are.
            case storage
        }

        /// An error answer.
        public struct Refusal: Hashable, Sendable {
            public var endpoint: Endpoint
            public var status: Int
            /// `errors[0].reason`: `purchaseTokenNotFound`.
            public var reason: String?
            public var message: String?
            /// Seconds, from `Retry-After`; a day at most.
            public var retryAfter: Int64?
            /// `true` for an answer in the form of Google's errors, `false` for a proxy's page.
            public var isGoogles: Bool
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

        /// Google's word for the error: `purchaseTokenNoLongerValid`.
        public var reason: String? {
            guard case .refused(let refusal) = cause else { return nil }
            return refusal.reason
        }

        /// Seconds after which Google wants to be asked again; `nil` where it does not say.
        public var retryAfter: Int64? {
            guard case .refused(let refusal) = cause else { return nil }
            return refusal.retryAfter
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
    /// Errors of the token endpoint that google-auth tries again.
    private static let troubles: Set<String> = [
        "internal_failure", "server_error", "temporarily_unavailable",
    ]
    /// An app that Google does not know under our account.
    private static let packageReasons: Set<String> = ["applicationNotFound"]
    /// The beginning of Google's newer message about such an app.
    ///
    /// `Package not found: com.example.app.` has the reason `notFound`, as a purchase's may be.
    private static let packageMessage = "package not found"

    /// `true` if the error is about the app, whatever was asked of it.
    private var isAboutPackage: Bool {
        reason.map(Self.packageReasons.contains) == true
            || message?.lowercased().hasPrefix(Self.packageMessage) == true
    }

    var meaning: GooglePlay.APIFault.Meaning {
        switch status {
        case 429: .tooMany
        case 408, 500...599: .unavailable
        case 401: .notAllowed
        case 403: reason.map(Self.quotaReasons.contains) == true ? .tooMany : .notAllowed
        case 400...499:
            switch endpoint {
            case .publisher: publisherMeaning
            case .token: tokenMeaning
            // A subscription that was deleted, or that is not ours.
            case .pubSub: .notAllowed
            case .storage: storageMeaning
            }
        default: .unreadable
        }
    }

    private var publisherMeaning: GooglePlay.APIFault.Meaning {
        // A proxy's 404 says nothing about a purchase.
        guard isGoogles else { return .unreadable }
        if isAboutPackage { return .notAllowed }
        return switch status {
        case 404: .notFound
        case 409, 412: .changedMeanwhile
        case 410: .noLongerReadable
        default: .invalid
        }
    }

    /// An object may have been replaced since it was listed.
    private var storageMeaning: GooglePlay.APIFault.Meaning {
        guard isGoogles else { return .unreadable }
        return switch status {
        case 404: .notFound
        case 412: .changedMeanwhile
        default: .invalid
        }
    }

    /// By RFC 6749 §5.2: the key was deleted, its rights were taken away, or the clock is wrong.
    private var tokenMeaning: GooglePlay.APIFault.Meaning {
        let isInTrouble = [reason, message].contains { $0.map(Self.troubles.contains) == true }
        return isInTrouble ? .unavailable : .notAllowed
    }

    init(_ response: GooglePlay.HTTPResponse, of endpoint: GooglePlay.APIFault.Endpoint) {
        let json = try? JSON(response.body)
        let error = json?["error"]
        let retryAfter = response.headers["retry-after"].flatMap { text in
            Self.seconds(retryAfter: text, date: response.headers["date"])
        }
        guard endpoint != .token else {
            self.init(
                endpoint: endpoint,
                status: response.status,
                reason: error?.string,
                message: json?["error_description"]?.string,
                retryAfter: retryAfter,
                isGoogles: error?.string != nil
            )
            return
        }
        var reasons: [String] = []
        if let errors = error?["errors"]?.elements {
            for one in errors { if let reason = one["reason"]?.string { reasons.append(reason) } }
        }
        let message = error?["message"]?.string
        self.init(
            endpoint: endpoint,
            status: response.status,
            reason: reasons.first ?? error?["status"]?.string,
            message: message,
            retryAfter: retryAfter,
            isGoogles: message != nil || !reasons.isEmpty
        )
    }

    /// The seconds that `Retry-After` names (RFC 9110 §10.2.3): a number, or a date by Google's clock.
    private static func seconds(retryAfter text: String, date: String?) -> Int64? {
        let longest: Int64 = 86_400
        if let seconds = Int64(text) { return min(longest, max(0, seconds)) }
        guard let until = HTTPDate.seconds(of: text),
            let now = date.flatMap(HTTPDate.seconds(of:))
        else { return nil }
        return min(longest, max(0, until - now))
    }
}
