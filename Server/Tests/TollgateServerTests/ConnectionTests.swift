import Foundation
import Glibc
import Hummingbird
import HummingbirdTesting
import NIOCore
import Testing
import TollgateService

@testable import TollgateServer

/// A socket as no HTTP client would use it.
private final class Wire: Sendable {
    private let handle: Int32

    /// - Parameter source: an address of this machine from which to connect.
    init(port: Int, from source: String = "127.0.0.1") throws {
        func address(_ text: String, _ port: Int) -> sockaddr_in {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = UInt16(clamping: port).bigEndian
            inet_pton(AF_INET, text, &address.sin_addr)
            return address
        }
        handle = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        // Long enough for a busy machine; whoever waits so long has failed.
        var patience = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(
            handle,
            SOL_SOCKET,
            SO_RCVTIMEO,
            &patience,
            socklen_t(MemoryLayout<timeval>.size)
        )
        for (other, call) in [
            (address(source, 0), Glibc.bind), (address("127.0.0.1", port), Glibc.connect),
        ] {
            let status = withUnsafePointer(to: other) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    call(handle, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            try #require(status == 0)
        }
    }

    deinit { close(handle) }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = Glibc.send(handle, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// What comes next, as far as it is there; empty at the end; `nil` where nothing comes.
    func read() async -> String? {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [self] in
                var bytes = [UInt8](repeating: 0, count: 65_536)
                let count = recv(handle, &bytes, bytes.count, 0)
                let isEnd = count == 0 || (count < 0 && errno == ECONNRESET)
                continuation.resume(
                    returning: count > 0
                        ? String(decoding: bytes[..<count], as: UTF8.self) : isEnd ? "" : nil
                )
            }
        }
    }

    /// All that comes until the end; `nil` where there is none.
    func readToEnd() async -> String? {
        var all = ""
        while let part = await read() {
            if part.isEmpty { return all }
            all += part
        }
        return nil
    }

