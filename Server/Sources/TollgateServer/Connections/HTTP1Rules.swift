internal import NIOCore
internal import NIOHTTP1

/// Holds requests to what RFC 9112 demands and the parser lets pass, and says `Connection: close` in
/// the last answer of a connection (§9.6).
///
/// Unless told, a client may already have sent its next request on the connection. libcurl then repeats
/// that one on a new connection, and below Foundation's URLSession on Linux it has no body any more:
/// it would wait for an answer, and the server for the body.
final class HTTP1Rules: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// A request of which two readers may understand different things.
    struct Unsound: Error {}

    private var requests = 0
    private var answers = 0
    /// The number of the request whose answer is the last.
    private var last: Int?
    /// True once all that is taken of this connection was read.
    private var isDone = false
    /// True if the parser stops after the last request: it keeps what comes then, however much.
    private var parserStops = false

    /// - Parameter takesOne: whether the first answer is the last, whatever the client asks for.
    init(takesOne: Bool) {
        if takesOne { last = 1 }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // What follows the last request, or a refused head, may be anything.
        guard !isDone else { return }
        guard case .head(var head) = unwrapInboundIn(data) else {
            if case .end = unwrapInboundIn(data), requests == last { isDone = true }
            context.fireChannelRead(data)
            return
        }
        let fields = Fields(head)
        guard fields.areSound else {
            isDone = true
            context.fireErrorCaught(Unsound())
            return
        }
        requests += 1
        guard fields.close || requests == last else {
            context.fireChannelRead(data)
            return
        }
        if last == nil { last = requests }
        parserStops = fields.isUpgrade
        // In one spelling for whoever comes behind.
        head.headers.replaceOrAdd(name: "Connection", value: "close")
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    func read(context: ChannelHandlerContext) {
        if !(isDone && parserStops) { context.read() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if !isDone { context.fireErrorCaught(error) }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head) where answers + 1 == last:
            head.headers.replaceOrAdd(name: "Connection", value: "close")
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .end:
            answers += 1
            context.write(data, promise: promise)
        default:
            context.write(data, promise: promise)
        }
    }

    /// What a head says of its connection and of where its body ends.
    private struct Fields {
        private var hosts = 0
        private var codings = 0
        private var isChunked = true
        private let isOld: Bool
        private(set) var close: Bool
        /// True if the client offers another protocol: it is answered in this one, as RFC 9110 §7.8
        /// allows, and for the last time.
        private(set) var isUpgrade: Bool

        init(_ head: HTTPRequestHead) {
            isOld = head.version != .http1_1
            isUpgrade = head.method == .CONNECT
            close = isOld || isUpgrade
            for (name, value) in head.headers {
                // The lengths first: this is done for every header of every request.
                switch name.utf8.count {
                case 4 where name.lowercased() == "host":
                    hosts += 1
                case 7 where name.lowercased() == "upgrade":
                    (isUpgrade, close) = (true, true)
                case 10 where name.lowercased() == "connection":
                    if value.lowercased().contains("close") { close = true }
                case 17 where name.lowercased() == "transfer-encoding":
                    codings += 1
                    if value.lowercased() != "chunked" { isChunked = false }
                default: break
                }
            }
        }

        /// One `Host` (RFC 9112 §3.2), and no coding but chunks (§6.1, §6.3).
        var areSound: Bool {
            (hosts == 1 || hosts == 0 && isOld)
                && (codings == 0 || codings == 1 && isChunked && !isOld)
        }
    }
}
