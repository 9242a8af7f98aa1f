import AppStoreSimulator
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import SandboxClock
import Storage
import Testing
import TollgateAPI
import TollgateCore
import TollgateService
import TollgateSimulation

/// Rows of the attack list that concern every address alike: D1, K2, T1, C1 and J14.
@Suite("Attacks on every address")
struct AttackTests {
    private static let described = OpenAPIDocument.ofServer.operations.filter {
        $0.template.hasPrefix("/v1/")
    }

    static let injections = [
        "' OR '1'='1", "'; DROP TABLE journal; --", "\" OR \"\"=\"", "1; DELETE FROM customer",
        "x' UNION SELECT body FROM profile --", "') OR ('1'='1", "\\'; DROP TABLE profile; --",
        "admin'--", "1 OR 1=1", "' OR 1=1 LIMIT 1 OFFSET 1 --", "%27%20OR%201=1", "$1", "$$",
        "'||(SELECT version())||'", "'; SELECT pg_sleep(10); --",
        "1); ATTACH DATABASE 'x' AS y; --",
        "{\"$gt\":\"\"}", "*", "%", "_", "\u{FF07} OR 1=1", "'/**/OR/**/1=1", "0x27204f52",
        "' AND 1=CONVERT(int,(SELECT 1)) --", "'; COPY journal TO '/tmp/x'; --", "\u{1}", "a\u{7F}",
        "'); INSERT INTO lease VALUES ('x','y',1); --", "x'; PRAGMA writable_schema=1; --", "NULL",
    ]

    /// A rough inventory: what an injected statement would change.
    private static func state(_ server: TestServer) async throws -> [String: Int64] {
        var counts = try await server.rowCounts()
        let more = try await server.tollgate.store.driver.read { connection in
            var counts: [String: Int64] = [:]
            for (table, sql) in [
                ("profile", "SELECT count(*) FROM profile"),
                ("alias", "SELECT count(*) FROM alias"),
                ("lease", "SELECT count(*) FROM lease"),
                ("meta", "SELECT count(*) FROM meta"),
                ("webhook_endpoint", "SELECT count(*) FROM webhook_endpoint"),
            ] {
                counts[table] = try connection.query(sql).first?.int64(0)
            }
            return counts
        }
        counts.merge(more) { _, new in new }
        return counts
    }