    /// The answer to one request without a body, or what is told before the end.
    func ask(_ path: String = "/healthz") async -> String {
        send("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
        return await read() ?? "(nothing)"
    }
}

@Suite("Connections")
struct ConnectionTests {
    private static func serve(
        _ limits: ConnectionLimits,
        _ test: @Sendable (TestServer, Int) async throws -> Void
    ) async throws {
        try await TestServer.run { server in
            let application = Application(
                router: try buildRouter(server.tollgate),
                server: .http1OnEventLoops(server.tollgate, limits: limits),
                logger: TestServer.silent
            )
            try await application.test(.ahc(.http)) { client in
                try await test(server, try #require(client.port))
            }
        }
    }

    @Test("H6: a client that is answered early, completes its request and is silent is let go")
    func answeredEarly() async throws {
        let limits = ConnectionLimits(idle: .milliseconds(200))
        try await Self.serve(limits) { _, port in
            let wire = try Wire(port: port)
            wire.send("POST /v1/customers HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n")
            // Without a key the body is not waited for.
            #expect(await wire.read()?.hasPrefix("HTTP/1.1 401") == true)
            wire.send("abcde")
            #expect(await wire.readToEnd() != nil, "the server closes the connection")
        }
    }

    @Test(
        "H6: a client that falls silent in a head is refused in time, however long it was let idle"
    )
    func silentAfterARest() async throws {
        let limits = ConnectionLimits(
            firstByte: .hours(1),
            headers: .milliseconds(100),
            idle: .hours(1)
        )
        try await Self.serve(limits) { _, port in
            let wires = [try Wire(port: port), try Wire(port: port)]
            #expect(await wires[1].ask().hasPrefix("HTTP/1.1 200"))
            for wire in wires {
                wire.send("GET / HT")
                #expect(await wire.readToEnd()?.hasPrefix("HTTP/1.1 408") == true)
            }
        }
    }

    @Test("H6: connections beyond those from one address are told so, and others are served")
    func perAddress() async throws {
        var limits = ConnectionLimits()
        limits.connectionsPerAddress = 2
        limits.countsNeighbours = true
        try await Self.serve(limits) { server, port in
            let two = [
                try Wire(port: port, from: "127.0.0.2"), try Wire(port: port, from: "127.0.0.2"),
            ]
            for wire in two { #expect(await wire.ask().hasPrefix("HTTP/1.1 200")) }
            let third = try Wire(port: port, from: "127.0.0.2")
            let answer = await third.ask()
            #expect(answer.hasPrefix("HTTP/1.1 503"))
            #expect(answer.contains("Retry-After: 5\r\n"))
            #expect(answer.contains("\"code\":\"too_many_connections\""))
            let store = try Wire(port: port, from: "127.0.0.2")
            store.send("POST /webhooks/stripe HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
            let told = await store.readToEnd()
            #expect(told?.hasPrefix("HTTP/1.1 400") == true, "it is read, and bears no signature")
            let other = try Wire(port: port, from: "127.0.0.3")
            #expect(await other.ask().hasPrefix("HTTP/1.1 200"))
            for wire in two { #expect(await wire.ask().hasPrefix("HTTP/1.1 200")) }
            #expect(
                await server.tollgate.metrics.text().contains(
                    "status=\"503\",code=\"too_many_connections\"} 1\n"
                )
            )
        }
    }

    @Test("H6: the last connections are kept for messages of stores")
    func roomForStores() async throws {
        var limits = ConnectionLimits()
        limits.connections = 6
        limits.connectionsForStores = 4
        try await Self.serve(limits) { _, port in
            let held = [try Wire(port: port), try Wire(port: port)]
            for wire in held { #expect(await wire.ask().hasPrefix("HTTP/1.1 200")) }
            let third = try Wire(port: port)
            #expect(await third.ask().hasPrefix("HTTP/1.1 503"))
            for path in [
                "/webhooks/app_store", "/webhooks/app_store/retention_message", "/webhooks/stripe",
            ] {
                let store = try Wire(port: port)
                store.send("POST \(path) HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
                // Its place is free for the next message.
                let told = await store.readToEnd()
                let answer = try #require(told)
                #expect(answer.hasPrefix("HTTP/1.1 400"), "\(path): \(answer)")
                #expect(answer.lowercased().contains("connection: close"))
            }
            withExtendedLifetime(held) {}
        }
    }

    @Test("H6: beyond those that are read, connections are told so unread, and closed at once")
    func closedAtOnce() async throws {
        var limits = ConnectionLimits()
        limits.connectionsPerAddress = 1
        limits.connectionsRefused = 0
        limits.countsNeighbours = true
        try await Self.serve(limits) { server, port in
            let first = try Wire(port: port, from: "127.0.0.2")
            #expect(await first.ask().hasPrefix("HTTP/1.1 200"))
            let second = try Wire(port: port, from: "127.0.0.2")
            // Nothing was asked yet.
            let told = await second.readToEnd()
            let answer = try #require(told)
            #expect(answer.hasPrefix("HTTP/1.1 503"))
            #expect(answer.contains("Retry-After: 5\r\n"))
            #expect(answer.contains("\"code\":\"too_many_connections\""))
            #expect(await first.ask().hasPrefix("HTTP/1.1 200"))
            #expect(
                await server.tollgate.metrics.text().contains(
                    "status=\"503\",code=\"too_many_connections\"} 1\n"
                )
            )
        }
    }

    @Test("What is said before there is a whole request bears a date (RFC 9110 §6.6.1)")
    func dates() async throws {
        var limits = ConnectionLimits()
        limits.headers = .milliseconds(100)
        limits.body = .milliseconds(100)
        try await Self.serve(limits) { server, port in
            for (sent, status) in [
                ("nonsense\r\n\r\n", 400), ("GET / HTTP/1.1\r\n\r\n", 400), ("GET / HT", 408),
                ("POST /v1/customers HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{", 401),
                ("POST /webhooks/stripe HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{", 408),
                ("GET /\(String(repeating: "x", count: 70_000)) HTTP/1.1\r\nHost: x\r\n\r\n", 431),
                ("GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 404),
            ] {
                let wire = try Wire(port: port)
                wire.send(sent)
                let told = await wire.readToEnd()
                let answer = try #require(told)
                #expect(answer.hasPrefix("HTTP/1.1 \(status)"), "\(sent.prefix(40)): \(answer)")
                let dates = answer.split(separator: "\r\n").filter {
                    $0.lowercased().hasPrefix("date: ") && $0.hasSuffix(" GMT")
                }
                #expect(dates.count == 1, "\(sent.prefix(40)): \(answer)")
            }
        }
    }

    @Test("Connections are counted from each address and in all, and no more once they are closed")
    func counts() {
        var limits = ConnectionLimits()
        limits.connections = 5
        limits.connectionsForStores = 2
        limits.connectionsPerAddress = 2
        var counts = ConnectionCounts(limits)
        #expect(counts.open(from: "a") == .everything)
        #expect(counts.open(from: "a") == .everything)
        // A store may be behind it too.
        #expect(counts.open(from: "a") == .storeMessage(isServed: false))
        counts.close(from: "a", .storeMessage(isServed: false))
        #expect(counts.isFull("a") && counts.served == 2, "those refused lower no number")
        #expect(counts.open(from: "a") == .storeMessage(isServed: false))
        counts.close(from: "a", .storeMessage(isServed: false))
        #expect(counts.open(from: "b") == .everything)
        #expect(counts.open(from: nil) == .storeMessage(isServed: true))
        #expect(counts.open(from: nil) == .storeMessage(isServed: true))
        #expect(counts.open(from: nil) == .refusal)
        counts.close(from: nil, .refusal)
        for address in ["a", "a", "b"] { counts.close(from: address, .everything) }
        for _ in 0..<2 { counts.close(from: nil, .storeMessage(isServed: true)) }
        #expect(counts.served == 0 && counts.refused == 0)
        #expect(counts.open(from: "a") == .everything)
    }

    @Test("H6: a flood from one address takes no room from others, nor from stores")
    func flood() {
        let limits = ConnectionLimits()
        var counts = ConnectionCounts(limits)
        var found: [ConnectionCounts.Admission: Int] = [:]
        for _ in 0..<100_000 { found[counts.open(from: "a"), default: 0] += 1 }
        #expect(found[.everything] == limits.connectionsPerAddress)
        #expect(found[.storeMessage(isServed: false)] == limits.connectionsRefused)
        #expect(counts.open(from: "b") == .everything)
        #expect(counts.open(from: nil) == .everything)
        counts.close(from: "a", .refusalUnread)
        #expect(counts.served == limits.connectionsPerAddress + 2)
    }

    @Test(
        "Proxies are not counted by address",
        arguments: [
            ("8.8.8.8", nil, "8.8.8.8"), ("127.0.0.1", nil, nil), ("10.1.2.3", nil, nil),
            ("2001:4860::1", nil, "32.1.72.96.0.0.0.0"), ("fd00::1", nil, nil),
            ("8.8.8.8", "X-Forwarded-For", nil),
        ] as [(String, String?, String?)]
    )
    func proxies(_ peer: String, _ header: String?, _ counted: String?) async throws {
        try await TestServer.run(clientAddressHeader: header) { server in
            let address = ClientAddress.ofConnection(
                try SocketAddress(ipAddress: peer, port: 443),
                countsNeighbours: false,
                server.tollgate
            )
            #expect(address == counted)
        }
    }
}
