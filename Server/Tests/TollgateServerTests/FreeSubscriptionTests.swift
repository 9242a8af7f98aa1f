import AppStoreSimulator
import TollgateService
import SandboxClock
import Foundation
import HTTPTypes
import Storage
import Testing
import TollgateCore
import TollgateSimulation

@Suite("Free subscriptions")
struct FreeSubscriptionTests {
    @Test(
        "It lasts until the app reports its removal, on all devices, and comes back",
        arguments: Backend.allCases
    )
    func reported(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let id = try await server.customer()
            let path = "/v1/customers/\(id)/free_subscriptions"
            let body = "{\"product\":\"reader\"}"
            let session = try await server.session(of: id)
            let taken = try await server.post(path, as: session, body)
            #expect(taken.status == 201)
            #expect(taken.json["until"] == .null)
            let again = try await server.post(path, as: server.session(of: id), body)
            #expect(again.status == 200)
            #expect(again.json == taken.json)
            #expect(try await server.rowCounts()["journal"] == 3)
            await server.clock.advance(to: server.clock.now + 1000 * 86_400_000)
            #expect(try await server.access(of: id) == ["archive": "grant"])
            let removed = try await server.send(.delete, path + "?product=reader", as: session)
            #expect(removed.status == 200)
            #expect(removed.json["since"].integer == TestServer.start)
            #expect(removed.json["until"].integer == TestServer.start + 1000 * 86_400_000)
            #expect(try await server.access(of: id).isEmpty)
            let gone = try await server.send(.delete, path + "?product=reader")
            #expect(gone.status == 404)
            // The clock stands still; the later report counts all the same.
            let restored = try await server.post(path, body)
            #expect(restored.status == 201)
            await server.clock.advance(to: server.clock.now + 1000)
            #expect(try await server.access(of: id) == ["archive": "grant"])
            let past = try await server.get(
                "/v1/customers/\(id)/entitlements?at=\(TestServer.start + 5)"
            )
            #expect(past.json["data"].array?.count == 1)
        }
    }

    @Test("One of a legacy receipt has no expiry, and ends by the same report")
    func ofAReceipt() async throws {
        try await TestServer.run { server in
            let token = UUID()
            let id = try await server.customer(token: token)
            let key = Purchase.Key(
                store: .appStore,
                environment: .sandbox,
                application: TestServer.bundleID,
                id: "1000000042"
            )
            let instant = Instant(milliseconds: TestServer.start)
            let period = Period(
                id: "1000000042",
                transactionID: "1000000042",
                product: "com.example.app.reader",
                kind: .unstated,
                start: instant,
                token: token.uuidString.lowercased()
            )
            _ = try await server.tollgate.store.submit(
                JournalItem(
                    dedupeKey: RowKey("test", "receipt"),
                    subject: RecordStore.subject(of: key),
                    kind: .fetched,
                    stated: instant,
                    content: .facts([
                        Fact(
                            purchase: key,
                            source: "receipt",
                            stated: Stated(instant),
                            statement: .period(period)
                        )
                    ])
                )
            )
            await server.clock.advance(to: server.clock.now + 5000 * 86_400_000)
            #expect(try await server.access(of: id) == ["archive": "payment"])
            let path = "/v1/customers/\(id)/free_subscriptions"
            let known = try await server.post(path, "{\"product\":\"reader\"}")
            #expect(known.status == 200 && known.json["since"].integer == TestServer.start)
            let removed = try await server.send(.delete, path + "?product=reader")
            #expect(removed.status == 200)
            #expect(try await server.access(of: id).isEmpty)
            let explained = try await server.get(
                "/v1/customers/\(id)/explain?lookup_key=archive"
            )
            #expect(explained.json["facts"].array?.last?["kind"].string == "free_subscription")
        }
    }

    @Test("Only free subscriptions, and only one's own")
    func refused() async throws {
        try await TestServer.run { server in
            let id = try await server.customer()
            let other = try await server.session(of: server.customer("user-2"))
            let path = "/v1/customers/\(id)/free_subscriptions"
            let paid = try await server.post(path, "{\"product\":\"pro_monthly\"}")
            #expect(paid.status == 400 && paid.code == "parameter_invalid")
            let unknown = try await server.post(path, "{\"product\":\"nothing\"}")
            #expect(unknown.status == 404)
            let foreign = try await server.post(path, as: other, "{\"product\":\"reader\"}")
            #expect(foreign.status == 404)
            let unnamed = try await server.send(.delete, path)
            #expect(unnamed.status == 400 && unnamed.code == "parameter_missing")
        }
    }
}
