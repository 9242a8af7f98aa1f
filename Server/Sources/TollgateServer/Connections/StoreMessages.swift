internal import Foundation
internal import HTTPTypes
internal import Logging
internal import NIOCore
internal import NIOHTTPTypes
internal import Stores
internal import TollgateAPI
internal import TollgateService

/// Takes in what the stores report where it is read.
///
/// At the hour at which everything renews it is all that comes, and the way through streams,
/// middleware and router costs a tenth of it. Whatever is out of the ordinary (a body of unknown
/// length, in a coding or too large, a client that waits to be asked for it or leaves its answers
/// unread) is passed on untouched to the route, which does the same. What comes when is decided by
/// `MessageTurns`.
final class StoreMessages: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let tollgate: Tollgate
    private let logger: Logger
    private let executor: EventLoopExecutor
    private var turns = MessageTurns<any StoreConnector>()
    private var date = HTTPDate()

    init(_ tollgate: Tollgate, _ logger: Logger, _ executor: EventLoopExecutor) {
        self.tollgate = tollgate
        self.logger = logger
        self.executor = executor
    }

    // MARK: - What comes in

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        if !turns.holds(.part(part)) { read(part, context) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // Such as that the client has said all it wanted: the connection would be closed.
        if !turns.holds(.event(event)) { context.fireUserInboundEventTriggered(event) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if !turns.holds(.error(error)) { context.fireErrorCaught(error) }
    }

    func read(context: ChannelHandlerContext) {
        if turns.mayRead() { context.read() }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        turns.close()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) { turns.passedOnIsAnswered() }
        context.write(data, promise: promise)
    }

    private func read(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) {
        let step = turns.read(part) { head in
            guard context.channel.isWritable else { return nil }
            return tollgate.connectors.first { Self.isUsual(head, to: $0.webhook) }
        }
        switch step {
        case .passOn: context.fireChannelRead(wrapInboundOut(part))
        case .keep: break
        case .takeIn(let head, let body, let connector): takeIn(head, body, connector, context)
        }
    }

    // MARK: - Taking in and answering

    private func takeIn(
        _ head: HTTPRequest,
        _ message: [UInt8],
        _ connector: any StoreConnector,
        _ context: ChannelHandlerContext
    ) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        Task(executorPreference: executor) {
            var failure: (any Error)?
            do {
                try await connector.receive(message, head.headerFields)
            } catch {
                failure = error
            }
            let (handler, context) = bound.value
            handler.answer(head, failure, context)
        }
    }

    private func answer(
        _ request: HTTPRequest,
        _ failure: (any Error)?,
        _ context: ChannelHandlerContext
    ) {
        let refusal = failure.map { Refusal(telling: $0) }
        if let failure, let refusal {
            // Who has gone and could not be served sends it again, perhaps to the next server.
            if turns.isClosed, refusal.status == 503 { return }
            refusal.note(failure, request, tollgate.counters, logger)
        }
        guard turns.messageIsAnswered() else { return }
        if let refusal {
            let body = (try? APIJSON.encode(refusal.error)) ?? Data()
            send(.init(code: refusal.status), refusal.fields, ByteBuffer(bytes: body), context)
        } else {
            send(.ok, [:], Self.received, context)
        }
        goOn(context)
    }

    private func send(
        _ status: HTTPResponse.Status,
        _ fields: HTTPFields,
        _ body: ByteBuffer,
        _ context: ChannelHandlerContext
    ) {
        var head = HTTPResponse(status: status, headerFields: .ofAnswersAtOnce)
        head.headerFields.append(contentsOf: fields)
        head.headerFields[.contentLength] = String(body.readableBytes)
        head.headerFields[.date] = date.text(at: tollgate.clocks.wall())
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(body)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    /// What came meanwhile has its turn, up to the next message.
    private func goOn(_ context: ChannelHandlerContext) {
        while let next = turns.next() {
            switch next {
            case .part(let part): read(part, context)
            case .event(let event): context.fireUserInboundEventTriggered(event)
            case .error(let error): context.fireErrorCaught(error)
            }
        }
        context.fireChannelReadComplete()
        if turns.readsOn() { context.read() }
    }

    // MARK: - What is taken in here

    /// Whether a request tells this webhook something in the way that stores usually do.
    static func isUsual(_ head: HTTPRequest, to webhook: StoreWebhook) -> Bool {
        let fields = head.headerFields
        guard head.method == .post, head.path == webhook.path.template,
            let length = fields[.contentLength].flatMap({ Int($0) })
        else { return false }
        return (0...webhook.limit).contains(length)
            && fields[.transferEncoding] == nil && fields[.contentEncoding] == nil
            && fields[.expect] == nil
            && fields[.connection].map { $0.lowercased() == "keep-alive" } ?? true
    }

    private static let received = ByteBuffer(bytes: receivedBody)
}
