import GooglePlayAPI
import Storage
import Stores
import Synchronization
import Testing
import TollgateAssembly
import TollgateCore
import TollgateService

@testable import GooglePlayConnector

/// Google counts calls and not orders: `orders.batchGet` answers for many at once.
@Suite("Orders are read together")
struct PlayOrderSweepTests {
    /// The calls about orders.
    private final class Calls: Sendable {
        private let urls = Mutex<[String]>([])

        func note(_ request: GooglePlay.HTTPRequest) { urls.withLock { $0.append(request.url) } }
        func forget() { urls.withLock { $0.removeAll() } }

        var together: Int { urls.withLock { $0.count { $0.contains("/orders:batchGet?") } } }
        func of(_ order: String, together: Bool) -> Int {
            urls.withLock { urls in
                urls.count {
                    $0.contains(order) && $0.contains("/orders:batchGet?") == together
                }
            }
        }

        var alone: Int { urls.withLock { $0.count { $0.contains("/orders/") } } }
    }

    /// Has people buy, and gives the money back without the access.
    ///
    /// - Returns: the purchase tokens.
    private static func refunded(_ count: Int, _ world: PlayWorld) async throws -> [String] {
        var tokens: [String] = []
        for number in 0..<count {
            let (_, account) = try await world.person("buyer\(number)")
            let token = try await world.buy("lifetime", for: account)
            try await world.settle()
            let order = try #require(try await world.look(token)["order_id"].string)
            try await world.act("orders/\(order)/refund", #"{"revoke":false}"#)
            tokens.append(token)
        }
        return tokens
    }

    private static func refunds(_ token: String, _ world: PlayWorld) async throws -> Int? {
        try await world.record(token)?.googlePlay?.orders.first?.value.refunds.count
    }

    @Test("The orders of ten purchases cost one call, and their refunds are found (G18)")
    func together() async throws {
        let calls = Calls()
        try await PlayWorld.run(
            intercept: { request in
                calls.note(request)
                return nil
            }
        ) { world in
            let tokens = try await Self.refunded(10, world)
            await world.wait(days: 1)
            calls.forget()
            let found = try #require(try await world.room.reconcile())
            #expect(found.orders == 10 && found.unreadable == 0)
            #expect(calls.together == 1 && calls.alone == 0)
            for token in tokens { #expect(try await Self.refunds(token, world) == 1) }
        }
    }

    @Test("An order that Google does not know fails a call for many, and keeps no refund back")
    func unknown() async throws {
        let calls = Calls()
        try await PlayWorld.run(
            intercept: { request in
                calls.note(request)
                return nil
            }
        ) { world in
            let (_, account) = try await world.person("subscriber")
            let plan = try await world.buy("pro", for: account)
            try await world.settle()
            for _ in 0..<2 {
                await world.wait(days: 31)
                try await world.settle()
            }
            let tokens = try await Self.refunded(10, world)
            // The first renewal is an order of the past.
            try await world.act("behaviour", #"{"old_orders_answer":false}"#, "PUT")
            await world.wait(days: 1)
            calls.forget()
            let found = try #require(try await world.room.reconcile())
            #expect(found.orders == 13 && found.unreadable == 1)
            // Thirteen, six and seven together; those with the unknown one alone.
            #expect(calls.together == 3 && (6...7).contains(calls.alone))
            for token in tokens { #expect(try await Self.refunds(token, world) == 1) }
            #expect(try await world.record(plan)?.googlePlay?.orders.count == 3)
        }
    }

    @Test("An order that Google never shows is asked for ever more rarely, and alone")
    func neverShown() async throws {
        let hidden = Mutex("none")
        let calls = Calls()
        try await PlayWorld.run(
            intercept: { request in
                calls.note(request)
                return request.url.contains(hidden.withLock { $0 })
                    ? PlayWorld.refusal(404, "orderNotFound") : nil
            }
        ) { world in
            for number in 0..<10 {
                let (_, account) = try await world.person("buyer\(number)")
                _ = try await world.buy("lifetime", for: account)
            }
            try await world.settle()
            let (_, account) = try await world.person("reader")
            let token = try await world.buy("lifetime", for: account)
            let order = try #require(try await world.look(token)["order_id"].string)
            hidden.withLock { $0 = "orders/\(order)" }
            try await world.settle()
            hidden.withLock { $0 = order }
            calls.forget()
            for _ in 0..<80 {
                await world.wait(days: 1.01)
                let found = try #require(try await world.room.reconcile())
                #expect(found.orders >= 10)
            }
            // After 1, 2, 4, 8, 16 and 32 days; only the first call for many failed.
            #expect(calls.of(order, together: false) == 7)
            #expect(calls.of(order, together: true) == 2)
            // It is asked for again 64 days later, and people have been told.
            let parked = try await world.server.tollgate.store.parked.page()
            #expect(parked.map(\.source) == ["order:\(order)"])
        }
    }

    /// A subscriber whose first renewal lies between two reads, while Google does not show its order.
    ///
    /// - Parameter hidden: takes the order that is to be hidden.
    /// - Returns: the purchase token, after the question about the order has ended.
    private static func skipping(
        _ world: PlayWorld,
        hide: (String) -> Void
    ) async throws -> String {
        let (_, account) = try await world.person("subscriber")
        let token = try await world.buy("pro", for: account)
        try await world.settle()
        let first = try #require(try await world.record(token)?.googlePlay?.periods.first?.order)
        hide("orders/\(first)..0")
        await world.wait(days: 62)
        try await world.settle()
        #expect(try await world.record(token)?.googlePlay?.orders.count == 2)
        #expect(try await world.waiting()["google_play_order"] == 1)
        await world.wait(days: 0.02)
        _ = await world.room.askWhatIsWanted()
        #expect(try await world.waiting()["google_play_order"] == nil)
        try await world.act("purchases/\(token)/cancel")
        try await world.settle()
        return token
    }

    @Test("A skipped renewal whose order Google shows late is found by the daily round")
    func skippedAndShownLate() async throws {
        let hidden = Mutex("none")
        try await PlayWorld.run(
            intercept: { request in
                request.url.contains(hidden.withLock { $0 })
                    ? PlayWorld.refusal(404, "orderNotFound") : nil
            }
        ) { world in
            let token = try await Self.skipping(world) { order in hidden.withLock { $0 = order } }
            hidden.withLock { $0 = "none" }
            await world.wait(days: 1)
            _ = try await world.room.reconcile()
            #expect(try await world.record(token)?.googlePlay?.orders.count == 3)
            #expect(try await world.server.tollgate.store.parked.counts().isEmpty)
        }
    }

    @Test(
        "A server that forgets its misses, as after a restart, parks a skipped renewal in time too"
    )
    func parkedByItsAge() async throws {
        let hidden = Mutex("none")
        try await PlayWorld.run(
            intercept: { request in
                request.url.contains(hidden.withLock { $0 })
                    ? PlayWorld.refusal(404, "orderNotFound") : nil
            }
        ) { world in
            _ = try await Self.skipping(world) { order in hidden.withLock { $0 = order } }
            // In a call for many, too.
            hidden.withLock { $0 = String($0.dropFirst("orders/".count)) }
            let parked = world.server.tollgate.store.parked
            await world.wait(days: 60)
            _ = try await world.room.reconcile(reach: .everything)
            #expect(try await parked.counts().isEmpty)
            await world.wait(days: 4)
            _ = try await world.room.reconcile(reach: .everything)
            #expect(try await parked.page().count == 1)
        }
    }

    @Test("Of too many missing orders the oldest is forgotten, and not all")
    func capacity() {
        let orders = MissingOrders()
        for number in 0...50_000 { orders.note("\(number)", at: Int64(number)) }
        #expect(!orders.holds("0") && orders.holds("1") && orders.holds("50000"))
    }

    @Test(
        "A skipped renewal that Google does not show for nine weeks is parked, and tried again",
        arguments: [(404, "orderNotFound"), (400, "invalid")]
    )
    func skippedAndNeverShown(_ status: Int, _ reason: String) async throws {
        let hidden = Mutex("none")
        let calls = Calls()
        try await PlayWorld.run(
            intercept: { request in
                calls.note(request)
                return request.url.contains(hidden.withLock { $0 })
                    ? PlayWorld.refusal(status, reason) : nil
            }
        ) { world in
            let token = try await Self.skipping(world) { order in hidden.withLock { $0 = order } }
            let parked = world.server.tollgate.store.parked
            let order = try #require(hidden.withLock { $0 }.split(separator: "/").last)
            // In a call for many, too.
            hidden.withLock { $0 = "\(order)" }
            calls.forget()
            for _ in 0..<63 {
                #expect(try await parked.counts().isEmpty)
                await world.wait(days: 1)
                _ = try await world.room.reconcile()
            }
            await world.wait(days: 1)
            _ = try await world.room.reconcile()
            // After 1, 2, 4, 8, 16 and 32 days.
            #expect(calls.of("\(order)", together: false) == 7)
            #expect(try await parked.page().map(\.source) == ["order:\(order)"])

            // Tried again in vain, it is parked anew.
            #expect(try await world.server.tollgate.parked.retryAll().used == 1)
            #expect(try await parked.counts().isEmpty)
            for _ in 0..<2 {
                _ = await world.room.askWhatIsWanted()
                await world.wait(days: 0.02)
            }
            #expect(try await parked.page().count == 1)

            // Then Google shows it; its refunds are looked for like any other's.
            hidden.withLock { $0 = "none" }
            #expect(try await world.server.tollgate.parked.retryAll().used == 1)
            _ = await world.room.askWhatIsWanted()
            #expect(!world.room.reads.missing.holds("\(order)"))
            #expect(try await world.record(token)?.googlePlay?.orders.count == 3)
            #expect(try await parked.counts().isEmpty)
        }
    }

    @Test("A pass that Google refuses begins the same orders again")
    func refused() async throws {
        let isRefused = Mutex(false)
        try await PlayWorld.run(
            intercept: { request in
                guard isRefused.withLock({ $0 }), request.url.contains("/orders") else {
                    return nil
                }
                return GooglePlay.HTTPResponse(status: 403)
            }
        ) { world in
            let tokens = try await Self.refunded(2, world)
            await world.wait(days: 2)
            isRefused.withLock { $0 = true }
            _ = try await world.room.reconcileIfDue()
            #expect(try await Self.refunds(tokens[0], world) == 0)
            isRefused.withLock { $0 = false }
            world.server.wall.advance(seconds: 600)
            #expect(try await world.room.reconcileIfDue())
            for token in tokens { #expect(try await Self.refunds(token, world) == 1) }
        }
    }
}
