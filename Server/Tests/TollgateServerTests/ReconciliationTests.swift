import AppStoreAPI
import AppStoreConnector
import AppStoreSimulator
import Foundation
import SandboxClock
import Storage
import Stores
import Testing
import TollgateAPI
import TollgateAssembly
import TollgateCore
import TollgateService
import TollgateSimulation

@Suite("Reconciling with the App Store")
struct ReconciliationTests {
    /// A month in which many buy, cancel, are refunded, and fail to pay.
    struct Crowd {
        var customers: [(id: String, buyer: String)] = []
        var subscriptions: [String: String] = [:]
        var coins: [String: Int64] = [:]

        static func live(in world: AppStoreWorld, count: Int = 24) async throws -> Crowd {
            var crowd = Crowd()
            for number in 0..<count {
                let customer = try await world.customer("user-\(number)")
                crowd.customers.append(customer)
                let bought = try await world.appStore.buy(
                    AppStoreWorld.weekly,
                    customer: customer.buyer
                )
                crowd.subscriptions[customer.id] = bought.originalTransactionID
                let coins = try await world.appStore.buy(
                    AppStoreWorld.coins,
                    customer: customer.buyer,
                    quantity: 1 + number % 3
                )
                crowd.coins[customer.id] = Int64(100 * (1 + number % 3))
                if number % 6 == 5 {
                    try await world.appStore.refund(coins.transactionID)
                    crowd.coins[customer.id] = 0
                }
            }
            await world.pass(days: 3)
            for (number, customer) in crowd.customers.enumerated() {
                guard let original = crowd.subscriptions[customer.id] else { continue }
                switch number % 6 {
                case 1: try await world.appStore.cancel(original)
                case 2: try await world.appStore.refund(original)
                case 3: try await world.appStore.failBilling(customer: customer.buyer)
                default: break
                }
            }
            await world.pass(days: 14)
            for (number, customer) in crowd.customers.enumerated() where number % 12 == 3 {
                try await world.appStore.recoverBilling(customer: customer.buyer)
            }
            await world.pass(days: 3)
            return crowd
        }

        /// Whose answer is not what the App Store says.
        func wrong(in world: AppStoreWorld) async throws -> [String] {
            var wrong: [String] = []
            for customer in customers {
                let original = try #require(subscriptions[customer.id])
                let state = try await world.appStore.subscription(original).state
                let truth = state == .active || state == .billingGrace
                if try await world.isEntitled(customer.id) != truth {
                    wrong.append("\(customer.id): \(state)")
                }
                if try await world.balance(customer.id) != coins[customer.id] {
                    wrong.append("\(customer.id): coins")
                }
            }
            return wrong
        }
    }

