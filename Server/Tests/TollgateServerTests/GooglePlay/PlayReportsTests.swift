import Foundation
import GooglePlayAPI
import Reports
import Storage
import Stores
import Synchronization
import Testing
import TollgateCore
import TollgateService
import TollgateSimulation

@testable import GooglePlayConnector

/// The bucket's reports are taken in, and what they say takes the place of estimates.
@Suite("Google Play's reports")
struct PlayReportsTests {
    private static let june = Finance.Day(year: 2026, month: 6, day: 1) ?? Finance.Day(number: 0)
    private static let july = june.startOfNextMonth

    /// June: three sales in the United States and one in Germany, a refund, a refund of a part; in July
    /// the plans renew.
    private static func live(in world: PlayWorld) async throws {
        // Noon, so that California agrees about the day.
        await world.wait(days: 0.5)
        let (_, anna) = try await world.person("anna")
        let (_, berta) = try await world.person("berta", region: "DE")
        let (_, carl) = try await world.person("carl")
        _ = try await world.buy("pro", for: anna)
        _ = try await world.buy("pro", for: berta)
        let coins = try await world.buy("coins100", for: carl)
        let lifetime = try await world.buy("lifetime", for: carl)
        try await world.settle()
        await world.wait(days: 4)
        let voided = try #require(try await world.look(coins)["order_id"].string)
        try await world.act("orders/\(voided)/refund", #"{"revoke":true}"#)
        let partly = try #require(try await world.look(lifetime)["order_id"].string)
        try await world.act("orders/\(partly)/refund", #"{"amount_micros":50000000}"#)
        try await world.settle()
        await world.wait(days: 27)
        try await world.settle()
        #expect(try await world.room.reconcileIfDue())
        try await world.settle()
    }

    /// Fetches what has come, and says whether Google Play's part went well: no Stripe answers here.
    private static func fetch(_ world: PlayWorld) async throws -> Bool {
        world.server.wall.advance(seconds: 3_600)
        await world.server.tollgate.accounts.fetchReportsIfDue(every: 3600)
        let round = try await world.server.tollgate.store.cursors.read("reports/google_play")
        return round?.updated == world.server.wall.now
    }

    private static func reconciliation(
        _ world: PlayWorld
    ) async throws -> Finance.Reconciliation {
        try await world.server.tollgate.accounts.reconciliation(
            from: june,
            to: july.advanced(by: -1),
            in: .production
        )
    }

    private static func money(_ text: String, _ currency: String = "USD") -> Finance.Money {
        Finance.Money(decimal: text, currency: currency) ?? .zero("XXX")
    }

    /// By hand, from the prices and 15 %: 9.99 + 10.00 + 199.00 sold in dollars, 10.00 + 50.00 given
    /// back; 10.99 EUR with 19 % of tax, at 1.1 dollars.
    private static func expectJune(_ statement: Finance.Statement) throws {
        let dollars = try #require(statement.totals.first { $0.currency == "USD" })
        #expect(dollars.charges == 3 && dollars.refunds == 2 && dollars.estimated == 0)
        #expect(dollars.gross == money("218.99") && dollars.refunded == money("-60"))
        #expect(dollars.tax == money("0"))
        // 1.50 + 1.50 + 29.85 − 1.50 − 7.50
        #expect(dollars.commission == money("23.85") && dollars.net == money("135.14"))
        let euros = try #require(statement.totals.first { $0.currency == "EUR" })
        #expect(euros.charges == 1 && euros.estimated == 0 && euros.netCurrency == "USD")
        #expect(euros.gross == money("10.99", "EUR") && euros.tax == money("1.75", "EUR"))
        #expect(euros.commission == money("1.39", "EUR"))
        // 9.24 EUR are 10.16 USD, and the fee of 1.39 EUR is 1.53 USD.
        #expect(euros.net == money("8.63"))
    }

    @Test(
        "Sold, renewed, refunded, voided: statements are the reports' to the cent, in any form of them",
        arguments: Backend.allCases,
        ["{}", #"{"utf16":true,"reversed_columns":true}"#]
    )
    func statements(_ backend: Backend, _ form: String) async throws {
        try await PlayWorld.run(on: backend, reported: true) { world in
            try await world.act("reports", form, "PUT")
            try await Self.live(in: world)
            let accounts = world.server.tollgate.accounts
            // In the month's last days there are no earnings yet: fees are estimates.
            let early = try await accounts.statement(month: Self.june, in: .production)
            #expect(early.totals.map(\.estimated).reduce(0, +) == 6)
            // The earnings are there on the 5th, the payout on the 15th.
            await world.wait(days: 20)
            #expect(try await Self.fetch(world))
            let result = try await Self.reconciliation(world)
            // The one sale in euros is paid in dollars; nothing else differs.
            #expect(result.differences.map(\.reason) == [.exchangeRate])
            #expect(result.differences.filter { !$0.reason.isExplained } == [])
            #expect(result.reissues.isEmpty)
            for source in ["GOOGLE_PLAY_SALES", "GOOGLE_PLAY_EARNINGS"] {
                let coverage = try #require(result.coverage.first { $0.source == source })
                #expect(coverage.store == .googlePlay)
                #expect(coverage.matched == 6 && coverage.pending == 0)
            }
            let statement = try await accounts.statement(month: Self.june, in: .production)
            try Self.expectJune(statement)
            // 135.14 + 8.63, paid in July.
            let payout = try #require(
                statement.stores.first { $0.store == .googlePlay }?.payouts.first
            )
            #expect(payout.amount == Self.money("143.77") && payout.status == "reported")
            #expect(payout.arrival == Self.july.advanced(by: 14))
            #expect(payout.first == Self.june && payout.last == Self.july.advanced(by: -1))
            let payments = try await accounts.payments(
                from: Self.june,
                to: Self.july.advanced(by: -1),
                in: .production
            )
            let revenue = try await world.server.tollgate.reporting.report(
                "revenue",
                from: Self.june,
                to: Self.july.advanced(by: -1),
                by: .month,
                environment: .production
            )
            let reported = zip(revenue.values("currency"), revenue.values("reported_proceeds"))
                .filter { $0.0.plain == "USD" }.map { $0.1.plain }
            #expect(reported == ["143.770"])
            #expect(payments.count == 6)
            #expect(payments.allSatisfy { $0.basis == .reported && $0.payout == payout.id })
        }
    }

    @Test("Before earnings are there, estimated sales say what tax is in a price")
    func estimates() async throws {
        try await PlayWorld.run(reported: true) { world in
            await world.wait(days: 0.5)
            let (_, berta) = try await world.person("berta", region: "DE")
            _ = try await world.buy("pro", for: berta)
            try await world.settle()
            await world.wait(days: 6)
            #expect(try await Self.fetch(world))
            let payments = try await world.server.tollgate.accounts.payments(
                from: Self.june,
                to: Self.june.advanced(by: 6),
                in: .production
            )
            let payment = try #require(payments.first)
            #expect(payments.count == 1 && payment.basis == .estimated)
            // 10.99 less 1.75 of tax, and 85 % of the rest.
            #expect(payment.tax == Self.money("1.75", "EUR"))
            #expect(payment.net == Self.money("7.85", "EUR"))
            #expect(payment.commission == Self.money("1.39", "EUR"))
            let payouts = try await world.server.tollgate.accounts.payouts(
                from: Self.june,
                to: Self.june.advanced(by: 29),
                in: .production
            )
            let payout = try #require(payouts.first { $0.store == .googlePlay })
            #expect(payout.status == "estimated" && payout.amount == Self.money("7.85", "EUR"))
            #expect(payout.arrival == Self.july.advanced(by: 14))
        }
    }

    @Test("Without reports, payments and the payout are estimated as orders state them")
    func estimatesOfOrders() async throws {
        try await PlayWorld.run { world in
            await world.wait(days: 0.5)
            let (_, berta) = try await world.person("berta", region: "DE")
            _ = try await world.buy("pro", for: berta)
            try await world.settle()
            await world.wait(days: 1)
            let payments = try await world.server.tollgate.accounts.payments(
                from: Self.june,
                to: Self.june.advanced(by: 6),
                in: .production
            )
            let payment = try #require(payments.first)
            #expect(payments.count == 1 && payment.basis == .estimated)
            // As the order states: 10.99, tax 1.75, revenue 7.85.
            #expect(payment.tax == Self.money("1.75", "EUR"))
            #expect(payment.net == Self.money("7.85", "EUR"))
            let payouts = try await world.server.tollgate.accounts.payouts(
                from: Self.june,
                to: Self.june.advanced(by: 29),
                in: .production
            )
            let payout = try #require(payouts.first { $0.store == .googlePlay })
            #expect(payout.amount == Self.money("7.85", "EUR"))
        }
    }

    @Test(
        "A file that cannot be read stops no other, is told, and counts once it can be read",
        arguments: [
            #"{"truncated_files":["sales/salesreport_202606.zip"]}"#,
            #"{"omitted_columns":["Charged Amount"]}"#,
        ]
    )
    func unreadable(_ rules: String) async throws {
        try await PlayWorld.run(reported: true) { world in
            try await world.act("reports", rules, "PUT")
            try await Self.live(in: world)
            await world.wait(days: 20)
            #expect(try await Self.fetch(world))
            func unreadable() async throws -> Int {
                let seen = try await ReportBucket.Seen.kept(in: world.server.tollgate.store)
                return seen.objects.values.count { $0.problem != nil }
            }
            let problems = try await unreadable()
            #expect(problems >= 1)
            let metrics = try await world.server.get("/metrics", as: nil).text
            #expect(
                metrics.contains(
                    "tollgate_store_reports_unreadable{store=\"google_play\"} \(problems)"
                )
            )
            // The earnings were read all the same.
            func matched() async throws -> [Int] {
                try await Self.reconciliation(world).coverage.filter { $0.store == .googlePlay }
                    .map(\.matched)
            }
            #expect(try await matched() == [0, 6])
            try await world.act("reports", "{}", "PUT")
            #expect(try await Self.fetch(world))
            #expect(try await unreadable() == 0)
            #expect(try await matched() == [6, 6])
            try Self.expectJune(
                try await world.server.tollgate.accounts.statement(
                    month: Self.june,
                    in: .production
                )
            )
        }
    }

    @Test(
        "A report that comes twice says nothing new; a corrected one counts, and the older is kept",
        arguments: Backend.allCases
    )
    func corrected(_ backend: Backend) async throws {
        try await PlayWorld.run(on: backend, reported: true) { world in
            try await Self.live(in: world)
            await world.wait(days: 20)
            #expect(try await Self.fetch(world))
            let reports = world.server.tollgate.store.reports
            let mark = try await reports.mark()
            // Each day all files are written anew.
            await world.wait(days: 0.9)
            #expect(try await Self.fetch(world))
            #expect(try await reports.mark() == mark)
            #expect(try await Self.reconciliation(world).reissues.isEmpty)
            // Google has taken 30 % after all.
            try await world.act("reports", #"{"fee_per_mille":300}"#, "PUT")
            #expect(try await Self.fetch(world))
            let result = try await Self.reconciliation(world)
            #expect(
                result.reissues.map(\.source) == ["GOOGLE_PLAY_EARNINGS"]
            )
            #expect(result.differences.filter { !$0.reason.isExplained } == [])
            let fees = result.differences.filter { $0.reason == .commissionRate }
            #expect(fees.count == 6)
            let statement = try await world.server.tollgate.accounts.statement(
                month: Self.june,
                in: .production
            )
            let dollars = try #require(statement.totals.first { $0.currency == "USD" })
            // 3.00 + 3.00 + 59.70 − 3.00 − 15.00
            #expect(dollars.commission == Self.money("47.70"))
            #expect(dollars.net == Self.money("111.29"))
        }
    }

    @Test("A fetch that fails goes on where it was")
    func interrupted() async throws {
        let isDown = Mutex(false)
        let asked = Mutex<[String]>([])
        try await PlayWorld.run(
            reported: true,
            intercept: { request in
                guard request.url.contains("alt=media") else { return nil }
                asked.withLock { $0.append(request.url) }
                // One report is read before the storage fails.
                guard isDown.withLock({ $0 }), asked.withLock({ $0.count }) > 1 else { return nil }
                return GooglePlay.HTTPResponse(status: 503)
            }
        ) { world in
            try await Self.live(in: world)
            await world.wait(days: 20)
            isDown.withLock { $0 = true }
            #expect(try await Self.fetch(world) == false)
            let before = try #require(asked.withLock { $0.first })
            isDown.withLock { $0 = false }
            #expect(try await Self.fetch(world))
            #expect(asked.withLock { $0.count { $0 == before } } == 1)
            try Self.expectJune(
                try await world.server.tollgate.accounts.statement(
                    month: Self.june,
                    in: .production
                )
            )
        }
    }

    @Test("What is in no report, and what reports have and the record has not, is found")
    func missing() async throws {
        try await PlayWorld.run(reported: true) { world in
            await world.wait(days: 0.5)
            let (_, anna) = try await world.person("anna")
            let token = try await world.buy("lifetime", for: anna)
            try await world.settle()
            let order = try #require(try await world.look(token)["order_id"].string)
            // A licence tester's purchase is in no report, and no difference of production's.
            let (_, tester) = try await world.person("tester", tester: true)
            _ = try await world.buy("lifetime", for: tester)
            try await world.settle()
            // Nobody hears of this one.
            try await world.act("faults", #"{"lost":1}"#, "PUT")
            let (_, ben) = try await world.person("ben")
            let unheard = try await world.buy("coins100", for: ben)
            let other = try #require(try await world.look(unheard)["order_id"].string)
            try await world.act("purchases/\(unheard)/acknowledge")
            try await world.act("reports", #"{"missing_orders":["\#(order)"]}"#, "PUT")
            await world.wait(days: 45)
            #expect(try await Self.fetch(world))
            let result = try await Self.reconciliation(world)
            let found = result.differences.map { "\($0.source) \($0.reason.rawValue)" }
            #expect(
                found.filter { !$0.hasSuffix("sandbox") } == [
                    "GOOGLE_PLAY_EARNINGS missing_here", "GOOGLE_PLAY_SALES missing_here",
                    "GOOGLE_PLAY_EARNINGS missing_there", "GOOGLE_PLAY_SALES missing_there",
                ]
            )
            #expect(
                result.differences.filter { $0.reason == .missingHere }.allSatisfy {
                    $0.detail.contains(other)
                }
            )
            #expect(
                result.differences.filter { $0.reason == .missingThere }.map(\.movement)
                    == [order, order]
            )
            #expect(result.differences.filter { !$0.reason.isExplained } != [])
        }
    }
}
