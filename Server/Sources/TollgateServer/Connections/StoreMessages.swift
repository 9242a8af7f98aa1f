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
/// unread) is passed on untouched to the route, which does the same.
final class StoreMessages: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private enum State {
        case idle
        /// A message's body is being read.
        case reading(HTTPRequest, any StoreConnector)
        /// A message's answer is not known yet, and what comes meanwhile waits.
        case takingIn
        case closed
    }

    /// What came after a message that has no answer yet: whoever comes behind would answer it first.
    private enum Held {
        case part(HTTPRequestPart)
        case event(Any)
        case error(any Error)
    }

    private let tollgate: Tollgate
    private let logger: Logger
    private let executor: EventLoopExecutor
    private var state = State.idle
    /// What was read of the body; not within `state`, where each piece would copy it.
    private var body: [UInt8] = []
    private var held = CircularBuffer<Held>()
    /// Whether more is to be read as soon as the message is answered.
    private var wantsMore = false
    /// Requests that were passed on and not answered yet: answers keep the order of requests.
    private var passedOn = 0
    private var date = HTTPDate()

    init(_ tollgate: Tollgate, _ logger: Logger, _ executor: EventLoopExecutor) {
        self.tollgate = tollgate
        self.logger = logger
        self.executor = executor
    }

    // MARK: - What comes in

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        if case .takingIn = state {
            held.append(.part(part))
        } else {
            read(part, context)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // Such as that the client has said all it wanted: the connection would be closed.
        if case .takingIn = state {
            held.append(.event(event))
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if case .takingIn = state {
            held.append(.error(error))
        } else {
            context.fireErrorCaught(error)
        }
    }

    /// Hardly more is read of a client that goes on before it was answered.
    func read(context: ChannelHandlerContext) {
        if held.count < Self.mostHeld { context.read() } else { wantsMore = true }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        state = .closed
        held.removeAll()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) { passedOn -= 1 }
        context.write(data, promise: promise)
    }

    private func read(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) {
        switch (part, state) {
        case (.head(let head), _):
            if passedOn == 0, context.channel.isWritable,
                let connector = tollgate.connectors.first(where: {
                    Self.isUsual(head, to: $0.webhook)
                })
            {
                state = .reading(head, connector)
            } else {
                passedOn += 1
                context.fireChannelRead(wrapInboundOut(part))
            }
        case (.body(let bytes), .reading):
            // At first as much as came, which is mostly all of it: what is announced takes no memory.
            body.append(contentsOf: bytes.readableBytesView)
        case (.end, .reading(let head, let connector)):
            takeIn(head, connector, context)
        default:
            context.fireChannelRead(wrapInboundOut(part))
        }
    }

    // MARK: - Taking in and answering

    private func takeIn(
        _ head: HTTPRequest,
        _ connector: any StoreConnector,
        _ context: ChannelHandlerContext
    ) {
        state = .takingIn
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let message = body
        body = []
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
            if case .closed = state, refusal.status == 503 { return }
            refusal.note(failure, request, tollgate.counters, logger)
        }
        guard case .takingIn = state else { return }
        state = .idle
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
        while case .some(let next) = held.popFirst() {
            switch next {
            case .part(let part): read(part, context)
            case .event(let event): context.fireUserInboundEventTriggered(event)
            case .error(let error): context.fireErrorCaught(error)
            }
            if case .takingIn = state { break }
        }
        context.fireChannelReadComplete()
        if wantsMore, held.count < Self.mostHeld {
            wantsMore = false
            context.read()
        }
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

    /// How many parts of later requests are read before an answer is given; a burst may be more.
    private static let mostHeld = 16
    private static let received = ByteBuffer(bytes: receivedBody)
}
