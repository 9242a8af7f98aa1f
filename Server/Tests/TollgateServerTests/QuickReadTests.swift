import AppStoreSimulator
import Foundation
import HTTPTypes
import SandboxClock
import Testing
import TollgateAPI
import TollgateCore
import TollgateService
import TollgateSimulation

/// On SQLite these questions are answered before the router; on PostgreSQL the route answers all.
@Suite("Answers that are given before the router")
struct QuickReadTests {
    private static let day: Int64 = 86_400_000

    /// Names that paths, escapes, JSON and databases could stumble over.
    private static let names = [
        "user-1", "anna@example.com", "a b", "a+b", "100%", "%41", "a/b", "x?y=1", "#", "..",
        "say \"é\"", "back\\slash", "日本語", "👩‍🚀", "e\u{301}", "a\u{1}b", "cus_other",
        // Of the form of a reference by which a checkout is claimed.
        String(repeating: "aB3_-", count: 8) + "xyz",
        String(repeating: "u", count: 255),
    ]

    /// What an answer says, byte for byte but for the signature, which is another each time.
    ///
    /// The route's `Date` is not that of the test's clock.
    private static func content(_ answer: Answer) -> [String] {
        var text = answer.text
        if let token = answer.json["signed_answer"].string,
            let signature = token.split(separator: ".").last
        {
            text = text.replacing(signature, with: "")
        }
        let fields = answer.headers.map { field in
            field.name == .date ? "date" : "\(field.name.canonicalName): \(field.value)"
        }
        return ["\(answer.status)", text] + fields.sorted()
    }

    /// Asks in each way, and compares with the route, which alone takes questions with a query.
    private static func compare(
        _ server: TestServer,
        _ name: String,
        as key: String?,
        session: String? = nil,
        tag: String? = nil
    ) async throws -> Answer {
        let path = APIPath.customerEntitlements.path(id: name)
        let headers = tag.map { ["If-None-Match": $0] } ?? [:]
        let route = try await server.send(
            .get,
            path + "?environment=sandbox",
            as: key,
            session: session,
            headers: headers
        )
        for kept in [headers, headers.merging(["Connection": "keep-alive"]) { $1 }] {
            let answer = try await server.send(
                .get,
                path,
                as: key,
                session: session,
                headers: kept
            )
            #expect(content(answer) == content(route), "\(name) as \(key ?? "nobody")")
        }
        return route
    }

