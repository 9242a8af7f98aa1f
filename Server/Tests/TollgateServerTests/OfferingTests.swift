import AppStoreSimulator
import Foundation
import HTTPTypes
import Reports
import SandboxClock
import Storage
import Testing
import TollgateAPI
import TollgateCore
import TollgateService
import TollgateSimulation

@Suite("Offerings and placements")
struct OfferingTests {
    @Test("An app reads offerings in order, with its ids, periods, prices and words")
    func offerings() async throws {
        try await TestServer.run { server in
            let session = try await server.session(of: server.customer())
            let answer = try await server.get("/v1/offerings", as: TestServer.publishableKey)
            #expect(answer.status == 200)
            #expect(
                answer.json["data"].array?.compactMap { $0["id"].string }
                    == ["standard", "with_lifetime"]
            )
            let offering = answer.json["data"][0]
            #expect(offering["texts"]["en"]["title"].string == "Go Pro")
            #expect(offering["texts"]["ja"]["body"].string == "すべての機能とバックナンバー。")
            let yearly = offering["products"][0]
            #expect(yearly["id"].string == "pro_yearly")
            #expect(yearly["kind"].string == "auto_renewable")
            #expect(yearly["app_store_product_id"].string == "com.example.app.pro.yearly")
            #expect(yearly["interval"].string == "year" && yearly["interval_count"].integer == 1)
            #expect(yearly["price"]["amount"].integer == 7999)
            #expect(yearly["buy_button"] == .null)
            let monthly = offering["products"][1]
            #expect(monthly["buy_button"].string == "buy_pro_monthly")
            #expect(monthly["promotional_offers"][0].string == "come_back")
            for key in [session, TestServer.secretKey] {
                #expect(try await server.get("/v1/offerings", as: key).json == answer.json)
            }
        }
    }

    @Test("Of several apps each reads its own ids")
    func severalApps() async throws {
        try await TwoApps.run { apps in
            var catalog = apps.server.tollgate.store.history.current
            catalog.offerings = [.init(id: "standard", products: ["pro_monthly"])]
            try await apps.server.tollgate.store.adopt(
                catalog,
                at: Instant(milliseconds: await apps.server.clock.now)
            )
            for (key, id) in [
                (TwoApps.readerKey, "com.example.reader.pro"),
                (TwoApps.studioKey, "com.example.studio.pro"),
            ] {
                let answer = try await apps.server.get("/v1/offerings", as: key)
                let product = answer.json["data"][0]["products"][0]
                #expect(product["app_store_product_id"].string == id)
            }
        }
    }

    @Test("A customer sees one variant each time, and customers are split as the catalog says")
    func split() async throws {
        try await TestServer.run { server in
            let offerings = server.tollgate.offerings
            var shown: [String: Int] = [:]
            for number in 0..<1000 {
                let customer = Customer.ID("cus_tg_\(number)")
                let placement = try offerings.placement("paywall", for: customer)
                let again = try offerings.placement("paywall", for: customer)
                #expect(placement == again)
                shown[placement.offering.id, default: 0] += 1
            }
            // These customers are always the same; 80 and 20 of a hundred are 800 and 200.
            #expect((160...240).contains(shown["with_lifetime"] ?? 0), "\(shown)")
            #expect(shown.values.reduce(0, +) == 1000)
        }
    }

    @Test("A session sees its customer's variant, a visitor the first, and the backend none")
    func placement() async throws {
        try await TestServer.run { server in
            let id = try await server.customer()
            let session = try await server.session(of: id)
            let path = "/v1/placements/paywall"
            let own = try await server.get(path, as: session)
            let expected = try server.tollgate.offerings.placement(
                "paywall",
                for: Customer.ID(id)
            )
            #expect(own.json["offering"]["id"].string == expected.offering.id)
            let key = TestServer.publishableKey
            #expect(try await server.get(path, as: key, session: session).json == own.json)
            let visitor = try await server.get(path, as: key)
            #expect(visitor.json["id"].string == "paywall")
            #expect(visitor.json["offering"]["id"].string == "standard")
            let backend = try await server.get(path)
            #expect(backend.status == 403 && backend.code == "key_scope")
            let unknown = try await server.get("/v1/placements/other", as: session)
            #expect(unknown.status == 404 && unknown.code == "resource_missing")
        }
    }

    @Test("What was seen is journalled once and exported", arguments: Backend.allCases)
    func shown(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let id = try await server.customer()
            let session = try await server.session(of: id)
            let path = "/v1/placements/paywall/shown"
            let rows = try await server.rowCounts()["journal"] ?? 0
            let first = try await server.post(path, as: session, #"{"offering":"standard"}"#)
            #expect(first.status == 200)
            #expect(first.json["placement"].string == "paywall")
            #expect(first.json["offering"].string == "standard")
            #expect(first.json["new"].bool == true)
            let again = try await server.post(path, as: session, #"{"offering":"standard"}"#)
            #expect(again.json["new"].bool == false)
            #expect(try await server.rowCounts()["journal"] == rows + 1)
            // What a customer said of age and terms is read beside it.
            #expect(try await server.get("/v1/consents", as: session).json["age"] == .null)
            #expect(try await Self.exported(server) == ["paywall/standard"])

            // A variant that has left the catalog may still be on somebody's screen.
            var catalog = server.tollgate.store.history.current
            catalog.placements[0].variants = [.init(offering: "standard", percent: 100)]
            try await server.tollgate.store.adopt(
                catalog,
                at: Instant(milliseconds: await server.clock.now)
            )
            let late = try await server.post(path, as: session, #"{"offering":"with_lifetime"}"#)
            #expect(late.status == 200 && late.json["new"].bool == true)

            #expect(try await server.send(.delete, "/v1/customers/\(id)").status == 200)
            #expect(try await Self.exported(server) == [])
        }
    }

    @Test("The report says what customers bought after it was shown", arguments: Backend.allCases)
    func report(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let token = UUID()
            let ann = try await server.customer("ann", token: token)
            let ben = try await server.customer("ben")
            let seen = [(ann, "standard"), (ben, "with_lifetime"), (ann, "with_lifetime")]
            for (id, offering) in seen {
                let session = try await server.session(of: id)
                let body = #"{"offering":"\#(offering)"}"#
                let answer = try await server.post(
                    "/v1/placements/paywall/shown",
                    as: session,
                    body
                )
                #expect(answer.json["new"].bool == true)
                await server.clock.advance(to: server.clock.now + 60_000)
            }
            let buyer = try await server.appStore.createCustomer()
            _ = try await server.appStore.buy(
                "com.example.app.coins100",
                customer: buyer.id,
                appAccountToken: token.uuidString.lowercased()
            )
            #expect(try await server.deliverNewestNotification().status == 200)
            let path = "/v1/reports/placements?format=csv"
            let head =
                "placement,offering,currency,customers,bought,conversion,open,net,net_per_customer"
            let hers = "paywall,standard,USD,1,1,1.000000,1,10.000,10.000"
            let his = "paywall,with_lifetime,,1,0,0.000000,1,,"
            func report(_ more: String = "") async throws -> [String] {
                try await server.get(path + more).text.split(whereSeparator: \.isNewline)
                    .map(String.init)
            }
            #expect(try await report() == [head, hers, his])
            #expect(
                try await report("&store=stripe") == [
                    head, "paywall,standard,,1,0,0.000000,1,,", his,
                ]
            )
            #expect(try await report("&environment=production") == [head])
            let grouped = try await server.get(path + "&group=store")
            #expect(grouped.status == 400 && grouped.code == "parameter_invalid")
            #expect(try await server.get("/v1/reports/placements").json["rows"].array?.count == 2)

            var browser = try await server.staff(.admin)
            let page = try await browser.open("/dashboard/reports/placements")
            #expect(page.status == 200 && page.text.contains("with_lifetime"))
            #expect(page.text.contains("100.0 %") && page.text.contains("$10.00"))
            // It is of the whole range.
            #expect(!page.text.contains("id=\"by\"") && !page.text.contains("id=\"group\""))
            let file = try await browser.open("/dashboard/reports/placements?format=csv")
            #expect(file.text.contains("Placement") && file.text.contains("with_lifetime"))

            #expect(try await server.send(.delete, "/v1/customers/\(ann)").status == 200)
            #expect(try await report() == [head, his])
        }
    }

    private static func exported(_ server: TestServer) async throws -> [String] {
        let export = server.tollgate.journalExport
        let horizon = try await export.horizon()
        let page = try await export.rows(
            from: Reports.Day(Instant(milliseconds: 0)),
            to: Reports.Day(Instant(milliseconds: TestServer.start)),
            upTo: horizon,
            limit: 10_000
        )
        return page.table.values("shown").map(\.text).filter { !$0.isEmpty }
    }

    @Test(
        "What no placement ever showed is refused",
        arguments: [
            ("paywall", #"{"offering":"other"}"#, 400, "parameter_invalid"),
            ("paywall", "{}", 400, "parameter_missing"),
            ("paywall", #"{"offering":1}"#, 400, "parameter_invalid"),
            ("paywall", "nothing", 400, "malformed_body"),
            ("other", #"{"offering":"standard"}"#, 404, "resource_missing"),
        ]
    )
    func refused(_ id: String, _ body: String, _ status: Int, _ code: String) async throws {
        try await TestServer.run { server in
            let session = try await server.session(of: server.customer())
            let rows = try await server.rowCounts()
            let answer = try await server.post("/v1/placements/\(id)/shown", as: session, body)
            #expect(answer.status == status && answer.code == code, "\(answer.text)")
            let nobody = try await server.post(
                "/v1/placements/\(id)/shown",
                as: TestServer.publishableKey,
                body
            )
            #expect(nobody.status == 401 && nobody.code == "no_session_present")
            #expect(try await server.rowCounts() == rows)
        }
    }

    @Test("L1: a customer tells what was shown sixty times a minute")
    func limit() async throws {
        try await TestServer.run { server in
            let eager = try await server.session(of: server.customer("eager"))
            let other = try await server.session(of: server.customer("other"))
            let (path, body) = ("/v1/placements/paywall/shown", #"{"offering":"standard"}"#)
            for _ in 0..<60 {
                #expect(try await server.post(path, as: eager, body).status == 200)
            }
            let refused = try await server.post(path, as: eager, body)
            #expect(refused.status == 429 && refused.code == "rate_limited")
            #expect(refused.headers[.retryAfter] == "1")
            #expect(try await server.post(path, as: other, body).status == 200)
            server.wall.advance(seconds: 1)
            #expect(try await server.post(path, as: eager, body).status == 200)
        }
    }
}
