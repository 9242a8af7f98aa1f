import AppStoreConnector
import AppStoreSimulator
import Storage
import Stores
import Testing
import TollgateAssembly
import TollgateAPI
import TollgateCore
import TollgateService
import TollgateSimulation

/// A store's answer that cannot be read, or a fault of its own over one object, may stay as it is for
/// ever, and be one of hundreds.
@Suite("Answers that cannot be read")
struct UnreadableAnswerTests {
    @Test(
        "Stripe's are asked for ever less often, none is dropped, and newer ones wait for none",
        arguments: Backend.allCases
    )
    func stripe(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let early = try await boughtCoins("early", server)
            let late = try await boughtCoins("late", server)
            // The early buyer's session is cs_test_1, and 519 more begin so.
            server.stripe.setUnreadable("cs_test_1")
            for id in ["cs_test_1"] + (1001...1519).map({ "cs_test_\($0)" }) {
                try await want(.checkoutLines, id, of: .stripe, after: 0, server.tollgate)
            }
            try await want(.checkoutLines, "cs_test_2", of: .stripe, after: 1, server.tollgate)
            func asked() -> Int {
                server.stripe.seen.count { $0.path.hasPrefix("/v1/checkout/sessions/cs_test_1") }
            }
            let context = server.tollgate.context

            #expect(try await Questions.idleTime(in: context) == .zero)
            for _ in 0..<6 { await server.tollgate.fetchWanted() }
            #expect(try await Questions.idleTime(in: context) == Clocks.longestIdleTime)
            #expect(try await server.coins(of: late) == 100)
            #expect(try await server.coins(of: early) == 0)
            #expect(asked() == 520)
            // While they wait, a server looks for their turn every five seconds.
            for _ in 0..<10 { await server.tollgate.fetchWanted() }
            #expect(asked() == 520)
            for _ in 0..<120 {
                server.wall.advance(seconds: 30)
                await server.tollgate.fetchWanted()
            }
            // In an hour each a few times more.
            #expect((4...12).contains(asked() / 520), "\(asked())")
            #expect(try await server.rowCounts()["wanted"] == 520)

            server.stripe.setUnreadable(nil)
            server.wall.advance(seconds: 600)
            for _ in 0..<6 { await server.tollgate.fetchWanted() }
            #expect(try await server.coins(of: early) == 100)
            #expect(try await server.rowCounts()["wanted"] == 0)
        }
    }

    @Test(
        "Apple's are asked for ever less often, none is dropped, and newer ones wait for none",
        arguments: Backend.allCases
    )
    func appStore(_ backend: Backend) async throws {
        try await inWorldOfHints(on: backend) { world, early, late, history in
            world.calls.setUnreadable([history, "/history/9000"])
            try await wantHistories(9_000_001...9_000_119, world)
            await world.pass(days: 0.01)
            _ = try await world.appStore.buy(AppStoreWorld.weekly, customer: late.buyer)
            #expect(try await world.count("wanted") == 121)
            func asked() -> Int { world.calls.all.count { world.calls.isUnreadable($0) } }

            for _ in 0..<2 { await world.tollgate.fetchWanted() }
            #expect(try await world.isEntitled(late.id))
            #expect(try await !world.isEntitled(early.id))
            #expect(asked() == 120)
            for _ in 0..<10 { await world.tollgate.fetchWanted() }
            #expect(asked() == 120)
            for _ in 0..<120 {
                world.wall.advance(seconds: 30)
                await world.tollgate.fetchWanted()
            }
            #expect((8...12).contains(asked() / 120), "\(asked())")
            #expect(try await world.count("wanted") == 120)

            world.calls.setUnreadable([])
            world.wall.advance(seconds: 600)
            for _ in 0..<2 { await world.tollgate.fetchWanted() }
            #expect(try await world.isEntitled(early.id))
            #expect(try await world.count("wanted") == 0)
            #expect(try await world.isRebuilt())
        }
    }

    @Test(
        "Stripe's own faults over some objects hold up no other question for longer than half a minute",
        arguments: Backend.allCases
    )
    func faultsOfStripe(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let early = try await boughtCoins("early", server)
            let late = try await boughtCoins("late", server)
            server.stripe.setFailing("cs_test_1")
            for id in ["cs_test_1"] + (1001...1019).map({ "cs_test_\($0)" }) {
                try await want(.checkoutLines, id, of: .stripe, after: 0, server.tollgate)
            }
            await server.tollgate.fetchWanted()
            try await want(.checkoutLines, "cs_test_2", of: .stripe, after: 1, server.tollgate)
            for _ in 0..<3 {
                server.wall.advance(seconds: 10)
                await server.tollgate.fetchWanted()
            }
            #expect(try await server.coins(of: late) == 100)
            func asked() -> Int {
                server.stripe.seen.count { $0.path.hasPrefix("/v1/checkout/sessions/cs_test_1") }
            }
            let before = asked()
            for _ in 0..<10 { await server.tollgate.fetchWanted() }
            #expect(asked() == before)
            for _ in 0..<240 {
                server.wall.advance(seconds: 30)
                await server.tollgate.fetchWanted()
            }
            #expect(try await server.rowCounts()["wanted"] == 20)
            // All of them were asked again, and who comes now waits for none.
            for id in ["cs_test_1"] + (1001...1019).map({ "cs_test_\($0)" }) {
                let path = "/v1/checkout/sessions/\(id)"
                #expect(server.stripe.seen.count { $0.path.hasPrefix(path) } > 3, "\(id)")
            }
            let latest = try await boughtCoins("latest", server)
            try await want(.checkoutLines, "cs_test_3", of: .stripe, after: 7200, server.tollgate)
            await server.tollgate.fetchWanted()
            #expect(try await server.coins(of: latest) == 100)

            server.stripe.setFailing(nil)
            for _ in 0..<30 {
                server.wall.advance(seconds: 30)
                await server.tollgate.fetchWanted()
            }
            #expect(try await server.coins(of: early) == 100)
            #expect(try await server.rowCounts()["wanted"] == 0)
        }
    }

    @Test(
        "What Apple does not find and says to ask for again holds up no other question",
        arguments: Backend.allCases
    )
    func notFoundByApple(_ backend: Backend) async throws {
        try await inWorldOfHints(on: backend) { world, early, late, history in
            world.calls.refuse([history, "/history/9000"], with: 4_040_006)
            try await wantHistories(9_000_001...9_000_019, world)
            await world.tollgate.fetchWanted()
            await world.pass(days: 0.01)
            _ = try await world.appStore.buy(AppStoreWorld.weekly, customer: late.buyer)
            #expect(try await world.count("wanted") == 21)
            var seconds: Int64 = 0
            while try await !world.isEntitled(late.id), seconds < 900 {
                world.wall.advance(seconds: 10)
                seconds += 10
                await world.tollgate.fetchWanted()
            }
            #expect(seconds <= 30)
            #expect(try await !world.isEntitled(early.id))
            for _ in 0..<240 {
                world.wall.advance(seconds: 30)
                await world.tollgate.fetchWanted()
            }
            #expect(try await world.count("wanted") == 20)
            let latest = try await world.customer("latest")
            _ = try await world.appStore.buy(AppStoreWorld.weekly, customer: latest.buyer)
            await world.tollgate.fetchWanted()
            #expect(try await world.isEntitled(latest.id))

            world.calls.refuse([], with: 0)
            for _ in 0..<30 {
                world.wall.advance(seconds: 30)
                await world.tollgate.fetchWanted()
            }
            #expect(try await world.isEntitled(early.id))
            #expect(try await world.count("wanted") == 0)
            #expect(try await world.isRebuilt())
        }
    }

    @Test("After an internal error of Apple's (5000000) a question stays, and is asked again")
    func internalErrorOfApple() async throws {
        try await inWorldOfHints(on: .sqlite) { world, early, _, history in
            world.calls.refuse([history], with: 5_000_000)
            await world.tollgate.fetchWanted()
            let isEntitled = try await world.isEntitled(early.id)
            #expect(!isEntitled)
            #expect(try await world.count("wanted") == 1)

            world.calls.refuse([], with: 0)
            world.wall.advance(seconds: 600)
            await world.tollgate.fetchWanted()
            #expect(try await world.isEntitled(early.id))
            #expect(try await world.count("wanted") == 0)
        }
    }

    @Test("An answer about consumption that Apple takes with an internal error is sent again")
    func internalErrorOverConsumption() async throws {
        try await AppStoreWorld.run { world in
            let customer = try await world.customer("user")
            var consent = API.CreateCustomerRequest(appUserID: "user")
            consent.consumptionConsent = true
            _ = try await world.tollgate.customers.create(consent)
            let coins = try await world.appStore.buy(AppStoreWorld.coins, customer: customer.buyer)
            try await world.appStore.requestRefund(coins.transactionID)
            world.calls.refuse(["/consumption/"], with: 5_000_000)
            await world.tollgate.fetchWanted()
            #expect(try await world.count("wanted") == 1)

            world.calls.refuse([], with: 0)
            world.wall.advance(seconds: 11)
            await world.tollgate.fetchWanted()
            #expect(await world.appStore.consumptionAnswers().count == 1)
            #expect(try await world.count("wanted") == 0)
        }
    }

    @Test("A purchase over which Apple fails in a full read is asked about by itself")
    func internalErrorInAFullRead() async throws {
        try await AppStoreWorld.run { world in
            // Nothing is announced: only purchases that somebody shows are known.
            await world.appStore.setNotificationURL(nil)
            var failing = ""
            var ids: [String] = []
            for user in ["failing", "other"] {
                let customer = try await world.customer(user)
                let plan = try await world.appStore.buy(
                    AppStoreWorld.weekly,
                    customer: customer.buyer
                )
                try await world.show(plan.transactionID, .observed, by: customer.id)
                _ = try await world.appStore.buy(AppStoreWorld.lifetime, customer: customer.buyer)
                if user == "failing" { failing = "/history/\(plan.originalTransactionID)?" }
                ids.append(customer.id)
            }
            world.calls.refuse([failing], with: 5_000_000)
            let report = try #require(try await world.tollgate.appStore.reconcile(in: .sandbox))
            #expect(report.histories == 2 && report.historiesChanged == 1 && report.unknown == 0)
            #expect(try await !world.isEntitled(ids[0], "archive"))
            #expect(try await world.isEntitled(ids[1], "archive"))
            #expect(try await world.count("wanted") == 1)

            world.calls.refuse([], with: 0)
            await world.tollgate.fetchWanted()
            #expect(try await world.isEntitled(ids[0], "archive"))
            #expect(try await world.count("wanted") == 0)
            #expect(try await world.isRebuilt())
        }
    }

    @Test(
        "A read to which Apple gives no answer for ever holds up the others for ten seconds",
        arguments: Backend.allCases
    )
    func silence(_ backend: Backend) async throws {
        try await inWorldOfHints(on: backend) { world, early, late, history in
            world.calls.setSilent(history)
            await world.pass(days: 0.01)
            _ = try await world.appStore.buy(AppStoreWorld.weekly, customer: late.buyer)
            await world.tollgate.fetchWanted()
            #expect(try await !world.isEntitled(late.id))
            world.wall.advance(seconds: 10)
            await world.tollgate.fetchWanted()
            #expect(try await world.isEntitled(late.id))
            #expect(try await !world.isEntitled(early.id))

            world.calls.setSilent(nil)
            world.wall.advance(seconds: 20)
            await world.tollgate.fetchWanted()
            #expect(try await world.isEntitled(early.id))
            #expect(try await world.count("wanted") == 0)
        }
    }

    private typealias Buyer = (id: String, buyer: String)

    /// Notifications of version 1 are hints: each raises a question.
    ///
    /// An early customer has bought, a late one has not; `test` is told where the early one's
    /// history is.
    private func inWorldOfHints(
        on backend: Backend,
        _ test:
            @Sendable (
                _ world: AppStoreWorld, _ early: Buyer, _ late: Buyer, _ history: String
            ) async throws -> Void
    ) async throws {
        var setup = AppStoreWorld.Setup()
        setup.hasSharedSecret = true
        try await AppStoreWorld.run(on: backend, setup) { world in
            await world.appStore.setNotificationVersion(1)
            let early = try await world.customer("early")
            let late = try await world.customer("late")
            let bought = try await world.appStore.buy(
                AppStoreWorld.weekly,
                customer: early.buyer
            )
            try await test(world, early, late, "/history/\(bought.transactionID)?")
        }
    }

    /// A customer who paid for a hundred coins, of which no message tells.
    private func boughtCoins(_ user: String, _ server: TestServer) async throws -> String {
        let id = try await server.customer(user)
        let checkout = try await server.post(
            "/v1/checkout_sessions",
            "{\"customer\":\"\(id)\",\"product\":\"coins_100\"}"
        )
        server.stripe.pay(try #require(checkout.json["id"].string))
        return id
    }

    private func wantHistories(_ ids: ClosedRange<Int>, _ world: AppStoreWorld) async throws {
        for id in ids {
            try await want(
                .transactionHistory,
                "\(id)",
                of: .appStore,
                after: 0,
                world.tollgate
            )
        }
    }

    private func want(
        _ kind: Wanted.Kind,
        _ object: String,
        of store: Store,
        after seconds: Int64,
        _ tollgate: Tollgate
    ) async throws {
        let key = Purchase.Key(
            store: store,
            environment: .sandbox,
            application: store == .stripe ? "-" : TestServer.bundleID,
            id: object
        )
        try await tollgate.store.questions.want(
            Wanted(kind: kind, object: object),
            about: key,
            at: Instant(milliseconds: TestServer.start + seconds * 1000)
        )
    }
}

extension TestServer {
    fileprivate func coins(of customer: String) async throws -> Int64? {
        try await get("/v1/customers/\(customer)/coins").json["balance"].integer
    }
}
