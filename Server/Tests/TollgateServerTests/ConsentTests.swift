import Foundation
import HTTPTypes
import SandboxClock
import Storage
import Testing
import TollgateAPI
import TollgateCore
import TollgateService
import TollgateSimulation

@Suite("Consents")
struct ConsentTests {
    private func adopt(_ gates: Catalog.Gates, _ server: TestServer) async throws {
        var catalog = server.tollgate.store.history.current
        catalog.gates = gates
        try await server.tollgate.store.adopt(
            catalog,
            at: Instant(milliseconds: await server.clock.now)
        )
    }

    private static let gates = Catalog.Gates(
        termsVersion: "2026-01",
        termsURL: "https://example.com/terms",
        subscriptionTermsVersion: "s1",
        minimumAge: 13
    )

    @Test(
        "What is accepted is recorded with version and time, and survives a new start",
        arguments: Backend.allCases
    )
    func recorded(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            try await adopt(Self.gates, server)
            let session = try await server.session(of: try await server.customer())
            let before = try await server.get("/v1/consents", as: session)
            #expect(before.status == 200)
            #expect(before.json["terms"].array?.isEmpty == true)
            #expect(before.json["age"] == .null)
            #expect(before.json["required"]["terms"][0]["version"].string == "2026-01")
            #expect(
                before.json["required"]["terms"][0]["url"].string == "https://example.com/terms"
            )
            #expect(before.json["required"]["terms"][1]["document"].string == "subscription_terms")
            #expect(before.json["required"]["minimum_age"].integer == 13)

