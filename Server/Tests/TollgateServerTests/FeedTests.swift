import AppStoreSimulator
import Foundation
import HTTPTypes
import SandboxClock
import Storage
import Testing
import TollgateService
import TollgateSimulation

@Suite("The feed")
struct FeedTests {
    private static func types(_ answer: Answer) -> [String?] {
        (answer.json["data"].array ?? []).map { $0["type"].string }
    }

    @Test(
        "Every change is told with the whole answer, lapses by time alone included",
        arguments: Backend.allCases
    )
    func story(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            await server.tollgate.events.publish()
            let buyer = try await Buyer(server)
            _ = try await buyer.buys("com.example.app.pass30")
            #expect(Self.types(try await server.get("/v1/events")).isEmpty, "not before its place")
            await server.tollgate.events.publish()
            let first = try await server.get("/v1/events")
            #expect(Self.types(first) == ["entitlements.changed"])
            let event = first.json["data"][0]
            #expect(event["customer"].string == buyer.id)
            #expect(event["environment"].string == "sandbox")
            #expect(event["entitlements"][0]["lookup_key"].string == "pro")
            let until = TestServer.start + 30 * 86_400_000
            #expect(event["entitlements"][0]["until"].integer == until)

            _ = try await buyer.buys("com.example.app.coins100")
            await server.clock.advance(to: until + 5)
            for _ in 0..<3 { await server.tollgate.events.publish() }
            let id = try #require(event["id"].string)
            let rest = try await server.get("/v1/events?starting_after=\(id)&limit=1")
            #expect(Self.types(rest) == ["coins.changed"])
            #expect(rest.json["has_more"].bool == true)
            #expect(rest.json["data"][0]["coins"]["balance"].integer == 100)
            let next = try #require(rest.json["data"][0]["id"].string)
            let lapse = try await server.get("/v1/events?starting_after=\(next)")
            #expect(Self.types(lapse) == ["entitlements.changed"])
            #expect(lapse.json["has_more"].bool == false)
            #expect(lapse.json["data"][0]["entitlements"] == .array([]))
            #expect(lapse.json["data"][0]["created"].integer == until + 5)

            _ = try await server.send(.delete, "/v1/customers/\(buyer.id)")
            await server.tollgate.events.publish()
            let all = try await server.get("/v1/events?limit=100")
            #expect(Set(Self.types(all).suffix(2)) == ["customer.erased"])
            let scratch = try await Backend.sqlite.open()
            let report = try await Rebuild(of: server.tollgate.store.driver, into: scratch)
                .verify()
            #expect(report.isIdentical, "\(report.differences)")
            await scratch.close()
        }
    }

    @Test("News of the past are followed by what lapsed since, and a renewal is no lapse")
    func lateNews() async throws {
        try await TestServer.run { server in
            await server.tollgate.events.publish()
            let buyer = try await Buyer(server)
            let bought = try await server.appStore.buy(
                "com.example.app.pass30",
                customer: buyer.account,
                appAccountToken: buyer.token
            )
            #expect(bought.transactionID.isEmpty == false)
            await server.clock.advance(to: TestServer.start + 40 * 86_400_000)
            await server.tollgate.events.publish()
            try await server.deliverNotifications()
            for _ in 0..<2 { await server.tollgate.events.publish() }
            let late = try await server.get("/v1/events?limit=100")
            let counts = (late.json["data"].array ?? []).map {
                $0["entitlements"].array?.count
            }
            #expect(counts == [1, 0])
            // A subscription that renews in time changes its end, and never lapses.
            let other = try await Buyer(server, "user-2")
            _ = try await other.buys(ProductTypeTests.monthly)
            for _ in 0..<4 {
                try await server.pass(days: 20)
                await server.tollgate.events.publish()
            }
            let events = try await server.get("/v1/events?limit=100")
            let theirs = (events.json["data"].array ?? []).filter {
                $0["customer"].string == other.id
            }
            #expect(theirs.count >= 3)
            #expect(theirs.allSatisfy { $0["entitlements"].array?.count == 1 })
        }
    }

    @Test(
        "A question that makes no sense is refused",
        arguments: [
            "starting_after=evt_x_y", "starting_after=1", "limit=0", "limit=101", "limit=x",
        ]
    )
    func refused(_ query: String) async throws {
        try await TestServer.run { server in
            let answer = try await server.get("/v1/events?\(query)")
            #expect(answer.status == 400 && answer.code == "parameter_invalid")
            let session = try await server.session(of: server.customer())
            #expect(try await server.get("/v1/events", as: session).status == 403)
        }
    }
}
