import Foundation
import GooglePlayAPI
import HTTPTypes
import NIOCore
import NIOHTTP1
import SandboxClock
import Storage
import Stores
import Synchronization
import Testing
import TollgateCore
import TollgateService
import TollgateSimulation

@testable import GooglePlayConnector

/// Hints come in, purchases are read: over HTTP, as Google's clients judge the sandbox to play it.
@Suite("Google Play's hints")
struct PlayHintTests {
    @Test(
        "lead to a read, to access, and to an acknowledgement",
        arguments: Backend.allCases,
        [PlayWorld.Hints.pushed, .pulled]
    )
    func bought(_ backend: Backend, _ hints: PlayWorld.Hints) async throws {
        try await PlayWorld.run(on: backend, hints: hints) { world in
            let (id, account) = try await world.person()
            let token = try await world.buy("pro", for: account)
            #expect(try await world.entitlements(of: id).isEmpty)
            try await world.settle()
            #expect(try await world.entitlements(of: id) == ["pro"])
            #expect(try await world.look(token)["acknowledged"].bool == true)
            #expect(try await world.waiting().isEmpty)
            let queues = try await world.act("subscriptions", "", "GET")["data"].array
            #expect(queues?.first?["waiting"].integer == 0)
            // A month later it renews, and lapses when it is cancelled.
            await world.wait(days: 31)
            try await world.settle()
            #expect(try await world.entitlements(of: id) == ["pro"])
            try await world.act("purchases/\(token)/cancel")
            try await world.settle()
            #expect(try await world.entitlements(of: id) == ["pro"])
            await world.wait(days: 31)
            try await world.settle()
            #expect(try await world.entitlements(of: id).isEmpty)
            #expect(try await world.waiting().isEmpty)
        }
    }

