internal import StrictJSON
internal import TextFormats

extension Stripe {
    /// An HTTP request to Stripe, ready to be sent.
    public struct Request: Hashable, Sendable {
        public enum Method: String, Hashable, Sendable {
            case get = "GET"
            case post = "POST"
        }

        public var method: Method
        /// With scheme, host, path and query.
        public var url: String
        /// Names are in lower case.
        public var headers: [String: String]
        /// Empty for GET.
        public var body: [UInt8]

        public init(method: Method, url: String, headers: [String: String], body: [UInt8]) {
            (self.method, self.url, self.headers, self.body) = (method, url, headers, body)
        }
    }

    /// What Stripe answered.
    public struct Response: Hashable, Sendable {
        public var status: Int
        /// Names are in lower case.
        public var headers: [String: String]
        public var body: [UInt8]

        /// An answer; the names of headers may be in any case.
        public init(status: Int, headers: [String: String], body: [UInt8]) {
            self.status = status
            self.headers = Dictionary(
                headers.map { ($0.key.lowercased(), $0.value) },
                uniquingKeysWith: { first, _ in first }
            )
            self.body = body
        }
    }

    /// What a call returned, and what was said beside it.
    public struct Answer<Value: Sendable>: Sendable {
        public var value: Value
        /// Stripe's clock when it answered, in UNIX seconds, from the header `Date`.
        ///
        /// A read states an object as of the second before (`RULES.md` §4).
        public var date: Int64?
    }
}

extension Stripe.Answer {
    /// Reads what Stripe answered.
    init(
        _ response: Stripe.Response,
        _ decode: (JSON) throws(Stripe.DecodingError) -> Value
    ) throws(Stripe.RequestError) {
        let json: JSON
        do {
            json = try JSON(response.body)
        } catch {
            throw .unreadable(
                Stripe.DecodingError(object: "answer", field: "", expected: "JSON: \(error)")
            )
        }
        let value: Value
        do throws(Stripe.DecodingError) {
            value = try decode(json)
        } catch {
            throw .unreadable(error)
        }
        self.init(
            value: value,
            date: response.headers["date"].flatMap(HTTPDate.seconds(of:))
        )
    }
}
