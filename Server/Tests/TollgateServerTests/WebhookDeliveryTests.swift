import AppStoreSimulator
import Foundation
import HTTPTypes
import SandboxClock
import Storage
import Synchronization
import Testing
import TollgateAPI
import TollgateCore
import TollgateService
import TollgateSimulation

/// F16, F17 and R1, and invariant I11.
@Suite("Outgoing webhooks")
struct WebhookDeliveryTests {
    static let hook = "https://backend.example.org/hooks"

    /// A new endpoint: its id and secret.
    static func endpoint(
        _ server: TestServer,
        _ url: String = hook,
        more: String = ""
    ) async throws -> (id: String, secret: String) {
        let made = try await server.post("/v1/webhook_endpoints", "{\"url\":\"\(url)\"\(more)}")
        #expect(made.status == 201, "\(made.text)")
        return (
            try #require(made.json["id"].string), try #require(made.json["secret"].string)
        )
    }

    static func deliver(_ server: TestServer) async {
        await server.tollgate.events.publish()
        await server.tollgate.webhookDeliveries.deliver()
    }

    private static func changes(_ event: JSONValue) -> [String] {
        (event["changes"].array ?? []).map { change in
            let what = change["lookup_key"].string ?? change["amount"].integer.map { "\($0)" }
            return "\(change["type"].string ?? "") \(what ?? "")"
        }
    }

    @Test("What changes is sent once, signed, as the feed has it", arguments: Backend.allCases)
    func story(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            await Self.deliver(server)
            let endpoint = try await Self.endpoint(server)
            let buyer = try await Buyer(server)
            _ = try await buyer.buys("com.example.app.pass30")
            _ = try await buyer.buys("com.example.app.coins100")
            for _ in 0..<3 { await Self.deliver(server) }
            let spent = try await server.post(
                "/v1/customers/\(buyer.id)/coins/spend",
                "{\"amount\":30}",
                idempotencyKey: "spend-1"
            )
            #expect(spent.status == 200)
            await Self.deliver(server)
            await server.clock.advance(to: TestServer.start + 31 * 86_400_000)
            for _ in 0..<3 { await Self.deliver(server) }

            let feed = try await server.get("/v1/events?limit=100").json["data"].array ?? []
            let arrivals = server.receiver.arrivals
            #expect(arrivals.map(\.json) == feed)
            #expect(arrivals.map(\.id) == feed.map { $0["id"].string ?? "" })
            #expect(arrivals.allSatisfy { $0.isSigned(with: endpoint.secret) })
            #expect(arrivals.allSatisfy { $0.signatures.count == 1 && $0.url == Self.hook })
            let told = arrivals.map(\.json).flatMap(Self.changes)
            #expect(
                told == [
                    "entitlement.granted pro", "coins.credited 100", "coins.debited 30",
                    "entitlement.revoked pro",
                ]
            )
            let facts = (arrivals.first?.json["purchases"][0]["facts"].array ?? [])
                .compactMap(\.string)
            #expect(facts.contains("period"))

