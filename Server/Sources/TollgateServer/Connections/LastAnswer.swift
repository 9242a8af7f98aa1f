internal import HTTPTypes
internal import NIOCore
internal import NIOHTTPTypes

/// Says `Connection: close` in the answer to whoever asked for it (RFC 9112 §9.6).
///
/// The connection is closed in any case; unless told, a client may already have sent its next request
/// on it. libcurl then repeats that one on a new connection, and below Foundation's URLSession on
/// Linux it has no body any more: it would wait for an answer, and the server for the body.
final class LastAnswer: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private var isAsked = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head(let head) = unwrapInboundIn(data),
            head.headerFields[.connection]?.lowercased().contains("close") == true
        {
            isAsked = true
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard isAsked, case .head(var head) = unwrapOutboundIn(data) else {
            context.write(data, promise: promise)
            return
        }
        head.headerFields[.connection] = "close"
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }
}
