internal import HTTPTypes
internal import NIOCore
internal import NIOHTTPTypes
internal import Stores
internal import TollgateAPI
internal import TollgateCore
internal import TollgateService

/// Answers `GET /v1/customers/{id}/entitlements` where it is read, if that needs no waiting.
///
/// It is what most requests ask, and the way through tasks, middleware and router costs more than
/// the answer. Whatever is out of the ordinary (another address, a query, a body, a refusal, a
/// database that must be waited for, a client that leaves its answers unread) is passed on
/// untouched, so that everything is decided in one place: the route.
final class EntitlementReads: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let tollgate: Tollgate
    // Made once: features are built anew each time they are asked for.
    private let entitlements: Entitlements
    private let sessions: Sessions
    private let secretKeys: SecretKeys
    /// A request of which only the head was read so far, and which may be answered here.
    private var held: HTTPRequest?
    /// Requests that were passed on and not answered yet: answers keep the order of requests.
    private var passedOn = 0
    private var date = HTTPDate()

    init(_ tollgate: Tollgate) {
        self.tollgate = tollgate
        entitlements = tollgate.entitlements
        sessions = tollgate.sessions
        secretKeys = tollgate.secretKeys
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            // The route waits for a client that does not read, and nothing more is read of it
            // meanwhile; answers given here would pile up in memory.
            if passedOn == 0, context.channel.isWritable, Self.customer(askedBy: head) != nil {
                held = head
            } else {
                passedOn += 1
                context.fireChannelRead(data)
            }
        case .body:
            passOn(context)
            context.fireChannelRead(data)
        case .end:
            if let head = held, let answer = answer(head) {
                held = nil
                send(answer, context)
            } else {
                passOn(context)
                context.fireChannelRead(data)
            }
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        held = nil
        context.fireChannelInactive()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) { passedOn -= 1 }
        context.write(data, promise: promise)
    }

    private func passOn(_ context: ChannelHandlerContext) {
        guard let head = held else { return }
        held = nil
        passedOn += 1
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    private func send(_ body: ByteBuffer, _ context: ChannelHandlerContext) {
        var head = HTTPResponse(status: .ok, headerFields: .ofAnswersAtOnce)
        head.headerFields[.contentLength] = String(body.readableBytes)
        head.headerFields[.date] = date.text(at: tollgate.clocks.wall())
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(body)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    /// `nil`: whoever comes behind shall answer.
    private func answer(_ head: HTTPRequest) -> ByteBuffer? {
        guard let customer = Self.customer(askedBy: head),
            let credentials = Credentials(
                atOnce: head.headerFields,
                tollgate,
                sessions,
                secretKeys
            ),
            let id = try? credentials.customer(String(customer), .activeEntitlements)
        else { return nil }
        let session = credentials.session
        return try? entitlements.activeAtOnce(
            of: id,
            in: session?.environment,
            signed: session != nil,
            app: credentials.askingApp(head.headerFields, tollgate)
        )?.json
    }

    /// The customer of `/v1/customers/{id}/entitlements`, where nothing else is asked.
    static func customer(askedBy head: HTTPRequest) -> Substring? {
        guard head.method == .get, let path = head.path, head.headerFields[.connection] == nil
        else { return nil }
        let text = path.utf8
        guard text.count > before.utf8.count + after.utf8.count,
            text.starts(with: before.utf8),
            text.suffix(after.utf8.count).elementsEqual(after.utf8)
        else { return nil }
        let id = text.dropFirst(before.utf8.count).dropLast(after.utf8.count)
        // Escapes, queries and further segments are the router's.
        guard id.allSatisfy({ isPlain($0) }) else { return nil }
        return Substring(id)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    private static let path = APIPath.customerEntitlements.template.split(separator: "{id}")
    private static let before = String(path[0])
    private static let after = String(path[1])
}

extension HTTPFields {
    /// Of every answer that is given where the request is read.
    static let ofAnswersAtOnce: HTTPFields = [
        .contentType: "application/json", .cacheControl: "no-store",
        .xContentTypeOptions: "nosniff", .server: "tollgate",
    ]
}
