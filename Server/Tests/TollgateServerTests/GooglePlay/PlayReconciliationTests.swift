import Foundation
import GooglePlayAPI
import HTTPTypes
import NIOCore
import NIOHTTP1
import Reports
import SandboxClock
import Storage
import Stores
import Synchronization
import Testing
import TollgateCore
import TollgateService
import TollgateSimulation

@testable import GooglePlayConnector

/// What hints did not tell is found.
@Suite("What Google Play did not tell")
struct PlayReconciliationTests {
    @Test("G3: a renewal of which no hint comes is found after its period's end")
    func renewal() async throws {
        try await PlayWorld.run { world in
            let (id, account) = try await world.person()
            let token = try await world.buy("pro", for: account)
            try await world.settle()
            try await world.act("faults", #"{"lost":1}"#, "PUT")
            await world.wait(days: 30.5)
            // The renewal window keeps it open until it is read.
            #expect(try await world.entitlements(of: id) == ["pro"])
            #expect(try await world.room.reconcileIfDue())
            try await world.settle()
            let periods = try await world.record(token)?.googlePlay?.periods.count
            #expect(periods == 2)
            await world.wait(days: 20)
            #expect(try await world.entitlements(of: id) == ["pro"])
            // What has no news is not read every minute.
            let found = try #require(try await world.room.reconcile())
            #expect(found.overdue == 0)
        }
    }

    @Test(
        "G27: nobody who pays is locked out while Google refuses every call, or fails, for days",
        arguments: [401, 403, 429, 503]
    )
    func longOutage(status: Int) async throws {
        try await PlayWorld.run { world in
            let (anna, annas) = try await world.person("anna")
            let (ben, bens) = try await world.person("ben")
            let (carl, carls) = try await world.person("carl")
            let renewed = try await world.buy("pro", for: annas)
            let declined = try await world.buy("pro", for: bens)
            let canceled = try await world.buy("pro", for: carls)
            try await world.settle()
            try await world.act("purchases/\(canceled)/cancel")
            try await world.settle()
            await world.wait(days: 29)
            try await world.act("faults", #"{"api_status":\#(status)}"#, "PUT")
            try await world.act("purchases/\(declined)/cancel")
            let before = try await world.rows(of: renewed)
            // Seven days and a half, and a look each quarter of a day; the plan ended on the second.
            for _ in 0..<30 {
                await world.wait(days: 0.25)
                _ = try await world.room.reconcileIfDue()
                #expect(try await world.entitlements(of: anna) == ["pro"])
            }
            // Nobody knows that Ben canceled in the outage; what was canceled before has ended.
            #expect(try await world.entitlements(of: ben) == ["pro"])
            #expect(try await world.entitlements(of: carl).isEmpty)
            // A note for each half of the renewal window, not for each look.
            let notes = try await world.rows(of: renewed) - before
            #expect((10...14).contains(notes))
            try await world.act("faults", "{}", "PUT")
            world.server.wall.advance(seconds: 7_200)
            _ = try await world.room.reconcileIfDue()
            try await world.settle()
            #expect(try await world.entitlements(of: anna) == ["pro"])
            #expect(try await world.record(renewed)?.googlePlay?.periods.count == 2)
            #expect(try await world.entitlements(of: ben).isEmpty)
        }
    }

    @Test("G27: an outage without end keeps nobody in for longer than eight days")
    func outageWithoutEnd() async throws {
        try await PlayWorld.run { world in
            let (id, account) = try await world.person()
            _ = try await world.buy("pro", for: account)
            try await world.settle()
            await world.wait(days: 29)
            try await world.act("faults", #"{"api_status":403}"#, "PUT")
            var last = 0.0
            for look in 1...48 {
                await world.wait(days: 0.25)
                _ = try await world.room.reconcileIfDue()
                if try await world.entitlements(of: id) == ["pro"] { last = Double(look) / 4 }
            }
            // June has thirty days: the period ends a day after the outage has begun.
            #expect((8.5...9).contains(last))
        }
    }

    @Test("G3: a renewal that Google still tries is confirmed, and keeps its access")
    func confirmed() async throws {
        try await PlayWorld.run { world in
            let (id, account) = try await world.person()
            // Without a grace period Google stays silent for a day.
            let token = try await world.buy("pro_year", for: account)
            try await world.settle()
            try await world.act("accounts/\(account)", #"{"payment":"declines"}"#)
            try await world.act("faults", #"{"lost":1}"#, "PUT")
            await world.wait(days: 365.6)
            let before = try await world.rows(of: token)
            _ = try await world.room.reconcileIfDue()
            #expect(try await world.rows(of: token) == before + 1)
            _ = try await world.room.reconcileIfDue()
            #expect(try await world.rows(of: token) == before + 1)
            #expect(try await world.entitlements(of: id) == ["archive", "pro"])
            await world.wait(days: 1)
            _ = try await world.room.reconcileIfDue()
            #expect(try await world.entitlements(of: id).isEmpty)
        }
    }

    @Test("G27: an answer of a proxy's, or one that nobody can read, locks nobody out either")
    func unreadableAnswers() async throws {
        let page = GooglePlay.HTTPResponse(status: 200, body: Array("<html>Sign in</html>".utf8))
        let isBehindProxy = Mutex(false)
        try await PlayWorld.run(
            intercept: { _ in isBehindProxy.withLock { $0 } ? page : nil }
        ) { world in
            let (id, account) = try await world.person()
            let token = try await world.buy("pro", for: account)
            try await world.settle()
            await world.wait(days: 29)
            isBehindProxy.withLock { $0 = true }
            for _ in 0..<12 {
                await world.wait(days: 0.5)
                _ = try await world.room.reconcileIfDue()
                #expect(try await world.entitlements(of: id) == ["pro"])
            }
            isBehindProxy.withLock { $0 = false }
            await world.wait(days: 0.3)
            _ = try await world.room.reconcileIfDue()
            try await world.settle()
            #expect(try await world.record(token)?.googlePlay?.periods.count == 2)
        }
    }

    @Test("G3: an app that Google does not let us read keeps no other app's renewals back")
    func otherApp() async throws {
        try await PlayWorld.run(foreign: ["com.example.other"]) { world in
            let (_, account) = try await world.person()
            let token = try await world.buy("pro", for: account)
            try await world.settle()
            try await world.act("faults", #"{"lost":1}"#, "PUT")
            await world.wait(days: 30.5)
            #expect(try await world.room.reconcileIfDue() == false)
            try await world.settle()
            #expect(try await world.record(token)?.googlePlay?.periods.count == 2)
        }
    }

    @Test("G3: overdue purchases and orders are read though the voided list is refused")
    func voidedListRefused() async throws {
        try await PlayWorld.run(
            intercept: { request in
                request.url.contains("/voidedpurchases")
                    ? PlayWorld.refusal(500, "backendError") : nil
            }
        ) { world in
            let (_, account) = try await world.person()
            let token = try await world.buy("lifetime", for: account)
            try await world.settle()
            let order = try #require(try await world.look(token)["order_id"].string)
            try await world.act("orders/\(order)/refund", #"{"revoke":false}"#)
            await world.wait(days: 2)
            #expect(try await world.room.reconcileIfDue() == false)
            let record = try #require(try await world.record(token))
            #expect(record.googlePlay?.orders.first?.value.refunds.count == 1)
        }
    }

    @Test("G23: a pause that ended early, of which no hint came, is found within a day")
    func resumedEarly() async throws {
        try await PlayWorld.run { world in
            let (id, account) = try await world.person()
            let token = try await world.buy("pro", for: account)
            try await world.act("purchases/\(token)/pause", #"{"length":"P3M"}"#)
            try await world.settle()
            await world.wait(days: 32)
            try await world.settle()
            #expect(try await world.entitlements(of: id).isEmpty)
            try await world.act("faults", #"{"lost":1}"#, "PUT")
            try await world.act("purchases/\(token)/resume")
            await world.wait(days: 2)
            #expect(try await world.room.reconcileIfDue())
            #expect(try await world.entitlements(of: id) == ["pro"])
        }
    }

    @Test(
        "G23: a pause that ends at its stated time, of which no hint comes, is found minutes later"
    )
    func resumedByItself() async throws {
        try await PlayWorld.run { world in
            let (id, account) = try await world.person()
            let token = try await world.buy("pro", for: account)
            try await world.act("purchases/\(token)/pause", #"{"length":"P1M"}"#)
            try await world.settle()
            await world.wait(days: 32)
            try await world.settle()
            #expect(try await world.entitlements(of: id).isEmpty)
            try await world.act("faults", #"{"lost":1}"#, "PUT")
            let record = try await world.record(token)
            let resumes = try #require(record?.googlePlay?.subscription?.value.resumes)
            // Each pass after less than ten minutes of real time, so that none of them reads everything.
            func look(minutes: Int64) async throws -> [String] {
                let now = resumes.advanced(by: minutes * 60_000)
                await world.server.clock.advance(to: now.milliseconds)
                world.server.wall.advance(seconds: 60)
                #expect(try await world.room.reconcileIfDue())
                return try await world.entitlements(of: id)
            }
            // A daily look shortly before.
            #expect(try await look(minutes: -10) == [])
            #expect(try await look(minutes: 6) == ["pro"])
        }
    }

    @Test("G21: a hold that ends after days, of which no hint comes, is found within six hours")
    func recovered() async throws {
        try await PlayWorld.run { world in
            let (id, account) = try await world.person()
            let token = try await world.buy("pro_year", for: account)
            try await world.settle()
            try await world.act("accounts/\(account)", #"{"payment":"declines"}"#)
            for _ in 0..<4 {
                await world.wait(days: 97)
                try await world.settle()
            }
            #expect(
                try await world.record(token)?.googlePlay?.subscription?.value.state == "ON_HOLD"
            )
            #expect(try await world.room.reconcileIfDue())
            try await world.act("faults", #"{"lost":1}"#, "PUT")
            try await world.act("accounts/\(account)", #"{"payment":"approves"}"#)
            #expect(try await world.entitlements(of: id).isEmpty)
            let clock = world.server.clock
            for (hours, entitlements) in [(5, []), (1, ["archive", "pro"])] as [(Int64, [String])] {
                await clock.advance(to: await clock.now + hours * 3_600_000)
                world.server.wall.advance(seconds: 60)
                #expect(try await world.room.reconcileIfDue())
                #expect(try await world.entitlements(of: id) == entitlements)
            }
        }
    }

    @Test("G23: a plan whose daily look failed is read as soon as Google answers again")
    func lookThatFailed() async throws {
        try await PlayWorld.run { world in
            let (id, account) = try await world.person()
            let token = try await world.buy("pro", for: account)
            try await world.act("purchases/\(token)/pause", #"{"length":"P3M"}"#)
            try await world.settle()
            await world.wait(days: 32)
            try await world.settle()
            try await world.act("faults", #"{"lost":1}"#, "PUT")
            try await world.act("purchases/\(token)/resume")
            await world.wait(days: 2)
            try await world.act("faults", #"{"api_status":503}"#, "PUT")
            #expect(try await world.room.reconcileIfDue() == false)
            #expect(try await world.entitlements(of: id).isEmpty)
            try await world.act("faults", "{}", "PUT")
            world.server.wall.advance(seconds: 200)
            #expect(try await world.room.reconcileIfDue())
            #expect(try await world.entitlements(of: id) == ["pro"])
        }
    }

    @Test(
        "G11: a pending purchase of whose payment no hint comes is read within hours, and acknowledged",
        arguments: [
            ("lifetime", "one_time", ["archive", "pro"]), ("pro", "subscription", ["pro"]),
        ]
            as [(String, String, [String])]
    )
    func pending(_ product: String, _ kind: String, _ entitlements: [String]) async throws {
        try await PlayWorld.run { world in
            let (id, account) = try await world.person(payment: "cash")
            let token = try await world.buy(product, for: account)
            // No hint tells of a pending purchase: its device does.
            let posted = try await world.server.post(
                "/v1/google_play/purchases",
                as: try await world.server.session(of: id),
                #"{"purchase_token":"\#(token)","kind":"\#(kind)","mode":"purchased"}"#
            )
            #expect(posted.status == 200)
            try await world.act("faults", #"{"lost":1}"#, "PUT")
            await world.wait(days: 0.3)
            // Nothing is paid yet, and it is not asked for every minute.
            #expect(try await world.room.reconcileIfDue())
            try await world.act("purchases/\(token)/pay")
            // No gap in real time, after which everything would be read.
            let clock = world.server.clock
            await clock.advance(to: await clock.now + PlayWorld.day / 10)
            #expect(try await world.room.reconcileIfDue())
            try await world.settle()
            #expect(try await world.entitlements(of: id).isEmpty)
            await world.wait(days: 0.2)
            #expect(try await world.room.reconcileIfDue())
            try await world.settle()
            #expect(try await world.entitlements(of: id) == entitlements)
            #expect(try await world.look(token)["acknowledged"].bool == true)
        }
    }

    @Test("G4: all hints of eight days are lost: tokens, the voided list and orders heal it")
    func eightDays() async throws {
        try await PlayWorld.run { world in
            let (anna, annas) = try await world.person("anna")
            let (ben, bens) = try await world.person("ben")
            let (carl, carls) = try await world.person("carl")
            let ends = try await world.buy("pro", for: annas)
            let coins = try await world.buy("coins100", for: bens)
            let revoked = try await world.buy("lifetime", for: carls)
            try await world.settle()
            try await world.act("purchases/\(ends)/cancel")
            try await world.settle()
            await world.wait(days: 28)
            try await world.act("faults", #"{"lost":1}"#, "PUT")
            // Restored, then it renews; the others are refunded.
            try await world.act("purchases/\(ends)/restore")
            for token in [coins, revoked] {
                let order = try #require(try await world.look(token)["order_id"].string)
                try await world.act("orders/\(order)/refund", #"{"revoke":true}"#)
            }
            await world.wait(days: 8)
            try await world.act("faults", "{}", "PUT")
            try await world.settle()
            #expect(try await world.coins(of: ben) == 100)
            let found = try #require(try await world.room.reconcile())
            try await world.settle()
            #expect(found.voidNews == 2)
            #expect(try await world.entitlements(of: anna) == ["pro"])
            #expect(try await world.coins(of: ben) == 0)
            #expect(try await world.entitlements(of: carl).isEmpty)
            // Again there is nothing new.
            let again = try #require(try await world.room.reconcile())
            #expect(again.voidNews == 0 && again.overdueNews == 0 && again.orderNews == 0)
        }
    }

    @Test(
        "G15: three voids of one purchase, of which no hint came, stand on one page and all count"
    )
    func voidsOfOnePage() async throws {
        try await PlayWorld.run { world in
            let (id, account) = try await world.person()
            let token = try await world.buy("coins100", for: account, #","quantity":10"#)
            try await world.settle()
            #expect(try await world.coins(of: id) == 1000)
            try await world.act("faults", #"{"lost":1}"#, "PUT")
            for part in [2, 3, 5] {
                await world.wait(days: 1)
                try await world.act(
                    "purchases/\(token)/refund_pieces",
                    #"{"quantity":\#(part)}"#
                )
            }
            let found = try #require(try await world.room.reconcile())
            try await world.settle()
            #expect(found.voidNews == 3)
            #expect(try await world.coins(of: id) == 0)
        }
    }

    @Test("G4: a voided purchase that Google cannot show keeps no other void and no order back")
    func unanswerableVoid() async throws {
        let broken = Mutex("")
        try await PlayWorld.run(
            intercept: { request in
                let token = broken.withLock { $0 }
                return !token.isEmpty && request.url.contains(token)
                    ? PlayWorld.refusal(500, "backendError") : nil
            }
        ) { world in
            let (id, account) = try await world.person()
            let coins = try await world.buy("coins100", for: account)
            let kept = try await world.buy("lifetime", for: account)
            try await world.settle()
            #expect(try await world.coins(of: id) == 100)
            try await world.act("faults", #"{"lost":1}"#, "PUT")
            let (_, stranger) = try await world.person("stranger")
            let unknown = try await world.buy("lifetime", for: stranger)
            broken.withLock { $0 = unknown }
            for token in [unknown, coins] {
                let order = try #require(try await world.look(token)["order_id"].string)
                try await world.act("orders/\(order)/refund", #"{"revoke":true}"#)
                await world.wait(days: 0.1)
            }
            let found = try #require(try await world.room.reconcile())
            try await world.settle()
            #expect(found.voidNews == 1 && found.orders > 0)
            #expect(try await world.coins(of: id) == 0)
            #expect(try await world.record(kept)?.googlePlay?.voids.isEmpty == true)
            // Once Google can show it, the void is found.
            broken.withLock { $0 = "" }
            await world.wait(days: 3)
            #expect(try await world.room.reconcileIfDue())
            #expect(try await world.record(unknown)?.googlePlay?.voids.count == 1)
        }
    }

    @Test("G15: many voids at one time have the list read once")
    func refundWave() async throws {
        let calls = Mutex(0)
        try await PlayWorld.run(
            intercept: { request in
                if request.url.contains("/voidedpurchases") { calls.withLock { $0 += 1 } }
                return nil
            }
        ) { world in
            let (id, account) = try await world.person()
            var tokens: [String] = []
            for _ in 0..<12 {
                tokens.append(try await world.buy("coins100", for: account))
                try await world.settle()
            }
            #expect(try await world.coins(of: id) == 1200)
            await world.wait(days: 1)
            for token in tokens {
                let order = try #require(try await world.look(token)["order_id"].string)
                try await world.act("orders/\(order)/refund", #"{"revoke":true}"#)
            }
            try await world.settle()
            #expect(try await world.coins(of: id) == 0)
            #expect(calls.withLock { $0 } == 1)
            // What came in the moment of that look has one more.
            await world.wait(days: 0.001)
            try await world.settle()
            #expect(try await world.waiting().isEmpty)
            #expect(calls.withLock { $0 } == 2)
        }
    }

    @Test("The voided list is asked for 30 times within 30 seconds at most")
    func voidedQuota() throws {
        let limit = try #require(PlayQuotas.Limits().perMinute[.voided])
        var bucket = QuotaBucket(perMinute: limit)
        var calls = 0
        for now in stride(from: Int64(0), to: 30_000, by: 100) {
            while bucket.take(now: now) { calls += 1 }
        }
        #expect((20...30).contains(calls))
    }

    @Test("G26: a voided purchase that Google does not show is asked for once a day")
    func unknownVoid() async throws {
        let unknown = Mutex("")
        let calls = Mutex(0)
        try await PlayWorld.run(
            intercept: { request in
                let token = unknown.withLock { $0 }
                if !token.isEmpty, request.url.contains(token) { calls.withLock { $0 += 1 } }
                return nil
            }
        ) { world in
            try await world.act("behaviour", #"{"refunded_product_is_gone":true}"#, "PUT")
            try await world.act("faults", #"{"lost":1}"#, "PUT")
            let (_, account) = try await world.person()
            let bought = try await world.buy("lifetime", for: account)
            unknown.withLock { $0 = bought }
            let order = try #require(try await world.look(bought)["order_id"].string)
            try await world.act("orders/\(order)/refund", #"{"revoke":true}"#)
            for _ in 0..<3 {
                let found = try #require(try await world.room.reconcile())
                #expect(found.voids == 1 && found.voidNews == 0)
                // One as a subscription, one as a product.
                #expect(calls.withLock { $0 } == 2)
                await world.wait(days: 0.1)
            }
            world.server.wall.advance(seconds: 86_400)
            _ = try await world.room.reconcile()
            #expect(calls.withLock { $0 } == 4)
        }
    }

    @Test("G4: a plan that was charged back, of which no hint came, ends before its period does")
    func chargedBackUnheard() async throws {
        try await PlayWorld.run { world in
            let (id, account) = try await world.person()
            let token = try await world.buy("pro_year", for: account)
            try await world.settle()
            #expect(try await world.entitlements(of: id) == ["archive", "pro"])
            await world.wait(days: 20)
            try await world.act("faults", #"{"lost":1}"#, "PUT")
            try await world.act("purchases/\(token)/revoke")
            await world.wait(days: 1)
            #expect(try await world.room.reconcileIfDue())
            try await world.settle()
            #expect(try await world.entitlements(of: id).isEmpty)
        }
    }

    @Test("G18: a refund without revoke leaves access, and figures show it once orders are read")
    func refundWithoutRevoke() async throws {
        try await PlayWorld.run { world in
            let (id, account) = try await world.person()
            let token = try await world.buy("lifetime", for: account)
            try await world.settle()
            let order = try #require(try await world.look(token)["order_id"].string)
            try await world.act("orders/\(order)/refund", #"{"revoke":false}"#)
            await world.wait(days: 2)
            #expect(try await world.room.reconcileIfDue())
            try await world.settle()
            #expect(try await world.entitlements(of: id) == ["archive", "pro"])
            let record = try #require(try await world.record(token))
            #expect(record.googlePlay?.orders.first?.value.refunds.count == 1)
            var rows = Reports.PurchaseRows()
            GooglePlayRows().add(
                record,
                in: world.server.tollgate.store.history,
                { _ in "buyer" },
                to: &rows
            )
            #expect(rows.sales.map(\.kind) == [.charge, .refund])
            #expect(rows.sales.map(\.amount) == [199_000, 199_000])
            #expect(rows.sales.allSatisfy { $0.currency == "USD" && $0.payment == order })
        }
    }

    @Test(
        "After ten minutes without a pass every purchase that can still change is read again",
        arguments: Backend.allCases
    )
    func gap(_ backend: Backend) async throws {
        try await PlayWorld.run(on: backend) { world in
            let (_, account) = try await world.person()
            let plan = try await world.buy("pro_year", for: account)
            let level = try await world.buy("lifetime", for: account)
            try await world.settle()
            #expect(try await world.room.reconcileIfDue())
            // What follows is told to a database that was lost, or to a server that was away.
            try await world.act("faults", #"{"lost":1}"#, "PUT")
            try await world.act("purchases/\(plan)/cancel")
            world.server.wall.advance(seconds: 540)
            #expect(try await world.room.reconcileIfDue())
            #expect(try await world.record(plan)?.googlePlay?.subscription?.value.state == "ACTIVE")
            world.server.wall.advance(seconds: 660)
            #expect(try await world.room.reconcileIfDue())
            #expect(
                try await world.record(plan)?.googlePlay?.subscription?.value.state == "CANCELED"
            )
            // By hand at any time; what is over is not asked about.
            try await world.act("purchases/\(level)/revoke")
            let all = try #require(try await world.room.reconcile(reach: .everything))
            #expect(all.purchases == 2 && all.purchasesAsOf != nil && all.voidsFrom != nil)
            let again = try #require(try await world.room.reconcile(reach: .everything))
            #expect(again.purchases == 1 && again.purchaseNews == 0)
            await world.wait(days: 400)
            let since = await world.server.clock.now - 5 * PlayWorld.day
            let later = try #require(try await world.room.reconcile(reach: .since(since)))
            #expect(later.purchases == 0)
        }
    }

    @Test(
        "G18: a part refunded in the fifth month of a yearly plan counts on its day, by its amount"
    )
    func lateRefundOfAPart() async throws {
        try await PlayWorld.run { world in
            let (_, account) = try await world.person()
            let token = try await world.buy("pro_year", for: account)
            try await world.settle()
            #expect(try await world.room.reconcileIfDue())
            await world.wait(days: 150)
            let order = try #require(try await world.look(token)["order_id"].string)
            let refunded = Instant(milliseconds: await world.server.clock.now)
            try await world.act("orders/\(order)/refund", #"{"amount_micros":12340000}"#)
            await world.wait(days: 1.5)
            #expect(try await world.room.reconcileIfDue())
            try await world.settle()
            var rows = Reports.PurchaseRows()
            GooglePlayRows().add(
                try #require(try await world.record(token)),
                in: world.server.tollgate.store.history,
                { _ in "buyer" },
                to: &rows
            )
            #expect(rows.sales.map(\.kind) == [.charge, .refund])
            #expect(rows.sales.map(\.amount) == [79_990, 12_340])
            #expect(rows.sales.last?.at == refunded)
            #expect(rows.sales.last?.purchased == rows.sales.first?.at)
            // The plan goes on: its period is what it was.
            let period = try #require(rows.periods.first)
            #expect(period.refunded == nil && period.paidUntil == period.end)
        }
    }

    @Test("One order for which Google answers 500 stops no other, and is asked again by itself")
    func oneBadOrder() async throws {
        let bad = Mutex<String?>(nil)
        try await PlayWorld.run(
            intercept: { request in
                guard let order = bad.withLock({ $0 }),
                    request.url.contains("/orders/\(order)")
                        || request.url.contains("orderIds=\(order)")
                else { return nil }
                return GooglePlay.HTTPResponse(status: 500)
            }
        ) { world in
            var orders: [String: String] = [:]
            for name in ["anna", "ben", "carl"] {
                let (_, account) = try await world.person(name)
                let token = try await world.buy("lifetime", for: account)
                orders[token] = try await world.look(token)["order_id"].string
            }
            try await world.settle()
            // The order that the pass comes to first.
            let first = try await world.server.tollgate.store.records(after: nil, limit: 500)
                .compactMap { orders[$0.1.key.id] }.first
            bad.withLock { $0 = first }
            for order in orders.values {
                try await world.act("orders/\(order)/refund", #"{"revoke":false}"#)
            }
            await world.wait(days: 2)
            #expect(try await world.room.reconcileIfDue())
            func refunded() async throws -> [String] {
                var refunded: [String] = []
                for (token, order) in orders {
                    let play = try await world.record(token)?.googlePlay
                    if play?.orders.first?.value.refunds.isEmpty == false {
                        refunded.append(order)
                    }
                }
                return refunded.sorted()
            }
            #expect(try await refunded() == orders.values.filter { $0 != first }.sorted())
            bad.withLock { $0 = nil }
            try await world.settle()
            #expect(try await refunded() == orders.values.sorted())
        }
    }

    @Test("Each order of a subscription is a sale and a period, with its own money and dates")
    func rows() async throws {
        try await PlayWorld.run { world in
            let (_, account) = try await world.person()
            let token = try await world.buy("pro", for: account)
            try await world.settle()
            for _ in 0..<2 {
                await world.wait(days: 31)
                try await world.settle()
            }
            let record = try #require(try await world.record(token))
            var rows = Reports.PurchaseRows()
            GooglePlayRows().add(
                record,
                in: world.server.tollgate.store.history,
                { _ in "buyer" },
                to: &rows
            )
            #expect(rows.sales.map(\.amount) == [9_990, 9_990, 9_990])
            #expect(rows.sales.map(\.isRenewal) == [false, true, true])
            #expect(rows.sales.allSatisfy { $0.product == "pro_monthly" })
            #expect(rows.periods.count == 3)
            for (earlier, later) in zip(rows.periods, rows.periods.dropFirst()) {
                #expect(earlier.paidUntil == later.start)
            }
        }
    }
}
