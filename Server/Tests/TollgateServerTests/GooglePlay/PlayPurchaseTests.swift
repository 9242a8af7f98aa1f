import Crypto
import CryptoExtras
import Foundation
import GooglePlayAPI
import HTTPTypes
import NIOCore
import NIOHTTP1
import SandboxClock
import Storage
import Stores
import Testing
import TollgateCore
import TollgateService
import TollgateSimulation

@testable import GooglePlayConnector

/// Devices present purchase tokens; Google is asked what they bought.
@Suite("Purchases that Android devices present")
struct PlayPurchaseTests {
    private static func post(
        _ token: String,
        _ world: PlayWorld,
        as session: String,
        kind: String = "subscription",
        mode: String = "purchased",
        _ more: String = ""
    ) async throws -> Answer {
        try await world.server.post(
            "/v1/google_play/purchases",
            as: session,
            #"{"purchase_token":"\#(token)","kind":"\#(kind)","mode":"\#(mode)"\#(more)}"#
        )
    }

    @Test(
        "A token is read, recorded and its customer's, before any hint",
        arguments: Backend.allCases
    )
    func presented(_ backend: Backend) async throws {
        try await PlayWorld.run(on: backend) { world in
            let (id, account) = try await world.person(named: false)
            try await world.act("faults", #"{"lost":1}"#, "PUT")
            let token = try await world.buy("pro", for: account)
            let session = try await world.server.session(of: id)
            let answer = try await Self.post(token, world, as: session)
            #expect(answer.status == 200 && answer.json["new"].bool == true)
            #expect(answer.json["customer"].string == id)
            #expect(try await world.entitlements(of: id) == ["pro"])
            let again = try await Self.post(token, world, as: session, mode: "observed")
            #expect(again.status == 200 && again.json["new"].bool == false)
            try await world.settle()
            #expect(try await world.look(token)["acknowledged"].bool == true)
            // The second opinion does not know this store, and blames nobody.
            let check = try await world.server.tollgate.accessChecks.check()
            #expect(try #require(check).findings.isEmpty)
            // Another product than the one that was bought.
            let other = try await world.buy("lifetime", for: account)
            let wrong = try await Self.post(
                other,
                world,
                as: session,
                kind: "one_time",
                #","product_id":"coins100""#
            )
            #expect(wrong.status == 400 && wrong.code == "parameter_invalid")
        }
    }

    @Test("Whose plan went to another account hears nothing of it any more")
    func formerOwner() async throws {
        try await PlayWorld.run { world in
            let store = world.server.tollgate.store
            var catalog = store.history.current
            catalog.ownership = .transfer
            try await store.adopt(catalog, at: Instant(milliseconds: await world.server.clock.now))
            try await world.settle()
            let (anna, account) = try await world.person("anna")
            let (ben, _) = try await world.person("ben")
            let token = try await world.buy("pro", for: account)
            try await world.settle()
            for (customer, mode) in [(anna, "observed"), (ben, "restored")] {
                let session = try await world.server.session(of: customer)
                let answer = try await Self.post(token, world, as: session, mode: mode)
                #expect(answer.status == 200, "\(answer.json)")
                try await world.settle()
                let path = "/v1/customers/\(customer)/purchases?environment=production"
                let plan = try await world.server.get(path).json["data"][0]
                #expect(plan["will_renew"].bool == true && plan["next_charge"] != .null)
                let access = "/v1/customers/\(customer)/entitlements?environment=production"
                let pro = try await world.server.get(access).json["data"][0]
                #expect(pro["will_renew"].bool == true && pro["offer"] == .null)
            }
            #expect(try await world.entitlements(of: anna).isEmpty)
            let path = "/v1/customers/\(anna)/purchases?environment=production"
            let plans = try await world.server.get(path).json["data"].array
            #expect(plans?.isEmpty == true)
        }
    }

    @Test("G6: what is linked to another customer's purchase is that customer's")
    func linked() async throws {
        try await PlayWorld.run { world in
            let (anna, account) = try await world.person("anna")
            let (ben, _) = try await world.person("ben")
            let token = try await world.buy("pro", for: account)
            try await world.settle()
            let changed = try await world.act(
                "purchases/\(token)/change",
                #"{"product_id":"pro_year","replacement_mode":"CHARGE_FULL_PRICE"}"#
            )
            let newer = try #require(changed["purchase_token"].string)
            try await world.settle()
            let session = try await world.server.session(of: ben)
            let answer = try await Self.post(newer, world, as: session)
            #expect(answer.status == 409 && answer.code == "owned_elsewhere")
            #expect(try await world.entitlements(of: anna) == ["archive", "pro"])
            #expect(try await world.entitlements(of: ben).isEmpty)
        }
    }

    @Test("G32: strangers' tokens by the thousand cost bounded reads, and hints go on (Y3)")
    func strangers() async throws {
        try await PlayWorld.run { world in
            let (id, account) = try await world.person()
            var statuses: [Int: Int] = [:]
            for stranger in 0..<28 {
                let customer = try await world.server.customer("stranger\(stranger)")
                let session = try await world.server.session(of: customer)
                for number in 0..<10 {
                    let answer = try await Self.post(
                        "token-\(stranger)-\(number)-aaaaaaaaaaaaaaaaaaaaaaaa",
                        world,
                        as: session
                    )
                    statuses[answer.status, default: 0] += 1
                }
            }
            #expect(Set(statuses.keys) == [404, 429])
            // 120 in all, and five of each customer.
            #expect((statuses[404] ?? 0) <= 120 + 28 * 5)
            // Whoever has bought is heard meanwhile.
            let (payer, payers) = try await world.person("payer", named: false)
            let bought = try await world.buy("pro", for: payers)
            let session = try await world.server.session(of: payer)
            #expect(try await Self.post(bought, world, as: session).status == 200)
            #expect(try await world.entitlements(of: payer) == ["pro"])
            let unsigned = try await world.server.post(
                "/v1/google_play/purchases",
                as: TestServer.publishableKey,
                #"{"purchase_token":"junk-aaaaaaaaaaaaaaaaaaaaaaaa","kind":"subscription","mode":"observed"}"#
            )
            #expect(unsigned.status == 429)
            let token = try await world.buy("pro", for: account)
            try await world.settle()
            #expect(try await world.entitlements(of: id) == ["pro"])
            #expect(try await world.look(token)["acknowledged"].bool == true)
            #expect(try await world.server.tollgate.store.parked.counts().isEmpty)
            world.server.wall.advance(seconds: 120)
            for odd in ["short", "../../orders/x", "a b c d e f g h", ""] {
                let session = try await world.server.session(of: id)
                #expect(try await Self.post(odd, world, as: session).status == 400, "\(odd)")
            }
        }
    }

    @Test("What Google signed for the app is checked where its licence key is known")
    func signed() async throws {
        let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
        let text = key.publicKey.derRepresentation.base64EncodedString()
        let license = try #require(LicenseKey(base64: text))
        let json = #"{"purchaseToken":"t"}"#
        let signature = try key.signature(
            for: Insecure.SHA1.hash(data: Data(json.utf8)),
            padding: .insecurePKCS1v1_5
        ).rawRepresentation.base64EncodedString()
        #expect(license.isSigned(json, by: signature))
        #expect(!license.isSigned(json + " ", by: signature))
        #expect(!license.isSigned(json, by: "AAAA") && !license.isSigned(json, by: ""))
        #expect(LicenseKey(base64: "AAAA") == nil && LicenseKey(base64: "") == nil)
    }

    @Test(
        "The signature that the sandbox's app shows is Google's, and one of another purchase is not"
    )
    func signedBySandbox() async throws {
        try await PlayWorld.run(licensed: true) { world in
            let (id, account) = try await world.person(named: false)
            let token = try await world.buy("pro", for: account)
            let signed = try await world.act("purchases/\(token)/signed", "", "GET")
            let original = try #require(signed["original_json"].string)
            let signature = try #require(signed["signature"].string)
            func body(_ original: String) throws -> String {
                let text = String(
                    decoding: try JSONEncoder().encode(original),
                    as: UTF8.self
                )
                return #","signed":{"original_json":\#(text),"signature":"\#(signature)"}"#
            }
            let session = try await world.server.session(of: id)
            let forged = original.replacing("PURCHASED", with: "PENDING") + " "
            let bad = try await Self.post(token, world, as: session, try body(forged))
            #expect(bad.status == 400 && bad.json["error"]["param"].string == "signed")
            let other = try await world.buy("pro_year", for: account)
            let foreign = try await Self.post(other, world, as: session, try body(original))
            #expect(foreign.status == 400)
            let good = try await Self.post(token, world, as: session, try body(original))
            #expect(good.status == 200)
        }
    }

    @Test(
        "G11: a purchase that is paid later, of which no hint came, is read when the device shows it"
    )
    func paidLater() async throws {
        try await PlayWorld.run { world in
            let (id, account) = try await world.person(payment: "cash")
            let token = try await world.buy("lifetime", for: account)
            try await world.settle()
            #expect(try await world.entitlements(of: id).isEmpty)
            try await world.act("faults", #"{"lost":1}"#, "PUT")
            await world.wait(days: 1)
            try await world.act("purchases/\(token)/pay")
            let session = try await world.server.session(of: id)
            let answer = try await Self.post(token, world, as: session, kind: "one_time")
            #expect(answer.status == 200)
            try await world.settle()
            #expect(try await world.entitlements(of: id) == ["archive", "pro"])
            #expect(try await world.look(token)["acknowledged"].bool == true)
        }
    }

    @Test("G27: credentials that Google refuses are no rate limit to a device")
    func refusedCredentials() async throws {
        try await PlayWorld.run { world in
            let (id, account) = try await world.person(named: false)
            let token = try await world.buy("pro", for: account)
            try await world.act("faults", #"{"api_status":401}"#, "PUT")
            let session = try await world.server.session(of: id)
            #expect(try await Self.post(token, world, as: session).status == 502)
            let second = try await Self.post(token, world, as: session)
            #expect(second.status == 503 && second.code == "store_unavailable")
            try await world.act("faults", "{}", "PUT")
            world.server.wall.advance(seconds: 1)
            #expect(try await Self.post(token, world, as: session).status == 200)
        }
    }

    @Test("G23: a pause that ended early, of which no hint came, is over when the device shows it")
    func resumedEarly() async throws {
        try await PlayWorld.run { world in
            let (id, account) = try await world.person()
            let token = try await world.buy("pro", for: account)
            try await world.act("purchases/\(token)/pause", #"{"length":"P3M"}"#)
            try await world.settle()
            await world.wait(days: 32)
            try await world.settle()
            #expect(try await world.entitlements(of: id).isEmpty)
            try await world.act("faults", #"{"lost":1}"#, "PUT")
            try await world.act("purchases/\(token)/resume")
            let session = try await world.server.session(of: id)
            let answer = try await Self.post(token, world, as: session, mode: "restored")
            #expect(answer.status == 200 && answer.json["new"].bool == true)
            await world.wait(days: 0.01)
            #expect(try await world.entitlements(of: id) == ["pro"])
            // It gives access: the record answers, and Google is not asked.
            try await world.act("faults", #"{"api_status":503}"#, "PUT")
            let later = try await world.server.session(of: id)
            let again = try await Self.post(token, world, as: later, mode: "restored")
            #expect(again.status == 200 && again.json["new"].bool == false)
        }
    }

    @Test("No minute sees more calls than the quota, from whichever second it is counted")
    func quotaOfAMinute() {
        var bucket = QuotaBucket(perMinute: 3_000)
        var calls: [Int64] = []
        for now in stride(from: Int64(500), to: 300_000, by: 250) {
            // Bursts, and a steady stream.
            for _ in 0..<(now % 7_000 < 2_000 ? 90 : 9) {
                if bucket.take(now: now) { calls.append(now) }
            }
        }
        var (first, most) = (0, 0)
        for index in calls.indices {
            while calls[index] - calls[first] >= 60_000 { first += 1 }
            most = max(most, index - first + 1)
        }
        #expect(most == 3_000)
        // What is allowed can be used.
        #expect(calls.count > 4 * 2_900)
    }

    @Test("A clock that is set back gives no call of the last minute back")
    func quotaOfAClockSetBack() {
        var bucket = QuotaBucket(perMinute: 60)
        // A call a second, for a minute; then the clock goes back by half a minute.
        var atFirst = 0
        for second in Int64(1)...60 where bucket.take(now: second * 1_000) { atFirst += 1 }
        #expect(atFirst == 60)
        var early = 0
        for second in Int64(30)...89 where bucket.take(now: second * 1_000) { early += 1 }
        #expect(early == 0)
        let later = bucket.take(now: 91_000)
        #expect(later)
    }

    @Test("A quota gives a call back a minute after it, and rests where Google asks for it")
    func quota() {
        var bucket = QuotaBucket(perMinute: 60)
        var atOnce = 0
        while bucket.take(now: 0) { atOnce += 1 }
        #expect(atOnce == 60)
        let ofNothing = bucket.take(now: 0)
        let tooEarly = bucket.take(now: 59_999)
        let afterIt = bucket.take(now: 61_000)
        #expect(!ofNothing && !tooEarly && afterIt)
        // Half is left to others.
        var shared = QuotaBucket(perMinute: 60)
        var taken = 0
        while shared.take(now: 0, leaving: 50) { taken += 1 }
        #expect(taken == 30)
        let forHints = shared.take(now: 0)
        #expect(forHints)
        shared.refused(retryAfter: 7, begun: 0, now: 0)
        let early = shared.take(now: 6_999)
        let late = shared.take(now: 7_000)
        #expect(!early && late)
        // An answer to a call that was under way beside the refusal takes nothing of the pause.
        var side = QuotaBucket(perMinute: 60)
        side.refused(retryAfter: 60, begun: 0, now: 1_000)
        side.answered(begun: 900)
        let besideIt = side.isOpen(now: 2_000)
        let restored = side.isOpen(now: 61_000)
        #expect(!besideIt && restored)
        // Each refusal of a later call doubles the pause.
        var now: Int64 = 7_000
        for pause in [2, 4, 8, 16, 32, 64, 120, 120] as [Int64] {
            now += 1_000
            shared.refused(retryAfter: nil, begun: now - 1, now: now)
            let before = shared.isOpen(now: now + pause * 1000 - 1)
            now += pause * 1000
            let after = shared.isOpen(now: now)
            #expect(!before && after, "\(pause)")
        }
        // A clock that went back blocks nothing.
        shared.refused(retryAfter: nil, begun: now, now: now + 1)
        let back = shared.isOpen(now: now - 100_000)
        #expect(back)
        // Calls that were under way together are one refusal, with the longest pause that Google names.
        var together = QuotaBucket(perMinute: 60)
        for _ in 0..<8 { together.refused(retryAfter: nil, begun: 0, now: 5) }
        let early8 = together.isOpen(now: 1_004)
        let late8 = together.isOpen(now: 1_005)
        #expect(!early8 && late8)
        together.refused(retryAfter: 7, begun: 4, now: 6)
        let named = together.isOpen(now: 7_005)
        let over = together.isOpen(now: 7_006)
        #expect(!named && over)
    }
}