    @Test("G1: the same hint twice, and one change under two ids, are one purchase")
    func twice() async throws {
        try await PlayWorld.run { world in
            let (id, account) = try await world.person()
            try await world.act("faults", #"{"doubled":1,"duplicate":1}"#, "PUT")
            let token = try await world.buy("pro", for: account)
            try await world.settle()
            #expect(try await world.entitlements(of: id) == ["pro"])
            let metrics = await world.server.tollgate.metrics.text()
            #expect(metrics.contains(#"store="google_play",outcome="duplicate""#))
            #expect(try await world.record(token)?.googlePlay?.periods.count == 1)
            #expect(try await world.waiting().isEmpty)
        }
    }

    @Test("G2: a read that still shows the old state leaves the hint open, and changes no access")
    func staleRead() async throws {
        try await PlayWorld.run { world in
            let (id, account) = try await world.person()
            let token = try await world.buy("pro", for: account)
            try await world.settle()
            await world.wait(days: 1)
            try await world.act("behaviour", #"{"stale_reads":1}"#, "PUT")
            try await world.act("purchases/\(token)/revoke")
            _ = await world.room.askWhatIsWanted()
            #expect(try await world.entitlements(of: id) == ["pro"])
            #expect(try await world.waiting()["google_play_subscription"] == 1)
            // After a while it is asked again.
            await world.server.clock.advance(to: world.server.clock.now + 11_000)
            world.server.wall.advance(seconds: 11)
            try await world.settle()
            #expect(try await world.entitlements(of: id).isEmpty)
            #expect(try await world.waiting()["google_play_subscription"] == nil)
        }
    }

    @Test(
        "G2: a read that lags and shows an earlier change does not settle the hint of a later one"
    )
    func staleReadWithNews() async throws {
        try await PlayWorld.run { world in
            let (id, account) = try await world.person(payment: "cash")
            let token = try await world.buy("pro", for: account)
            await world.wait(days: 1)
            try await world.act("behaviour", #"{"stale_reads":1}"#, "PUT")
            // Nothing was read of the purchase yet: that it waits for its payment is news.
            try await world.act("purchases/\(token)/pay")
            _ = await world.room.askWhatIsWanted()
            #expect(try await world.entitlements(of: id).isEmpty)
            try await world.settle()
            #expect(try await world.entitlements(of: id) == ["pro"])
            #expect(try await world.waiting()["google_play_subscription"] == nil)
        }
    }

    @Test("G2: a purchase that Google does not know yet stays asked for, and is acknowledged")
    func notKnownYet() async throws {
        try await PlayWorld.run { world in
            let (id, account) = try await world.person()
            try await world.act("behaviour", #"{"stale_reads":1}"#, "PUT")
            let token = try await world.buy("pro", for: account)
            _ = await world.room.askWhatIsWanted()
            #expect(try await world.entitlements(of: id).isEmpty)
            #expect(try await world.waiting()["google_play_subscription"] == 1)
            #expect(try await world.server.tollgate.store.parked.counts().isEmpty)
            world.server.wall.advance(seconds: 11)
            try await world.settle()
            #expect(try await world.entitlements(of: id) == ["pro"])
            #expect(try await world.look(token)["acknowledged"].bool == true)
        }
    }

    /// A subscription that is active and acknowledged.
    private static let active = """
        {"subscriptionState":"SUBSCRIPTION_STATE_ACTIVE","startTime":"2026-05-31T23:59:59Z",
         "acknowledgementState":"ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED",
         "lineItems":[{"productId":"pro","expiryTime":"2026-07-01T00:00:00Z",
           "autoRenewingPlan":{"autoRenewEnabled":true}}]}
        """

    /// A time as HTTP's `Date` has it.
    private static func httpDate(_ instant: Instant) -> String {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "GMT")
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return format.string(
            from: Date(timeIntervalSince1970: Double(instant.milliseconds) / 1000)
        )
    }

    @Test(
        "G2: a hint of the same second as its read is looked at twice by real clocks, not for minutes"
    )
    func sameSecond() async throws {
        let wall = TestClock(TestServer.start)
        let calls = Mutex(0)
        try await PlayWorld.run(
            intercept: { request in
                guard request.url.contains("subscriptionsv2") else { return nil }
                calls.withLock { $0 += 1 }
                return GooglePlay.HTTPResponse(
                    status: 200,
                    headers: ["Date": Self.httpDate(wall.now)],
                    body: Array(Self.active.utf8)
                )
            }
        ) { world in
            let context = world.room.context
            let room = GooglePlayConnector(
                StoreContext(
                    records: context.records,
                    clocks: Clocks(now: { wall.now }, wall: { wall.now }),
                    random: context.random,
                    counters: context.counters,
                    logger: context.logger
                ),
                world.room.setUp
            )
            try await context.records.questions.want(
                Wanted(kind: .googlePlaySubscription, object: "some-token"),
                about: GooglePlayTranslator.key(
                    "some-token",
                    of: PlayWorld.package,
                    in: .production
                ),
                at: wall.now.advanced(by: -100)
            )
            for _ in 0..<240 {
                _ = await room.questions.ask()
                wall.advance(seconds: 5)
            }
            #expect(try await world.record("some-token") != nil)
            #expect(try await world.waiting().isEmpty)
            #expect(calls.withLock { $0 } == 2)
        }
    }

    @Test(
        "Two servers look at a hint once each, and acknowledge once",
        arguments: Backend.allCases
    )
    func twoServers(_ backend: Backend) async throws {
        let calls = Mutex<[String]>([])
        try await PlayWorld.run(
            on: backend,
            intercept: { request in
                for call in ["subscriptionsv2", ":acknowledge", "orders/"]
                where request.url.contains(call) {
                    calls.withLock { $0.append(call) }
                }
                return nil
            }
        ) { world in
            let context = world.room.context
            let other = GooglePlayConnector(
                StoreContext(
                    records: context.records,
                    clocks: context.clocks,
                    random: context.random,
                    counters: context.counters,
                    logger: context.logger
                ),
                world.room.setUp
            )
            let (id, account) = try await world.person()
            let token = try await world.buy("pro", for: account)
            for _ in 0..<3 {
                async let first = world.room.askWhatIsWanted()
                async let second = other.askWhatIsWanted()
                let areWell = await [first, second]
                #expect(areWell == [true, true])
            }
            #expect(try await world.entitlements(of: id) == ["pro"])
            #expect(try await world.look(token)["acknowledged"].bool == true)
            #expect(
                calls.withLock { $0.sorted() }
                    == [":acknowledge", "orders/", "subscriptionsv2", "subscriptionsv2"]
            )
        }
    }

    @Test("A question about an app that is not configured any more stays")
    func forgottenApp() async throws {
        try await PlayWorld.run { world in
            try await world.server.tollgate.store.questions.want(
                Wanted(kind: .googlePlaySubscription, object: "some-token"),
                about: Purchase.Key(
                    store: .googlePlay,
                    environment: .production,
                    application: "com.example.forgotten",
                    id: "some-token"
                ),
                at: Instant(milliseconds: await world.server.clock.now)
            )
            for _ in 0..<3 {
                world.server.wall.advance(seconds: 700)
                try await world.settle()
            }
            #expect(try await world.waiting()["google_play_subscription"] == 1)
        }
    }

    @Test("G30: only Google's token for us, about our service account, is believed (Y1)")
    func tokens() async throws {
        try await PlayWorld.run { world in
            let email =
                try await world.act("app", "", "GET")["service_account_email"].string ?? ""
            func token(_ audience: String, _ email: String, age: Int = 0) async throws -> String {
                let body = #"{"audience":"\#(audience)","email":"\#(email)","age":\#(age)}"#
                let answer = try await world.act("identity_tokens", body)
                return answer["id_token"].string ?? ""
            }
            let hint = Data(
                #"{"packageName":"com.example.app","eventTimeMillis":"1","testNotification":{}}"#
                    .utf8
            ).base64EncodedString()
            let push =
                #"{"message":{"data":"\#(hint)","messageId":"1"},"subscription":"s"}"#
            func status(_ authorization: String?) async throws -> Int {
                try await world.server.send(
                    .post,
                    "/webhooks/google_play",
                    as: authorization,
                    json: push
                ).status
            }
            let genuine = try await token(PlayWorld.audience, email)
            #expect(try await status(genuine) == 200)
            #expect(try await status(nil) == 401)
            #expect(try await status("a.b.c") == 401)
            #expect(try await status(token("https://elsewhere.example.com", email)) == 401)
            #expect(try await status(token(PlayWorld.audience, "x@evil.example.com")) == 401)
            #expect(try await status(token(PlayWorld.audience, email, age: 7200)) == 401)
            let parts = genuine.split(separator: ".")
            let none = Data(#"{"alg":"none","kid":"k"}"#.utf8).base64EncodedString()
            #expect(try await status("\(none).\(parts[1]).") == 401)
            // Google's keys rotate: the first token of a new one has them fetched.
            try await world.act("keys/rotate")
            #expect(try await status(token(PlayWorld.audience, email)) == 401)
            #expect(try await world.server.tollgate.store.parked.counts().isEmpty)
        }
    }

    @Test("G31: what cannot be used is parked and answered 200; a type of tomorrow is read (Y2)")
    func unusable() async throws {
        try await PlayWorld.run { world in
            let (id, account) = try await world.person()
            for data in [
                "", "no JSON", #"{"packageName":"com.example.app","eventTimeMillis":"1"}"#,
                #"{"packageName":"com.stranger","eventTimeMillis":"1","testNotification":{}}"#,
                #"{"packageName":"com.example.app","eventTimeMillis":"1","testNotification":{},"voidedPurchaseNotification":{"purchaseToken":"t","orderId":"o"}}"#,
            ] {
                let text = data.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
                try await world.act("notifications/publish", #"{"data":"\#(text)"}"#)
            }
            let queues = try await world.act("subscriptions", "", "GET")["data"].array
            #expect(queues?.first?["waiting"].integer == 0)
            let parked = try await world.server.tollgate.store.parked.counts()
            #expect(parked.map(\.store) == ["google_play"] && parked.first?.count == 5)
            // Tried again, they are as unusable as before.
            let retried = try await world.server.tollgate.parked.retryAll()
            #expect(retried.used == 0 && retried.stillParked == 5)
            // Hints about the purchase are lost but one, of a type that nobody knows.
            try await world.act("faults", #"{"lost":1}"#, "PUT")
            let token = try await world.buy("pro", for: account)
            try await world.act("faults", "{}", "PUT")
            try await world.act("purchases/\(token)/tell", #"{"type":23}"#)
            try await world.settle()
            #expect(try await world.entitlements(of: id) == ["pro"])
        }
    }

    @Test(
        "G27: errors of Google's change nobody's access, and the question stays",
        arguments: [401, 403, 429, 500, 503]
    )
    func storm(_ status: Int) async throws {
        try await PlayWorld.run { world in
            let (id, account) = try await world.person()
            let token = try await world.buy("pro", for: account)
            try await world.settle()
            try await world.act(
                "faults",
                #"{"api_status":\#(status),"api_failures":1000}"#,
                "PUT"
            )
            try await world.act("purchases/\(token)/revoke")
            for _ in 0..<3 {
                try await world.settle()
                world.server.wall.advance(seconds: 700)
            }
            #expect(try await world.entitlements(of: id) == ["pro"])
            #expect(try await world.waiting()["google_play_subscription"] == 1)
            try await world.act("faults", "{}", "PUT")
            try await world.settle()
            #expect(try await world.entitlements(of: id).isEmpty)
            #expect(try await world.waiting()["google_play_subscription"] == nil)
        }
    }

    @Test("G27: a refused list of voided purchases settles no hint: the void is counted later")
    func listRefused() async throws {
        let isRefused = Mutex(true)
        try await PlayWorld.run(
            intercept: { request in
                request.url.contains("/voidedpurchases") && isRefused.withLock { $0 }
                    ? PlayWorld.refusal(400, "invalid") : nil
            }
        ) { world in
            let (id, account) = try await world.person()
            let token = try await world.buy("coins100", for: account, #","quantity":10"#)
            try await world.settle()
            try await world.act("purchases/\(token)/refund_pieces", #"{"quantity":2}"#)
            for _ in 0..<4 {
                try await world.settle()
                await world.wait(days: 0.02)
            }
            #expect(try await world.waiting()["google_play_voids"] == 1)
            #expect(try await world.coins(of: id) == 1000)
            isRefused.withLock { $0 = false }
            world.server.wall.advance(seconds: 700)
            try await world.settle()
            #expect(try await world.coins(of: id) == 800)
            #expect(try await world.waiting().isEmpty)
        }
    }

    @Test("G26: a purchase that can no longer be read keeps what its record knows")
    func noLongerReadable() async throws {
        try await PlayWorld.run { world in
            let (_, account) = try await world.person()
            let token = try await world.buy("pro", for: account)
            try await world.settle()
            await world.wait(days: 31)
            try await world.settle()
            try await world.act("purchases/\(token)/cancel")
            await world.wait(days: 100)
            try await world.settle()
            let before = try #require(try await world.record(token)?.googlePlay)
            try await world.act("purchases/\(token)/tell", #"{"type":13}"#)
            try await world.settle()
            let after = try #require(try await world.record(token)?.googlePlay)
            #expect(after.subscription == before.subscription && after.periods == before.periods)
            #expect(after.unreadable != nil)
            #expect(try await world.waiting().isEmpty)
        }
    }

    @Test("G28: the order of a purchase that Google cannot show any more is nobody's sale")
    func orderOfUnknown() async throws {
        try await PlayWorld.run { world in
            try await world.act("behaviour", #"{"refunded_product_is_gone":true}"#, "PUT")
            try await world.act("faults", #"{"lost":1}"#, "PUT")
            let (_, account) = try await world.person(tester: true)
            let token = try await world.buy("lifetime", for: account)
            try await world.act("faults", "{}", "PUT")
            // Nobody has acknowledged it: Google refunds it, and tells of the void.
            await world.wait(days: 0.1)
            #expect(try await world.waiting()["google_play_order"] == 1)
            try await world.settle()
            #expect(try await world.record(token) == nil)
            #expect(try await world.record(token, in: .sandbox) == nil)
            #expect(try await world.waiting().isEmpty)
        }
    }

    @Test("G28: a licence tester's purchase is the sandbox's, and touches nothing of production")
    func testPurchase() async throws {
        try await PlayWorld.run { world in
            let (id, account) = try await world.person(tester: true)
            let token = try await world.buy("pro", for: account)
            try await world.settle()
            #expect(try await world.record(token) == nil)
            #expect(try await world.record(token, in: .sandbox) != nil)
            let found = try await world.server.tollgate.store.reading(
                of: Customer.ID(id),
                in: .production
            )
            #expect(found.timeline.active(at: await world.server.tollgate.clocks.now()).isEmpty)
        }
    }
}
