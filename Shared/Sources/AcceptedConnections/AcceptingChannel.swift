public import HummingbirdCore
public import Logging
public import NIOCore
public import NIOHTTPTypes

/// Serves connections as `Base` does, and lets a server end while some are being accepted.
///
/// See `AcceptedConnection`.
public struct AcceptingChannel<Base: ServerChildChannel>: ServerChildChannel
where Base.Value == NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart> {
    private let base: Base

    /// - Parameter base: what sets up and answers each connection.
    public init(_ base: Base) {
        self.base = base
    }

    public func setup(
        channel: any Channel,
        logger: Logger
    ) -> EventLoopFuture<AcceptedConnection> {
        base.setup(channel: channel, logger: logger).map { AcceptedConnection($0) }
    }

    public func handle(value: AcceptedConnection, logger: Logger) async {
        // Whoever lets go of it closes it.
        defer { withExtendedLifetime(value) {} }
        await base.handle(value: value.asyncChannel, logger: logger)
    }
}

extension HTTPServerBuilder {
    /// HTTP/1.1 for a server that is ended at any time, as the simulators are.
    public static var http1UntilEnded: HTTPServerBuilder {
        HTTPServerBuilder { AcceptingChannel(HTTP1Channel(responder: $0)) }
    }
}