    private static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "x"
    }

    @Test(
        "D1: no parameter of any address reaches the database as SQL",
        arguments: Backend.allCases
    )
    func injection(_ backend: Backend) async throws {
        #expect(Self.injections.count >= 30)
        try await TestServer.run(on: backend) { server in
            _ = try await server.customerWithCoins()
            let before = try await Self.state(server)
            for operation in Self.described where operation.method == "GET" {
                let query = (operation.content["parameters"].array ?? []).compactMap {
                    $0["in"].string == "query" ? $0["name"].string : nil
                }
                for text in Self.injections {
                    let value = Self.escaped(text)
                    var path = operation.path(id: value)
                    let asked = query + ["environment", "lookup_key", "starting_after", "status"]
                    path += "?" + asked.map { "\($0)=\(value)" }.joined(separator: "&")
                    let answer = try await server.client.executeRequest(
                        uri: path,
                        method: .get,
                        headers: [.authorization: "Bearer \(TestServer.secretKey)"],
                        body: nil
                    )
                    #expect(answer.status.code < 500, "\(path)")
                }
            }
            for text in Self.injections {
                let quoted = String(
                    decoding: try JSONEncoder().encode(text),
                    as: UTF8.self
                )
                for (path, body) in [
                    ("/v1/customers/\(Self.escaped(text))/coins/spend", "{\"amount\":1}"),
                    ("/v1/customers/\(Self.escaped(text))/grants", "{\"lookup_key\":\(quoted)}"),
                    ("/v1/customers/\(Self.escaped(text))/purchases", "{\"purchase\":\(quoted)}"),
                    ("/v1/customer_sessions", "{\"customer\":\(quoted)}"),
                    ("/v1/checkout_sessions", "{\"customer\":\(quoted),\"product\":\(quoted)}"),
                    ("/v1/webhook_endpoints", "{\"url\":\(quoted),\"description\":\(quoted)}"),
                    ("/v1/webhook_endpoints/\(Self.escaped(text))/replay", "{\"event\":\(quoted)}"),
                    ("/v1/customer_sessions/revoke", "{\"customer\":\(quoted)}"),
                ] {
                    let answer = try await server.client.executeRequest(
                        uri: path,
                        method: .post,
                        headers: [
                            .authorization: "Bearer \(TestServer.secretKey)",
                            .contentType: "application/json",
                        ],
                        body: .init(string: body)
                    )
                    #expect((400..<500).contains(answer.status.code), "\(path) \(body)")
                }
            }
            #expect(try await Self.state(server) == before)
            // As data it comes back as it went in.
            for text in Self.injections {
                let quoted = String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
                let made = try await server.post("/v1/customers", "{\"app_user_id\":\(quoted)}")
                if made.status == 201 { #expect(made.json["app_user_id"].string == text) }
                #expect([201, 400].contains(made.status), "\(text)")
            }
        }
    }

    @Test("T1: another customer's session opens nothing of this customer, on any address")
    func otherCustomers() async throws {
        try await TestServer.run { server in
            let victim = try await server.customer("victim")
            let session = try await server.session(of: try await server.customer("thief"))
            let before = try await server.rowCounts()
            var tried = 0
            for operation in Self.described where operation.template.contains("/customers/{id}") {
                let method = try #require(HTTPRequest.Method(operation.method))
                for (key, beside) in [
                    (session, String?.none), (TestServer.publishableKey, session),
                ] {
                    let answer = try await server.client.executeRequest(
                        uri: operation.path(id: victim)
                            + (method == .delete ? "?product=free" : ""),
                        method: method,
                        headers: Self.headers(key, beside),
                        body: method == .post
                            ? .init(
                                string: "{\"amount\":1,\"lookup_key\":\"pro\",\"product\":\"x\"}"
                            )
                            : nil
                    )
                    let json = Answer(
                        status: answer.status.code,
                        headers: answer.headers,
                        bytes: Array(answer.body.readableBytesView)
                    )
                    tried += 1
                    #expect(
                        (json.status == 404 && json.code == "resource_missing")
                            || (json.status == 403 && json.code == "key_scope"),
                        "\(operation.method) \(operation.template): \(json.status)"
                    )
                    // A session is told 404 wherever it may ask for its own.
                    if operation.security.contains("customerSession") {
                        #expect(json.status == 404)
                    }
                }
            }
            #expect(tried >= 16)
            #expect(try await server.rowCounts() == before)
        }
    }

    private static func headers(_ key: String, _ session: String?) -> HTTPFields {
        var headers: HTTPFields = [
            .authorization: "Bearer \(key)", .contentType: "application/json",
        ]
        if let session, let name = HTTPField.Name("Tollgate-Customer-Session") {
            headers[name] = session
        }
        return headers
    }

    @Test(
        "C1: whoever spends the same coins at once, exactly as many are spent as there were",
        arguments: Backend.allCases,
        [2, 8, 64]
    )
    func races(_ backend: Backend, _ width: Int) async throws {
        try await TestServer.run(on: backend) { server in
            let id = try await server.customerWithCoins()
            let path = "/v1/customers/\(id)/coins/spend"
            // A hundred coins, and `width` who want them all.
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<width {
                    group.addTask {
                        let answer = try await server.post(
                            path,
                            "{\"amount\":100}",
                            idempotencyKey: "race-\(number)"
                        )
                        #expect(answer.status == 200 || answer.code == "insufficient_coins")
                        return answer.status
                    }
                }
                return try await group.reduce(into: [Int]()) { $0.append($1) }
            }
            #expect(statuses.filter { $0 == 200 }.count == 1)
            #expect(statuses.filter { $0 == 409 }.count == width - 1)
            let coins = try await server.get("/v1/customers/\(id)/coins")
            #expect(coins.json["balance"].integer == 0)
        }
    }

    @Test(
        "J14: a notification sent a thousand times is one, on both databases",
        arguments: Backend.allCases
    )
    func replay(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let id = try await server.customerWithCoins()
            let before = try await server.rowCounts()
            let newest = try #require(await server.appStore.notifications().last)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        for _ in 0..<125 {
                            let answer = try await server.deliver(newest.signedPayload)
                            #expect(answer.status == 200)
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await server.rowCounts() == before)
            let coins = try await server.get("/v1/customers/\(id)/coins")
            #expect(coins.json["balance"].integer == 100)
        }
    }
}

/// K2: keys are changed while everybody goes on.
@Suite("Keys that change")
struct KeyRotationTests {
    @Test("K2: while a key is changed both are taken, and afterwards only the new one")
    func overlap() {
        var configuration = Configuration(
            secretKey: "sk_live_new",
            publishableKey: "pk_live_new",
            publicURL: "https://billing.example.com",
            defaultEnvironment: .production,
            formerSecretKeys: ["sk_live_old"],
            formerPublishableKeys: ["pk_live_old"]
        )
        #expect(configuration.isSecretKey("sk_live_new"))
        #expect(configuration.isSecretKey("sk_live_old"))
        #expect(configuration.isPublishableKey("pk_live_old"))
        #expect(!configuration.isSecretKey("pk_live_old"))
        #expect(!configuration.isSecretKey("sk_live_ol"))
        #expect(!configuration.isSecretKey(""))
        configuration.formerSecretKeys = []
        #expect(!configuration.isSecretKey("sk_live_old"))
    }

    @Test(
        "K2: what is sealed is opened by the former key and sealed again by the new one",
        arguments: Backend.allCases
    )
    func resealing(_ backend: Backend) async throws {
        let driver = try await backend.open()
        let old = SealingKeys(["sk_live_old"])
        let first = try await AnswerSigner(keptIn: driver, sealing: old)
        let both = SealingKeys(["sk_live_new", "sk_live_old"])
        let second = try await AnswerSigner(keptIn: driver, sealing: both)
        let third = try await AnswerSigner(keptIn: driver, sealing: SealingKeys(["sk_live_new"]))
        let now = Instant(milliseconds: TestServer.start)
        #expect(first.keySet(at: now) == second.keySet(at: now))
        #expect(first.keySet(at: now) == third.keySet(at: now))
        await #expect(throws: SealingError.self) {
            _ = try await AnswerSigner(keptIn: driver, sealing: old)
        }
        await driver.close()
    }
}
