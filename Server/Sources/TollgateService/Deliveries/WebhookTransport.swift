/// One POST to a webhook endpoint.
public struct WebhookRequest: Sendable {
    public var address: WebhookAddress
    public var headers: [(name: String, value: String)]
    public var body: [UInt8]
    /// Whether it may go to this machine and its neighbours.
    public var allowsPrivate: Bool

    public init(
        address: WebhookAddress,
        headers: [(name: String, value: String)],
        body: [UInt8],
        allowsPrivate: Bool
    ) {
        self.address = address
        self.headers = headers
        self.body = body
        self.allowsPrivate = allowsPrivate
    }
}

/// What the endpoint answered.
public struct WebhookResponse: Sendable {
    public var status: Int
    /// `Retry-After`, as it came.
    public var retryAfter: String?

    public init(status: Int, retryAfter: String? = nil) {
        self.status = status
        self.retryAfter = retryAfter
    }
}

/// Sends one request, follows no redirect, reads a bounded answer, and ends in bounded time.
///
/// - Throws: `WebhookRefused` where the peer is not one that is spoken to; any other error where
///   there was no answer.
public typealias WebhookTransport = @Sendable (WebhookRequest) async throws -> WebhookResponse
