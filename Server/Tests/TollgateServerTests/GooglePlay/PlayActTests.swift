import Foundation
import GooglePlayAPI
import HTTPTypes
import NIOCore
import NIOHTTP1
import SandboxClock
import Storage
import Stores
import StrictJSON
import Synchronization
import Testing
import TollgateCore
import TollgateService
import TollgateSimulation

@testable import GooglePlayConnector

/// What has a deadline at Google is done before it.
@Suite("Google Play's deadlines")
struct PlayActTests {
    @Test("G12: after 71 hours without a server everything is acknowledged, the oldest first")
    func outage() async throws {
        let acknowledged = Mutex<[String]>([])
        try await PlayWorld.run(
            intercept: { request in
                if request.url.hasSuffix(":acknowledge") {
                    acknowledged.withLock { $0.append(request.url) }
                }
                return nil
            },
            set: { $0.readsAtOnce = 1 }
        ) { world in
            var tokens: [String] = []
            for number in 0..<12 {
                let (_, account) = try await world.person("user\(number)")
                tokens.append(
                    try await world.buy(number.isMultiple(of: 3) ? "lifetime" : "pro", for: account)
                )
                await world.server.clock.advance(to: await world.server.clock.now + 3_600_000)
            }
            let bought = await world.server.clock.now
            await world.server.clock.advance(to: bought + 58 * 3_600_000)
            let metrics = await world.server.tollgate.metrics.text()
            #expect(metrics.contains(#"tollgate_wanted{kind="google_play_subscription"} 8"#))
            try await world.settle()
            let order = acknowledged.withLock { urls in
                urls.compactMap { url in tokens.first { url.contains($0) } }
            }
            #expect(order == tokens)
            await world.wait(days: 10)
            try await world.settle()
            for token in tokens {
                #expect(try await world.look(token)["acknowledged"].bool == true)
            }
            let voided = try await world.act("voided", "", "GET")["data"].array
            #expect(voided?.isEmpty == true)
        }
    }

    private static let read = Instant(milliseconds: TestServer.start + 5_000)

    private static func subscription(_ more: String) throws -> GooglePlay.SubscriptionPurchase {
        try GooglePlay.SubscriptionPurchase(
            JSON(
                Array(
                    """
                    {"subscriptionState":"SUBSCRIPTION_STATE_ACTIVE","startTime":"2026-06-01T00:00:00Z",
                     "acknowledgementState":"ACKNOWLEDGEMENT_STATE_PENDING"\(more)}
                    """.utf8
                )
            )
        )
    }

