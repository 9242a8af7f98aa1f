import AppStoreAPI
import AppStoreSimulator
import Foundation
import HTTPTypes
import Reports
import SandboxClock
import Storage
import Stores
import Testing
import TollgateAPI
import TollgateAssembly
import TollgateCore
import TollgateService
import TollgateSimulation

@testable import AppStoreConnector

@Suite("Sales and finance reports")
struct ConnectReportsTests {
    static let day: Int64 = 86_400_000

    private static func client(_ server: TestServer) async throws -> AppStore.ConnectClient {
        let key = await server.appStore.apiKey
        return AppStore.ConnectClient(
            key: try AppStore.APIKey(
                issuerID: key.issuerID,
                keyID: key.keyID,
                pem: key.privateKeyPEM
            ),
            vendorNumber: "87654321",
            host: "https://app-store.test",
            transport: server.appStoreTransport,
            now: { Int64(Date().timeIntervalSince1970 * 1000) }
        )
    }

    /// Three days of business: a plan, a pack of coins and its refund, a renewal a month later.
    private static func trade(_ server: TestServer) async throws {
        let buyer = try await Buyer(server)
        _ = try await buyer.buys(ProductTypeTests.monthly)
        let coins = try await buyer.buys("com.example.app.coins100", quantity: 2)
        await server.clock.advance(to: TestServer.start + day + 1000)
        try await server.appStore.refund(coins.transactionID)
        await server.clock.advance(to: TestServer.start + 40 * day)
    }

    @Test("They are fetched once, kept, and read back as typed rows", arguments: Backend.allCases)
    func fetched(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            try await Self.trade(server)
            let reports = ConnectReports(server.tollgate.store)
            let client = try await Self.client(server)
            let today = await Instant(milliseconds: server.clock.now)
            let first = try await reports.fetch(with: client, today: today, days: 45)
            #expect(Set(first.map(\.kind)).count == 5)
            #expect(first.contains { $0.kind == "SALES" && $0.period == "DAILY 2026-06-01" })
            #expect(try await reports.fetch(with: client, today: today, days: 45).isEmpty)

            let sales = try await reports.rows(.sales, from: "2026-06-01", to: "2026-07-31")
                .compactMap { if case .sales(let row) = $0 { row } else { nil } }
            let told = sales.map { "\($0.beginDate) \($0.sku) \($0.units)" }
            #expect(
                Set(told) == [
                    "2026-06-01 com.example.app.pro.monthly 1",
                    "2026-06-01 com.example.app.coins100 2",
                    "2026-06-02 com.example.app.coins100 -2",
                    "2026-07-01 com.example.app.pro.monthly 1",
                ]
            )
            let plan = try #require(sales.first { $0.subscription == "New" })
            #expect(plan.customerPrice.millionths == 9_990_000)
            #expect(plan.developerProceeds.millionths == 6_993_000)
            #expect(plan.productType == "IAY")
            let refund = try #require(sales.first { $0.units < 0 })
            #expect(refund.customerPrice.millionths == -10_000_000)
            #expect(refund.developerProceeds.millionths == 7_000_000)

