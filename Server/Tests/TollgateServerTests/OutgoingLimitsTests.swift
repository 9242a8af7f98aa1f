import AcceptedConnections
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import Synchronization
import Testing
import TollgateService

@testable import TollgateServer

/// F17: one host that is slow or dead takes nothing from the others.
@Suite("What webhooks take up")
struct OutgoingLimitsTests {
    private static func request(_ url: String) throws -> WebhookRequest {
        WebhookRequest(
            address: try WebhookAddress(url, allowsPrivate: true),
            headers: [("webhook-id", "evt_1")],
            body: Array("{}".utf8),
            allowsPrivate: true
        )
    }

    @Test("A name that nobody answers for is given up in time, and asked for once by all")
    func deadName() async throws {
        let count = Mutex(0)
        let (asked, wasAsked) = AsyncStream.makeStream(of: Void.self)
        let (ends, mayEnd) = AsyncStream.makeStream(of: Void.self)
        let outgoing = OutgoingWebhooks(lookupTimeout: .milliseconds(1)) { _ in
            count.withLock { $0 += 1 }
            wasAsked.finish()
            // As the system's resolver does: nothing calls it off.
            await Task { for await _ in ends {} }.value
            return []
        }
        let request = try Self.request("https://dead.example.org/hook")
        let reasons = await withTaskGroup(of: String?.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    do {
                        _ = try await outgoing.send(request)
                        return nil
                    } catch {
                        return (error as? WebhookRefused)?.reason
                    }
                }
            }
            var reasons: [String?] = []
            for await reason in group { reasons.append(reason) }
            return reasons
        }
        #expect(reasons.count == 16)
        #expect(Set(reasons) == ["the host's addresses were not found in time"])
        for await _ in asked {}
        #expect(count.withLock { $0 } == 1)
        mayEnd.finish()
        await outgoing.shutdown()
    }

    @Test("A name that was answered for is asked for anew the next time")
    func askedAnew() async throws {
        let asked = Mutex(0)
        let outgoing = OutgoingWebhooks(lookupTimeout: .seconds(60)) { host in
            let number = asked.withLock { count -> Int in
                count += 1
                return count
            }
            throw WebhookRefused(reason: "\(host) \(number)")
        }
        let request = try Self.request("https://gone.example.org/hook")
        for number in 1...3 {
            await #expect(throws: WebhookRefused(reason: "gone.example.org \(number)")) {
                _ = try await outgoing.send(request)
            }
        }
        await outgoing.shutdown()
    }

    @Test("A connection is not closed while something is sent over it, whatever else is opened")
    func busyConnections() async throws {
        let (asked, wasAsked) = AsyncStream.makeStream(of: Void.self)
        let (ends, mayEnd) = AsyncStream.makeStream(of: Void.self)
        let router = Router()
        router.post("/slow") { _, _ -> Response in
            wasAsked.finish()
            for await _ in ends {}
            return Response(status: .accepted)
        }
        router.post("/hook") { _, _ -> Response in Response(status: .ok) }
        let silent = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        let application = Application(router: router, server: .http1UntilEnded, logger: silent)
        let outgoing = OutgoingWebhooks(timeout: .seconds(120), maximalClients: 2) { _ in
            ["127.0.0.1"].compactMap { IPAddress($0) }
        }
        let outcome: Result<[Int], any Error>
        do {
            outcome = .success(
                try await application.test(.live) { client in
                    let port = client.port ?? 0
                    let slowRequest = try Self.request("http://slow.test:\(port)/slow")
                    async let slow = outgoing.send(slowRequest)
                    for await _ in asked {}
                    var statuses: [Int] = []
                    for number in 0..<5 {
                        let request = try Self.request("http://host\(number).test:\(port)/hook")
                        statuses.append(try await outgoing.send(request).status)
                    }
                    mayEnd.finish()
                    statuses.append(try await slow.status)
                    return statuses
                }
            )
        } catch {
            outcome = .failure(error)
        }
        mayEnd.finish()
        // Whatever happened: a client that is let go while it is open ends the process.
        await outgoing.shutdown()
        #expect(try outcome.get() == [200, 200, 200, 200, 200, 202])
    }

    @Test("Of what is kept open the least recently used goes first, and nothing that is in use")
    func leastRecentlyUsed() {
        var kept = KeptOpen<String>(limit: 2)
        for key in ["a", "b", "a"] {
            _ = kept.take(key) { key }
            kept.giveBack(key)
        }
        let none = kept.surplus()
        #expect(none == [])
        let again = kept.take("a") { "opened twice" }
        #expect(again == "a", "what is there is not opened again")
        _ = kept.take("c") { "c" }
        let oldest = kept.surplus()
        #expect(oldest == ["b"])
        // Two use the same: when the first is done, it is still in use.
        _ = kept.take("a") { "opened twice" }
        kept.giveBack("a")
        _ = kept.take("d") { "d" }
        let busy = kept.surplus()
        #expect(busy == [], "all three are in use")
        kept.giveBack("c")
        kept.giveBack("a")
        let idle = kept.surplus()
        #expect(idle == ["c"], "a was taken later than c")
        let rest = kept.removeAll()
        #expect(Set(rest) == ["a", "d"])
    }
}
