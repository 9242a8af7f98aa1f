public import NIOCore

/// How long a client may take, and how much it may say before it is heard.
public struct ConnectionLimits: Sendable {
    /// From a connection's beginning to the first byte of a request.
    public var firstByte: TimeAmount
    /// From the first byte of a request to the end of its headers.
    public var headers: TimeAmount
    /// From the end of the headers to the end of the body.
    public var body: TimeAmount
    /// Between an answer and the next request.
    public var idle: TimeAmount
    /// Between a request and its answer, and between the parts of an answer.
    public var answer: TimeAmount
    /// How long an answer may wait for a client that does not read it.
    public var write: TimeAmount
    /// Bytes of one header field.
    public var headerField = 16 << 10
    /// Bytes of all of them.
    public var headerList = 64 << 10
    /// How many there may be.
    public var headerCount = 100
    /// How many connections may be open; further ones are answered 503.
    public var connections = 8_000
    /// How many of these are kept for messages of stores.
    public var connectionsForStores = 500
    /// How many more may wait to be answered 503, or bring a store's message although their address
    /// has too many; beyond these, connections are closed without an answer.
    public var connectionsRefused = 1_000
    /// How many may be served from one address, or one IPv6 network; further ones may each bring one
    /// message of a store.
    ///
    /// A proxy, as far as it is known to be one, may open as many as it likes.
    public var connectionsPerAddress = 1_000
    /// True where addresses of this machine and of private networks, where proxies are, count too: for
    /// tests.
    package var countsNeighbours = false

    public init(
        firstByte: TimeAmount = .seconds(10),
        headers: TimeAmount = .seconds(10),
        body: TimeAmount = .seconds(10),
        idle: TimeAmount = .seconds(75),
        answer: TimeAmount = .minutes(10),
        write: TimeAmount = .seconds(30)
    ) {
        self.firstByte = firstByte
        self.headers = headers
        self.body = body
        self.idle = idle
        self.answer = answer
        self.write = write
    }

    /// For connections that came when hardly any room was left.
    var whereRoomIsScarce: ConnectionLimits {
        var limits = self
        limits.firstByte = min(firstByte, .seconds(2))
        limits.headers = min(headers, .seconds(2))
        return limits
    }
}
