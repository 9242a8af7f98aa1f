import AppStoreAPI
import AppStoreSimulator
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import Reports
import SandboxClock
import Storage
import Stores
import StripeAPI
import StripeConnector
import StripeSimulator
import Testing
import TollgateCore
import TollgateService
import TollgateSimulation

/// What the stores report is compared with what they told as it happened.
@Suite("Reconciling with the stores' reports")
struct StoreReportsTests {
    private static let day: Int64 = 86_400_000
    private static let june = Finance.Day(
        utc: Instant(milliseconds: ProductionStore.start)
    )

    /// What a difference is, for comparing.
    private struct Found: Hashable, Comparable, CustomStringConvertible {
        var reason: String
        var movement: String

        init(_ reason: Finance.Reason, _ movement: String) {
            self.reason = reason.rawValue
            self.movement = movement
        }

        var description: String { "\(reason) \(movement)" }
        static func < (left: Self, right: Self) -> Bool { left.description < right.description }
    }

    private static func found(
        _ reconciliation: Finance.Reconciliation,
        _ source: String
    ) -> [Found] {
        reconciliation.differences.filter { $0.source == source }
            .map { Found($0.reason, $0.movement ?? "") }.sorted()
    }

    @Test(
        "Every difference that is put into the App Store's reports is found and named, and no other",
        arguments: Backend.allCases
    )
    func appStore(_ backend: Backend) async throws {
        try await ProductionStore.run(on: backend) { world in
            // Noon, so that Cupertino agrees about the day.
            await world.pass(hours: 12)
            var sold: [SimulatedAppStore.ReportDifference.Kind: String] = [:]
            for kind in SimulatedAppStore.ReportDifference.Kind.allCases {
                // Each is of a product of its own, or two might be taken for one another.
                let product = "com.example.app.\(kind.rawValue)"
                switch kind {
                case .timeZone: continue
                case .freeOffer: sold[kind] = try await world.buyOffer()
                case .tax: sold[kind] = try await world.buy(product, in: "DEU")
                default: sold[kind] = try await world.buy(product)
                }
                if kind == .refundTiming, let id = sold[kind] {
                    await world.pass(hours: 24)
                    try await world.production.refund(id)
                }
            }
            // Seven in the evening in Cupertino is the next morning in UTC.
            await world.pass(hours: 15)
            sold[.timeZone] = try await world.buy("com.example.app.time_zone")
            let family = try await world.buyForFamily()
            let sandbox = try await world.buyInSandbox()
            let plain = try await world.buy("com.example.app.plain")
            await world.production.setReportDifferences(
                sold.map { kind, id in
                    SimulatedAppStore.ReportDifference(kind, transactionID: id)
                } + [.init(.timeZone, transactionID: plain)]
            )
            await world.pass(hours: 50 * 24)
            try await world.deliver()

            #expect(await world.tollgate.accounts.fetchReportsIfDue(every: 3600))
            let result = try await world.tollgate.accounts.reconciliation(
                from: Self.june,
                to: Self.june.advanced(by: 40),
                in: .production
            )
            func id(_ kind: SimulatedAppStore.ReportDifference.Kind) -> String { sold[kind] ?? "" }
            let expected: [Found] = [
                Found(.settlementDate, id(.settlementDate)), Found(.timeZone, id(.timeZone)),
                Found(.timeZone, plain), Found(.exchangeRate, id(.exchangeRate)),
                Found(.tax, id(.tax)), Found(.commissionRate, id(.commissionRate)),
                Found(.refundTiming, id(.refundTiming)), Found(.freeOffer, id(.freeOffer)),
                Found(.lateCorrection, ""), Found(.missingThere, id(.missing)),
                Found(.missingHere, ""), Found(.amountDiffers, id(.amount)),
                Found(.familySharing, family), Found(.sandbox, sandbox),
            ]
            let found = Self.found(result, "SALES")
            #expect(found == expected.sorted())
            #expect(Set(result.differences.map(\.reason)) == Set(Finance.Reason.allCases))
            // The unexplained come first.
            let explained = result.differences.map(\.reason.isExplained)
            #expect(explained == explained.sorted { !$0 && $1 })
            #expect(result.summaries.first?.reason == .missingHere)
            // Finance reports cover fiscal months; what falls on another day of one is the same.
            let paid = Set(Self.found(result, "FINANCIAL").map(\.reason))
            #expect(paid.contains("missing_there") && paid.contains("exchange_rate"))
            #expect(!paid.contains("settlement_date"))
        }
    }

