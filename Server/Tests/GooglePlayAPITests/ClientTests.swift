import Foundation
import JWTKit
import StrictJSON
import Synchronization
import Testing

@testable import GooglePlayAPI

@Suite("Calls to Google")
struct ClientTests {
    private static let now: Int64 = 1_795_597_200

    /// Answers in turn and keeps what was asked.
    final class Google: Sendable {
        private struct State {
            var answers: [GooglePlay.HTTPResponse]
            var requests: [GooglePlay.HTTPRequest] = []
            var tokens = 0
        }
        private let state: Mutex<State>

        init(_ answers: [GooglePlay.HTTPResponse]) {
            state = Mutex(State(answers: answers))
        }

        var requests: [GooglePlay.HTTPRequest] { state.withLock { $0.requests } }
        var tokens: Int { state.withLock { $0.tokens } }

        func answer(_ request: GooglePlay.HTTPRequest) -> GooglePlay.HTTPResponse {
            state.withLock { state in
                if request.url.hasSuffix("/token") {
                    state.tokens += 1
                    let body = #"{"access_token":"at\#(state.tokens)","expires_in":3600}"#
                    return GooglePlay.HTTPResponse(status: 200, body: Array(body.utf8))
                }
                state.requests.append(request)
                return state.answers.removeFirst()
            }
        }
    }

    private static func account() async throws -> GooglePlay.ServiceAccount {
        let pem = TestKey.google.pem.replacing("\n", with: "\\n")
        return try await GooglePlay.ServiceAccount(
            json: Array(
                """
                {"type":"service_account","project_id":"p","private_key_id":"k1",\
                "private_key":"\(pem)","client_email":"app@p.iam.gserviceaccount.com",\
                "token_uri":"http://127.0.0.1:1/token"}
                """.utf8
            )
        )
    }

    static func tokens(_ google: Google) async throws -> GooglePlay.AccessTokens {
        GooglePlay.AccessTokens(
            account: try await account(),
            scopes: [GooglePlay.publisherScope],
            transport: { google.answer($0) },
            now: { now }
        )
    }

    private static func client(_ google: Google) async throws -> GooglePlay.Client {
        GooglePlay.Client(
            packageName: "com.example.app",
            apiBase: "http://127.0.0.1:1/",
            tokens: try await tokens(google),
            transport: { google.answer($0) }
        )
    }

