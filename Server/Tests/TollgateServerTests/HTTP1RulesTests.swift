import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import TollgateServer

/// H7: what the parser keeps once it has stopped is not read.
@Suite("What is read after the last request")
struct HTTP1RulesTests {
    private final class Reads: ChannelOutboundHandler {
        typealias OutboundIn = Never
        var count = 0

        func read(context: ChannelHandlerContext) {
            count += 1
            context.read()
        }
    }

    @Test(
        "H7: after an offer to upgrade, and after CONNECT, nothing is read",
        arguments: [
            (.GET, "Upgrade", "h2c", false), (.POST, "upgrade", "websocket", false),
            (.CONNECT, "Accept", "*/*", false), (.GET, "Accept", "*/*", true),
        ] as [(HTTPMethod, String, String, Bool)]
    )
    func reads(_ method: HTTPMethod, _ name: String, _ value: String, _ goesOn: Bool) throws {
        let reads = Reads()
        let channel = EmbeddedChannel()
        let rules = HTTP1Rules(takesOne: false)
        try channel.pipeline.syncOperations.addHandlers([reads, rules])
        let head = HTTPRequestHead(
            version: .http1_1,
            method: method,
            uri: "/",
            headers: ["Host": "x", name: value]
        )
        func isRead() -> Bool {
            let before = reads.count
            channel.read()
            return reads.count > before
        }
        #expect(isRead())
        try channel.writeInbound(HTTPServerRequestPart.head(head))
        #expect(isRead(), "its body may come yet")
        try channel.writeInbound(HTTPServerRequestPart.end(nil))
        #expect(isRead() == goesOn)
        _ = try channel.finish(acceptAlreadyClosed: true)
    }
}