    @Test(
        "With a fifth of all deliveries lost, one pass brings every customer to the truth",
        arguments: Backend.allCases
    )
    func lostDeliveries(_ backend: Backend) async throws {
        var setup = AppStoreWorld.Setup()
        setup.faults.drop = 0.2
        try await AppStoreWorld.run(on: backend, setup) { world in
            let crowd = try await Crowd.live(in: world)
            #expect(try await !crowd.wrong(in: world).isEmpty)
            let now = await world.clock.now
            let report = try #require(
                try await world.tollgate.appStore.reconcile(in: .sandbox)
            )
            #expect(report.undelivered > 10)
            #expect(report.taken == report.undelivered)
            #expect(report.parked == 0 && report.foreign == 0 && report.unknown == 0)
            #expect(report.completeUntil <= now - 60_000)
            #expect(report.completeUntil > now - 180_000)
            #expect(report.completeUntil % 60_000 == 0)
            #expect(try await crowd.wrong(in: world) == [])
            #expect(try await world.isRebuilt())

            // Another pass finds nothing that is new.
            await world.pass(days: 0.01)
            let journal = try await world.count("journal")
            let again = try #require(
                try await world.tollgate.appStore.reconcile(in: .sandbox)
            )
            #expect(again.taken == 0)
            #expect(again.completeUntil > report.completeUntil)
            #expect(again.completeFrom == report.completeFrom)
            #expect(try await world.count("journal") - journal <= Int64(again.overdue))
        }
    }

    @Test(
        "Where nothing was ever announced, what looks overdue is asked about",
        arguments: Backend.allCases
    )
    func overdue(_ backend: Backend) async throws {
        try await AppStoreWorld.run(on: backend) { world in
            let crowd = try await Crowd.live(in: world, count: 6)
            await world.appStore.setNotificationURL(nil)
            for customer in crowd.customers {
                let state = try await world.appStore.subscription(
                    try #require(crowd.subscriptions[customer.id])
                ).state
                guard state == .active else { continue }
                // Somebody leaves and nobody is told.
                let original = try #require(crowd.subscriptions[customer.id])
                if customer.id == crowd.customers[0].id {
                    try await world.appStore.cancel(original)
                }
            }
            await world.pass(days: 16)
            #expect(try await !crowd.wrong(in: world).isEmpty)
            let report = try #require(
                try await world.tollgate.appStore.reconcile(in: .sandbox)
            )
            #expect(report.undelivered == 0)
            #expect(report.overdue > 0)
            #expect(report.changed > 0)
            #expect(try await crowd.wrong(in: world) == [])
            #expect(try await world.isRebuilt())
            world.calls.forget()
            await world.pass(days: 0.01)
            let again = try #require(
                try await world.tollgate.appStore.reconcile(in: .sandbox)
            )
            #expect(again.changed == 0)
            #expect(again.overdue <= 1, "what has failed for good is not asked about again")
        }
    }

    @Test("A pass that is broken off goes on where it was", arguments: Backend.allCases)
    func resumable(_ backend: Backend) async throws {
        var setup = AppStoreWorld.Setup()
        setup.faults.drop = 1
        try await AppStoreWorld.run(on: backend, setup) { world in
            _ = try await world.tollgate.appStore.reconcile(in: .sandbox)
            for number in 0..<70 {
                let customer = try await world.customer("user-\(number)")
                _ = try await world.appStore.buy(
                    AppStoreWorld.lifetime,
                    customer: customer.buyer
                )
            }
            await world.pass(days: 0.1)
            // Three attempts at the third page fail.
            world.calls.forget()
            world.calls.fail([2, 3, 4])
            await #expect(throws: AppStore.ServerAPIError.self) {
                _ = try await world.tollgate.appStore.reconcile(in: .sandbox)
            }
            world.calls.fail([])
            world.calls.forget()
            await world.pass(days: 0.1)
            let now = await world.clock.now
            let report = try #require(
                try await world.tollgate.appStore.reconcile(in: .sandbox)
            )
            #expect(report.undelivered == 70 && report.taken == 70 && report.delivered == 0)
            // 70 notifications are 4 pages, of which two were read before.
            #expect(world.calls.all.prefix(2).allSatisfy { $0.contains("paginationToken=") })
            // What was sent since it was broken off is read too.
            #expect(world.calls.all.count == 3)
            #expect(report.completeUntil > now - 180_000)
        }
    }

    @Test("Asked for everything, it reads every customer's purchases, a slice at a time")
    func slices() async throws {
        try await AppStoreWorld.run { world in
            // Nothing is announced: only purchases that somebody shows are known.
            await world.appStore.setNotificationURL(nil)
            for number in 0..<5 {
                let customer = try await world.customer("user-\(number)")
                let shown = try await world.appStore.buy(
                    AppStoreWorld.weekly,
                    customer: customer.buyer
                )
                _ = try await world.tollgate.appStore.devices.receive(
                    .init(signedTransaction: shown.jws, mode: .observed),
                    from: Customer.ID(customer.id)
                )
                _ = try await world.appStore.buy(
                    AppStoreWorld.coins,
                    customer: customer.buyer,
                    quantity: 2
                )
            }
            let first = try #require(
                try await world.tollgate.appStore.reconcile(in: .sandbox, slice: 0)
            )
            #expect(first.histories == 1 && first.historiesChanged == 1)
            #expect(first.historiesAsOf == nil, "not everybody was asked about")
            // While there is more to be read, the next pass is not waited for.
            for _ in 0..<10 { await world.tollgate.appStore.reconcileIfDue(every: 900) }
            for number in 0..<5 {
                let id = try await world.tollgate.directory.customer("user-\(number)").id
                #expect(try await world.balance(id) == 200)
            }
            let last = try #require(try await world.tollgate.appStore.reconcile(in: .sandbox))
            #expect(last.historiesAsOf == AppStoreWorld.start && last.histories == 0)
            world.calls.forget()
            let whole = try #require(
                try await world.tollgate.appStore.reconcile(in: .sandbox, reach: .everything)
            )
            #expect(whole.histories == 5 && whole.historiesChanged == 0)
            let asked = world.calls.all.count { $0.contains("/v2/history/") }
            #expect(asked == 5, "one question answers for all that a customer bought")
            #expect(try await world.isRebuilt())
        }
    }

    @Test("Begun with --since, what was sold before by another system is left to it")
    func since() async throws {
        var setup = AppStoreWorld.Setup()
        setup.faults.drop = 1
        try await AppStoreWorld.run(on: .sqlite, setup) { world in
            let customer = try await world.customer("user")
            _ = try await world.appStore.buy(AppStoreWorld.coins, customer: customer.buyer)
            _ = try await world.appStore.buy(AppStoreWorld.lifetime, customer: customer.buyer)
            await world.pass(days: 2)
            let moved = await world.clock.now
            await world.pass(days: 0.01)
            _ = try await world.appStore.buy(AppStoreWorld.weekly, customer: customer.buyer)
            await world.pass(days: 0.01)
            let report = try #require(
                try await world.tollgate.appStore.reconcile(in: .sandbox, reach: .since(moved))
            )
            #expect(report.notifications == 1 && report.completeFrom == moved)
            // What lasts is read whenever it was bought; coins were credited there.
            #expect(try await world.isEntitled(customer.id, "archive"))
            #expect(try await world.balance(customer.id) == 0)
            for _ in 0..<3 {
                await world.pass(days: 0.02)
                let next = try #require(try await world.tollgate.appStore.reconcile(in: .sandbox))
                #expect(next.completeFrom == moved && next.histories == 0)
            }
            #expect(try await world.balance(customer.id) == 0)
            let all = try #require(
                try await world.tollgate.appStore.reconcile(in: .sandbox, reach: .everything)
            )
            #expect(all.completeFrom < AppStoreWorld.start)
            #expect(try await world.balance(customer.id) == 100)
        }
    }

    @Test("What was lost has all read, also after a break, and once a day at most")
    func lostAndBrokenOff() async throws {
        try await AppStoreWorld.run { world in
            _ = try await world.tollgate.appStore.reconcile(in: .sandbox)
            /// Somebody buys, and somebody else is told.
            func buyUnheard(_ count: Int, _ name: String) async throws {
                world.listens.set(false)
                for number in 0..<count {
                    let customer = try await world.customer("\(name)-\(number)")
                    _ = try await world.appStore.buy(
                        AppStoreWorld.lifetime,
                        customer: customer.buyer
                    )
                }
                world.listens.set(true)
                await world.pass(days: 0.1)
            }
            try await buyUnheard(21, "first")
            world.calls.forget()
            world.calls.fail([1, 2, 3])
            await #expect(throws: AppStore.ServerAPIError.self) {
                _ = try await world.tollgate.appStore.reconcile(in: .sandbox)
            }
            world.calls.fail([])
            let first = try #require(try await world.tollgate.appStore.reconcile(in: .sandbox))
            #expect(first.taken == 21 && first.delivered == 21)
            #expect(first.histories == 21 && first.historiesChanged == 0)
            for (name, histories) in [("second", 0), ("third", 23)] {
                try await buyUnheard(1, name)
                let next = try #require(try await world.tollgate.appStore.reconcile(in: .sandbox))
                #expect(next.delivered == 1 && next.histories == histories)
                await world.pass(days: 1)
            }
        }
    }

    @Test("Where the App Store remembers less than it says, no more is called complete")
    func shorterMemory() async throws {
        var setup = AppStoreWorld.Setup()
        setup.faults.drop = 1
        try await AppStoreWorld.run(on: .sqlite, setup) { world in
            let customer = try await world.customer("user")
            let earliest = AppStoreWorld.start - 17 * AppStoreWorld.day - 1
            world.calls.setEarliest(earliest)
            _ = try await world.appStore.buy(AppStoreWorld.lifetime, customer: customer.buyer)
            await world.pass(days: 0.01)
            let report = try #require(try await world.tollgate.appStore.reconcile(in: .sandbox))
            #expect(report.completeFrom >= earliest)
            #expect(report.completeFrom < earliest + AppStoreWorld.day)
            #expect(try await world.isEntitled(customer.id))
        }
    }

    @Test("What an earlier program took for complete is read again, since there was this database")
    func earlierProgram() async throws {
        try await AppStoreWorld.run { world in
            let customer = try await world.customer("user")
            let old = """
                {"step":"done","from":1,"to":\(AppStoreWorld.start),"finished":1,"report":{
                "environment":"sandbox","undelivered":0,"taken":0,"parked":0,"foreign":0,
                "overdue":0,"changed":0,"unknown":0,"complete_until":\(AppStoreWorld.start),
                "complete_from":1}}
                """
            try await world.tollgate.store.cursors.keep(
                "reconcile/app_store/sandbox",
                Array(old.utf8),
                now: Instant(milliseconds: AppStoreWorld.start)
            )
            // Answered 200 by a server whose database is gone.
            world.listens.set(false)
            _ = try await world.appStore.buy(AppStoreWorld.coins, customer: customer.buyer)
            world.listens.set(true)
            await world.pass(days: 3)
            let report = try #require(try await world.tollgate.appStore.reconcile(in: .sandbox))
            #expect(report.taken == 1 && report.delivered == 1)
            #expect(report.completeFrom == AppStoreWorld.start)
            #expect(try await world.balance(customer.id) == 100)
        }
    }

    @Test("What was read of another app is not taken for this one's")
    func otherApp() async throws {
        try await AppStoreWorld.run { world in
            let name = "reconcile/app_store/sandbox"
            await world.pass(days: 3)
            let first = try #require(try await world.tollgate.appStore.reconcile(in: .sandbox))
            let cursors = world.tollgate.store.cursors
            let kept = try #require(try await cursors.read(name))
            let own = "\"application\":\"com.example.app\""
            let body = String(decoding: kept.body, as: UTF8.self)
            #expect(body.contains(own))
            await world.pass(days: 3)
            try await cursors.keep(
                name,
                Array(body.replacing(own, with: "\"application\":\"com.example.former\"").utf8),
                now: Instant(milliseconds: AppStoreWorld.start)
            )
            let report = try #require(try await world.tollgate.appStore.reconcile(in: .sandbox))
            // All purchases are read from the beginning, as without any place.
            #expect(report.historiesAsOf.map { $0 > first.completeUntil } == true)
        }
    }

    @Test(
        "One that was broken off too long ago proves only what the store still tells",
        arguments: Backend.allCases
    )
    func brokenOffForLong(_ backend: Backend) async throws {
        var setup = AppStoreWorld.Setup()
        setup.faults.drop = 1
        try await AppStoreWorld.run(on: backend, setup) { world in
            let first = try #require(try await world.tollgate.appStore.reconcile(in: .sandbox))
            await world.pass(days: 1)
            world.calls.forget()
            world.calls.fail([0, 1, 2])
            await #expect(throws: AppStore.ServerAPIError.self) {
                _ = try await world.tollgate.appStore.reconcile(in: .sandbox)
            }
            world.calls.fail([])
            await world.pass(days: 29.5)
            let now = await world.clock.now
            let report = try #require(try await world.tollgate.appStore.reconcile(in: .sandbox))
            #expect(report.completeFrom > first.completeUntil)
            #expect(report.completeFrom >= now - 30 * 86_400_000)
        }
    }

    @Test("Of several servers one does it", arguments: Backend.allCases)
    func leased(_ backend: Backend) async throws {
        try await AppStoreWorld.run(on: backend) { world in
            let wall = world.tollgate.clocks.wall()
            let lease = Lease(
                name: "reconcile/app_store/sandbox",
                holder: "another server",
                until: wall.advanced(by: 60_000)
            )
            #expect(try await world.tollgate.store.leases.take(lease, now: wall))
            #expect(try await world.tollgate.appStore.reconcile(in: .sandbox) == nil)
            try await world.tollgate.store.leases.release(lease)
            #expect(try await world.tollgate.appStore.reconcile(in: .sandbox) != nil)
            world.calls.forget()
            await world.tollgate.appStore.reconcileIfDue(every: 900)
            #expect(world.calls.all.isEmpty, "the last pass ended just now")
        }
    }

    @Test("A status that reaches past every known period is looked up", arguments: Backend.allCases)
    func wantedStatus(_ backend: Backend) async throws {
        try await AppStoreWorld.run(on: backend) { world in
            let customer = try await world.customer("user")
            let bought = try await world.appStore.buy(
                AppStoreWorld.weekly,
                customer: customer.buyer
            )
            var faults = SimulatedAppStore.Faults()
            faults.drop = 1
            await world.appStore.setFaults(faults)
            await world.pass(days: 9)
            #expect(try await !world.isEntitled(customer.id))
            await world.appStore.setFaults(SimulatedAppStore.Faults())
            // The notice of the renewal is lost; that of a refund of the first week says how far
            // the subscription reaches.
            try await world.appStore.refund(bought.transactionID)
            #expect(try await world.isEntitled(customer.id))
            #expect(try await world.count("wanted") == 1)
            await world.tollgate.fetchWanted()
            #expect(try await world.count("wanted") == 0)
            let list = try await world.tollgate.entitlements.active(of: customer.id)
            #expect(list.data.first?.ground == .payment)
            #expect(try await world.isRebuilt())
        }
    }

    @Test("A notification of version 1 makes us ask, and is not believed")
    func versionOne() async throws {
        var setup = AppStoreWorld.Setup()
        setup.hasSharedSecret = true
        try await AppStoreWorld.run(on: .sqlite, setup) { world in
            await world.appStore.setNotificationVersion(1)
            let customer = try await world.customer("user")
            _ = try await world.appStore.buy(AppStoreWorld.weekly, customer: customer.buyer)
            #expect(try await !world.isEntitled(customer.id))
            #expect(try await world.count("wanted") == 1)
            #expect(try await world.count("journal") == 2, "the catalog and the customer")
            await world.tollgate.fetchWanted()
            #expect(try await world.isEntitled(customer.id))
            #expect(try await world.count("wanted") == 0)

            let notification = try #require(await world.appStore.notifications().first)
            let body = try #require(notification.versionOneBody)
            let secret = await world.appStore.sharedSecret
            for (forged, status) in [
                (body.replacing(secret, with: "00"), 401),
                (body.replacing("\"password\"", with: "\"pass\""), 401),
                (body.replacing("com.example.app\"", with: "com.example.other\""), 404),
                (body.replacing("\"Sandbox\"", with: "\"PROD\""), 400),
            ] {
                await #expect {
                    _ = try await world.tollgate.appStore.receive(
                        ReceivedMessage(Array(forged.utf8))
                    )
                } throws: { Refusal(telling: $0).status == status }
            }
            #expect(try await world.count("wanted") == 0)
        }
    }
}