    @Test("The assertion is for Google's token endpoint, wherever token_uri points")
    func assertion() async throws {
        let account = try await Self.account()
        let request = try await account.tokenRequest(scopes: ["a", "b"], now: Self.now)
        #expect(request.url == "http://127.0.0.1:1/token")
        let body = String(decoding: try #require(request.body), as: UTF8.self)
        let prefix =
            "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="
        #expect(body.hasPrefix(prefix))
        let parts = body.dropFirst(prefix.count).split(separator: ".")
        var text = parts[1].replacing("-", with: "+").replacing("_", with: "/")
        text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        let claims = try JSON([UInt8](try #require(Data(base64Encoded: String(text)))))
        #expect(claims["iss"]?.string == "app@p.iam.gserviceaccount.com")
        #expect(claims["aud"]?.string == "https://oauth2.googleapis.com/token")
        #expect(claims["scope"]?.string == "a b")
        #expect(claims["iat"]?.int64 == Self.now && claims["exp"]?.int64 == Self.now + 3600)
    }

    @Test("A key file that is none says which field is missing")
    func keyFiles() async throws {
        for (file, problem) in [
            ("{}", GooglePlay.ServiceAccount.Problem.type("")), ("[]", .field("client_email")),
            (#"{"type":"authorized_user"}"#, .type("authorized_user")),
            (#"{"type":"service_account"}"#, .field("client_email")),
            (#"{"type":"service_account","client_email":"e"}"#, .field("private_key_id")),
            (
                #"{"type":"service_account","client_email":"e","private_key_id":"k"}"#,
                .field("private_key")
            ),
            (
                #"{"type":"service_account","client_email":"e","private_key_id":"k","private_key":"x"}"#,
                .privateKey
            ),
        ] {
            await #expect(throws: problem) {
                try await GooglePlay.ServiceAccount(json: Array(file.utf8))
            }
        }
    }

    @Test("A token is fetched once for many calls, and anew when the API refuses it")
    func tokens() async throws {
        let active = GooglePlay.HTTPResponse(
            status: 200,
            headers: ["Date": "Wed, 25 Nov 2026 09:00:00 GMT"],
            body: Array(#"{"subscriptionState":"SUBSCRIPTION_STATE_ACTIVE"}"#.utf8)
        )
        let google = Google([active, active, GooglePlay.HTTPResponse(status: 401), active])
        let client = try await Self.client(google)
        async let first = client.subscription("t1")
        async let second = client.subscription("t2")
        #expect(try await [first, second].map(\.value.state) == [.active, .active])
        #expect(google.tokens == 1)
        #expect(try await client.subscription("t3").date == "Wed, 25 Nov 2026 09:00:00 GMT")
        #expect(google.tokens == 2)
        #expect(google.requests.last?.headers["Authorization"] == "Bearer at2")
    }

    @Test("A token of a stranger's cannot lead to another method")
    func escaping() async throws {
        let google = Google([GooglePlay.HTTPResponse(status: 404)])
        let client = try await Self.client(google)
        await #expect(throws: GooglePlay.APIFault.self) {
            try await client.subscription("../../orders/x?y#z:refund")
        }
        #expect(
            google.requests.first?.url
                == "http://127.0.0.1:1/androidpublisher/v3/applications/com.example.app/purchases/"
                + "subscriptionsv2/tokens/..%2F..%2Forders%2Fx%3Fy%23z%3Arefund"
        )
    }

    @Test("Many orders are asked for in one call, and each is read as if it were alone")
    func orders() async throws {
        let body = #"{"orders":[{"orderId":"GPA.1","purchaseToken":"t"},{"orderId":"GPA.1..0"}]}"#
        let google = Google([
            GooglePlay.HTTPResponse(
                status: 200,
                headers: ["Date": "Wed, 25 Nov 2026 09:00:00 GMT"],
                body: Array(body.utf8)
            )
        ])
        let answers = try await Self.client(google).orders(["GPA.1", "GPA.1..0"])
        #expect(
            google.requests.first?.url
                == "http://127.0.0.1:1/androidpublisher/v3/applications/com.example.app/"
                + "orders:batchGet?orderIds=GPA.1&orderIds=GPA.1..0"
        )
        #expect(answers.map(\.value.id) == ["GPA.1", "GPA.1..0"])
        #expect(answers.map(\.value.purchaseToken) == ["t", nil])
        #expect(answers.allSatisfy { $0.date == "Wed, 25 Nov 2026 09:00:00 GMT" })
        #expect(answers[1].body == Array(#"{"orderId":"GPA.1..0"}"#.utf8))
    }

    @Test("Sales outside Google Play's billing are told in the words of Google's schema")
    func externalTransactions() async throws {
        let known = GooglePlay.HTTPResponse(
            status: 200,
            body: Array(
                #"""
                {"externalTransactionId":"in_1","transactionState":"TRANSACTION_REPORTED",\#
                "currentPreTaxAmount":{"priceMicros":"8325000","currency":"EUR"},"testPurchase":{}}
                """#.utf8
            )
        )
        let google = Google(Array(repeating: known, count: 5))
        let client = try await Self.client(google)
        func report(_ kind: GooglePlay.ExternalTransactionReport.Kind) async throws {
            _ = try await client.createExternalTransaction(
                GooglePlay.ExternalTransactionReport(
                    id: "in_1",
                    preTax: .init(currency: "EUR", micros: 8_325_000),
                    tax: .init(currency: "EUR", micros: 1_665_000),
                    time: 1_795_597_200_000,
                    kind: kind,
                    region: "FR"
                )
            )
        }
        try await report(.oneTime(token: "t"))
        try await report(.subscription(token: "t"))
        try await report(.renewal(of: "in_0"))
        let part = GooglePlay.ExternalTransactionRefund.Part(
            id: "re_1",
            preTax: .init(currency: "EUR", micros: 1)
        )
        _ = try await client.refundExternalTransaction("in_1", .init(time: 0, part: part))
        let read = try await client.refundExternalTransaction("in_1", .init(time: 0)).value
        #expect(read.state == .reported && read.isTest)
        #expect(read.currentPreTax == .init(currency: "EUR", micros: 8_325_000))
        let root = "http://127.0.0.1:1/androidpublisher/v3/applications/com.example.app"
        #expect(
            Set(google.requests.map(\.url)) == [
                root + "/externalTransactions?externalTransactionId=in_1",
                root + "/externalTransactions/in_1:refund",
            ]
        )
        let bodies = google.requests.map { String(decoding: $0.body ?? [], as: UTF8.self) }
        let start =
            #"{"originalPreTaxAmount":{"priceMicros":"8325000","currency":"EUR"},"#
            + #""originalTaxAmount":{"priceMicros":"1665000","currency":"EUR"},"#
        #expect(bodies.prefix(3).allSatisfy { $0.hasPrefix(start) })
        #expect(
            bodies.prefix(3).allSatisfy { $0.hasSuffix(#""userTaxAddress":{"regionCode":"FR"}}"#) }
        )
        let recurring = #""externalSubscription":{"subscriptionType":"RECURRING"}"#
        #expect(bodies[0].contains(#""oneTimeTransaction":{"externalTransactionToken":"t"}"#))
        #expect(
            bodies[1].contains(
                #""recurringTransaction":{"externalTransactionToken":"t",\#(recurring)}"#
            )
        )
        #expect(
            bodies[2].contains(
                #""recurringTransaction":{"initialExternalTransactionId":"in_0",\#(recurring)}"#
            )
        )
        #expect(bodies[3].contains(#""partialRefund":{"refundId":"re_1","#))
        #expect(bodies[4].contains(#""fullRefund":{}"#) && !bodies[4].contains("partialRefund"))
    }

    @Test("Acts name their purchase and say what Google's schema asks for")
    func acts() async throws {
        let google = Google(Array(repeating: GooglePlay.HTTPResponse(status: 204), count: 4))
        let client = try await Self.client(google)
        try await client.acknowledgeSubscription("t", product: "pro", account: "a")
        try await client.acknowledgeProduct("t", product: "gem")
        try await client.consume("t", product: "gem")
        try await client.reviewRefund(
            order: "GPA.1",
            GooglePlay.RefundReview(
                pendingRefundToken: "r",
                preference: .decline,
                consumedMilliunits: 250_000,
                usage: [
                    GooglePlay.RefundReview.Usage(
                        time: 0,
                        description: "a \"sword\"",
                        obfuscatedAccountID: nil
                    )
                ]
            )
        )
        let paths = google.requests.map {
            $0.url.split(separator: "/").suffix(5).joined(separator: "/")
        }
        #expect(
            paths == [
                "purchases/subscriptions/pro/tokens/t:acknowledge",
                "purchases/products/gem/tokens/t:acknowledge",
                "purchases/products/gem/tokens/t:consume",
                "v3/applications/com.example.app/orders/GPA.1:reviewrefund",
            ]
        )
        let bodies = google.requests.map { String(decoding: $0.body ?? [], as: UTF8.self) }
        #expect(bodies[0] == #"{"externalAccountIds":{"obfuscatedAccountId":"a"}}"#)
        #expect(bodies[1] == "{}" && bodies[2] == "")
        #expect(
            bodies[3]
                == #"{"pendingRefundToken":"r","sampleContentProvided":false,"#
                + #""refundPreference":"DECLINE","consumptionPercentageMilliunits":100000,"#
                + #""consumptionUsageEvents":[{"consumptionTime":"1970-01-01T00:00:00.000Z","#
                + #""consumptionItemDescription":"a \"sword\""}]}"#
        )
    }

    @Test("Hints are pulled and acknowledged by the subscription's path")
    func pulling() async throws {
        let google = Google([
            GooglePlay.HTTPResponse(
                status: 200,
                body: Array(
                    #"{"receivedMessages":[{"ackId":"a1","message":{"messageId":"1","data":"e30="}}]}"#
                        .utf8
                )
            ),
            GooglePlay.HTTPResponse(status: 200, body: Array("{}".utf8)),
            GooglePlay.HTTPResponse(status: 200, body: Array("{}".utf8)),
        ])
        let pulls = GooglePlay.PubSubClient(
            subscription: "projects/p/subscriptions/s",
            apiBase: "http://127.0.0.1:1",
            tokens: GooglePlay.AccessTokens(
                account: try await Self.account(),
                scopes: [GooglePlay.pubSubScope],
                transport: { google.answer($0) },
                now: { Self.now }
            ),
            transport: { google.answer($0) }
        )
        let messages = try await pulls.pull()
        #expect(messages.map(\.ackID) == ["a1"])
        let message = try GooglePlay.PubSubMessage(push: try JSON(messages[0].body))
        #expect(message.id == "1" && message.data == Array("{}".utf8))
        #expect(message.subscription == "projects/p/subscriptions/s")
        try await pulls.acknowledge(["a1"])
        try await pulls.acknowledge([])
        #expect(try await pulls.pull().isEmpty)
        #expect(
            google.requests.map(\.url).prefix(2) == [
                "http://127.0.0.1:1/v1/projects/p/subscriptions/s:pull",
                "http://127.0.0.1:1/v1/projects/p/subscriptions/s:acknowledge",
            ]
        )
    }

    @Test(
        "Every error means something of its own",
        arguments: [
            (400, "invalid", .invalid), (401, "permissionDenied", .notAllowed),
            (403, "permissionDenied", .notAllowed), (403, "rateLimitExceeded", .tooMany),
            (403, "userRateLimitExceeded", .tooMany), (404, "purchaseTokenNotFound", .notFound),
            (409, "concurrentUpdate", .changedMeanwhile),
            (410, "purchaseTokenNoLongerValid", .noLongerReadable),
            (410, "subscriptionPurchaseNoLongerAvailable", .noLongerReadable),
            (429, nil, .tooMany), (500, nil, .unavailable), (503, nil, .unavailable),
        ] as [(Int, String?, GooglePlay.APIFault.Meaning)]
    )
    func errors(
        _ status: Int,
        _ reason: String?,
        _ meaning: GooglePlay.APIFault.Meaning
    ) async throws {
        let body = reason.map {
            #"{"error":{"code":\#(status),"message":"m","errors":[{"reason":"\#($0)"}]}}"#
        }
        // A 401 is tried once more with a fresh token.
        let answer = GooglePlay.HTTPResponse(
            status: status,
            headers: ["Retry-After": "7"],
            body: Array((body ?? "<html>").utf8)
        )
        let client = try await Self.client(Google([answer, answer]))
        let fault = await #expect(throws: GooglePlay.APIFault.self) {
            try await client.product("t")
        }
        #expect(fault?.meaning == meaning)
        guard case .refused(let refusal) = fault?.cause else {
            Issue.record("refused")
            return
        }
        #expect(refusal.retryAfter == 7 && refusal.reason == reason)
    }

    /// Google's newer answer for a package: github.com/bitrise-steplib/steps-google-play-deploy/issues/84.
    @Test(
        "An app that Google does not know is no word about a purchase",
        arguments: [
            ("applicationNotFound", "No application was found for the given package name."),
            ("notFound", "Package not found: com.example.app."),
        ]
    )
    func packageNotFound(_ reason: String, _ message: String) async throws {
        let error =
            #"{"code":404,"message":"\#(message)","errors":[{"reason":"\#(reason)"}]}"#
        let client = try await Self.client(
            Google([
                GooglePlay.HTTPResponse(status: 404, body: Array(#"{"error":\#(error)}"#.utf8))
            ])
        )
        let fault = await #expect(throws: GooglePlay.APIFault.self) {
            try await client.product("t")
        }
        #expect(fault?.meaning == .notAllowed)
    }

    /// The answers of the token endpoint, by google-auth's `_client.py` and RFC 6749 §5.2.
    @Test(
        "What the token endpoint refuses is no word about a purchase",
        arguments: [
            (400, #"{"error":"invalid_grant"}"#, .notAllowed),
            (400, #"{"error":"unauthorized_client"}"#, .notAllowed),
            (400, #"{"error":"invalid_scope"}"#, .notAllowed),
            (400, #"{"error":"internal_failure"}"#, .unavailable),
            (400, #"{"error":"server_error"}"#, .unavailable),
            (400, #"{"error":"x","error_description":"temporarily_unavailable"}"#, .unavailable),
            (404, "<html>", .notAllowed), (410, "", .notAllowed), (408, "", .unavailable),
            (429, "", .tooMany), (500, "", .unavailable), (503, "<html>", .unavailable),
            (302, "", .unreadable), (204, "", .unreadable),
        ] as [(Int, String, GooglePlay.APIFault.Meaning)]
    )
    func tokenErrors(
        _ status: Int,
        _ body: String,
        _ meaning: GooglePlay.APIFault.Meaning
    ) async throws {
        let tokens = GooglePlay.AccessTokens(
            account: try await Self.account(),
            scopes: ["s"],
            transport: { _ in GooglePlay.HTTPResponse(status: status, body: Array(body.utf8)) },
            now: { Self.now }
        )
        let fault = await #expect(throws: GooglePlay.APIFault.self) { try await tokens.current() }
        #expect(fault?.meaning == meaning)
    }

    @Test(
        "A subscription of Pub/Sub that was deleted is no unknown purchase",
        arguments: [
            (404, .notAllowed), (400, .notAllowed), (403, .notAllowed), (410, .notAllowed),
            (429, .tooMany), (503, .unavailable), (302, .unreadable),
        ] as [(Int, GooglePlay.APIFault.Meaning)]
    )
    func pullErrors(_ status: Int, _ meaning: GooglePlay.APIFault.Meaning) async throws {
        let body = #"{"error":{"code":\#(status),"message":"Resource not found"}}"#
        let google = Google([GooglePlay.HTTPResponse(status: status, body: Array(body.utf8))])
        let pulls = GooglePlay.PubSubClient(
            subscription: "projects/p/subscriptions/s",
            apiBase: "http://127.0.0.1:1",
            tokens: try await Self.tokens(google),
            transport: { google.answer($0) }
        )
        let fault = await #expect(throws: GooglePlay.APIFault.self) { try await pulls.pull() }
        #expect(fault?.meaning == meaning)
    }

    @Test(
        "An answer that is not Google's says nothing about a purchase",
        arguments: [400, 404, 405, 410, 302, 304]
    )
    func strangersAnswers(_ status: Int) async throws {
        for body in ["<html>", "", "{}", #"{"error":"not found"}"#] {
            let answer = GooglePlay.HTTPResponse(status: status, body: Array(body.utf8))
            let client = try await Self.client(Google([answer]))
            let fault = await #expect(throws: GooglePlay.APIFault.self) {
                try await client.product("t")
            }
            #expect(fault?.meaning == .unreadable, "\(status) \(body)")
        }
    }

    @Test("A missing permission keeps the token: another one would have it no more")
    func permissionDenied() async throws {
        let body = #"{"error":{"code":401,"message":"m","errors":[{"reason":"permissionDenied"}]}}"#
        let denied = GooglePlay.HTTPResponse(status: 401, body: Array(body.utf8))
        let google = Google([denied, denied])
        let client = try await Self.client(google)
        for _ in 0..<2 {
            let fault = await #expect(throws: GooglePlay.APIFault.self) {
                try await client.product("t")
            }
            #expect(fault?.meaning == .notAllowed)
        }
        #expect(google.tokens == 1 && google.requests.count == 2)
    }

    @Test(
        "Retry-After is a number of seconds or a date by Google's clock, and a day at most",
        arguments: [
            ("7", 7), ("-7", 0), ("99999999999", 86_400), ("Wed, 25 Nov 2026 09:01:30 GMT", 90),
            ("Wed, 25 Nov 2026 08:00:00 GMT", 0), ("Fri, 25 Dec 2026 09:00:00 GMT", 86_400),
            ("soon", nil),
        ] as [(String, Int64?)]
    )
    func retryAfter(_ header: String, _ seconds: Int64?) async throws {
        let answer = GooglePlay.HTTPResponse(
            status: 503,
            headers: ["Retry-After": header, "Date": "Wed, 25 Nov 2026 09:00:00 GMT"]
        )
        let client = try await Self.client(Google([answer]))
        let fault = await #expect(throws: GooglePlay.APIFault.self) {
            try await client.product("t")
        }
        guard case .refused(let refusal) = fault?.cause else {
            Issue.record("refused")
            return
        }
        #expect(refusal.retryAfter == seconds)
    }

    @Test("A token lasts a day at most, whatever its answer says")
    func longToken() async throws {
        let clock = Mutex(Self.now)
        let count = Mutex(0)
        let tokens = GooglePlay.AccessTokens(
            account: try await Self.account(),
            scopes: ["s"],
            transport: { _ in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                let body = #"{"access_token":"at\#(number)","expires_in":9223372036854775807}"#
                return GooglePlay.HTTPResponse(status: 200, body: Array(body.utf8))
            },
            now: { clock.withLock { $0 } }
        )
        #expect(try await tokens.current() == "at1")
        clock.withLock { $0 += 86_000 }
        #expect(try await tokens.current() == "at1")
        clock.withLock { $0 += 400 }
        #expect(try await tokens.current() == "at2")
    }

    /// The first token is refused: whoever waited for it resumes when a second one may be there.
    @Test("Of many who wait for a token, none brings back one that was refused")
    func lateWaiters() async throws {
        for _ in 0..<40 {
            let fetched = Mutex(0)
            let account = try await Self.account()
            let tokens = GooglePlay.AccessTokens(
                account: account,
                scopes: ["s"],
                transport: { _ in
                    let number = fetched.withLock { count in
                        count += 1
                        return count
                    }
                    // The later answer overtakes those who wait for the first.
                    if number == 1 { try await Task.sleep(for: .milliseconds(2)) }
                    let body = #"{"access_token":"at\#(number)","expires_in":3600}"#
                    return GooglePlay.HTTPResponse(status: 200, body: Array(body.utf8))
                },
                now: { Self.now }
            )
            let client = GooglePlay.Client(
                packageName: "p",
                tokens: tokens,
                transport: { request in
                    let isFirst = request.headers["Authorization"] == "Bearer at1"
                    return GooglePlay.HTTPResponse(status: isFirst ? 401 : 204)
                }
            )
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<50 {
                    group.addTask { try? await client.consume("t", product: "p") }
                }
            }
            #expect(fetched.withLock { $0 } == 2)
            #expect(try await tokens.current() == "at2")
        }
    }

    @Test("Of a pull, one message that is none and one without padding lose no other")
    func badMessages() async throws {
        let body = """
            {"receivedMessages":[{"ackId":"a1","message":{"messageId":"1","data":"eyJhIjoxfQ"}},
            {"ackId":"a2","message":{"messageId":"2","data":"?"}},{"ackId":"a3"},
            {"message":{"messageId":"4"}},7,{"ackId":"a5","message":{"messageId":"5","data":"-_8="}}]}
            """
        let google = Google([GooglePlay.HTTPResponse(status: 200, body: Array(body.utf8))])
        let pulls = GooglePlay.PubSubClient(
            subscription: "projects/p/subscriptions/s",
            apiBase: "http://127.0.0.1:1",
            tokens: try await Self.tokens(google),
            transport: { google.answer($0) }
        )
        let messages = try await pulls.pull()
        #expect(messages.map(\.ackID) == ["a1", "a2", "a3", "a5"])
        let read = messages.map { message in
            (try? JSON(message.body)).flatMap { try? GooglePlay.PubSubMessage(push: $0) }
        }
        #expect(read.map { $0?.id } == ["1", nil, nil, "5"])
        #expect(read[0]?.data == Array(#"{"a":1}"#.utf8) && read[3]?.data == [0xfb, 0xff])
    }

    @Test(
        "A void of a purchase by promo code names no order; one that cannot be read keeps no page back"
    )
    func voidsWithoutOrder() async throws {
        let body = """
            {"voidedPurchases":[{"purchaseToken":"t1","voidedTimeMillis":"5","voidedReason":"7"},
            {"purchaseToken":"t2","orderId":"GPA.1","voidedTimeMillis":"6"},{"purchaseToken":"t3"}]}
            """
        let google = Google([GooglePlay.HTTPResponse(status: 200, body: Array(body.utf8))])
        let page = try await Self.client(google).voidedPurchases(from: 0).value
        #expect(page.voidedPurchases.map(\.orderID) == [nil, "GPA.1"])
        #expect(page.unreadable.map(\.field) == ["voidedTimeMillis"])
        // Google refuses an end that is ahead of its own clock.
        let url = try #require(google.requests.last?.url)
        #expect(url.contains("startTime=0") && !url.contains("endTime"), "\(url)")
    }
}
