internal import Foundation
internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypes
internal import NIOHTTPTypesHTTP1
internal import Stores
internal import TollgateAPI
internal import TollgateCore
internal import TollgateService

/// Ends connections whose client is too slow, and answers what is no request, or comes over one
/// connection too many, in our own shape: 408, 431, 400 and 503.
///
/// What is to be done when is decided by `ConnectionLife`.
final class RequestPace: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// The rest of a request will not come: its client broke off, was too slow or sent no body.
    struct RequestBrokenOff: Error {}

    private let patience: TimeAmount
    private let admission: ConnectionCounts.Admission
    private let counters: Counters
    private let storePaths: Set<String>
    private let now: @Sendable () -> Instant
    private var date = HTTPDate()
    private var life: ConnectionLife
    /// When a client that does not read is given up.
    private var writeDeadline: NIODeadline?
    /// Whether what was read since the last look was part of a request.
    private var hasPart = false
    /// The next look at whether a time is over.
    ///
    /// It stays where the time is over later than it was: moving it would cost every request more than
    /// a look in vain costs a connection now and then.
    private var nextLook: (at: NIODeadline, task: Scheduled<Void>)?
    private var isGone = false

    /// - Parameter storePaths: where stores send messages, and ask what a customer is shown who is about
    ///   to cancel.
    init(
        _ limits: ConnectionLimits,
        _ admission: ConnectionCounts.Admission,
        _ counters: Counters,
        storePaths: Set<String>,
        now: @escaping @Sendable () -> Instant
    ) {
        let limits = admission == .everything ? limits : limits.whereRoomIsScarce
        self.admission = admission
        self.counters = counters
        self.storePaths = storePaths
        self.now = now
        patience = limits.write
        life = ConnectionLife(limits, at: .now())
    }

    func handlerAdded(context: ChannelHandlerContext) { watch(context) }

    func handlerRemoved(context: ChannelHandlerContext) { leave() }

    func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        // Nothing is read, so that it takes no time and no memory.
        guard admission == .refusalUnread else { return }
        act(life.fault(.tooManyConnections, at: .now()), context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        leave()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard life.isListening else { return }
        hasPart = true
        switch unwrapInboundIn(data) {
        case .head(let head):
            life.head(at: .now())
            guard isAdmitted(head) else {
                act(life.fault(.tooManyConnections, at: .now()), context)
                return
            }
        case .body: break
        case .end: life.end(at: .now())
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if !hasPart { life.bytes(at: .now()) }
        hasPart = false
        watch(context)
        context.fireChannelReadComplete()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        // The refusal was the last word.
        guard !life.isOver else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        guard case .end = unwrapOutboundIn(data) else {
            life.answerPart(at: .now())
            context.write(data, promise: promise)
            return
        }
        let action = life.answerEnd(at: .now())
        context.write(data, promise: promise)
        act(isForOneMessage ? .close : action, context)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        writeDeadline = context.channel.isWritable ? nil : .now() + patience
        watch(context)
        context.fireChannelWritabilityChanged()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case HTTPParserError.headerOverflow:
            act(life.fault(.headersTooLarge, at: .now()), context)
        case is HTTPParserError, is HTTP1TypeConversionError, is HTTP1Rules.Unsound:
            let refusal = life.isReading ? ConnectionLife.Refusal.malformedBody : .malformedRequest
            act(life.fault(refusal, at: .now()), context)
        default: break
        }
        // Whoever reads a body is to know that no more comes, whatever the cause.
        context.fireErrorCaught(RequestBrokenOff())
    }

    private var isForOneMessage: Bool {
        if case .storeMessage = admission { true } else { false }
    }

    /// Whether a request is one for which this connection was let in.
    private func isAdmitted(_ head: HTTPRequest) -> Bool {
        switch admission {
        case .everything: true
        case .storeMessage: head.method == .post && storePaths.contains(head.path ?? "")
        case .refusal, .refusalUnread: false
        }
    }

    /// Looks once the time of whoever has to act next is over.
    private func watch(_ context: ChannelHandlerContext) {
        let due = min(life.deadline, writeDeadline ?? life.deadline)
        if isGone || nextLook.map({ $0.at <= due }) ?? false { return }
        nextLook?.task.cancel()
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let task = context.eventLoop.scheduleTask(deadline: due) {
            let (handler, context) = bound.value
            handler.nextLook = nil
            handler.look(context)
        }
        nextLook = (due, task)
    }

    private func leave() {
        isGone = true
        nextLook?.task.cancel()
        nextLook = nil
    }

    private func look(_ context: ChannelHandlerContext) {
        let now = NIODeadline.now()
        if let writeDeadline, writeDeadline <= now { return context.close(promise: nil) }
        act(life.silence(until: now), context)
    }

    private func act(_ action: ConnectionLife.Action, _ context: ChannelHandlerContext) {
        switch action {
        case .nothing: break
        case .close:
            context.flush()
            return context.close(promise: nil)
        case .refuse(let refusal): refuse(refusal, context)
        }
        watch(context)
    }

    private func refuse(_ reason: ConnectionLife.Refusal, _ context: ChannelHandlerContext) {
        let refusal = Refusal(reason)
        // Whoever reads the body counts it.
        if reason != .malformedBody { refusal.count(counters) }
        let body = (try? APIJSON.encode(refusal.error)) ?? Data()
        var fields = refusal.fields
        fields[.contentType] = "application/json"
        fields[.contentLength] = "\(body.count)"
        fields[.connection] = "close"
        fields[.cacheControl] = "no-store"
        fields[.date] = date.text(at: now())
        let head = HTTPResponse(status: .init(code: refusal.status), headerFields: fields)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(ByteBuffer(bytes: body))), promise: nil)
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in
            bound.value.close(promise: nil)
        }
    }
}

extension Refusal {
    /// What a connection is told before it is closed.
    fileprivate init(_ reason: ConnectionLife.Refusal) {
        switch reason {
        case .tooManyConnections:
            self.init(
                503,
                "too_many_connections",
                "Too many connections are open. Try again in a few seconds."
            )
            retryAfter = 5
        case .timedOut:
            self.init(
                408,
                "request_timeout",
                "The request took too long. Send it again without pauses."
            )
        case .headersTooLarge:
            self.init(
                431,
                "headers_too_large",
                "The headers are too large. Send fewer and shorter ones."
            )
        case .malformedRequest:
            self.init(400, "malformed_request", "This is not a valid HTTP/1.1 request.")
        case .malformedBody: self = .brokenBody
        }
    }

    /// For a body that breaks off or cannot be read to its end.
    static let brokenBody = Refusal(400, .malformedBody, "The body is incomplete. Send all of it.")
}