    @Test(
        "The time for an acknowledgement is three days, half of a short prepaid plan, minutes for testers",
        arguments: [
            (#","lineItems":[{"productId":"p","autoRenewingPlan":{}}]"#, 72 * 60),
            (
                #","lineItems":[{"productId":"p","prepaidPlan":{},"expiryTime":"2026-06-04T00:00:00Z"}]"#,
                36 * 60
            ),
            (
                #","lineItems":[{"productId":"p","prepaidPlan":{},"expiryTime":"2026-07-01T00:00:00Z"}]"#,
                72 * 60
            ),
            (#","lineItems":[{"productId":"p"}],"testPurchase":{}"#, 3),
        ] as [(String, Int64)]
    )
    func deadlines(_ more: String, _ minutes: Int64) throws {
        let acts = PlayAct.acts(for: try Self.subscription(more), token: "t", readAt: Self.read)
        let act = try #require(
            acts.first.flatMap { PlayAct($0.kind, object: $0.object) }
        )
        #expect(act.deadline == Instant(milliseconds: TestServer.start + minutes * 60_000))
        #expect(act.token == "t" && act.kind == .googlePlayAcknowledgement && acts.count == 1)
    }

    @Test("G8: a deferred replacement without a start is acknowledged within 72 hours of its read")
    func withoutStart() throws {
        let text = String(decoding: try Self.subscription("").json.rawBytes, as: UTF8.self)
        let start = #""startTime":"2026-06-01T00:00:00Z","#
        let read = try GooglePlay.SubscriptionPurchase(
            JSON(Array(text.replacing(start, with: "").utf8))
        )
        #expect(read.startTime == nil)
        let acts = PlayAct.acts(for: read, token: "t", readAt: Self.read)
        let act = try #require(acts.first.flatMap { PlayAct($0.kind, object: $0.object) })
        #expect(act.deadline == Self.read.advanced(by: 72 * 3_600_000) && acts.count == 1)
        // One whose payment is pending has none either, and has not begun.
        let pending = try GooglePlay.SubscriptionPurchase(
            JSON(
                Array(
                    text.replacing(start, with: "").replacing("STATE_ACTIVE", with: "STATE_PENDING")
                        .utf8
                )
            )
        )
        #expect(PlayAct.acts(for: pending, token: "t", readAt: Self.read).isEmpty)
    }

    @Test("What is pending, over or acknowledged calls for no acknowledgement")
    func nothingToDo() throws {
        for (word, other) in [
            ("STATE_ACTIVE", "STATE_PENDING"), ("STATE_ACTIVE", "STATE_EXPIRED"),
            ("ACKNOWLEDGEMENT_STATE_PENDING", "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED"),
        ] {
            let text = String(decoding: try Self.subscription("").json.rawBytes, as: UTF8.self)
            let json = try JSON(Array(text.replacing(word, with: other).utf8))
            let read = try GooglePlay.SubscriptionPurchase(json)
            let acts = PlayAct.acts(for: read, token: "t", readAt: Self.read)
            #expect(acts.isEmpty, "\(other)")
        }
    }

    @Test("G13: what the app has acknowledged already does no harm")
    func doneAlready() async throws {
        try await PlayWorld.run { world in
            let (id, account) = try await world.person()
            let token = try await world.buy("pro", for: account)
            try await world.act("purchases/\(token)/acknowledge")
            try await world.settle()
            #expect(try await world.entitlements(of: id) == ["pro"])
            #expect(try await world.waiting().isEmpty)
            // The answer to an acknowledgement is lost.
            let (other, otherAccount) = try await world.person("ben")
            let second = try await world.buy("lifetime", for: otherAccount)
            _ = await world.room.questions.ask()
            try await world.act("faults", #"{"api_slow":1}"#, "PUT")
            _ = await world.room.acts.perform()
            #expect(try await world.look(second)["acknowledged"].bool == true)
            #expect(try await world.waiting()["google_play_acknowledgement"] == 1)
            try await world.act("faults", "{}", "PUT")
            try await world.settle()
            #expect(try await world.entitlements(of: other) == ["archive", "pro"])
            #expect(try await world.look(second)["acknowledged"].bool == true)
            #expect(try await world.waiting().isEmpty)
        }
    }

    @Test("G27: an acknowledgement that is not allowed yet stops no reading, and waits")
    func notAllowed() async throws {
        let isAllowed = Mutex(false)
        try await PlayWorld.run(
            intercept: { request in
                request.url.hasSuffix(":acknowledge") && !isAllowed.withLock { $0 }
                    ? PlayWorld.refusal(401, "permissionDenied") : nil
            }
        ) { world in
            let (_, annas) = try await world.person("anna")
            _ = try await world.buy("pro", for: annas)
            _ = try await world.buy("lifetime", for: annas)
            try await world.settle()
            let (ben, bens) = try await world.person("ben")
            let token = try await world.buy("pro", for: bens)
            _ = try await world.buy("lifetime", for: bens)
            world.server.wall.advance(seconds: 300)
            try await world.settle()
            #expect(try await world.entitlements(of: ben) == ["archive", "pro"])
            #expect(try await world.waiting() == ["google_play_acknowledgement": 4])
            isAllowed.withLock { $0 = true }
            world.server.wall.advance(seconds: 300)
            try await world.settle()
            #expect(try await world.look(token)["acknowledged"].bool == true)
            #expect(try await world.waiting().isEmpty)
        }
    }

    @Test(
        "An act for which Google finds no purchase is tried again until its deadline, then it is too late",
        arguments: [":acknowledge", ":consume"]
    )
    func notFoundYet(_ act: String) async throws {
        let isFound = Mutex(false)
        let tries = Mutex(0)
        try await PlayWorld.run(
            intercept: { request in
                guard request.url.hasSuffix(act), !isFound.withLock({ $0 }) else { return nil }
                tries.withLock { $0 += 1 }
                return PlayWorld.refusal(404, "purchaseTokenNotFound")
            }
        ) { world in
            let kind = "google_play_\(act == ":consume" ? "consumption" : "acknowledgement")"
            // Consuming acknowledges, too.
            let product = act == ":consume" ? "coins100" : "lifetime"
            let (_, account) = try await world.person()
            let token = try await world.buy(product, for: account)
            try await world.settle()
            // A day later a replica of Google's still lags.
            await world.wait(days: 1)
            try await world.settle()
            #expect(try await world.waiting() == [kind: 1])
            #expect((2...20).contains(tries.withLock { $0 }))
            isFound.withLock { $0 = true }
            await world.wait(days: 0.1)
            try await world.settle()
            #expect(try await world.look(token)["acknowledged"].bool == true)
            if act == ":consume" {
                #expect(try await world.look(token)["consumed"].bool == true)
            }
            #expect(try await world.waiting().isEmpty)
            // Google never finds another one: after three days there is nothing to be done.
            isFound.withLock { $0 = false }
            let (_, another) = try await world.person("ben")
            _ = try await world.buy(product, for: another)
            try await world.settle()
            await world.wait(days: 2.9)
            try await world.settle()
            #expect(try await world.waiting() == [kind: 1])
            await world.wait(days: 0.2)
            try await world.settle()
            #expect(try await world.waiting()[kind] == nil)
        }
    }

    @Test("G27: Google knows no such package: neither hints nor acts are dropped")
    func packageNotFound() async throws {
        let isFound = Mutex(false)
        try await PlayWorld.run(
            intercept: { request in
                guard request.url.contains("/purchases/"), !isFound.withLock({ $0 }) else {
                    return nil
                }
                // As https://github.com/bitrise-steplib/steps-google-play-deploy/issues/84 has it.
                let message = "Package not found: com.example.app."
                let error =
                    #"{"code":404,"message":"\#(message)","errors":[{"reason":"notFound"}]}"#
                return GooglePlay.HTTPResponse(
                    status: 404,
                    body: Array(#"{"error":\#(error)}"#.utf8)
                )
            }
        ) { world in
            let (id, account) = try await world.person()
            let token = try await world.buy("pro", for: account)
            try await world.settle()
            await world.wait(days: 1)
            try await world.settle()
            #expect(try await world.waiting() == ["google_play_subscription": 1])
            isFound.withLock { $0 = true }
            await world.wait(days: 0.1)
            _ = await world.room.questions.ask()
            #expect(try await world.entitlements(of: id) == ["pro"])
            isFound.withLock { $0 = false }
            _ = await world.room.acts.perform()
            await world.wait(days: 0.1)
            _ = await world.room.acts.perform()
            #expect(try await world.waiting()["google_play_acknowledgement"] == 1)
            isFound.withLock { $0 = true }
            await world.wait(days: 0.1)
            try await world.settle()
            #expect(try await world.look(token)["acknowledged"].bool == true)
        }
    }

    @Test("G13: a consumption that the app has made is settled by one read")
    func consumedAlready() async throws {
        let reads = Mutex(0)
        try await PlayWorld.run(
            intercept: { request in
                if request.url.contains("productsv2") { reads.withLock { $0 += 1 } }
                return nil
            }
        ) { world in
            let (id, account) = try await world.person()
            let token = try await world.buy("coins100", for: account)
            _ = await world.room.questions.ask()
            #expect(try await world.coins(of: id) == 100)
            try await world.act("purchases/\(token)/consume")
            for _ in 0..<4 {
                try await world.settle()
                world.server.wall.advance(seconds: 700)
            }
            #expect(try await world.waiting().isEmpty)
            #expect(try await world.coins(of: id) == 100)
            // The first read, the second look at the notification, and the read that settles it.
            #expect(reads.withLock { $0 } == 3)
        }
    }

    @Test("G14: coins are credited once and then consumed, however long that fails")
    func consumed() async throws {
        try await PlayWorld.run { world in
            let (id, account) = try await world.person()
            let token = try await world.buy("coins100", for: account)
            _ = await world.room.listen()
            try await world.settle()
            #expect(try await world.coins(of: id) == 100)
            #expect(try await world.look(token)["consumed"].bool == true)
            // Another one, whose consumption fails for a day.
            let second = try await world.buy("coins100", for: account)
            _ = await world.room.questions.ask()
            #expect(try await world.coins(of: id) == 200)
            try await world.act("faults", #"{"api_status":503}"#, "PUT")
            for _ in 0..<24 {
                await world.wait(days: 1.0 / 24)
                try await world.settle()
                #expect(try await world.coins(of: id) == 200)
                #expect(try await world.look(second)["consumed"].bool != true)
            }
            try await world.act("faults", "{}", "PUT")
            await world.wait(days: 1.0 / 24)
            try await world.settle()
            #expect(try await world.coins(of: id) == 200)
            #expect(try await world.look(second)["consumed"].bool == true)
            #expect(try await world.waiting().isEmpty)
        }
    }

    @Test("G14: a consumable that the catalog learns of later is consumed when its device shows it")
    func learnedLater() async throws {
        try await PlayWorld.run { world in
            let store = world.server.tollgate.store
            let full = store.history.current
            var lacking = full
            for index in lacking.products.indices where lacking.products[index].id == "coins_100" {
                lacking.products[index].googlePlayProductID = nil
            }
            try await store.adopt(lacking, at: await world.server.tollgate.clocks.now())
            await world.wait(days: 0.01)
            let (id, account) = try await world.person()
            let token = try await world.buy("coins100", for: account)
            try await world.settle()
            #expect(try await world.look(token)["acknowledged"].bool == true)
            await world.wait(days: 0.1)
            try await store.adopt(full, at: await world.server.tollgate.clocks.now())
            #expect(try await world.coins(of: id) == 100)
            let session = try await world.server.session(of: id)
            let posted = #"{"purchase_token":"\#(token)","kind":"one_time","mode":"observed"}"#
            let answer = try await world.server.post(
                "/v1/google_play/purchases",
                as: session,
                posted
            )
            #expect(answer.status == 200)
            try await world.settle()
            #expect(try await world.look(token)["consumed"].bool == true)
            #expect(try await world.coins(of: id) == 100)
            // A late post is answered though Google cannot be asked now.
            try await world.act("faults", #"{"api_status":503}"#, "PUT")
            let late = try await world.server.post(
                "/v1/google_play/purchases",
                as: session,
                posted
            )
            #expect(late.status == 200 && late.json["new"].bool == false)
        }
    }

    // https://developer.android.com/google/play/billing/lifecycle/one-time
    @Test(
        "G14: what is bought again is consumed: coins, and a pass unless it is rented",
        arguments: [
            (.consumable, false, true), (.nonRenewing, false, true), (.nonRenewing, true, false),
            (.nonConsumable, false, false),
        ] as [(TollgateCore.Catalog.Product.Kind, Bool, Bool)]
    )
    func consumedKinds(
        _ kind: TollgateCore.Catalog.Product.Kind,
        _ isRental: Bool,
        _ isConsumed: Bool
    ) throws {
        let rent = isRental ? #","rentOfferDetails":{}"# : ""
        let read = try GooglePlay.ProductPurchase(
            JSON(
                Array(
                    """
                    {"purchaseStateContext":{"purchaseState":"PURCHASED"},
                     "acknowledgementState":"ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED",
                     "productLineItem":[{"productId":"p","productOfferDetails":{"quantity":1\(rent)}}]}
                    """.utf8
                )
            )
        )
        let sold = TollgateCore.Catalog.Product(id: "sold", name: "Sold", kind: kind)
        let acts = PlayAct.acts(for: read, token: "t", readAt: Self.read) { _ in sold }
        #expect(acts.map(\.kind) == (isConsumed ? [.googlePlayConsumption] : []))
    }

    @Test("G14: a pass that the catalog learns of later is consumed when its device shows it")
    func passLearnedLater() async throws {
        try await PlayWorld.run { world in
            let store = world.server.tollgate.store
            var full = store.history.current
            for index in full.products.indices {
                switch full.products[index].id {
                case "lifetime": full.products[index].googlePlayProductID = nil
                case "pass_30_days": full.products[index].googlePlayProductID = "lifetime"
                default: break
                }
            }
            var lacking = full
            for index in lacking.products.indices
            where lacking.products[index].googlePlayProductID == "lifetime" {
                lacking.products[index].googlePlayProductID = nil
            }
            try await store.adopt(lacking, at: await world.server.tollgate.clocks.now())
            await world.wait(days: 0.01)
            let (id, account) = try await world.person()
            let token = try await world.buy("lifetime", for: account)
            try await world.settle()
            await world.wait(days: 0.1)
            try await store.adopt(full, at: await world.server.tollgate.clocks.now())
            let posted = try await world.server.post(
                "/v1/google_play/purchases",
                as: try await world.server.session(of: id),
                #"{"purchase_token":"\#(token)","kind":"one_time","mode":"observed"}"#
            )
            #expect(posted.status == 200)
            try await world.settle()
            #expect(try await world.look(token)["consumed"].bool == true)
            #expect(try await world.entitlements(of: id) == ["pro"])
        }
    }

    @Test("What nobody holds yet is acknowledged and not consumed: a device has to show it")
    func unclaimed() async throws {
        try await PlayWorld.run { world in
            let (id, account) = try await world.person(named: false)
            let token = try await world.buy("coins100", for: account)
            try await world.settle()
            #expect(try await world.look(token)["acknowledged"].bool == true)
            #expect(try await world.look(token)["consumed"].bool != true)
            let metrics = await world.server.tollgate.metrics.text()
            #expect(
                metrics.contains(
                    #"tollgate_store_act_deadline_seconds{store="google_play",act="consume"} 259189"#
                )
            )
            let posted = try await world.server.post(
                "/v1/google_play/purchases",
                as: try await world.server.session(of: id),
                #"{"purchase_token":"\#(token)","kind":"one_time","mode":"purchased"}"#
            )
            #expect(posted.status == 200)
            #expect(try await world.coins(of: id) == 100)
            try await world.settle()
            #expect(try await world.look(token)["consumed"].bool == true)
        }
    }

    @Test("G14: a consumption that waited eight days for its customer is tried for three more days")
    func claimedLate() async throws {
        let isRefused = Mutex(true)
        try await PlayWorld.run(
            intercept: { request in
                request.url.hasSuffix(":consume") && isRefused.withLock { $0 }
                    ? PlayWorld.refusal(409, "concurrentUpdate") : nil
            }
        ) { world in
            let (id, account) = try await world.person(named: false)
            /// Buys coins, which their customer's device shows eight days later.
            func bought() async throws -> String {
                let token = try await world.buy("coins100", for: account)
                try await world.settle()
                #expect(try await world.look(token)["acknowledged"].bool == true)
                await world.wait(days: 8)
                let posted = try await world.server.post(
                    "/v1/google_play/purchases",
                    as: try await world.server.session(of: id),
                    #"{"purchase_token":"\#(token)","kind":"one_time","mode":"purchased"}"#
                )
                #expect(posted.status == 200)
                try await world.settle()
                return token
            }
            let token = try await bought()
            #expect(try await world.waiting() == ["google_play_consumption": 1])
            await world.wait(days: 2.8)
            try await world.settle()
            #expect(try await world.waiting() == ["google_play_consumption": 1])
            isRefused.withLock { $0 = false }
            await world.wait(days: 0.1)
            try await world.settle()
            #expect(try await world.look(token)["consumed"].bool == true)
            #expect(try await world.waiting().isEmpty)
            // One that Google never takes is given up.
            isRefused.withLock { $0 = true }
            _ = try await bought()
            for _ in 0..<4 {
                await world.wait(days: 0.8)
                try await world.settle()
            }
            #expect(try await world.waiting().isEmpty)
            #expect(try await world.coins(of: id) == 200)
        }
    }

    @Test("G15, G16: parts of a quantity are voided in turn, told twice, and clawed back once")
    func quantity() async throws {
        try await PlayWorld.run { world in
            let (id, account) = try await world.person()
            let token = try await world.buy("coins100", for: account, #","quantity":10"#)
            try await world.settle()
            #expect(try await world.coins(of: id) == 1000)
            for (part, left) in [(2, 800), (3, 500), (5, 0)] as [(Int, Int64)] {
                await world.wait(days: 1)
                try await world.act(
                    "purchases/\(token)/refund_pieces",
                    #"{"quantity":\#(part)}"#
                )
                try await world.settle()
                #expect(try await world.coins(of: id) == left, "after \(part)")
            }
            #expect(try await world.waiting().isEmpty)
        }
    }

    @Test("G17: a void of an old renewal leaves access, and takes that period's coins")
    func oldOrder() async throws {
        try await PlayWorld.run { world in
            let (id, account) = try await world.person()
            let token = try await world.buy("pro_year", for: account)
            try await world.settle()
            #expect(try await world.coins(of: id) == 50)
            await world.wait(days: 366)
            try await world.settle()
            #expect(try await world.coins(of: id) == 100)
            let orders = try await world.act("orders", "", "GET")["data"].array ?? []
            let first = try #require(
                orders.compactMap { $0["orderId"].string }.min { $0.count < $1.count }
            )
            try await world.act("orders/\(first)/charge_back")
            try await world.settle()
            #expect(try await world.coins(of: id) == 50)
            #expect(try await world.entitlements(of: id) == ["archive", "pro"])
            #expect(try await world.record(token)?.googlePlay?.voids.count == 1)
        }
    }

    @Test(
        "G24: who subscribed again in Play is known by the expired purchase, before it is acknowledged"
    )
    func resubscribed() async throws {
        try await PlayWorld.run { world in
            let (id, account) = try await world.person()
            let token = try await world.buy("pro", for: account)
            try await world.settle()
            try await world.act("purchases/\(token)/cancel")
            await world.wait(days: 40)
            try await world.settle()
            #expect(try await world.entitlements(of: id).isEmpty)
            let again = try await world.act("purchases/\(token)/resubscribe")
            let newer = try #require(again["purchase_token"].string)
            try await world.settle()
            #expect(try await world.entitlements(of: id) == ["pro"])
            #expect(try await world.look(newer)["acknowledged"].bool == true)
        }
    }

    @Test("G19: a chargeback that Google asks about is answered, where the customer agreed")
    func review() async throws {
        try await PlayWorld.run { world in
            let (id, account) = try await world.person()
            let token = try await world.buy("coins100", for: account)
            try await world.settle()
            let orders = try await world.act("orders", "", "GET")["data"].array ?? []
            let order = try #require(orders.first?["orderId"].string)
            try await world.act("orders/\(order)/review")
            try await world.settle()
            // Without consent nothing is said.
            func answers() async throws -> [JSONValue] {
                (try await world.act("reviews", "", "GET")["data"].array ?? []).map {
                    $0["answer"]
                }
            }
            #expect(try await answers() == [.null])
            #expect(try await world.waiting().isEmpty)
            // With it the ledger is told: a quarter of the coins is spent.
            _ = try await world.server.post(
                "/v1/customers",
                #"{"app_user_id":"anna","consumption_consent":true}"#
            )
            await world.wait(days: 2)
            let second = try await world.buy("coins100", for: account)
            try await world.settle()
            let spent = try await world.server.send(
                .post,
                "/v1/customers/\(id)/coins/spend?environment=production",
                json: #"{"amount":25}"#,
                headers: ["Idempotency-Key": "spend-1"]
            )
            #expect(spent.status == 200)
            let later = try #require(try await world.look(second)["order_id"].string)
            try await world.act("orders/\(later)/review")
            try await world.settle()
            let said = try #require(try await answers().last)
            #expect(said["refundPreference"].string == "DECLINE")
            #expect(said["consumptionPercentageMilliunits"].integer == 25_000)
            #expect(said["sampleContentProvided"].bool == true)
            #expect(try await world.waiting().isEmpty)
            _ = token
        }
    }

    /// A customer who agrees to what is said about refunds.
    private static func agreed(_ world: PlayWorld) async throws -> (id: String, account: String) {
        let person = try await world.person()
        _ = try await world.server.post(
            "/v1/customers",
            #"{"app_user_id":"anna","consumption_consent":true}"#
        )
        return person
    }

    @Test("G19: of a plan whose coins are spent in part, the review says which share")
    func reviewOfPlan() async throws {
        try await PlayWorld.run { world in
            let (id, account) = try await Self.agreed(world)
            let token = try await world.buy("pro_year", for: account)
            try await world.settle()
            #expect(try await world.coins(of: id) == 50)
            let spent = try await world.server.send(
                .post,
                "/v1/customers/\(id)/coins/spend?environment=production",
                json: #"{"amount":20}"#,
                headers: ["Idempotency-Key": "spend-1"]
            )
            #expect(spent.status == 200)
            let orders = try await world.act("orders", "", "GET")["data"].array ?? []
            let order = try #require(orders.first?["orderId"].string)
            try await world.act("orders/\(order)/review")
            try await world.settle()
            let reviews = try await world.act("reviews", "", "GET")["data"].array ?? []
            let said = try #require(reviews.first?["answer"])
            // 20 of 50, in thousandths of a per cent.
            #expect(said["consumptionPercentageMilliunits"].integer == 40_000)
            _ = token
        }
    }

    // Google does not say which token the order names after the change.
    @Test(
        "G19: of a plan that a change keeps to its end, the review says which share of its coins is spent",
        arguments: [false, true]
    )
    func reviewOfKeptPlan(_ movesOrders: Bool) async throws {
        try await PlayWorld.run { world in
            try await world.act("behaviour", #"{"kept_orders_move":\#(movesOrders)}"#, "PUT")
            let (id, account) = try await Self.agreed(world)
            let token = try await world.buy("pro_year", for: account)
            try await world.settle()
            let spent = try await world.server.send(
                .post,
                "/v1/customers/\(id)/coins/spend?environment=production",
                json: #"{"amount":20}"#,
                headers: ["Idempotency-Key": "spend-1"]
            )
            #expect(spent.status == 200)
            let changed = try await world.act(
                "purchases/\(token)/change",
                #"{"product_id":"pro","replacement_mode":"DEFERRED"}"#
            )
            let next = try #require(changed["purchase_token"].string)
            try await world.settle()
            let orders = try await world.act("orders", "", "GET")["data"].array ?? []
            let order = try #require(orders.first?["orderId"].string)
            try await world.act("orders/\(order)/review")
            try await world.settle()
            let reviews = try await world.act("reviews", "", "GET")["data"].array ?? []
            let said = try #require(reviews.first?["answer"])
            // 20 of 50, in thousandths of a per cent.
            #expect(said["consumptionPercentageMilliunits"].integer == 40_000)
            // The order credits once, and is one sale.
            #expect(try await world.coins(of: id) == 30)
            let kept = try await world.record(token)?.googlePlay?.orders.map(\.value.id)
            #expect(kept == [order])
            #expect(try await world.record(next)?.googlePlay?.orders.isEmpty == true)
        }
    }

    @Test("G19: more than a day after the question no review is sent")
    func lateReview() async throws {
        let reviews = Mutex(0)
        try await PlayWorld.run(
            intercept: { request in
                if request.url.hasSuffix(":reviewrefund") { reviews.withLock { $0 += 1 } }
                return nil
            }
        ) { world in
            let (_, account) = try await Self.agreed(world)
            _ = try await world.buy("coins100", for: account)
            try await world.settle()
            let orders = try await world.act("orders", "", "GET")["data"].array ?? []
            let order = try #require(orders.first?["orderId"].string)
            try await world.act("orders/\(order)/review")
            await world.wait(days: 1.1)
            try await world.settle()
            #expect(reviews.withLock { $0 } == 0)
            #expect(try await world.waiting().isEmpty)
            // Within the day it is.
            let second = try await world.buy("coins100", for: account)
            try await world.settle()
            let later = try #require(try await world.look(second)["order_id"].string)
            try await world.act("orders/\(later)/review")
            await world.wait(days: 0.9)
            try await world.settle()
            #expect(reviews.withLock { $0 } == 1)
        }
    }
}