            let deliveries = try await server.get("/v1/webhook_endpoints/\(endpoint.id)/deliveries")
            let list = deliveries.json["data"].array ?? []
            #expect(list.count == min(10, arrivals.count))
            #expect(list.allSatisfy { $0["status"].string == "delivered" })
            #expect(list.first?["event"].string == arrivals.last?.id)
        }
    }

    @Test("I11: all changes of a customer together are the answer")
    func changesFold() async throws {
        try await TestServer.run { server in
            await Self.deliver(server)
            _ = try await Self.endpoint(server)
            let buyer = try await Buyer(server)
            _ = try await buyer.buys(ProductTypeTests.monthly)
            _ = try await buyer.buys("com.example.app.coins100")
            _ = try await buyer.buys("com.example.app.lifetime")
            for _ in 0..<8 {
                try await server.pass(days: 11)
                await Self.deliver(server)
            }
            var coins: Int64 = 0
            var keys: Set<String> = []
            for arrival in server.receiver.arrivals {
                for change in arrival.json["changes"].array ?? [] {
                    let key = change["lookup_key"].string ?? ""
                    let amount = change["amount"].integer ?? 0
                    switch change["type"].string {
                    case "entitlement.granted"?: #expect(keys.insert(key).inserted)
                    case "entitlement.changed"?: #expect(keys.contains(key))
                    case "entitlement.revoked"?: #expect(keys.remove(key) != nil)
                    case "coins.credited"?: coins += amount
                    case "coins.debited"?: coins -= amount
                    default: Issue.record("an unknown change")
                    }
                }
                let answer = (arrival.json["entitlements"].array ?? []).compactMap {
                    $0["lookup_key"].string
                }
                #expect(Set(answer) == keys)
                #expect(arrival.json["coins"]["balance"].integer == coins)
            }
            #expect(coins >= 100 && !keys.isEmpty)
        }
    }

    @Test(
        "F17: what is not taken is sent again, in order for its customer, and holds up nobody else"
    )
    func retries() async throws {
        try await TestServer.run { server in
            await Self.deliver(server)
            let endpoint = try await Self.endpoint(server)
            let first = try await server.customerWithCoins("user-1")
            let second = try await server.customerWithCoins("user-2")
            // The first customer's events are not taken.
            server.receiver.answer { arrival in
                WebhookResponse(status: arrival.json["customer"].string == first ? 500 : 200)
            }
            await Self.deliver(server)
            for number in 0..<3 {
                for customer in [first, second] {
                    _ = try await server.post(
                        "/v1/customers/\(customer)/coins/spend",
                        "{\"amount\":1}",
                        idempotencyKey: "\(customer) \(number)"
                    )
                }
                await Self.deliver(server)
            }
            let sent = server.receiver.arrivals.filter { $0.json["customer"].string == first }
            #expect(Set(sent.map(\.id)).count == 1, "only the oldest is tried")
            #expect(
                server.receiver.taken.filter { $0.json["customer"].string == second }.count >= 4
            )
            let waiting = try await server.get(
                "/v1/webhook_endpoints/\(endpoint.id)/deliveries?status=waiting"
            )
            #expect(waiting.json["data"].array?.count ?? 0 >= 4)
            #expect(waiting.json["data"].array?.last?["outcome"].string == "answered 500")

            server.receiver.answer { _ in WebhookResponse(status: 204) }
            await Self.deliver(server)
            let before = server.receiver.arrivals.count
            server.wall.advance(seconds: 6)
            await Self.deliver(server)
            #expect(server.receiver.arrivals.count > before)
            let order = server.receiver.taken.filter { $0.json["customer"].string == first }
                .compactMap { $0.json["id"].string }
            let feed = try await server.get("/v1/events?limit=100").json["data"].array ?? []
            #expect(
                order
                    == feed.filter { $0["customer"].string == first }
                    .compactMap { $0["id"].string }
            )
        }
    }

    @Test(
        "F17: answers that are no yes",
        arguments: [301, 302, 307, 308, 400, 401, 404, 429, 500, 503]
    )
    func refusals(_ status: Int) async throws {
        try await TestServer.run { server in
            await Self.deliver(server)
            let endpoint = try await Self.endpoint(server)
            server.receiver.answer { _ in WebhookResponse(status: status, retryAfter: "600") }
            _ = try await server.customerWithCoins()
            await Self.deliver(server)
            #expect(server.receiver.arrivals.count == 1)
            // Asked to stay away for ten minutes, it is left alone for so long.
            server.wall.advance(seconds: 599)
            await Self.deliver(server)
            #expect(server.receiver.arrivals.count == 1)
            server.wall.advance(seconds: 61)
            await Self.deliver(server)
            #expect(server.receiver.arrivals.count == 2)
            let got = try await server.get("/v1/webhook_endpoints/\(endpoint.id)")
            #expect(got.json["status"].string == "enabled")
            #expect(got.json["secret"] == .null)
        }
    }

    @Test("F17: 410 ends it at once, until it is enabled again")
    func gone() async throws {
        try await TestServer.run { server in
            await Self.deliver(server)
            let endpoint = try await Self.endpoint(server)
            server.receiver.answer { _ in WebhookResponse(status: 410) }
            _ = try await server.customerWithCoins()
            await Self.deliver(server)
            server.wall.advance(seconds: 86_400)
            await Self.deliver(server)
            #expect(server.receiver.arrivals.count == 1)
            let path = "/v1/webhook_endpoints/\(endpoint.id)"
            let disabled = try await server.get(path)
            #expect(disabled.json["status"].string == "disabled")
            #expect(disabled.json["disabled_reason"].string == "the endpoint answered 410 Gone")
            server.receiver.answer { _ in WebhookResponse(status: 200) }
            let enabled = try await server.post(path, "{\"enabled\":true}")
            #expect(enabled.json["status"].string == "enabled")
            await Self.deliver(server)
            #expect(server.receiver.taken.count >= 1)
        }
    }

    @Test(
        "F17: what nobody takes is given up after three days, kept, and sent again when asked for",
        arguments: Backend.allCases
    )
    func deadLetters(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            await Self.deliver(server)
            let endpoint = try await Self.endpoint(server)
            _ = try await server.customerWithCoins("poison")
            let poison = Mutex("")
            server.receiver.answer { arrival in
                let id = poison.withLock { known in
                    if known.isEmpty { known = arrival.id }
                    return known
                }
                guard arrival.id != id else { throw CancellationError() }
                return WebhookResponse(status: 200)
            }
            await Self.deliver(server)
            var hours = 0
            while hours < 24 * 6 {
                server.wall.advance(seconds: 3_600)
                hours += 1
                // Others are told meanwhile, so the endpoint is known to live.
                if hours.isMultiple(of: 12) { _ = try await server.customer("user-\(hours)") }
                await Self.deliver(server)
            }
            let path = "/v1/webhook_endpoints/\(endpoint.id)"
            let dead = try await server.get(path + "/deliveries?status=dead")
            #expect(dead.json["data"].array?.count == 1)
            #expect(dead.json["data"][0]["attempts"].integer == 10)
            let id = poison.withLock { $0 }
            #expect(dead.json["data"][0]["event"].string == id)
            #expect(server.receiver.arrivals.filter { $0.id == id }.count == 10)
            let metrics = try await server.get("/metrics", as: nil).text
            #expect(metrics.contains("tollgate_webhook_dead{endpoint=\"\(endpoint.id)\"} 1\n"))

            server.receiver.answer { _ in WebhookResponse(status: 200) }
            let replay = try await server.post(path + "/replay", "{\"dead\":true}")
            #expect(replay.json["events"].integer == 1)
            await Self.deliver(server)
            #expect(server.receiver.taken.contains { $0.id == id })
        }
    }

    @Test("F17: an endpoint that takes nothing for five days is disabled, and loses nothing")
    func silence() async throws {
        try await TestServer.run { server in
            await Self.deliver(server)
            let endpoint = try await Self.endpoint(server)
            server.receiver.answer { _ in throw CancellationError() }
            for number in 0..<30 { _ = try await server.customerWithCoins("user-\(number)") }
            for _ in 0..<(6 * 24) {
                await Self.deliver(server)
                server.wall.advance(seconds: 3_600)
            }
            // Thirty customers' events, and yet it was asked no more than a few times an hour.
            #expect(server.receiver.arrivals.count < 600)
            let path = "/v1/webhook_endpoints/\(endpoint.id)"
            #expect(try await server.get(path).json["status"].string == "disabled")
            server.receiver.answer { _ in WebhookResponse(status: 200) }
            server.receiver.forget()
            _ = try await server.post(path, "{\"enabled\":true}")
            _ = try await server.post(path + "/replay", "{\"starting_after\":\"beginning\"}")
            for _ in 0..<3 { await Self.deliver(server) }
            let feed = try await server.get("/v1/events?limit=100").json["data"].array ?? []
            #expect(
                Set(server.receiver.taken.map(\.id)) == Set(feed.compactMap { $0["id"].string })
            )
        }
    }

    @Test("A new secret signs beside the old one, until the overlap is over")
    func rotation() async throws {
        try await TestServer.run { server in
            await Self.deliver(server)
            let endpoint = try await Self.endpoint(server)
            let path = "/v1/webhook_endpoints/\(endpoint.id)"
            let rotated = try await server.post(path + "/rotate_secret", "{\"overlap\":3600}")
            let secret = try #require(rotated.json["secret"].string)
            #expect(secret != endpoint.secret)
            _ = try await server.customerWithCoins("user-1")
            await Self.deliver(server)
            let both = try #require(server.receiver.arrivals.last)
            #expect(both.signatures.count == 2)
            #expect(both.isSigned(with: secret) && both.isSigned(with: endpoint.secret))
            server.wall.advance(seconds: 3_600)
            _ = try await server.customerWithCoins("user-2")
            await Self.deliver(server)
            let one = try #require(server.receiver.arrivals.last)
            #expect(one.isSigned(with: secret) && !one.isSigned(with: endpoint.secret))
            let refused = try await server.post(path + "/rotate_secret", "{\"overlap\":-1}")
            #expect(refused.status == 400 && refused.code == "parameter_invalid")
        }
    }

    @Test("An endpoint that takes its time holds up neither the feed nor the others")
    func slow() async throws {
        try await TestServer.run { server in
            await Self.deliver(server)
            let slow = "https://slow.example.org/"
            _ = try await Self.endpoint(server, slow)
            _ = try await Self.endpoint(server)
            let (asked, wasAsked) = AsyncStream.makeStream(of: Void.self)
            let (ends, mayEnd) = AsyncStream.makeStream(of: Void.self)
            let (taken, wasTaken) = AsyncStream.makeStream(of: Void.self)
            server.receiver.answer { arrival in
                if arrival.url == slow {
                    wasAsked.finish()
                    for await _ in ends {}
                } else {
                    wasTaken.yield()
                }
                return WebhookResponse(status: 200)
            }
            _ = try await server.customerWithCoins("user-1")
            await server.tollgate.events.publish()
            let delivering = Task {
                await server.tollgate.webhookDeliveries.keepDelivering(every: .milliseconds(1))
            }
            for await _ in asked {}
            var others = taken.makeAsyncIterator()
            await others.next()
            // While the slow one is still being asked, what comes later reaches the other one.
            _ = try await server.customerWithCoins("user-2")
            await server.tollgate.events.publish()
            await others.next()
            // The receiver notes what it has answered, which is a moment later.
            while server.receiver.arrivals.count < 2 { await Task.yield() }
            #expect(server.receiver.arrivals.map(\.url) == [Self.hook, Self.hook])
            mayEnd.finish()
            delivering.cancel()
            await delivering.value
        }
    }

    @Test("There is work again at the instant of the retry", arguments: Backend.allCases)
    func nextWork(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let webhooks = server.tollgate.store.webhooks
            await Self.deliver(server)
            #expect(try await webhooks.nextWork() == nil)
            _ = try await Self.endpoint(server)
            #expect(try await webhooks.nextWork() == nil)
            _ = try await server.customerWithCoins()
            await server.tollgate.events.publish()
            let now = server.wall.now
            let waiting = try #require(try await webhooks.nextWork())
            #expect(waiting <= now)
            server.receiver.answer { _ in WebhookResponse(status: 500) }
            await Self.deliver(server)
            let retry = try #require(try await webhooks.nextWork())
            #expect(retry > now)
            #expect(try await webhooks.endpointsWithWork(at: retry.advanced(by: -1)).isEmpty)
            #expect(try await webhooks.endpointsWithWork(at: retry).count == 1)
            server.receiver.answer { _ in WebhookResponse(status: 200) }
            server.wall.advance(seconds: (retry.milliseconds - now.milliseconds) / 1_000 + 1)
            await Self.deliver(server)
            #expect(server.receiver.taken.count == 1)
            #expect(try await webhooks.nextWork() == nil)
        }
    }

    @Test(
        "Changes of an endpoint at the same time are all kept, and every secret handed out signs",
        arguments: Backend.allCases
    )
    func changesAtOnce(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            await Self.deliver(server)
            let endpoint = try await Self.endpoint(server)
            let path = "/v1/webhook_endpoints/\(endpoint.id)"
            let secrets = try await withThrowingTaskGroup(of: String?.self) { group in
                for number in 0..<3 {
                    group.addTask {
                        try await server.post(path + "/rotate_secret", "{\"overlap\":600}")
                            .json["secret"].string
                    }
                    group.addTask {
                        let body = "{\"description\":\"\(number)\",\"enabled\":true}"
                        let answer = try await server.post(path, body)
                        #expect(answer.status == 200)
                        return nil
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }.compactMap(\.self)
            }
            #expect(Set(secrets).count == 3)
            _ = try await server.customerWithCoins("user-1")
            await Self.deliver(server)
            let arrival = try #require(server.receiver.arrivals.last)
            #expect(([endpoint.secret] + secrets).allSatisfy { arrival.isSigned(with: $0) })
        }
    }

    @Test("What an address answers that is no longer the endpoint's disables nothing")
    func formerAddress() async throws {
        try await TestServer.run { server in
            await Self.deliver(server)
            let endpoint = try await Self.endpoint(server)
            let path = "/v1/webhook_endpoints/\(endpoint.id)"
            server.receiver.answer { arrival in
                guard arrival.url == Self.hook else { return WebhookResponse(status: 200) }
                // The operator mends the endpoint while the old address is being asked.
                let body = "{\"url\":\"https://new.example.org/\"}"
                let answer = try await server.post(path, body)
                #expect(answer.status == 200)
                return WebhookResponse(status: 410)
            }
            _ = try await server.customerWithCoins("user-1")
            await Self.deliver(server)
            #expect(try await server.get(path).json["status"].string == "enabled")
            server.wall.advance(seconds: 3_600)
            await Self.deliver(server)
            #expect(server.receiver.taken.map(\.url) == ["https://new.example.org/"])
        }
    }

    @Test("An endpoint gets what it asked for, and only that")
    func filters() async throws {
        try await TestServer.run { server in
            await Self.deliver(server)
            _ = try await Self.endpoint(
                server,
                "https://coins.example.org/",
                more: ",\"enabled_events\":[\"coins.credited\"]"
            )
            _ = try await Self.endpoint(
                server,
                "https://erased.example.org/",
                more: ",\"enabled_events\":[\"customer.erased\"]"
            )
            let buyer = try await Buyer(server)
            _ = try await buyer.buys("com.example.app.pass30")
            _ = try await buyer.buys("com.example.app.coins100")
            await Self.deliver(server)
            #expect(server.receiver.arrivals.map(\.url) == ["https://coins.example.org/"])
            _ = try await server.send(.delete, "/v1/customers/\(buyer.id)")
            await Self.deliver(server)
            #expect(
                server.receiver.arrivals.map(\.url).contains("https://erased.example.org/")
            )
        }
    }

    @Test("One that is deleted is told nothing any more; one that is unknown is a 404")
    func deletion() async throws {
        try await TestServer.run { server in
            await Self.deliver(server)
            let endpoint = try await Self.endpoint(server)
            let path = "/v1/webhook_endpoints/\(endpoint.id)"
            let list = try await server.get("/v1/webhook_endpoints")
            #expect(list.json["data"].array?.count == 1)
            let deleted = try await server.send(.delete, path)
            #expect(deleted.json["deleted"].bool == true)
            _ = try await server.customerWithCoins()
            await Self.deliver(server)
            #expect(server.receiver.arrivals.isEmpty)
            for answer in [
                try await server.get(path), try await server.send(.delete, path),
                try await server.post(path, "{\"enabled\":false}"),
                try await server.post(path + "/replay", "{\"dead\":true}"),
                try await server.post(path + "/rotate_secret"),
                try await server.get(path + "/deliveries"),
            ] {
                #expect(answer.status == 404 && answer.code == "resource_missing")
            }
        }
    }

    @Test(
        "R1: a URL that is not on the internet is refused",
        arguments: [
            "https://127.0.0.1/", "https://0x7f.1/", "https://[::ffff:127.0.0.1]/",
            "https://169.254.169.254/", "http://example.com/", "https://localhost/",
            "https://user@example.com/", "https://example.com:22/", "gopher://example.com/",
        ]
    )
    func forbiddenURLs(_ url: String) async throws {
        try await TestServer.run { server in
            let refused = try await server.post("/v1/webhook_endpoints", "{\"url\":\"\(url)\"}")
            #expect(refused.status == 422 && refused.code == "url_forbidden")
            let good = try await Self.endpoint(server)
            let changed = try await server.post(
                "/v1/webhook_endpoints/\(good.id)",
                "{\"url\":\"\(url)\"}"
            )
            #expect(changed.status == 422 && changed.code == "url_forbidden")
        }
    }

    @Test(
        "A request that makes no sense is refused",
        arguments: [
            ("{}", "parameter_missing"), ("{\"url\":1}", "parameter_invalid"),
            ("{\"url\":\"\(hook)\",\"enabled_events\":[]}", "parameter_invalid"),
            ("{\"url\":\"\(hook)\",\"enabled_events\":[\"nothing\"]}", "parameter_invalid"),
            ("{\"url\":\"\(hook)\",\"starting_after\":\"x\"}", "parameter_invalid"),
            ("{", "malformed_body"),
        ]
    )
    func refused(_ body: String, _ code: String) async throws {
        try await TestServer.run { server in
            let answer = try await server.post("/v1/webhook_endpoints", body)
            #expect(answer.status == 400 && answer.code == code, "\(answer.text)")
        }
    }

    @Test("D5: the database alone does not tell an endpoint's secret", arguments: Backend.allCases)
    func sealed(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let endpoint = try await Self.endpoint(server)
            let key = try #require(Data(base64Encoded: String(endpoint.secret.dropFirst(6))))
            let stored = try await server.tollgate.store.driver.readNow(
                "SELECT secrets, settings FROM webhook_endpoint",
                []
            )
            for row in stored {
                for column in 0..<2 {
                    let bytes = Data(try row.bytes(column))
                    #expect(bytes.range(of: key) == nil)
                    #expect(bytes.range(of: Data(key.base64EncodedString().utf8)) == nil)
                }
            }
            // Another key opens nothing.
            let wrong = SealingKeys(["sk_test_other"])
            #expect(throws: SealingError.self) {
                _ = try wrong.open(try #require(stored.first).bytes(0), as: "webhook")
            }
            let both = SealingKeys(["sk_test_other", TestServer.secretKey])
            let opened = try both.open(try #require(stored.first).bytes(0), as: "webhook")
            #expect(!opened.isCurrent)
        }
    }

    @Test(
        "F17: with endpoints that fail at random, nothing is missing and each customer's order holds",
        arguments: [UInt64(1), 2, 3]
    )
    func crowd(_ seed: UInt64) async throws {
        try await TestServer.run { server in
            await Self.deliver(server)
            for name in ["good", "fair", "poor"] {
                _ = try await Self.endpoint(server, "https://\(name).example.org/")
            }
            let random = Mutex(SplitMix64(seed: seed))
            server.receiver.answer { arrival in
                let chance = random.withLock { $0.next() % 100 }
                let limit: UInt64 =
                    switch arrival.url {
                    case "https://fair.example.org/": 30
                    case "https://poor.example.org/": 70
                    default: 0
                    }
                return WebhookResponse(status: chance < limit ? 500 : 200)
            }
            var customers: [String] = []
            for number in 0..<12 {
                customers.append(try await server.customerWithCoins("user-\(number)"))
            }
            for round in 0..<10 {
                for customer in customers {
                    _ = try await server.post(
                        "/v1/customers/\(customer)/coins/spend",
                        "{\"amount\":1}",
                        idempotencyKey: "\(customer) \(round)"
                    )
                }
                await Self.deliver(server)
                server.wall.advance(seconds: 30)
            }
            server.receiver.answer { _ in WebhookResponse(status: 200) }
            for _ in 0..<96 {
                server.wall.advance(seconds: 1_800)
                await Self.deliver(server)
            }
            var feed: [JSONValue] = []
            var after = ""
            while true {
                let page = try await server.get("/v1/events?limit=100\(after)")
                feed += page.json["data"].array ?? []
                guard page.json["has_more"].bool == true else { break }
                after = "&starting_after=\(feed.last?["id"].string ?? "")"
            }
            let expected = Dictionary(grouping: feed) { $0["customer"].string ?? "" }
                .mapValues { $0.compactMap { $0["id"].string } }
            for name in ["good", "fair", "poor"] {
                let taken = server.receiver.taken.filter {
                    $0.url == "https://\(name).example.org/"
                }
                let got = Dictionary(grouping: taken) { $0.json["customer"].string ?? "" }
                    .mapValues { $0.map(\.id) }
                #expect(got == expected, "\(name)")
            }
            let sends = server.receiver.arrivals.filter { $0.url == "https://good.example.org/" }
            #expect(sends.count == feed.count)
        }
    }
}
