extension AppStore {
    /// A request to the App Store, for whatever carries it.
    public struct HTTPRequest: Hashable, Sendable {
        /// `GET`, `POST`, `PUT` or `DELETE`.
        public var method: String
        /// The whole address.
        public var url: String
        /// Names and values.
        public var headers: [String: String]
        /// JSON, an image, or nothing.
        public var body: [UInt8]?

        /// A request.
        public init(
            method: String,
            url: String,
            headers: [String: String] = [:],
            body: [UInt8]? = nil
        ) {
            self.method = method
            self.url = url
            self.headers = headers
            self.body = body
        }
    }

    /// What came back.
    public struct HTTPResponse: Hashable, Sendable {
        /// The status.
        public var status: Int
        /// Values by name; names in lower case.
        public var headers: [String: String]
        /// The body, empty if there was none.
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

    /// Carries one request.
    ///
    /// It throws if no response came.
    public typealias Transport = @Sendable (HTTPRequest) async throws -> HTTPResponse
}
