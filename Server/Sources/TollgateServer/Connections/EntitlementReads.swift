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
/// customer whom nobody knows, a database that must be waited for, the last request of a connection,
/// a client that leaves its answers unread) is passed on untouched, so that everything is decided in
/// one place: the route. The answers here have the same bytes as the route's.
final class EntitlementReads: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private struct Held {
        var head: HTTPRequest
        /// Whom it asks about, by our id or `app_user_id`.
        var customer: String
    }

    private let tollgate: Tollgate
    // Made once: features are built anew each time they are asked for.
    private let entitlements: Entitlements
    private let sessions: Sessions
    private let secretKeys: SecretKeys
    /// A request of which only the head was read so far, and which may be answered here.
    private var held: Held?
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
            if passedOn == 0, context.channel.isWritable,
                let customer = Self.customer(askedBy: head)
            {
                held = Held(head: head, customer: customer)
            } else {
                passedOn += 1
                context.fireChannelRead(data)
            }
        case .body:
            passOn(context)
            context.fireChannelRead(data)
        case .end:
            if let held, let answer = answer(held) {
                self.held = nil
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
        guard let held else { return }
        self.held = nil
        passedOn += 1
        context.fireChannelRead(wrapInboundOut(.head(held.head)))
    }

    private func send(_ answer: Answer, _ context: ChannelHandlerContext) {
        var head: HTTPResponse
        if let body = answer.body {
            head = HTTPResponse(status: .ok, headerFields: .ofAnswersAtOnce)
            head.headerFields[.contentLength] = String(body.count)
        } else {
            head = HTTPResponse(status: .notModified, headerFields: .ofNotModifiedAtOnce)
        }
        head.headerFields[.eTag] = answer.tag
        head.headerFields[.date] = date.text(at: tollgate.clocks.wall())
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if let body = answer.body {
            context.write(wrapOutboundOut(.body(ByteBuffer(bytes: body))), promise: nil)
        }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    private struct Answer {
        var tag: String
        /// `nil`: the client holds the answer.
        var body: [UInt8]?
    }

    /// `nil`: whoever comes behind shall answer.
    private func answer(_ held: Held) -> Answer? {
        let fields = held.head.headerFields
        guard
            let credentials = Credentials(atOnce: fields, tollgate, sessions, secretKeys),
            let customer = try? credentials.customer(held.customer, .activeEntitlements)
        else { return nil }
        let session = credentials.session
        do {
            let answer = try entitlements.answerAtOnce(
                of: customer,
                in: session?.environment,
                signed: session != nil,
                app: try credentials.askingApp(fields, tollgate)
            )
            return try answer.map { answer in
                Answer(
                    tag: answer.tag,
                    body: fields.showTag(answer.tag) ? nil : try answer.json()
                )
            }
        } catch {
            return nil
        }
    }

    /// The customer of `/v1/customers/{id}/entitlements`, where nothing else is asked.
    static func customer(askedBy head: HTTPRequest) -> String? {
        guard head.method == .get, let path = head.path, goesOn(head.headerFields) else {
            return nil
        }
        let text = path.utf8
        guard text.count > before.utf8.count + after.utf8.count,
            text.starts(with: before.utf8),
            text.suffix(after.utf8.count).elementsEqual(after.utf8)
        else { return nil }
        let id = text.dropFirst(before.utf8.count).dropLast(after.utf8.count)
        // Queries, further segments and what is no address are the router's; so is what somebody
        // between it and the client may have taken for another path.
        guard id.allSatisfy({ isOfSegment($0) }) else { return nil }
        let customer = IDInPath.decoded(String(Substring(id)))
        guard !customer.utf8.contains(UInt8(ascii: "/")), customer != ".", customer != ".." else {
            return nil
        }
        return customer
    }

    /// Whether the connection is to stay open: it is closed behind the route's answer.
    private static func goesOn(_ fields: HTTPFields) -> Bool {
        fields[.connection].map { $0.lowercased() == "keep-alive" } ?? true
    }

    /// Whether a byte may stand in a segment of a path (RFC 3986 §3.3), `%` of an escape too.
    private static func isOfSegment(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: marks.utf8.contains(byte)
        }
    }

    private static let marks = "-_.~%!$&'()*+,;=:@"
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

    /// Of every 304 that is given there.
    static let ofNotModifiedAtOnce: HTTPFields = {
        var fields = HTTPFields.ofNotModified
        fields[.server] = ofAnswersAtOnce[.server]
        return fields
    }()
}
