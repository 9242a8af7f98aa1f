public import HummingbirdCore
internal import Logging
internal import NIOCore

extension HTTPServerBuilder {
    /// HTTP/1.1 whose connections are each served on the event loop that they belong to.
    ///
    /// What may block must leave it: the database drivers have threads of their own for that.
    public static var http1OnEventLoops: HTTPServerBuilder {
        HTTPServerBuilder { responder in OnEventLoop(HTTP1Channel(responder: responder)) }
    }
}

/// A connection whose tasks prefer the thread that reads it.
private struct OnEventLoop<Base: ServerChildChannel>: ServerChildChannel {
    private let base: Base

    init(_ base: Base) {
        self.base = base
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        base.setup(channel: channel, logger: logger)
    }

    func handle(value: Base.Value, logger: Logger) async {
        await withTaskExecutorPreference(EventLoopExecutor(value.channel.eventLoop)) {
            await base.handle(value: value, logger: logger)
        }
    }
}
