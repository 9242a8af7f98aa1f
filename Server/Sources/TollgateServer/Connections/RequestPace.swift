internal import Foundation
internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypes
internal import TollgateAPI

/// Ends connections whose client is too slow, and answers requests that are none in our own shape:
/// 408, 431 and 400.
///
/// A client that sends a byte now and then would otherwise hold its connection for ever.
final class RequestPace: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private enum State {
        /// Nothing of a request has come.
        case idle
        /// Bytes, but no request yet.
        case headers
        case body
        /// It is ours to speak.
        case answering
    }

    private let limits: ConnectionLimits
    private var state = State.idle
    /// When the client's time is over; nil while it is ours to speak.
    private var deadline: NIODeadline?
    /// When a client that does not read is given up.
    private var writeDeadline: NIODeadline?
    /// Whether the answer to the request that is being read has begun.
    private var isAnswered = false
    private var isClosing = false
    /// Whether what was read since the last look was part of a request.
    private var hasPart = false
    private var tick: RepeatedTask?

    init(_ limits: ConnectionLimits) {
        self.limits = limits
    }

    func handlerAdded(context: ChannelHandlerContext) {
        deadline = .now() + limits.firstByte
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        tick = context.eventLoop.scheduleRepeatedTask(
            initialDelay: limits.tick,
            delay: limits.tick
        ) { _ in
            let (handler, context) = bound.value
            handler.look(context)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        tick?.cancel()
        tick = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        tick?.cancel()
        tick = nil
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isClosing else { return }
        hasPart = true
        switch unwrapInboundIn(data) {
        case .head:
            state = .body
            isAnswered = false
            deadline = .now() + limits.body
        case .body: break
        case .end:
            state = .answering
            deadline = nil
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Bytes have come, and they were not a whole head.
        if state == .idle, !hasPart, !isClosing {
            state = .headers
            deadline = .now() + limits.headers
        }
        hasPart = false
        context.fireChannelReadComplete()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        // The refusal was the last word.
        guard !isClosing else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        isAnswered = true
        if case .end = unwrapOutboundIn(data), state == .answering {
            state = .idle
            deadline = .now() + limits.idle
        }
        context.write(data, promise: promise)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        writeDeadline = context.channel.isWritable ? nil : .now() + limits.write
        context.fireChannelWritabilityChanged()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let parserError = error as? HTTPParserError, state == .idle || state == .headers
        else {
            context.fireErrorCaught(error)
            return
        }
        if case .headerOverflow = parserError {
            refuse(431, "headers_too_large", "The headers are larger than is taken.", context)
        } else {
            refuse(400, "malformed_request", "This is no HTTP request that is taken.", context)
        }
    }

    private func look(_ context: ChannelHandlerContext) {
        let now = NIODeadline.now()
        if let writeDeadline, writeDeadline <= now { return context.close(promise: nil) }
        guard let deadline, deadline <= now else { return }
        let isWaiting = state == .headers || (state == .body && !isAnswered)
        guard isWaiting, !isClosing else { return context.close(promise: nil) }
        refuse(408, "request_timeout", "The request took too long to come.", context)
    }

    private func refuse(
        _ status: Int,
        _ code: APIError.Code,
        _ message: String,
        _ context: ChannelHandlerContext
    ) {
        guard !isClosing else { return }
        isClosing = true
        deadline = .now() + limits.write
        let error = APIError(type: .invalidRequestError, code: code, message: message)
        let body = (try? APIJSON.encode(error)) ?? Data()
        let head = HTTPResponse(
            status: .init(code: status),
            headerFields: [
                .contentType: "application/json", .contentLength: "\(body.count)",
                .connection: "close", .cacheControl: "no-store",
            ]
        )
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(ByteBuffer(bytes: body))), promise: nil)
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in
            bound.value.close(promise: nil)
        }
    }
}
