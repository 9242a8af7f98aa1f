import Foundation
import Stores
import Testing
import TollgateAssembly
import TollgateCore
import TollgateService
import TollgateSimulation

@Suite("Importing from RevenueCat: Google Play")
struct RevenueCatPlayTests {
    @Test("Order ids lead to what is owned, by any order of a plan, without coins")
    func orders() async throws {
        try await PlayWorld.run { world in
            let account = try await Self.account(world)
            let plan = try await world.buy("pro", for: account, #","base_plan_id":"monthly""#)
            let lifetime = try await world.buy("lifetime", for: account)
            let coins = try await world.buy("coins100", for: account)
            // RevenueCat's SDK did so at once.
            for token in [plan, lifetime, coins] {
                try await world.act("purchases/\(token)/acknowledge")
            }
            let first = try #require(try await world.look(plan)["order_id"].string)
            let renewed = try await Self.renewal(of: plan, world)
            let other = try #require(try await world.look(lifetime)["order_id"].string)
            let pack = try #require(try await world.look(coins)["order_id"].string)
            var file = RevenueCatFile(origin: TestServer.start)
            file.add("pro:monthly", first, of: "ben", store: "play_store", ends: 30)
            file.add(
                "pro:monthly",
                renewed,
                of: "ben",
                original: first,
                store: "play_store",
                starts: 30,
                ends: 60
            )
            file.add("lifetime", other, of: "ben", store: "play_store", ends: nil)
            file.add("coins100", pack, of: "ben", store: "play_store", ends: nil, unlocks: [])
            let tollgate = world.server.tollgate
            let report = try #require(try await file.bringIn(to: tollgate))
            #expect(report.purchases == 2 && report.consumables == 1)
            #expect(report.unmatched.isEmpty && report.differences.isEmpty)
            #expect(try await world.entitlements(of: "ben") == ["archive", "pro"])
            #expect(try await world.coins(of: "ben") == 0)
            let rows = try await world.server.rowCounts()["journal"]
            let again = try #require(try await file.bringIn(to: tollgate))
            #expect(again.purchases == 2 && again.new == 0)
            #expect(try await world.server.rowCounts()["journal"] == rows)
        }
    }

    @Test("An order that Google does not know is named, unless the plan ended long ago")
    func unknownOrders() async throws {
        try await PlayWorld.run { world in
            await world.wait(days: 100)
            var file = RevenueCatFile(origin: TestServer.start)
            for (order, user, end) in [
                ("GPA.1111-1111-1111-11111", "old", 30.0), ("GPA.2222-2222-2222-22222", "new", 200),
                ("4e2c1d", "promo", 200),
            ] {
                file.add("pro:monthly", order, of: user, store: "play_store", ends: end)
            }
            // Google could not charge it: by its way of saying so it ends before it begins.
            file.add(
                "pro:monthly",
                "GPA.3333-3333-3333-33333",
                of: "unpaid",
                store: "play_store",
                starts: 10,
                ends: 9
            )
            let report = try #require(try await file.bringIn(to: world.server.tollgate))
            #expect(report.ended == 2 && report.purchases == 0)
            #expect(report.unmatched.map(\.line) == [3, 4])
            #expect(report.unmatched[1].reason.contains("no order id"))
            #expect(report.differences.map(\.appUserID) == ["new", "promo"])
        }
    }

    /// An account that no customer's token names, as apps of before made them.
    private static func account(_ world: PlayWorld) async throws -> String {
        let account = try await world.act("accounts", #"{"payment":"approves","region":"US"}"#)
        return try #require(account["id"].string)
    }

    /// Lets a plan renew; returns the id of the renewal's order.
    private static func renewal(of plan: String, _ world: PlayWorld) async throws -> String {
        await world.wait(days: 32)
        let orders = try #require(try await world.look(plan)["orders"].array)
        #expect(orders.count == 2)
        return try #require(orders.compactMap(\.string).last)
    }
}
