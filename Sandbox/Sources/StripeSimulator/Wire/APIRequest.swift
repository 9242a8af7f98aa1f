/// A request to the API, free of any HTTP library.
struct APIRequest: Sendable {
    var method: String
    /// The path without the query: `/v1/customers`.
    var path: String
    var query = ""
    var body = ""
    var authorization: String?
    var version: String?
    var idempotencyKey: String?
}

/// The answer to one.
struct APIResponse: Hashable, Sendable {
    var status: Int
    var body: String
    /// Names in lower case.
    var headers: [String: String] = [:]
}

/// What was answered to a request that carried an idempotency key.
struct StoredReply: Hashable, Codable, Sendable {
    var fingerprint: String
    var status: Int
    var body: String
    var requestID: String
    /// Real time, in UNIX seconds.
    var at: Int
}
