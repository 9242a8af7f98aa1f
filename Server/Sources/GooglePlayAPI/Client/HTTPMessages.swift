extension GooglePlay {
    /// A request to Google, for whatever carries it.
    public struct HTTPRequest: Hashable, Sendable {
        /// `GET` or `POST`.
        public var method: String
        /// The whole address.
        public var url: String
        /// Names and values.
        public var headers: [String: String]
        /// JSON or a form; `nil` for none.
        public var body: [UInt8]?

        public init(
            method: String,
            url: String,
            headers: [String: String] = [:],
            body: [UInt8]? = nil
        ) {
            (self.method, self.url) = (method, url)
            (self.headers, self.body) = (headers, body)
        }
    }

    /// An answer of Google's.
    public struct HTTPResponse: Hashable, Sendable {
        public var status: Int
        /// Values by name; names in lower case.
        public var headers: [String: String]
        public var body: [UInt8]

        /// A response; names of headers are brought to lower case.
        public init(status: Int, headers: [String: String] = [:], body: [UInt8] = []) {
            self.status = status
            self.headers = Dictionary(
                headers.map { ($0.lowercased(), $1) },
                uniquingKeysWith: { first, _ in first }
            )
            self.body = body
        }
    }

    /// Carries one request; throws if no response came.
    public typealias Transport = @Sendable (HTTPRequest) async throws -> HTTPResponse
}