    @Test("They are those of the route, whatever a customer is called", arguments: Backend.allCases)
    func names(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            for (index, name) in Self.names.enumerated() {
                let unknown = try await Self.compare(server, name, as: TestServer.secretKey)
                #expect(unknown.status == 404, "\(name)")
                let body = try APIJSON.encode(["app_user_id": name])
                let made = try await server.post(
                    "/v1/customers",
                    String(decoding: body, as: UTF8.self)
                )
                let id = try #require(made.json["id"].string)
                let session = try await server.session(of: id)
                for _ in 0..<2 {
                    let byName = try await Self.compare(server, name, as: TestServer.secretKey)
                    let byID = try await Self.compare(server, id, as: TestServer.secretKey)
                    #expect(byName.status == 200 && byName.bytes == byID.bytes, "\(name)")
                    let signed = try await Self.compare(server, id, as: session)
                    #expect(signed.status == 200)
                    let foreign = try await Self.compare(server, name, as: session)
                    #expect(foreign.status == 404)
                    // The second time with a purchase, every other one for a day.
                    let until =
                        index.isMultiple(of: 2) ? "" : ",\"until\":\(TestServer.start + Self.day)"
                    _ = try await server.post(
                        "/v1/customers/\(id)/grants",
                        "{\"lookup_key\":\"pro\"\(until)}"
                    )
                }
                // Only who is called so may be found without the route.
                let atOnce = try server.tollgate.entitlements.answerAtOnce(of: name)
                #expect((atOnce != nil) == (backend == .sqlite), "\(name)")
                #expect(try server.tollgate.entitlements.answerAtOnce(of: name + "x") == nil)
            }
            await server.clock.advance(to: TestServer.start + 2 * Self.day)
            for (index, name) in Self.names.enumerated() {
                let later = try await Self.compare(server, name, as: TestServer.secretKey)
                let count = index.isMultiple(of: 2) ? 1 : 0
                #expect(later.json["data"].array?.count == count, "\(name)")
            }
        }
    }

    @Test(
        "In production and in the sandbox they are about the same customer, by name and by id",
        arguments: Backend.allCases
    )
    func environments(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let entitlements = server.tollgate.entitlements
            func compare(_ name: String, _ isKnown: Bool = true) async throws -> [Int] {
                var counts: [Int] = []
                for environment in [StoreEnvironment.production, .sandbox] {
                    let atOnce = try entitlements.answerAtOnce(of: name, in: environment)
                    #expect((atOnce != nil) == (isKnown && backend == .sqlite), "\(name)")
                    guard isKnown else { continue }
                    let answer = try await entitlements.answer(of: name, in: environment)
                    if let atOnce {
                        #expect(atOnce.tag == answer.tag, "\(name)")
                        #expect(try atOnce.json() == answer.json(), "\(name)")
                    }
                    counts.append(try answer.list().data.count)
                }
                return counts
            }
            let id = try await server.customer("user-1")
            _ = try await server.customer("user-2")
            for name in ["user-1", id] { #expect(try await compare(name) == [0, 0]) }
            for (environment, counts) in [("production", [1, 0]), ("sandbox", [1, 1])] {
                _ = try await server.post(
                    "/v1/customers/\(id)/grants?environment=\(environment)",
                    "{\"lookup_key\":\"pro\"}"
                )
                for name in ["user-1", id] { #expect(try await compare(name) == counts) }
                #expect(try await compare("user-2") == [0, 0])
            }
            #expect(try await server.send(.delete, "/v1/customers/\(id)").status == 200)
            for name in ["user-1", "nobody"] { _ = try await compare(name, false) }
        }
    }

    @Test(
        "They are those of the route through a whole history, for every key",
        arguments: Backend.allCases
    )
    func history(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let token = UUID()
            let id = try await server.customer("user-1", token: token)
            let other = try await server.customer("user-2")
            let readers = try await server.post(
                "/v1/secret_keys",
                "{\"name\":\"reads\",\"scopes\":[\"read\"]}"
            )
            let strangers = try await server.post(
                "/v1/secret_keys",
                "{\"name\":\"reports\",\"scopes\":[\"reports\"]}"
            )
            let reader = try #require(readers.json["secret"].string)
            let stranger = try #require(strangers.json["secret"].string)
            let keys = [
                TestServer.secretKey, reader, stranger, TestServer.publishableKey,
                try await server.session(of: id), try await server.session(of: other),
                try await server.session(of: id, components: ["buy_button"]), "sk_test_wrong",
                "sk_test_" + String(repeating: "x", count: 48), "cuss_secret_wrong", "", nil,
            ]
            let session = try await server.session(of: id)
            func compareAll() async throws -> [Int] {
                var statuses: [Int] = []
                for name in ["user-1", id, "nobody", "cus_tg_nobody"] {
                    for key in keys {
                        let answer = try await Self.compare(server, name, as: key)
                        statuses.append(answer.status)
                        if let tag = answer.headers[.eTag] {
                            let held = try await Self.compare(server, name, as: key, tag: tag)
                            #expect(held.status == 304 && held.bytes.isEmpty)
                        }
                    }
                    let beside = try await Self.compare(
                        server,
                        name,
                        as: TestServer.publishableKey,
                        session: session
                    )
                    statuses.append(beside.status)
                }
                return statuses
            }
            let before = try await compareAll()
            #expect(before.filter { $0 == 200 }.count == 6)
            let buyer = try await server.appStore.createCustomer()
            _ = try await server.appStore.buy(
                "com.example.app.pro.monthly",
                customer: buyer.id,
                appAccountToken: token.uuidString.lowercased()
            )
            #expect(try await server.deliverNewestNotification().status == 200)
            #expect(try await compareAll() == before)
            // It renews, while sessions live on by real time.
            try await server.pass(days: 40)
            #expect(try await compareAll() == before)
            _ = try await server.post("/v1/customers/\(id)/grants", "{\"lookup_key\":\"archive\"}")
            #expect(try await compareAll() == before)
            _ = try await server.tollgate.sessions.revoke(session)
            #expect(try await compareAll() != before)
            #expect(try await server.send(.delete, "/v1/customers/\(id)").status == 200)
            #expect(try await !compareAll().contains(200))
        }
    }
}