            let events = try await reports.rows(
                .subscriptionEvent,
                from: "2026-06-01",
                to: "2026-07-31"
            )
            .compactMap { if case .subscription(let row) = $0 { row.values["Event"] } else { nil } }
            #expect(events == ["Subscribe", "Renew"])
            let standing = try await reports.rows(
                .subscription,
                from: "2026-06-05",
                to: "2026-06-05"
            )
            .compactMap { if case .subscription(let row) = $0 { row } else { nil } }
            #expect(standing.map { $0.values["Active Standard Price Subscriptions"] } == ["1"])
            let subscribers = try await reports.rows(
                .subscriber,
                from: "2026-06-01",
                to: "2026-07-31"
            )
            .compactMap {
                if case .subscription(let row) = $0 { row.values["Subscriber ID"] } else { nil }
            }
            #expect(subscribers.count == 2 && Set(subscribers).count == 1)
            let financial = try await reports.rows(
                .financial,
                from: "2026-01-01",
                to: "2026-12-31"
            )
            .compactMap { if case .financial(let row) = $0 { row } else { nil } }
            #expect(financial.contains { $0.isReturn && $0.quantity == -2 })
        }
    }

    @Test("A file is taken in once, and a corrected one takes its place")
    func files() async throws {
        try await TestServer.run { server in
            try await Self.trade(server)
            let client = try await Self.client(server)
            let bytes = try #require(
                try await client.salesReport(.init(.subscription, date: "2026-06-05"))
            )
            let reports = ConnectReports(server.tollgate.store)
            let now = Instant(milliseconds: TestServer.start)
            let name = "Subscription_87654321_20260605.txt.gz"
            let first = try await reports.take(bytes, named: name, at: now)
            #expect(first.isNew && first.period == "DAILY 2026-06-05" && first.rows == 1)
            #expect(try await reports.take(bytes, named: name, at: now).isNew == false)
            let table = String(
                decoding: try Inflate.gunzip(bytes, limit: 1 << 20),
                as: UTF8.self
            )
            let corrected = table.replacingOccurrences(of: "9.99", with: "8.99")
            let second = try await reports.take(Array(corrected.utf8), named: name, at: now)
            #expect(second.isNew)
            let rows = try await reports.rows(.subscription, from: "2026-06-05", to: "2026-06-05")
            #expect(rows.count == 1)
            await #expect(throws: ConnectReports.Failure.noPeriod("SUBSCRIPTION")) {
                _ = try await reports.take(bytes, named: "report.txt", at: now)
            }
        }
    }

    @Test("An older edition of a report is kept, and the reconciliation says so")
    func reissued() async throws {
        try await TestServer.run { server in
            try await Self.trade(server)
            let client = try await Self.client(server)
            let bytes = try #require(
                try await client.salesReport(.init(.sales, date: "2026-06-02"))
            )
            let reports = ConnectReports(server.tollgate.store)
            let name = "S_D_87654321_20260602.txt.gz"
            let first = Instant(milliseconds: TestServer.start)
            _ = try await reports.take(bytes, named: name, at: first)
            let sold = String(decoding: try Inflate.gunzip(bytes, limit: 1 << 20), as: UTF8.self)
            let corrected = sold.replacingOccurrences(of: "10.00", with: "9.00")
            #expect(corrected != sold)
            // The same lines, unpacked, are no other edition.
            #expect(try await !reports.take(Array(sold.utf8), named: name, at: first).isNew)
            #expect(try await server.tollgate.store.reports.editions(["SALES"]).isEmpty)
            let later = first.advanced(by: 3 * 86_400_000)
            for _ in 0..<2 {
                _ = try await reports.take(Array(corrected.utf8), named: name, at: later)
            }
            let editions = try await server.tollgate.store.reports.editions(["SALES"])
            #expect(editions.map(\.kind) == ["SALES"])
            #expect(editions.map(\.fetched) == [first] && editions.map(\.replaced) == [later])
            let day = try #require(Finance.Day("2026-06-02"))
            let told = try await server.tollgate.accounts.reconciliation(from: day, to: day)
            #expect(
                told.reissues == [
                    Finance.Reissue(
                        source: "SALES",
                        period: "DAILY 2026-06-02",
                        fetched: Finance.Day(utc: first),
                        replaced: Finance.Day(utc: later)
                    )
                ]
            )
            let next = day.advanced(by: 1)
            let other = try await server.tollgate.accounts.reconciliation(from: next, to: next)
            #expect(other.reissues == [])
        }
    }

    /// A sales report of one line, downloads of an app.
    private static func downloads(_ first: String, _ last: String, _ units: Int) -> [UInt8] {
        let values = [
            "SKU": "app", "Title": "App", "Product Type Identifier": "1F", "Units": "\(units)",
            "Developer Proceeds": "0.70", "Begin Date": first, "End Date": last,
            "Customer Currency": "USD", "Country Code": "US", "Currency of Proceeds": "USD",
            "Apple Identifier": "1", "Customer Price": "1.00",
        ]
        let columns = AppleLayout.sales.columns
        let lines = [columns, columns.map { values[$0] ?? "" }]
        return Array(lines.map { $0.joined(separator: "\t") + "\n" }.joined().utf8)
    }

    @Test("What a daily and a monthly report both tell counts once", arguments: Backend.allCases)
    func overlapping(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let reports = ConnectReports(server.tollgate.store)
            let now = Instant(milliseconds: TestServer.start)
            func take(_ first: String, _ last: String, _ units: Int) async throws {
                let bytes = Self.downloads(first, last, units)
                _ = try await reports.take(bytes, named: "S.txt", at: now)
            }
            func told(_ from: String, _ to: String, _ step: Reports.Step = .month) async throws
                -> (units: String?, proceeds: String?)
            {
                let first = try #require(Reports.Day(from))
                let last = try #require(Reports.Day(to))
                let downloads = try await server.tollgate.reporting.report(
                    "downloads",
                    from: first,
                    to: last,
                    by: step,
                    environment: .production
                )
                let revenue = try await server.tollgate.reporting.report(
                    "revenue",
                    from: first,
                    to: last,
                    by: step,
                    environment: .production
                )
                return (
                    downloads.values("first_downloads").last?.plain,
                    revenue.values("reported_proceeds").last?.plain
                )
            }
            await server.clock.advance(to: TestServer.start + 60 * Self.day)
            for day in 8...14 {
                let date = "06/\(day < 10 ? "0" : "")\(day)/2026"
                try await take(date, date, 2)
            }
            try await take("06/08/2026", "06/14/2026", 14)
            try await take("06/01/2026", "06/30/2026", 100)
            // Every day of the week has a report of its own.
            #expect(try await told("2026-06-08", "2026-06-14") == ("14", "9.800"))
            // Not so the month's.
            #expect(try await told("2026-06-01", "2026-06-30") == ("100", "70.000"))
            // The month reaches beyond the days that are asked for.
            #expect(try await told("2026-05-20", "2026-06-14") == ("14", "9.800"))
        }
    }

    @Test("A week that begins with a month is a week, and only a whole month is one")
    func periods() async throws {
        try await TestServer.run { server in
            let reports = ConnectReports(server.tollgate.store)
            let now = Instant(milliseconds: TestServer.start)
            for (first, last, period) in [
                ("06/01/2026", "06/07/2026", "WEEKLY 2026-06-07"),
                ("06/01/2026", "06/30/2026", "MONTHLY 2026-06"),
                ("02/01/2028", "02/29/2028", "MONTHLY 2028-02"),
                ("06/01/2026", "06/01/2026", "DAILY 2026-06-01"),
                ("01/01/2026", "12/31/2026", "YEARLY 2026"),
            ] {
                let bytes = Self.downloads(first, last, 1)
                let kept = try await reports.take(bytes, named: "S.txt", at: now)
                #expect(kept.period == period)
            }
        }
    }

    @Test("A finance report of one region adds nothing to that of all", arguments: Backend.allCases)
    func regions(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            try await Self.trade(server)
            let reports = ConnectReports(server.tollgate.store)
            let client = try await Self.client(server)
            let today = await Instant(milliseconds: server.clock.now)
            _ = try await reports.fetch(with: client, today: today, days: 45)
            let first = try #require(Finance.Day("2026-05-31"))
            let whole = try await server.tollgate.accounts.payouts(from: first, to: first)
            #expect(whole.map(\.status) == ["reported"])
            let bytes = try #require(try await client.financeReport(month: "2026-09"))
            let kept = try await reports.take(bytes, named: "87654321_0926_US.txt", at: today)
            #expect(kept.isNew && kept.period == "FISCAL 2026-09 US")
            #expect(try await server.tollgate.accounts.payouts(from: first, to: first) == whole)
        }
    }

    @Test("The store wants a token of the team, all filters, and a day that is over")
    func refused() async throws {
        try await TestServer.run { server in
            try await Self.trade(server)
            let client = try await Self.client(server)
            let today = "2026-07-11"
            #expect(try await client.salesReport(.init(.sales, date: today)) == nil)
            let yesterday = try await client.salesReport(.init(.sales, date: "2026-06-20"))
            #expect(yesterday == nil, "nothing was sold")
            let error = await #expect(throws: AppStore.ServerAPIError.self) {
                _ = try await client.salesReport(.init(.sales, date: "yesterday"))
            }
            #expect(error?.description.contains("400") == true)
            let withBundle = try server.tollgate.appStore.clients?.key.token(
                bundleID: TestServer.bundleID,
                issuedAt: Int64(Date().timeIntervalSince1970)
            )
            let answer = try await server.appStoreTransport(
                AppStore.HTTPRequest(
                    method: "GET",
                    url: "https://app-store.test/v1/salesReports",
                    headers: ["Authorization": "Bearer \(withBundle ?? "")"]
                )
            )
            #expect(answer.status == 401)
        }
    }
}

extension ConnectReports {
    /// The lines of a kind that are about days from `first` to `last`, both included.
    fileprivate func rows(
        _ kind: AppStore.ConnectReport.Kind,
        from first: String,
        to last: String
    ) async throws -> [AppStore.ConnectReport.Row] {
        try await store.reports.lines(kind.rawValue, from: first, to: last).map { row in
            let data = Data(row.body)
            switch kind {
            case .sales: return .sales(try APIJSON.decode(AppStore.SalesRow.self, from: data))
            case .subscription, .subscriptionEvent, .subscriber:
                return .subscription(
                    try APIJSON.decode(AppStore.SubscriptionRow.self, from: data)
                )
            case .financial:
                return .financial(try APIJSON.decode(AppStore.FinancialRow.self, from: data))
            }
        }
    }
}
