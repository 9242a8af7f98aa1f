import Foundation
import Reports
import Storage
import Stores
import Testing
import TollgateCore
import TollgateService
import TollgateSimulation

/// Figures, rows and payments of several apps, and of one.
@Suite("Reports of several apps")
struct SeveralAppsReportTests {
    /// The lines of a CSV by the names in its first line.
    private static func lines(_ text: String) -> [[String: String]] {
        let lines = text.split(whereSeparator: \.isNewline).map {
            $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        guard let names = lines.first else { return [] }
        return lines.dropFirst().map {
            Dictionary(zip(names, $0), uniquingKeysWith: { first, _ in first })
        }
    }

    /// What both apps, and Stripe, have sold.
    private static func sell(_ apps: TwoApps) async throws {
        let (_, token) = try await apps.customer()
        try await apps.buy("com.example.reader.pro", in: apps.reader, token: token)
        try await apps.buy("com.example.studio.pro", in: apps.studio, token: token)
        try await apps.buy("coins", in: apps.studio, token: token)
    }

    private static func days(_ server: TestServer) async -> String {
        let today = Finance.Day(utc: await server.tollgate.clocks.now())
        return "from=\(today.advanced(by: -1))&to=\(today.advanced(by: 1))"
    }

    @Test(
        "Sales tell apps apart by themselves, other reports when asked; a filter counts one app",
        arguments: Backend.allCases
    )
    func figures(_ backend: Backend) async throws {
        try await TwoApps.run(on: backend) { apps in
            try await Self.sell(apps)
            func csv(_ path: String) async throws -> [[String: String]] {
                let answer = try await apps.server.get(path)
                #expect(answer.status == 200, "\(answer.text)")
                return Self.lines(answer.text)
            }
            let sales = try await csv("/v1/reports/sales?format=csv")
            let sold = sales.map {
                "\($0["app"] ?? "-") \($0["product"] ?? "") \($0["units"] ?? "")"
            }
            #expect(
                sold.sorted() == [
                    "reader pro_monthly 1", "studio coins_studio 1", "studio pro_monthly 1",
                ]
            )
            let mac = try await csv("/v1/reports/sales?format=csv&app=studio")
            #expect(mac.count == 2 && mac.allSatisfy { $0["app"] == "studio" })
            // Over all of them nothing has changed.
            let all = try await csv("/v1/reports/subscriptions?format=csv&by=month")
            #expect(all.last?["active"] == "2" && all.last?["app"] == nil)
            let apart = try await csv("/v1/reports/subscriptions?format=csv&by=month&group=app")
            #expect(apart.suffix(2).map { $0["app"] } == ["reader", "studio"])
            #expect(apart.suffix(2).allSatisfy { $0["active"] == "1" })
            let one = try await csv("/v1/reports/mrr?format=csv&by=month&app=reader")
            #expect(one.last?["active"] == "1")
            let rows = try await csv("/v1/reports/mrr/rows?format=csv&app=reader")
            #expect(rows.map { $0["app"] } == ["reader"])
            #expect(rows.first?["purchase"]?.contains("com.example.reader") == true)
            let unknown = try await apps.server.get("/v1/reports/sales?app=watch")
            #expect(unknown.status == 400 && unknown.code == "parameter_invalid")
            #expect(unknown.json["error"]["message"].string?.contains("reader, studio") == true)
        }
    }

    @Test("Payments name their app in JSON, in CSV and on the dashboard")
    func payments() async throws {
        try await TwoApps.run { apps in
            try await Self.sell(apps)
            let path = "/v1/payments?\(await Self.days(apps.server))"
            let list = try await apps.server.get(path)
            let named = try #require(list.json["data"].array).map { $0["app"].string }
            #expect(named.compactMap(\.self).sorted() == ["reader", "studio", "studio"])
            let mac = try await apps.server.get(path + "&app=studio&format=csv")
            #expect(Self.lines(mac.text).map { $0["app"] } == ["studio", "studio"])
            #expect(try await apps.server.get(path + "&app=watch").status == 400)
            var browser = try await apps.server.staff(.viewer)
            let page = try await browser.open("/dashboard/payments?app=studio")
            #expect(page.status == 200 && page.text.contains("name=\"app\""))
            #expect(page.text.contains(">Studio<") && !page.text.contains("com.example.reader.pro"))
            let report = try await browser.open("/dashboard/reports/sales?app=reader")
            #expect(report.text.contains("name=\"app\"") && report.text.contains(">Reader<"))
            #expect(!report.text.contains("coins_studio</"))
        }
    }

    @Test("An app that is listed later is told apart in what was sold before")
    func listedLater() async throws {
        try await TwoApps.run { apps in
            var catalog = TwoApps.catalog
            catalog.apps = [TwoApps.reader]
            let store = apps.server.tollgate.store
            try await store.adopt(catalog, at: Instant(milliseconds: TestServer.start + 1_000))
            try await Self.sell(apps)
            let refused = try await apps.server.get("/v1/reports/sales?group=app")
            #expect(refused.status == 400 && refused.code == "parameter_invalid")
            let later = Instant(milliseconds: TestServer.start + 2_000)
            try await store.adopt(TwoApps.catalog, at: later)
            let sales = Self.lines(try await apps.server.get("/v1/reports/sales?format=csv").text)
            #expect(Set(sales.map { $0["app"] }) == ["reader", "studio"])
        }
    }

    @Test("With one app no report has that column, and asking for it is refused")
    func oneApp() async throws {
        try await TestServer.run { server in
            _ = try await server.customerWithCoins()
            for path in ["/v1/reports/sales?format=csv", "/v1/reports/sales/rows?format=csv"] {
                let line = Self.lines(try await server.get(path).text).first
                #expect(line != nil && line?["app"] == nil)
            }
            let payments = "/v1/payments?\(await Self.days(server))"
            let csv = try await server.get(payments + "&format=csv")
            #expect(
                !csv.text.isEmpty
                    && !(csv.text.split(whereSeparator: \.isNewline)[0]).contains("app")
            )
            #expect(try await server.get(payments).json["data"][0]["app"].string == nil)
            for path in ["/v1/reports/sales?app=reader", "/v1/reports/mrr?group=app"] {
                let refused = try await server.get(path)
                #expect(refused.status == 400 && refused.code == "parameter_invalid")
            }
            #expect(try await server.get(payments + "&app=reader").status == 400)
            var browser = try await server.staff(.viewer)
            for path in ["/dashboard/payments", "/dashboard/reports/sales"] {
                let page = try await browser.open(path)
                #expect(page.status == 200 && !page.text.contains("name=\"app\""))
                #expect(!page.text.contains("value=\"app\""))
            }
        }
    }
}
