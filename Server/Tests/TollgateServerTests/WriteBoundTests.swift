import AppStoreSimulator
import Foundation
import HTTPTypes
import SandboxClock
import Storage
import Testing
import TollgateCore
import TollgateService
import TollgateSimulation

/// L1: a customer who fills the disk.
///
/// The table in docs/attacks.md names every route by which a session or a publishable key can make
/// this server write, and its bound.
@Suite("What one customer can write is bounded")
struct WriteBoundTests {
    private static func document() throws -> Substring {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../docs/attacks.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        let start = try #require(text.firstRange(of: "## What a customer can make"))
        let end = try #require(text.firstRange(of: "## Which attacks concern"))
        return text[start.lowerBound..<end.lowerBound]
    }

    @Test("The list has every route that is not the app's backend's alone")
    func complete() throws {
        let document = try Self.document()
        for operation in OpenAPIDocument.ofServer.operations {
            guard operation.method != "GET" || operation.template.hasPrefix("/portal") else {
                continue
            }
            let security = operation.security
            guard security != ["secretKey"], security != ["stripeSignature"],
                !operation.template.hasPrefix("/webhooks/")
            else { continue }
            let route = "| `\(operation.method) \(operation.template)` |"
            #expect(document.contains(route), "\(route) needs a bound")
        }
    }

    /// How many rows the tables have into which customers write.
    private static func rows(_ server: TestServer) async throws -> [String: Int64] {
        try await server.tollgate.store.driver.read { connection in
            var rows: [String: Int64] = [:]
            for table in [
                "journal", "alias", "session", "idempotency", "receipt", "wanted", "message",
                "parked",
            ] {
                rows[table] = try connection.query("SELECT count(*) FROM \(table)").first?.int64(0)
            }
            rows["record"] = try connection.query("SELECT max(length(record)) FROM purchase")
                .first?.values.first.flatMap { value in
                    if case .integer(let bytes) = value { bytes } else { nil }
                }
            return rows
        }
    }

    /// Repeats a request until it is refused, and once more to see that nothing is written then.
    ///
    /// - Returns: how often it was taken.
    private func drive(
        _ server: TestServer,
        most: Int = 1000,
        _ request: (Int) async throws -> Answer
    ) async throws -> Int {
        for number in 0..<most {
            let answer = try await request(number)
            guard answer.status == 429 else {
                #expect(answer.status < 300 || answer.status == 409, "\(answer.text)")
                continue
            }
            let full = try await Self.rows(server)
            for more in 0..<20 {
                #expect(try await request(number + more + 1).status == 429)
            }
            #expect(try await Self.rows(server) == full)
            return number
        }
        Issue.record("no bound within \(most) requests")
        return most
    }

    @Test(
        "A free subscription is taken and removed ten times a day, a hundred times a year",
        arguments: Backend.allCases
    )
    func freeSubscription(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let id = try await server.customer()
            let session = try await server.session(of: id)
            let path = "/v1/customers/\(id)/free_subscriptions"
            func press() async throws -> Answer {
                let taken = try await server.post(path, as: session, "{\"product\":\"reader\"}")
                guard taken.status == 200 else { return taken }
                return try await server.send(.delete, path + "?product=reader", as: session)
            }
            var total = 0
            for _ in 0..<10 {
                total += try await drive(server) { _ in try await press() }
                await server.clock.advance(to: server.clock.now + 86_401_000)
            }
            #expect(total == 100)
            #expect(try await press().status == 429)
            #expect(try await Self.rows(server)["record"] ?? 0 < 20_000)
            await server.clock.advance(to: server.clock.now + 365 * 86_400_000)
            // The session has not ended: it counts by real time.
            #expect(try await press().status < 300)
        }
    }

    @Test(
        "Who restores another's purchase again and again leaves one row, or ten a day",
        arguments: [Catalog.Ownership.keep, .transfer, .share]
    )
    func restores(_ policy: Catalog.Ownership) async throws {
        try await TestServer.run(catalog: { $0.ownership = policy }) { server in
            let token = UUID()
            _ = try await server.customer("ann", token: token)
            let bob = try await server.session(of: server.customer("bob"))
            let eve = try await server.session(of: server.customer("eve"))
            let account = try await server.appStore.createCustomer(
                appAccountToken: token.uuidString.lowercased()
            )
            let bought = try await server.appStore.buy(
                "com.example.app.lifetime",
                customer: account.id
            )
            try await server.deliverNotifications()
            func restore(_ number: Int) async throws -> Answer {
                await server.clock.advance(to: server.clock.now + 1000)
                return try await server.present(
                    bought.jws,
                    mode: "restored",
                    session: number % 2 == 0 || number > 20 ? bob : eve
                )
            }
            let before = try await Self.rows(server)
            guard policy == .transfer else {
                for number in 0..<50 { _ = try await restore(number) }
                #expect(try await Self.rows(server)["journal"] == (before["journal"] ?? 0) + 2)
                return
            }
            #expect(try await drive(server, restore) == 20)
            #expect(try await Self.rows(server)["journal"] == (before["journal"] ?? 0) + 20)
        }
    }

    @Test("Statements, claims and links have their bounds", arguments: Backend.allCases)
    func others(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let id = try await server.customer()
            let session = try await server.session(of: id)
            let ages = try await drive(server) { number in
                try await server.post(
                    "/v1/consents",
                    as: session,
                    "{\"age\":{\"at_least\":\(13 + number % 40)}}"
                )
            }
            #expect(ages == 10)
            let claims = try await drive(server) { number in
                try await server.post(
                    "/v1/checkout_claims",
                    as: session,
                    "{\"secret\":\"a secret of my own \(number)\"}"
                )
            }
            #expect(claims == 50)
            let links = try await drive(server) { _ in
                try await server.post("/v1/portal_sessions", as: session)
            }
            #expect(links == 60)
            // Each request under another key, whatever it is about.
            let replies = try await drive(server) { number in
                try await server.post(
                    "/v1/consents",
                    as: session,
                    idempotencyKey: "key \(number)"
                )
            }
            #expect(replies == 500)
            // What was answered before is answered again.
            let again = try await server.post(
                "/v1/consents",
                as: session,
                idempotencyKey: "key 1"
            )
            #expect(again.status == 200)
            server.wall.advance(seconds: 2 * 86_400)
            await server.tollgate.replies.dropExpired()
            #expect(try await Self.rows(server)["idempotency"] == 500)
            server.wall.advance(seconds: 1)
            await server.tollgate.replies.dropExpired()
            #expect(try await Self.rows(server)["idempotency"] == 0)
        }
    }

    @Test("The same transaction without a customer is written once")
    func anonymous() async throws {
        try await TestServer.run { server in
            let account = try await server.appStore.createCustomer()
            let bought = try await server.appStore.buy(
                "com.example.app.lifetime",
                customer: account.id
            )
            let key = TestServer.publishableKey
            #expect(try await server.present(bought.jws, session: key).status == 200)
            let before = try await Self.rows(server)
            for mode in ["purchased", "restored", "observed"] {
                for _ in 0..<20 {
                    _ = try await server.present(bought.jws, mode: mode, session: key)
                }
            }
            #expect(
                try await Self.rows(server)["journal"] ?? 0 <= (before["journal"] ?? 0) + 2
            )
        }
    }
}
