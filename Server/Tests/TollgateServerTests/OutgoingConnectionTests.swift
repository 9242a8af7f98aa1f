import AcceptedConnections
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import Synchronization
import Testing
import TollgateServer
import TollgateService

/// F17 and R1, with real connections.
@Suite("Connections of webhooks")
struct OutgoingConnectionTests {
    /// Sends to a receiver on loopback whose answer is `answer`.
    private static func send(
        to host: String = "backend.test",
        resolving addresses: [[String]] = [["127.0.0.1"]],
        allowsPrivate: Bool = true,
        times: Int = 1,
        timeout: Duration = .seconds(60),
        _ answer: @escaping @Sendable (Request) async throws -> Response
    ) async throws -> (results: [Result<WebhookResponse, any Error>], hits: Int) {
        let hits = Mutex(0)
        let router = Router()
        router.post("/hook") { request, _ in
            hits.withLock { $0 += 1 }
            return try await answer(request)
        }
        router.get("/secret") { _, _ in
            hits.withLock { $0 += 1_000 }
            return "secret"
        }
        router.post("/secret") { _, _ in
            hits.withLock { $0 += 1_000 }
            return "secret"
        }
        let silent = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        let asked = Mutex(0)
        let outgoing = OutgoingWebhooks(timeout: timeout) { _ in
            let index = asked.withLock { count in
                defer { count += 1 }
                return min(count, addresses.count - 1)
            }
            return addresses[index].compactMap { IPAddress($0) }
        }
        let application = Application(router: router, server: .http1UntilEnded, logger: silent)
        let outcome: Result<[Result<WebhookResponse, any Error>], any Error>
        do {
            outcome = .success(
                try await application.test(.live) { client in
                    var results: [Result<WebhookResponse, any Error>] = []
                    for _ in 0..<times {
                        let url = "http://\(host):\(client.port ?? 0)/hook"
                        do {
                            // The address was looked at when the endpoint was made; this is later.
                            let request = WebhookRequest(
                                address: try WebhookAddress(url, allowsPrivate: true),
                                headers: [("webhook-id", "evt_1")],
                                body: Array("{}".utf8),
                                allowsPrivate: allowsPrivate
                            )
                            results.append(.success(try await outgoing.send(request)))
                        } catch {
                            results.append(.failure(error))
                        }
                    }
                    return results
                }
            )
        } catch {
            outcome = .failure(error)
        }
        // Whatever happened: a client that is let go while it is open ends the process.
        await outgoing.shutdown()
        return (try outcome.get(), hits.withLock { $0 })
    }

    @Test("An answer is an answer, over a connection that is kept")
    func answers() async throws {
        let (results, hits) = try await Self.send(times: 3) { request in
            #expect(request.headers.first { $0.name.rawName == "webhook-id" }?.value == "evt_1")
            return Response(status: .accepted)
        }
        #expect(try results.map { try $0.get().status } == [202, 202, 202])
        #expect(hits == 3)
    }

    @Test("R1: a name that leads to a private address is refused before anything is sent")
    func privatePeer() async throws {
        for address in ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fd00:ec2::254"] {
            let (results, hits) = try await Self.send(
                resolving: [[address]],
                allowsPrivate: false
            ) { _ in Response(status: .ok) }
            #expect(throws: WebhookRefused.self) { _ = try results.first?.get() }
            #expect(hits == 0)
        }
    }

    @Test("R1: a name that changes its mind is refused at the moment it does")
    func rebinding() async throws {
        // First an address of a documentation range would do; the second answer is this machine.
        let (results, hits) = try await Self.send(
            resolving: [["127.0.0.1"], ["1.1.1.1", "127.0.0.1"]],
            allowsPrivate: false,
            times: 2
        ) { _ in Response(status: .ok) }
        for result in results {
            #expect(throws: WebhookRefused.self) { _ = try result.get() }
        }
        #expect(hits == 0)
    }

    @Test(
        "R1: what was resolved is what is spoken to: the name is not asked again",
        arguments: ["nowhere.test", "NoWhere.TEST", "xn--bcher-kva.test"]
    )
    func pinned(_ name: String) async throws {
        // No resolver of the system knows this name, and yet the request arrives.
        let (results, hits) = try await Self.send(to: name) { _ in
            Response(status: .ok)
        }
        #expect(try results.first?.get().status == 200)
        #expect(hits == 1)
    }

    @Test("F17: a redirect is not followed", arguments: [301, 302, 303, 307, 308])
    func redirects(_ status: Int) async throws {
        let (results, hits) = try await Self.send { _ in
            Response(
                status: .init(code: status),
                headers: [.location: "/secret", .retryAfter: "5"]
            )
        }
        let answer = try results.first?.get()
        #expect(answer?.status == status && answer?.retryAfter == "5")
        #expect(hits == 1)
    }

    @Test("F17: of a long answer little is read, and one that never ends is left")
    func longAnswers() async throws {
        let (results, _) = try await Self.send { _ in
            Response(
                status: .ok,
                body: .init { writer in
                    let part = ByteBuffer(repeating: 0x61, count: 16 << 10)
                    for _ in 0..<10_000 { try await writer.write(part) }
                    try await writer.finish(nil)
                }
            )
        }
        #expect(try results.first?.get().status == 200)
        let (slow, _) = try await Self.send(timeout: .seconds(2)) { _ in
            try await Task.sleep(for: .seconds(30))
            return Response(status: .ok)
        }
        #expect(throws: (any Error).self) { _ = try slow.first?.get() }
    }
}