            let after = try await server.post(
                "/v1/consents",
                as: session,
                #"{"terms":[{"document":"terms","version":"2026-01"}],"age":{"at_least":16}}"#
            )
            #expect(after.status == 200)
            #expect(after.json["terms"][0]["version"].string == "2026-01")
            #expect(after.json["terms"][0]["accepted_at"].integer == TestServer.start)
            #expect(after.json["age"]["at_least"].integer == 16)
            #expect(after.json["age"]["stated_at"].integer == TestServer.start)
            #expect(try await server.get("/v1/consents", as: session).json == after.json)
            // The publishable key with the session beside it sees the same.
            let beside = try await server.get(
                "/v1/consents",
                as: TestServer.publishableKey,
                session: session
            )
            #expect(beside.json == after.json)
        }
    }

    @Test("The first acceptance of a version stands, and costs one journal row")
    func acceptedOnce() async throws {
        try await TestServer.run { server in
            try await adopt(Self.gates, server)
            let session = try await server.session(of: try await server.customer())
            let body =
                #"{"terms":[{"document":"terms","version":"2026-01"}],"age":{"at_least":18}}"#
            let first = try await server.post("/v1/consents", as: session, body)
            let rows = try await server.rowCounts()["journal"]
            await server.clock.advance(to: TestServer.start + 86_400_000)
            let again = try await server.post("/v1/consents", as: session, body)
            #expect(again.json == first.json)
            #expect(try await server.rowCounts()["journal"] == rows)
        }
    }

    @Test("A new version of the terms asks again, and the old acceptance stays on record")
    func newVersion() async throws {
        try await TestServer.run { server in
            try await adopt(Self.gates, server)
            let session = try await server.session(of: try await server.customer())
            _ = try await server.post(
                "/v1/consents",
                as: session,
                #"{"terms":[{"document":"terms","version":"2026-01"}]}"#
            )
            var gates = Self.gates
            gates.termsVersion = "2026-07"
            await server.clock.advance(to: TestServer.start + 86_400_000)
            try await adopt(gates, server)
            let asked = try await server.get("/v1/consents", as: session)
            #expect(asked.json["required"]["terms"][0]["version"].string == "2026-07")
            #expect(asked.json["terms"].array?.count == 1)
            let both = try await server.post(
                "/v1/consents",
                as: session,
                #"{"terms":[{"document":"terms","version":"2026-07"}]}"#
            )
            #expect(
                both.json["terms"].array?.compactMap { $0["version"].string }
                    == ["2026-01", "2026-07"]
            )
            #expect(both.json["terms"][1]["accepted_at"].integer == TestServer.start + 86_400_000)
        }
    }

    @Test("Of several age statements the newest counts")
    func newestAge() async throws {
        try await TestServer.run { server in
            let session = try await server.session(of: try await server.customer())
            for age in [13, 18, 13] {
                _ = try await server.post(
                    "/v1/consents",
                    as: session,
                    "{\"age\":{\"at_least\":\(age)}}"
                )
            }
            let answer = try await server.get("/v1/consents", as: session)
            #expect(answer.json["age"]["at_least"].integer == 13)
        }
    }

    @Test("An age is a range with its source, and the catalog says which ages are asked about")
    func ageRange() async throws {
        try await TestServer.run { server in
            try await adopt(
                .init(minimumAge: 13, ageTiers: [16], parentalConsentBelow: 18),
                server
            )
            let session = try await server.session(of: try await server.customer())
            let answer = try await server.post(
                "/v1/consents",
                as: session,
                #"{"age":{"at_least":13,"below":16,"declaration":"guardian_checked"}}"#
            )
            #expect(answer.json["age"]["below"].integer == 16)
            #expect(answer.json["age"]["declaration"].string == "guardian_checked")
            #expect(
                answer.json["required"]["ages"].array?.compactMap(\.integer) == [13, 16, 18]
            )
            #expect(answer.json["required"]["parental_consent_below"].integer == 18)
            // The same lower end, declared otherwise, is news; who has said it last is not.
            let rows = try await server.rowCounts()["journal"] ?? 0
            for body in [#"{"age":{"at_least":13}}"#, #"{"age":{"at_least":13}}"#] {
                _ = try await server.post("/v1/consents", as: session, body)
            }
            #expect(try await server.rowCounts()["journal"] == rows + 1)
        }
    }

    @Test("A customer who reached none of the ages says so with 0")
    func youngerThanAll() async throws {
        try await TestServer.run { server in
            let session = try await server.session(of: try await server.customer())
            let younger = try await server.post(
                "/v1/consents",
                as: session,
                #"{"age":{"at_least":0,"below":13}}"#
            )
            #expect(younger.json["age"]["at_least"].integer == 0)
        }
    }

    @Test("The customer's own word narrows what a guardian declared, and does not lead out of it")
    func guardian() async throws {
        try await TestServer.run { server in
            let session = try await server.session(of: try await server.customer())
            func say(_ age: String) async throws -> Answer {
                try await server.post("/v1/consents", as: session, "{\"age\":{\(age)}}")
            }
            func range(_ answer: Answer) -> [Int64?] {
                [answer.json["age"]["at_least"].integer, answer.json["age"]["below"].integer]
            }
            // Who said to be an adult is not one any more once a guardian says otherwise.
            _ = try await say(#""at_least":18"#)
            let guardians = #""at_least":10,"below":16,"declaration":"guardian_declared""#
            #expect(range(try await say(guardians)) == [10, 16])
            let rows = try await server.rowCounts()["journal"] ?? 0
            for older in [#""at_least":16"#, #""at_least":18,"declaration":"self_declared""#] {
                let refused = try await say(older)
                #expect(refused.status == 409 && refused.code == "age_declared")
            }
            #expect(try await server.rowCounts()["journal"] == rows)
            let narrowed = try await say(#""at_least":13,"below":18"#)
            #expect(range(narrowed) == [13, 16])
            #expect(narrowed.json["age"]["declaration"] == .null)
            // The same range once more, as the system tells it at each launch, widens nothing.
            #expect(range(try await say(guardians)) == [13, 16])
            // Whoever checks it has the last word.
            let checked = try await say(#""at_least":18,"declaration":"self_checked""#)
            #expect(range(checked) == [18, nil])
            #expect(checked.json["age"]["declaration"].string == "self_checked")
        }
    }

    private func say(_ age: String, of id: String, _ server: TestServer) async throws -> Answer {
        try await server.post("/v1/consents", as: server.session(of: id), "{\"age\":{\(age)}}")
    }

    @Test("Years later the customer has grown older than the range that a guardian declared")
    func grownUp() async throws {
        try await TestServer.run { server in
            let id = try await server.customer()
            func say(_ age: String) async throws -> Answer {
                try await self.say(age, of: id, server)
            }
            _ = try await say(#""at_least":13,"below":16,"declaration":"guardian_declared""#)
            await server.clock.advance(to: TestServer.start + 2 * 366 * 86_400_000)
            #expect(try await say(#""at_least":18"#).code == "age_declared")
            #expect(try await say(#""at_least":17"#).json["age"]["at_least"].integer == 17)
            await server.clock.advance(to: TestServer.start + 3 * 366 * 86_400_000)
            #expect(try await say(#""at_least":18"#).json["age"]["at_least"].integer == 18)
        }
    }

    @Test(
        "A parent's consent is recorded, withdrawn, and survives a new start",
        arguments: Backend.allCases
    )
    func parentalConsent(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let session = try await server.session(of: try await server.customer())
            let none = try await server.get("/v1/consents", as: session)
            #expect(none.json["parental_consent"] == .null)
            let nothing = try await server.post(
                "/v1/consents",
                as: session,
                #"{"parental_consent":false}"#
            )
            #expect(nothing.json["parental_consent"] == .null)
            let given = try await server.post(
                "/v1/consents",
                as: session,
                #"{"parental_consent":true}"#
            )
            #expect(given.json["parental_consent"]["given"].bool == true)
            #expect(given.json["parental_consent"]["stated_at"].integer == TestServer.start)
            await server.clock.advance(to: TestServer.start + 1000)
            let again = try await server.post(
                "/v1/consents",
                as: session,
                #"{"parental_consent":true}"#
            )
            #expect(again.json == given.json)
            let withdrawn = try await server.post(
                "/v1/consents",
                as: session,
                #"{"parental_consent":false}"#
            )
            #expect(withdrawn.json["parental_consent"]["given"].bool == false)
            #expect(
                withdrawn.json["parental_consent"]["stated_at"].integer == TestServer.start + 1000
            )
        }
    }

    @Test("A parent withdraws a consent however often something was stated that day")
    func withdrawnAtAnyTime() async throws {
        try await TestServer.run { server in
            let session = try await server.session(of: try await server.customer())
            func say(_ body: String) async throws -> Int {
                try await server.post("/v1/consents", as: session, body).status
            }
            for age in 20..<30 { #expect(try await say("{\"age\":{\"at_least\":\(age)}}") == 200) }
            #expect(try await say(#"{"age":{"at_least":13}}"#) == 429)
            for _ in 0..<10 {
                #expect(try await say(#"{"parental_consent":true}"#) == 200)
                #expect(try await say(#"{"parental_consent":false}"#) == 200)
            }
            #expect(try await say(#"{"parental_consent":true}"#) == 429)
            await server.clock.advance(to: TestServer.start + 86_400_000)
            #expect(try await say(#"{"parental_consent":true}"#) == 200)
        }
    }

    @Test("Ten own words a day keep no guardian's from being heard")
    func guardianAfterTen() async throws {
        try await TestServer.run { server in
            let session = try await server.session(of: try await server.customer())
            func say(_ age: String) async throws -> Answer {
                try await server.post("/v1/consents", as: session, "{\"age\":{\(age)}}")
            }
            for age in 20..<30 { #expect(try await say("\"at_least\":\(age)").status == 200) }
            #expect(try await say(#""at_least":13"#).status == 429)
            for below in 14...24 {
                let declared = #""at_least":13,"below":\#(below),"declaration":"guardian_declared""#
                #expect(try await say(declared).status == (below < 24 ? 200 : 429))
            }
        }
    }

    @Test(
        "What is refused beside a withdrawn consent does not keep it from being recorded",
        arguments: [
            (#""age":{"at_least":13}"#, 429), (#""age":{"at_least":0}"#, 400),
            (#""terms":[{"document":"none","version":"1"}]"#, 400),
        ]
    )
    func withdrawnBesideARefusal(beside: String, status: Int) async throws {
        try await TestServer.run { server in
            let session = try await server.session(of: try await server.customer())
            func say(_ body: String) async throws -> Int {
                try await server.post("/v1/consents", as: session, body).status
            }
            for age in 20..<30 { #expect(try await say("{\"age\":{\"at_least\":\(age)}}") == 200) }
            #expect(try await say(#"{"parental_consent":true}"#) == 200)
            #expect(try await say("{\"parental_consent\":false,\(beside)}") == status)
            let known = try await server.get("/v1/consents", as: session)
            #expect(known.json["parental_consent"]["given"].bool == false)
            #expect(known.json["age"]["at_least"].integer == 29)
        }
    }

    @Test("The reason of a spend is no statement")
    func reasonsAreNoStatements() async throws {
        try await TestServer.run { server in
            let customer = try await server.customerWithCoins()
            let session = try await server.session(of: customer)
            let spent = try await server.post(
                "/v1/customers/\(customer)/coins/spend",
                #"{"amount":1,"reason":"{\"parental_consent\":true,\"age\":{\"at_least\":18}}"}"#,
                idempotencyKey: "one"
            )
            #expect(spent.status == 200)
            let consents = try await server.get("/v1/consents", as: session)
            #expect(consents.json["parental_consent"] == .null && consents.json["age"] == .null)
        }
    }

    @Test("Nobody sees another's consents")
    func apart() async throws {
        try await TestServer.run { server in
            let one = try await server.session(of: try await server.customer("one"))
            let other = try await server.session(of: try await server.customer("other"))
            _ = try await server.post("/v1/consents", as: one, #"{"age":{"at_least":18}}"#)
            #expect(try await server.get("/v1/consents", as: other).json["age"] == .null)
        }
    }

    @Test(
        "What was never asked for cannot be agreed to",
        arguments: [
            (#"{"terms":[{"document":"terms","version":"1999"}]}"#, "parameter_invalid"),
            (#"{"terms":[{"document":"cookies","version":"1"}]}"#, "parameter_invalid"),
            (#"{"terms":[{"document":"terms"}]}"#, "parameter_missing"),
            (#"{"age":{"at_least":0}}"#, "parameter_invalid"),
            (#"{"age":{"at_least":121}}"#, "parameter_invalid"),
            (#"{"age":{"at_least":16,"below":16}}"#, "parameter_invalid"),
            (#"{"age":{"at_least":16,"below":122}}"#, "parameter_invalid"),
            (#"{"age":{"at_least":16,"declaration":"Mother"}}"#, "parameter_invalid"),
            (#"{"age":{"below":16}}"#, "parameter_missing"),
            (#"{"parental_consent":"yes"}"#, "parameter_invalid"),
            (#"{"age":{"at_least":13.5}}"#, "parameter_invalid"),
            (#"{"age":13}"#, "parameter_invalid"), ("[]", "parameter_invalid"),
            ("{", "malformed_body"),
        ]
    )
    func refused(_ body: String, _ code: String) async throws {
        try await TestServer.run { server in
            try await adopt(Self.gates, server)
            let session = try await server.session(of: try await server.customer())
            let answer = try await server.post("/v1/consents", as: session, body)
            #expect(answer.status == 400)
            #expect(answer.code == code)
            #expect(try await server.get("/v1/consents", as: session).json["age"] == .null)
        }
    }

    @Test("It takes a customer session", arguments: [HTTPRequest.Method.get, .post])
    func session(_ method: HTTPRequest.Method) async throws {
        try await TestServer.run { server in
            for key in [TestServer.publishableKey, TestServer.secretKey] {
                let answer = try await server.send(method, "/v1/consents", as: key, json: "{}")
                #expect(answer.status == 401 && answer.code == "no_session_present")
            }
        }
    }
}

@Suite("The catalog's slice for apps")
struct CatalogSliceTests {
    @Test("It names what must be accepted, the ways back, and the App Store's products, signed")
    func slice() async throws {
        try await TestServer.run { server in
            let answer = try await server.get("/v1/catalog", as: TestServer.publishableKey)
            #expect(answer.status == 200)
            #expect(answer.json["required"]["terms"].array?.isEmpty == true)
            #expect(answer.json["checkout"]["success_path"].string == "/checkout_redirect/success")
            let token = try #require(answer.json["signed_catalog"].string)
            let payload = try #require(JSONWebToken(compact: token)?.payload)
            let text = String(decoding: payload, as: UTF8.self)
            #expect(text.contains("\"aud\":\"tollgate.catalog\""))
            #expect(text.contains("com.example.app.pass30") && text.contains("P30D"))
            #expect(!text.contains("price") && !text.contains("usd"))
            #expect(text.utf8.count < 2048)
        }
    }

    @Test("It takes a key")
    func key() async throws {
        try await TestServer.run { server in
            let answer = try await server.get("/v1/catalog", as: nil)
            #expect(answer.status == 401)
        }
    }
}

@Suite("How a checkout went")
struct CheckoutOutcomeTests {
    private func checkout(_ server: TestServer, session: String?) async throws -> String {
        let answer = try await server.post(
            "/v1/buy_buttons/buy_coins_100/checkout",
            as: TestServer.publishableKey,
            session: session
        )
        return try #require(answer.json["id"].string)
    }

    @Test("It is open until it is paid; then it is confirmed, and the coins are there")
    func story() async throws {
        try await TestServer.run { server in
            let customer = try await server.customer()
            let session = try await server.session(of: customer)
            let id = try await checkout(server, session: session)
            let path = "/v1/checkout_sessions/\(id)"
            #expect(try await server.get(path, as: session).json["status"].string == "open")
            server.stripe.pay(id)
            #expect(try await server.get(path, as: session).json["status"].string == "confirmed")
            let coins = try await server.get("/v1/customers/\(customer)/coins", as: session)
            #expect(coins.json["balance"].integer == 100)
            _ = try await server.get(path, as: session)
            let again = try await server.get("/v1/customers/\(customer)/coins", as: session)
            #expect(again.json["balance"].integer == 100)
        }
    }

    @Test("Another customer's checkout is as if it were not there; a visitor's is anybody's")
    func another() async throws {
        try await TestServer.run { server in
            let one = try await server.session(of: try await server.customer("one"))
            let other = try await server.session(of: try await server.customer("other"))
            let mine = try await checkout(server, session: one)
            let refused = try await server.get("/v1/checkout_sessions/\(mine)", as: other)
            #expect(refused.status == 404 && refused.code == "resource_missing")
            let visitors = try await checkout(server, session: nil)
            let path = "/v1/checkout_sessions/\(visitors)"
            #expect(try await server.get(path, as: other).status == 200)
            #expect(try await server.get(path, as: TestServer.publishableKey).status == 200)
        }
    }

    @Test("What is no checkout is not asked for", arguments: ["cs_test_9", "cus_1", "cs_a%2Fb"])
    func unknown(_ id: String) async throws {
        try await TestServer.run { server in
            let answer = try await server.get("/v1/checkout_sessions/\(id)")
            #expect(answer.status == 404 && answer.code == "resource_missing")
        }
    }

    @Test("While Stripe cannot be reached the app is told to come again")
    func unreachable() async throws {
        try await TestServer.run { server in
            let id = try await checkout(server, session: nil)
            server.stripe.setReachable(false)
            let answer = try await server.get("/v1/checkout_sessions/\(id)")
            #expect(answer.status == 503 && answer.code == "store_unavailable")
        }
    }
}