    @Test("Reports without differences agree in every line", arguments: Backend.allCases)
    func agreement(_ backend: Backend) async throws {
        try await ProductionStore.run(on: backend) { world in
            await world.pass(hours: 12)
            for number in 0..<6 {
                _ = try await world.buy("com.example.app.plain")
                let id = try await world.buy(TestServer.bundleID + ".pro.monthly")
                if number == 3 { try await world.production.refund(id) }
                await world.pass(hours: 30)
            }
            await world.pass(hours: 60 * 24)
            try await world.deliver()
            #expect(await world.tollgate.accounts.fetchReportsIfDue(every: 3600))
            // A second round within the hour asks for nothing.
            #expect(await world.tollgate.accounts.fetchReportsIfDue(every: 3600))
            let result = try await world.tollgate.accounts.reconciliation(
                from: Self.june,
                to: Self.june.advanced(by: 60),
                in: .production
            )
            // Nothing but evenings of Cupertino, which the simulated store does not have.
            #expect(result.differences == [])
            #expect(result.differences.filter { !$0.reason.isExplained } == [])
            let sales = try #require(result.coverage.first { $0.source == "SALES" })
            #expect(sales.matched >= 13 && sales.pending == 0)

            let payments = try await world.tollgate.accounts.payments(
                from: Self.june,
                to: Self.june.advanced(by: 29),
                in: .production
            )
            #expect(payments.allSatisfy { $0.basis == .reported })
            #expect(payments.contains { $0.kind == .refund && $0.gross.millionths < 0 })
            let statement = try await world.tollgate.accounts.statement(
                month: Self.june,
                in: .production
            )
            let total = try #require(statement.totals.first)
            #expect(total.charges == payments.count { $0.kind == .charge })
            #expect(total.estimated == 0)
            let sum = payments.reduce(Finance.Money.zero("USD")) { $0 + $1.net }
            #expect(total.net == sum)
            let month = try #require(Finance.FiscalMonth("2026-09"))
            let payout = try #require(
                statement.payouts(of: .appStore).first { $0.id == "\(month)" }
            )
            #expect(payout.status == "reported" && payout.arrival == month.payment)
        }
    }

    @Test(
        "A comparison that is put off is made in the next round, and none where nothing has come",
        arguments: Backend.allCases
    )
    func putOff(_ backend: Backend) async throws {
        try await ProductionStore.run(on: backend) { world in
            await world.pass(hours: 12)
            _ = try await world.buy("com.example.app.plain")
            await world.pass(hours: 50 * 24)
            try await world.deliver()
            let tollgate = world.tollgate
            func made() async throws -> Instant? {
                try await tollgate.accounts.keptReconciliation(
                    in: tollgate.configuration.defaultEnvironment
                )?.made
            }
            // Another server is at it when the reports come.
            let name = "reconciliation/\(tollgate.configuration.defaultEnvironment.rawValue)"
            let now = tollgate.clocks.wall()
            let other = Lease(
                name: name,
                holder: "another",
                until: now.advanced(by: 600_000)
            )
            #expect(try await tollgate.store.leases.take(other, now: now))
            #expect(await tollgate.accounts.fetchReportsIfDue(every: 3600))
            #expect(try await made() == nil)
            try await tollgate.store.leases.release(other)
            // No report is new in this round; what is new is older than the comparison after it.
            #expect(await tollgate.accounts.fetchReportsIfDue(every: 3600))
            let first = try #require(try await made())
            world.wall.advance(seconds: 60)
            #expect(await tollgate.accounts.fetchReportsIfDue(every: 3600))
            #expect(try await made() == first)
        }
    }

    @Test(
        "What was compared in the middle of another server's round is compared again at its end",
        arguments: Backend.allCases
    )
    func amidARound(_ backend: Backend) async throws {
        try await ProductionStore.run(on: backend) { world in
            await world.pass(hours: 50 * 24)
            try await world.deliver()
            let tollgate = world.tollgate
            // All reports of a round say that they came at its beginning.
            let begin = await tollgate.clocks.now()
            func bring(_ period: String, _ body: String) async throws {
                let report = StoredReport(
                    kind: "SALES",
                    period: period,
                    fetched: begin,
                    body: Array(body.utf8),
                    rows: []
                )
                #expect(try await tollgate.store.reports.keep(report))
            }
            func compared() async throws -> Instant? {
                world.wall.advance(seconds: 60)
                #expect(await tollgate.accounts.fetchReportsIfDue(every: 3600))
                return try await tollgate.accounts.keptReconciliation(in: .production)?.made
            }
            let first = try #require(try await compared())
            #expect(try await compared() == first)
            // The other server goes on: one more report, and one in the place of another.
            try await bring("DAILY 2020-01-01", "")
            #expect(try await compared() == first.advanced(by: 120_000))
            try await bring("DAILY 2020-01-01", "another")
            #expect(try await compared() == first.advanced(by: 180_000))
            #expect(try await compared() == first.advanced(by: 180_000))
        }
    }

    @Test(
        "Every difference that is put into Stripe's balance is found and named, and no other",
        arguments: Backend.allCases
    )
    func stripe(_ backend: Backend) async throws {
        try await Shop.run(on: backend) { shop in
            let kinds: [StripeSimulator.BalanceDifference.Kind] = [
                .settlementDate, .exchangeRate, .tax, .commissionRate, .refundTiming, .missing,
                .amount,
            ]
            var charges: [StripeSimulator.BalanceDifference.Kind: String] = [:]
            for (number, kind) in kinds.enumerated() {
                let customer = try await shop.server.customer("user-\(number)")
                try await shop.buy(number % 2 == 0 ? "coins_100" : "pro_monthly", for: customer)
                try await shop.wait(hours: 1)
                charges[kind] = try await shop.newestCharge()
            }
            var refund = ""
            if let charge = charges[.refundTiming] {
                refund = try await shop.stripe.refund(charge: charge)
            }
            for kind in kinds where kind != .refundTiming {
                try await shop.stripe.inject(.init(kind, source: charges[kind]))
            }
            try await shop.stripe.inject(.init(.refundTiming, source: refund))
            try await shop.stripe.inject(.init(.lateCorrection))
            try await shop.stripe.inject(.init(.unknown))
            try await shop.wait(days: 10)
            #expect(await shop.server.tollgate.accounts.fetchReportsIfDue(every: 3600))
            let first = Finance.Day(utc: Instant(milliseconds: Shop.start))
            let result = try await shop.server.tollgate.accounts.reconciliation(
                from: first,
                to: first.advanced(by: 9),
                in: .sandbox
            )
            let reasons = result.differences.map(\.reason)
            let expected: [Finance.Reason] = [
                .settlementDate, .exchangeRate, .tax, .commissionRate, .refundTiming,
                .missingThere, .amountDiffers, .lateCorrection, .missingHere,
            ]
            #expect(reasons.sorted() == expected.sorted(), "\(result.differences)")
            #expect(
                result.differences.first { $0.reason == .refundTiming }?.movement == refund
            )
        }
    }

    @Test(
        "A dispute that is won after two months is no difference, however one cuts the days",
        arguments: Backend.allCases
    )
    func wonAfterMonths(_ backend: Backend) async throws {
        try await Shop.run(on: backend) { shop in
            let customer = try await shop.server.customer()
            try await shop.buy("coins_100", for: customer)
            let charge = try await shop.newestCharge()
            try await shop.stripe.dispute(charge: charge)
            var dispute = ""
            for try await opened in shop.api.lists.disputes() { dispute = opened.id }
            try await shop.wait(days: 61)
            try await shop.stripe.close(dispute: dispute, isWon: true)
            try await shop.wait(days: 20)
            let tollgate = shop.server.tollgate
            #expect(await tollgate.accounts.fetchReportsIfDue(every: 3600))
            let first = Finance.Day(utc: Instant(milliseconds: Shop.start))
            for days in [Int64(0)...5, 0...80, 58...65] {
                let result = try await tollgate.accounts.reconciliation(
                    from: first.advanced(by: days.lowerBound),
                    to: first.advanced(by: days.upperBound),
                    in: .sandbox
                )
                #expect(result.differences.filter { !$0.reason.isExplained } == [], "\(days)")
            }
        }
    }

    @Test(
        "A statement opens with the account's balance, also where Tollgate came late",
        arguments: Backend.allCases
    )
    func openingBalance(_ backend: Backend) async throws {
        try await Shop.run(on: backend) { shop in
            let customer = try await shop.server.customer()
            // 10.00 USD less 0.59 on 1 January; nothing goes to the bank.
            try await shop.buy("coins_100", for: customer)
            // Reports go back ninety days.
            try await shop.wait(days: 120)
            try await shop.buy("coins_100", for: customer)
            try await shop.wait(days: 3)
            let tollgate = shop.server.tollgate
            #expect(await tollgate.accounts.fetchReportsIfDue(every: 3600))
            let first = Finance.Day(utc: Instant(milliseconds: Shop.start))
            let may = try await tollgate.accounts.statement(
                month: first.advanced(by: 121),
                in: .sandbox
            )
            #expect(may.month == "2026-05")
            let balance = try #require(may.balances(of: .stripe).first)
            #expect(balance.basis == .reported)
            #expect(balance.opening.decimal == "9.41" && balance.closing.decimal == "18.82")
            // Of days before the reports nothing is known.
            let january = try await tollgate.accounts.statement(month: first, in: .sandbox)
            #expect(january.balances(of: .stripe).isEmpty)
        }
    }

    @Test("Payouts bring what their transactions sum to", arguments: Backend.allCases)
    func payouts(_ backend: Backend) async throws {
        var policy = StripeSimulator.Policy()
        policy.payouts = .daily
        try await Shop.run(on: backend, policy: policy) { shop in
            let customer = try await shop.server.customer()
            try await shop.buy("coins_100", for: customer)
            try await shop.buy("coins_100", for: customer)
            try await shop.wait(days: 8)
            #expect(await shop.server.tollgate.accounts.fetchReportsIfDue(every: 3600))
            let first = Finance.Day(utc: Instant(milliseconds: Shop.start))
            let payouts = try await shop.server.tollgate.accounts.payouts(
                from: first,
                to: first.advanced(by: 30),
                in: .sandbox
            )
            let payout = try #require(payouts.first { $0.store == .stripe })
            #expect(payouts.count == 1 && payout.status == "paid")
            let payments = try await shop.server.tollgate.accounts.payments(
                from: first,
                to: first.advanced(by: 7),
                in: .sandbox
            )
            #expect(payments.count == 2 && payments.allSatisfy { $0.payout == payout.id })
            #expect(payments.reduce(Finance.Money.zero("USD")) { $0 + $1.net } == payout.amount)
            let statement = try await shop.server.tollgate.accounts.statement(
                month: first,
                in: .sandbox
            )
            let balance = try #require(statement.balances(of: .stripe).first)
            #expect(balance.closing.isZero && balance.opening.isZero)
            #expect(balance.payouts == -payout.amount)

            // The same over HTTP, for a backend, a spreadsheet and a printer.
            let list = try await shop.server.get(
                "/v1/payments?from=2026-01-01&to=2026-01-31&limit=1"
            )
            #expect(list.status == 200 && list.json["has_more"].bool == true)
            let next = list.json["data"].array?.first?["id"].string ?? ""
            let rest = try await shop.server.get(
                "/v1/payments?from=2026-01-01&to=2026-01-31&starting_after=\(next)"
            )
            #expect(rest.json["data"].array?.count == 1 && rest.json["has_more"].bool == false)
            let page = try await shop.server.get(
                "/v1/reports/statement?month=2026-01&format=html"
            )
            #expect(page.status == 200 && page.text.contains("Statement Jan 2026"))
            #expect(page.text.contains("of which tax"))
            #expect(page.text.contains("$" + payout.amount.rounded.decimal))
            #expect(page.headers[.contentSecurityPolicy]?.contains("default-src 'none'") == true)
            #expect(!page.text.contains("style=") && !page.text.contains("<script"))
            let file = try await shop.server.get("/v1/reports/statement?month=2026-01&format=csv")
            #expect(file.text == statement.sheet.csv)
            let sum = try await shop.server.get(
                "/v1/reports/reconciliation?from=2026-01-01&to=2026-01-07"
            )
            #expect(sum.status == 200 && sum.json["differences"].array?.isEmpty == true)
            let sent = try await shop.server.get(
                "/v1/reports/payouts?from=2026-01-01&to=2026-01-31"
            )
            #expect(sent.json["data"].array?.count == 1)
            for path in [
                "/v1/payments", "/v1/payments?from=2026-01-01&to=2025-01-01",
                "/v1/payments?from=2026-01-01&to=x", "/v1/reports/statement?month=2026-13",
                "/v1/reports/statement?month=2026-01&format=pdf",
                "/v1/reports/reconciliation?from=2020-01-01&to=2026-01-01",
            ] {
                #expect(try await shop.server.get(path).status == 400, "\(path)")
            }
            let publishable = TestServer.publishableKey
            for path in ["/v1/payments", "/v1/reports/payouts", "/v1/reports/statement"] {
                #expect(try await shop.server.get(path, as: publishable).status == 403)
                #expect(try await shop.server.get(path, as: nil).status == 401)
            }
        }
    }

    @Test(
        "The other environment has none of the reports, and nothing is compared with them",
        arguments: Backend.allCases
    )
    func environments(_ backend: Backend) async throws {
        try await ProductionStore.run(on: backend) { world in
            await world.pass(hours: 12)
            _ = try await world.buy("com.example.app.plain")
            _ = try await world.buyInSandbox()
            await world.pass(hours: 60 * 24)
            try await world.deliver()
            #expect(await world.tollgate.accounts.fetchReportsIfDue(every: 3600))
            let last = Self.june.advanced(by: 60)
            func differences(_ environment: StoreEnvironment) async throws -> Int {
                try await world.tollgate.accounts.reconciliation(
                    from: Self.june,
                    to: last,
                    in: environment
                ).differences.count
            }
            #expect(try await differences(.production) > 0)
            #expect(try await differences(.sandbox) == 0)
            let payments = try await world.tollgate.accounts.payments(
                from: Self.june,
                to: last,
                in: .sandbox
            )
            #expect(!payments.isEmpty && payments.allSatisfy { $0.basis == .estimated })
            let payouts = try await world.tollgate.accounts.payouts(
                from: Self.june,
                to: last,
                in: .sandbox
            )
            #expect(payouts.allSatisfy { $0.status == "estimated" })
        }
        var policy = StripeSimulator.Policy()
        policy.payouts = .daily
        try await Shop.run(on: backend, policy: policy) { shop in
            let tollgate = shop.server.tollgate
            let customer = try await shop.server.customer()
            try await shop.buy("coins_100", for: customer)
            try await shop.wait(days: 8)
            #expect(await tollgate.accounts.fetchReportsIfDue(every: 3600))
            // An export says nothing of the environment, either.
            let export =
                "id,created_utc,currency,amount,fee,net,reporting_category,source\ntxn_file,2026-01-02 10:00:00,usd,9.99,0.59,9.40,charge,ch_file\n"
            _ = try await StripeReports(tollgate.store).take(
                Array(export.utf8),
                at: Instant(milliseconds: Shop.start)
            )
            let first = Finance.Day(utc: Instant(milliseconds: Shop.start))
            let last = first.advanced(by: 30)
            let own = try await tollgate.accounts.statement(month: first, in: .sandbox)
            #expect(own.payouts(of: .stripe).count == 1 && own.balances(of: .stripe).count == 1)
            let other = try await tollgate.accounts.statement(month: first, in: .production)
            #expect(
                other.payouts(of: .stripe).isEmpty && other.balances(of: .stripe).isEmpty
                    && other.totals.isEmpty
            )
            #expect(
                try await tollgate.accounts.payouts(from: first, to: last, in: .production).isEmpty
            )
            let found = try await tollgate.accounts.reconciliation(
                from: first,
                to: last,
                in: .production
            )
            #expect(found.differences.isEmpty)
        }
    }

    @Test("A fetch that is broken off keeps the days that it had, and goes on there")
    func brokenOff() async throws {
        struct BrokenOff: Error {}
        try await Shop.run { shop in
            let store = shop.server.tollgate.store
            let customer = try await shop.server.customer()
            try await shop.buy("coins_100", for: customer)
            try await shop.wait(days: 6)
            let today = await shop.server.tollgate.clocks.now()
            var days = 0
            var last = 4
            func fetch() async throws {
                days = 0
                _ = try await StripeReports(store).fetch(
                    with: shop.api,
                    today: today,
                    days: 6,
                    prolong: {
                        days += 1
                        if days == last { throw BrokenOff() }
                    }
                )
            }
            await #expect(throws: BrokenOff.self) { try await fetch() }
            #expect(try await store.reports.periods("STRIPE_BALANCE").count == 4)
            last = 0
            try await fetch()
            #expect(days == 2)
            #expect(try await store.reports.periods("STRIPE_BALANCE").count == 6)
        }
    }

    @Test("Exports of Stripe's are read, and one that cannot be read says where")
    func files() async throws {
        let driver = try await Backend.sqlite.open()
        let reports = StripeReports(try await RecordStore(driver))
        let now = Instant(milliseconds: Shop.start)
        let export = """
            balance_transaction_id,created_utc,created,available_on_utc,currency,gross,fee,net,reporting_category,source_id,description,customer_facing_amount,customer_facing_currency,automatic_payout_id,payment_intent_id,invoice_id
            txn_1,2026-01-02 10:00:00,2026-01-02 11:00:00,2026-01-04 00:00:00,usd,9.99,0.59,9.40,charge,ch_1,"Coins, 100",9.99,usd,po_1,pi_1,
            txn_2,2026-01-03 10:00:00,2026-01-03 11:00:00,2026-01-05 00:00:00,usd,-9.99,0.00,-9.99,refund,re_1,,-9.99,usd,,pi_1,

            """
        let outcomes = try await reports.take(Array(export.utf8), at: now)
        #expect(outcomes.map(\.period) == ["DAILY 2026-01-02", "DAILY 2026-01-03"])
        #expect(outcomes.allSatisfy { $0.isNew && $0.rows == 1 })
        #expect(try await reports.take(Array(export.utf8), at: now).allSatisfy { !$0.isNew })
        let payouts =
            "id,Arrival Date (UTC),Status,Amount,Currency,Created (UTC)\npo_1,2026-01-05 00:00,paid,9.40,usd,2026-01-04 00:00\n"
        #expect(
            try await reports.take(Array(payouts.utf8), at: now).map(\.kind) == ["STRIPE_PAYOUT"]
        )
        let objects = """
            {"id":"txn_3","object":"balance_transaction","amount":500,"available_on":1767398400,"created":1767312000,"currency":"usd","fee":45,"fee_details":[],"net":455,"reporting_category":"charge","source":"ch_3","type":"charge","exchange_rate":null,"description":null,"status":"pending"}

            """
        // 2026-01-02, beside what is known of that day already.
        #expect(try await reports.take(Array(objects.utf8), at: now).map(\.rows) == [2])
        let error = await #expect(throws: (any Error).self) {
            _ = try await reports.take(Array("id,Net,Fee,Currency\ntxn_1,x,0,usd\n".utf8), at: now)
        }
        #expect(error.map { "\($0)" }?.contains("line 2") == true)
        await driver.close()
    }
}

extension Shop {
    /// The charge that was made last.
    fileprivate func newestCharge() async throws -> String {
        for try await transaction in api.lists.balanceTransactions() {
            if let source = transaction.source?.id, source.hasPrefix("ch_") { return source }
        }
        return ""
    }
}

extension Finance.Statement {
    fileprivate func payouts(of store: Store) -> [Finance.Payout] {
        stores.first { $0.store == store }?.payouts ?? []
    }

    fileprivate func balances(of store: Store) -> [Balance] {
        stores.first { $0.store == store }?.balances ?? []
    }
}
