internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypes
internal import NIOHTTPTypesHTTP1
internal import Stores
internal import TollgateService

/// An HTTP/1.1 connection whose requests are answered on the event loop that reads it; the commonest
/// question and what stores report are answered without the way through the router.
struct EventLoopChannel: ServerChildChannel, HTTPChannelHandler {
    typealias Value = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    let responder: Responder
    let tollgate: Tollgate
    let limits: ConnectionLimits
    let open: OpenConnections
    /// Whether the commonest requests are answered without the router.
    let answersAtOnce: Bool

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            let admission = open.open(channel)
            let pipeline = channel.pipeline.syncOperations
            var decoding = NIOHTTPDecoderLimitConfiguration()
            decoding.maxHeaderFieldSize = limits.headerField
            decoding.maxHeaderListSize = limits.headerList
            decoding.maxHeaderFieldCount = limits.headerCount
            try pipeline.configureHTTPServerPipeline(
                // Requests wait for each other in `NIOAsyncChannel`.
                withPipeliningAssistance: false,
                withErrorHandling: false,
                // HTTPFields holds no field that must not be sent.
                withOutboundHeaderValidation: false,
                withEncoderConfiguration: .init(),
                withDecoderLimitConfiguration: decoding
            )
            try pipeline.addHandlers(
                HTTP1Rules(takesOne: admission != .everything),
                HTTP1ToHTTPServerCodec(secure: false),
                HTTPConnectionStateHandler(logger: logger),
                RequestPace(
                    limits,
                    admission,
                    tollgate.counters,
                    storePaths: tollgate.storePaths,
                    now: tollgate.clocks.wall
                )
            )
            if answersAtOnce {
                try pipeline.addHandlers(
                    EntitlementReads(tollgate),
                    StoreMessages(tollgate, logger, EventLoopExecutor(channel.eventLoop))
                )
            }
            return try NIOAsyncChannel(
                wrappingChannelSynchronously: channel,
                configuration: .init(isOutboundHalfClosureEnabled: true)
            )
        }
    }

    func handle(value: Value, logger: Logger) async {
        await withTaskExecutorPreference(EventLoopExecutor(value.channel.eventLoop)) {
            await handleHTTP(asyncChannel: value, logger: logger)
        }
    }
}
