import Foundation
import GooglePlayAPI
import HTTPTypes
import NIOCore
import NIOHTTP1
import Reports
import SandboxClock
import Storage
import Stores
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
