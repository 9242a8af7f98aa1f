import AppStoreAPI
import Crypto
import Foundation
import StrictJSON
import Synchronization
import Testing

/// What the client sends, how it reads answers, and when it asks again.
@Suite struct ServerAPITests {
    /// Plays back answers and keeps what was asked.
    actor Store {
        private(set) var requests: [AppStore.HTTPRequest] = []
        private(set) var waits: [Duration] = []
        private var answers: [AppStore.HTTPResponse?]

        init(_ answers: [AppStore.HTTPResponse?]) { self.answers = answers }

        struct Unreachable: Error {}

        func answer(_ request: AppStore.HTTPRequest) throws -> AppStore.HTTPResponse {
            requests.append(request)
            guard let answer = answers.isEmpty ? nil : answers.removeFirst() else {
                throw Unreachable()
            }
            return answer
        }

        func wait(_ duration: Duration) { waits.append(duration) }
    }

    static let now: Int64 = 1_760_000_000_000
    private let privateKey = P256.Signing.PrivateKey()

    private func client(_ store: Store, now: Int64 = Self.now) -> AppStore.ServerAPIClient {
        AppStore.ServerAPIClient(
            key: AppStore.APIKey(issuerID: "issuer", keyID: "ABCDEFGHIJ", privateKey: privateKey),
            bundleID: Payloads.bundleID,
            hosts: ["https://one.test/", "https://two.test"],
            transport: { try await store.answer($0) },
            now: { now },
            sleep: { await store.wait($0) }
        )
    }

    private func ok(_ body: String) -> AppStore.HTTPResponse {
        AppStore.HTTPResponse(status: 200, body: Array(body.utf8))
    }

    private func refused(
        _ status: Int,
        _ code: Int?,
        headers: [String: String] = [:]
    ) -> AppStore.HTTPResponse {
        let body = code.map { "{\"errorCode\":\($0),\"errorMessage\":\"Why.\"}" } ?? ""
        return AppStore.HTTPResponse(status: status, headers: headers, body: Array(body.utf8))
    }

    struct Endpoint: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var answer: String
        var body: String?
        var call: @Sendable (AppStore.ServerAPIClient) async throws -> Void

        init(
            _ line: String,
            _ answer: String = "",
            body: String? = nil,
            _ call: @escaping @Sendable (AppStore.ServerAPIClient) async throws -> Void
        ) {
            testDescription = line
            self.answer = answer
            self.body = body
            self.call = call
        }
    }

    static let endpoints: [Endpoint] = [
        Endpoint(
            "GET /inApps/v1/history/1?sort=ASCENDING&revision=r1",
            "{\"revision\":\"r2\",\"hasMore\":false,\"bundleId\":\"b\",\"environment\":\"Sandbox\","
                + "\"signedTransactions\":[\"x\"]}"
        ) {
            for try await page in $0.transactionHistory("1", after: "r1", version: .v1) {
                #expect(page.signedTransactions == ["x"])
            }
        },
        Endpoint("GET /inApps/v1/transactions/1", "{\"signedTransactionInfo\":\"a.b.c\"}") {
            let answer = try await $0.transactionInfo("1")
            #expect(answer == "a.b.c")
        },
        Endpoint(
            "GET /inApps/v2/history/1?startDate=5&endDate=9&productId=a%20b&productId=c"
                + "&productType=CONSUMABLE&sort=DESCENDING&subscriptionGroupIdentifier=7"
                + "&inAppOwnershipType=PURCHASED&revoked=false&revision=r%2F1",
            "{\"revision\":\"r2\",\"hasMore\":false,\"bundleId\":\"b\",\"appAppleId\":3,"
                + "\"environment\":\"Sandbox\",\"signedTransactions\":[\"x\",\"y\"]}"
        ) {
            var request = AppStore.TransactionHistoryRequest()
            request.startDate = 5
            request.endDate = 9
            request.productIDs = ["a b", "c"]
            request.productTypes = ["CONSUMABLE"]
            request.isDescending = true
            request.subscriptionGroupIdentifiers = ["7"]
            request.inAppOwnershipType = .purchased
            request.revoked = false
            for try await page in $0.transactionHistory("1", request, after: "r/1") {
                #expect(page.signedTransactions == ["x", "y"])
                #expect(page.environment == .sandbox)
                #expect(page.appAppleID == 3)
            }
        },
        Endpoint(
            "GET /inApps/v1/subscriptions/1?status=1&status=4",
            "{\"environment\":\"Production\",\"data\":[{\"subscriptionGroupIdentifier\":\"g\","
                + "\"lastTransactions\":[{\"originalTransactionId\":\"o\",\"status\":4,"
                + "\"signedTransactionInfo\":\"t\",\"signedRenewalInfo\":\"r\"}]}]}"
        ) {
            let answer = try await $0.subscriptionStatuses(
                "1",
                status: [.init(rawValue: 1), .init(rawValue: 4)]
            )
            let last = try #require(answer.data.first?.lastTransactions.first)
            #expect(last.status?.rawValue == 4)
            #expect(last.originalTransactionID == "o")
            #expect(last.signedTransactionInfo == "t")
            #expect(last.signedRenewalInfo == "r")
        },
        Endpoint(
            "GET /inApps/v2/refund/lookup/1",
            "{\"signedTransactions\":[\"x\"],\"revision\":\"r\",\"hasMore\":false}"
        ) {
            for try await page in $0.refundHistory("1") {
                #expect(page.signedTransactions == ["x"])
            }
        },
        Endpoint("GET /inApps/v1/lookup/W002", "{\"status\":1}") {
            let answer = try await $0.lookUpOrderID("W002")
            #expect(!answer.isValid && answer.signedTransactions.isEmpty)
        },
        Endpoint(
            "PUT /inApps/v1/transactions/1/appAccountToken",
            body: "{\"appAccountToken\":\"7e3fb20b-4cdb-47cc-936d-99d65f608138\"}"
        ) {
            let token = try #require(UUID(uuidString: "7E3FB20B-4CDB-47CC-936D-99D65F608138"))
            try await $0.setAppAccountToken(token, originalTransactionID: "1")
        },
        Endpoint(
            "PUT /inApps/v2/transactions/consumption/1",
            body: "{\"customerConsented\":true,\"consumptionPercentage\":50000,"
                + "\"deliveryStatus\":\"DELIVERED\",\"refundPreference\":\"GRANT_PRORATED\","
                + "\"sampleContentProvided\":false}"
        ) {
            try await $0.sendConsumptionInformation(
                "1",
                AppStore.ConsumptionRequest(
                    deliveryStatus: .delivered,
                    sampleContentProvided: false,
                    consumptionPercentage: 50000,
                    refundPreference: .grantProrated
                )
            )
        },
        Endpoint(
            "PUT /inApps/v2/transactions/consumption/2",
            body: "{\"customerConsented\":true,\"deliveryStatus\":\"UNDELIVERED_OTHER\","
                + "\"sampleContentProvided\":true}"
        ) {
            try await $0.sendConsumptionInformation(
                "2",
                AppStore.ConsumptionRequest(
                    deliveryStatus: .undeliveredOther,
                    sampleContentProvided: true
                )
            )
        },
        Endpoint("POST /inApps/v1/transactions/1/finish") {
            try await $0.finishTransaction("1")
        },
        Endpoint(
            "POST /inApps/v1/notifications/history?paginationToken=p%2B1",
            "{\"paginationToken\":\"p2\",\"hasMore\":false,\"notificationHistory\":[{"
                + "\"signedPayload\":\"a.b.c\",\"sendAttempts\":[{\"attemptDate\":5,"
                + "\"sendAttemptResult\":\"TIMED_OUT\"}]}]}",
            body: "{\"startDate\":1,\"endDate\":2,\"notificationType\":\"DID_RENEW\","
                + "\"notificationSubtype\":\"BILLING_RECOVERY\",\"onlyFailures\":true}"
        ) {
            let request = AppStore.NotificationHistoryRequest(
                startDate: 1,
                endDate: 2,
                filter: .type(.didRenew, .init(rawValue: "BILLING_RECOVERY")),
                onlyFailures: true
            )
            for try await page in $0.notificationHistory(request, after: "p+1") {
                let item = try #require(page.notificationHistory.first)
                #expect(item.signedPayload == "a.b.c")
                #expect(item.sendAttempts.first?.sendAttemptResult?.rawValue == "TIMED_OUT")
                #expect(item.sendAttempts.first?.attemptDate == 5)
            }
        },
        Endpoint("POST /inApps/v1/notifications/test", "{\"testNotificationToken\":\"t_1\"}") {
            let answer = try await $0.requestTestNotification()
            #expect(answer == "t_1")
        },
        Endpoint(
            "GET /inApps/v1/notifications/test/t_1",
            "{\"signedPayload\":\"a.b.c\"}"
        ) {
            let answer = try await $0.testNotificationStatus("t_1").signedPayload
            #expect(answer == "a.b.c")
        },
        Endpoint(
            "PUT /inApps/v1/subscriptions/extend/1",
            "{\"originalTransactionId\":\"1\",\"webOrderLineItemId\":\"w\",\"success\":true,"
                + "\"effectiveDate\":9}",
            body: "{\"extendByDays\":45,\"extendReasonCode\":1,\"requestIdentifier\":\"\\\"q\\\"\"}"
        ) {
            let answer = try await $0.extendRenewalDate(
                originalTransactionID: "1",
                days: 45,
                reason: .customerSatisfaction,
                requestIdentifier: "\"q\""
            )
            #expect(answer.success && answer.effectiveDate == 9)
        },
        Endpoint(
            "POST /inApps/v1/subscriptions/extend/mass",
            "{\"requestIdentifier\":\"q\"}",
            body: "{\"extendByDays\":1,\"extendReasonCode\":3,\"requestIdentifier\":\"q\","
                + "\"storefrontCountryCodes\":[\"USA\"],\"productId\":\"p.q\"}"
        ) {
            let answer = try await $0.extendRenewalDates(
                productID: "p.q",
                days: 1,
                reason: .serviceIssueOrOutage,
                requestIdentifier: "q",
                storefrontCountryCodes: ["USA"]
            )
            #expect(answer == "q")
        },
        Endpoint(
            "GET /inApps/v1/subscriptions/extend/mass/p.q/q",
            "{\"requestIdentifier\":\"q\",\"complete\":true,\"completeDate\":5,"
                + "\"succeededCount\":7,\"failedCount\":0}"
        ) {
            let answer = try await $0.statusOfRenewalDateExtensions(
                productID: "p.q",
                requestIdentifier: "q"
            )
            #expect(answer.complete && answer.succeededCount == 7 && answer.failedCount == 0)
        },
    ]

    @Test(arguments: [
        (
            AppStore.Environment.production,
            ["https://api.storekit.apple.com/", "https://api.storekit.itunes.apple.com/"]
        ),
        (
            .sandbox,
            [
                "https://api.storekit-sandbox.apple.com/",
                "https://api.storekit-sandbox.itunes.apple.com/",
            ]
        ),
    ])
    func whereOneHostDoesNotAnswerTheOtherIsAsked(
        _ environment: AppStore.Environment,
        _ hosts: [String]
    ) async throws {
        let store = Store([refused(503, nil), ok("{\"signedTransactionInfo\":\"a.b.c\"}")])
        let client = AppStore.ServerAPIClient(
            key: AppStore.APIKey(issuerID: "issuer", keyID: "ABCDEFGHIJ", privateKey: privateKey),
            bundleID: Payloads.bundleID,
            hosts: AppStore.ServerAPIClient.hosts(of: environment),
            transport: { try await store.answer($0) },
            now: { Self.now },
            sleep: { await store.wait($0) }
        )
        #expect(try await client.transactionInfo("1") == "a.b.c")
        let asked = await store.requests.map(\.url)
        #expect(asked == hosts.map { $0 + "inApps/v1/transactions/1" })
    }

    @Test(arguments: endpoints)
    func anEndpointIsAskedAsDocumented(_ endpoint: Endpoint) async throws {
        let store = Store([ok(endpoint.answer)])
        try await endpoint.call(client(store))
        let request = try #require(await store.requests.first)
        let line = "\(request.method) \(request.url.dropFirst("https://one.test".count))"
        #expect(line == endpoint.testDescription)
        #expect(request.body.map { String(decoding: $0, as: UTF8.self) } == endpoint.body)
        #expect(request.headers["Accept"] == "application/json")
        #expect(request.headers["User-Agent"]?.hasPrefix("tollgate") == true)
        #expect(
            request.headers["Content-Type"] == (endpoint.body == nil ? nil : "application/json")
        )
        #expect(await store.requests.count == 1)
    }

    @Test func aRequestIsSignedAsAppleChecksIt() async throws {
        let store = Store([
            ok("{\"signedTransactionInfo\":\"a\"}"), ok("{\"signedTransactionInfo\":\"a\"}"),
        ])
        let client = client(store)
        _ = try await client.transactionInfo("1")
        _ = try await client.transactionInfo("2")
        let requests = await store.requests
        let header = try #require(requests.first?.headers["Authorization"])
        #expect(header == requests.last?.headers["Authorization"])
        #expect(header.hasPrefix("Bearer "))
        let parts = header.dropFirst(7).split(separator: ".").map(String.init)
        try #require(parts.count == 3)
        let head = try JSON([UInt8](try #require(data(parts[0]))))
        #expect(head["alg"]?.string == "ES256")
        #expect(head["kid"]?.string == "ABCDEFGHIJ")
        #expect(head["typ"]?.string == "JWT")
        let claims = try JSON([UInt8](try #require(data(parts[1]))))
        #expect(claims["iss"]?.string == "issuer")
        #expect(claims["iat"]?.int64 == Self.now / 1000)
        #expect(claims["exp"]?.int64 == Self.now / 1000 + 300)
        #expect(claims["aud"]?.string == "appstoreconnect-v1")
        #expect(claims["bid"]?.string == Payloads.bundleID)
        let signature = try P256.Signing.ECDSASignature(
            rawRepresentation: try #require(data(parts[2]))
        )
        let digest = SHA256.hash(data: Data("\(parts[0]).\(parts[1])".utf8))
        #expect(privateKey.publicKey.isValidSignature(signature, for: digest))
    }

    @Test func aTokenIsUsedAgainUntilShortlyBeforeItEnds() async throws {
        let store = Store(Array(repeating: ok("{\"signedTransactionInfo\":\"a\"}"), count: 8))
        let clock = Mutex(Self.now)
        let client = AppStore.ServerAPIClient(
            key: AppStore.APIKey(issuerID: "issuer", keyID: "ABCDEFGHIJ", privateKey: privateKey),
            bundleID: Payloads.bundleID,
            hosts: ["https://one.test"],
            transport: { try await store.answer($0) },
            now: { clock.withLock { $0 } },
            sleep: { await store.wait($0) }
        )
        // Made at 0, it ends at 300 and is replaced at 240; a clock that steps back has no token.
        let seconds: [Int64] = [0, 1, 239, 240, 241, 479, 480, 10]
        for second in seconds {
            clock.withLock { $0 = Self.now + second * 1000 }
            _ = try await client.transactionInfo("1")
        }
        let tokens = await store.requests.compactMap { $0.headers["Authorization"] }
        try #require(tokens.count == seconds.count)
        let made: [Int64] = [0, 0, 0, 240, 240, 240, 480, 10]
        for (place, token) in tokens.enumerated() {
            let parts = token.dropFirst(7).split(separator: ".").map(String.init)
            try #require(parts.count == 3)
            let claims = try JSON([UInt8](try #require(data(parts[1]))))
            #expect(claims["iat"]?.int64 == Self.now / 1000 + made[place])
            #expect(claims["exp"]?.int64 == Self.now / 1000 + made[place] + 300)
            if place > 0 {
                // The very same one: a signature is never made twice alike.
                #expect((token == tokens[place - 1]) == (made[place] == made[place - 1]))
            }
        }
    }

    private func data(_ text: String) -> Data? {
        let standard = text.replacing("-", with: "+").replacing("_", with: "/")
        return Data(
            base64Encoded: standard + String(repeating: "=", count: (4 - standard.count % 4) % 4)
        )
    }

    @Test func aKeyIsReadFromItsFile() throws {
        let key = try AppStore.APIKey(
            issuerID: "i",
            keyID: "k",
            pem: privateKey.pemRepresentation
        )
        #expect(try key.token(bundleID: "b", issuedAt: 1).split(separator: ".").count == 3)
        #expect(throws: (any Error).self) {
            _ = try AppStore.APIKey(issuerID: "i", keyID: "k", pem: "no key")
        }
    }

    @Test(
        arguments: [
            (401, nil, 1), (400, 4_000_006, 1), (404, 4_040_010, 1), (403, 4_030_004, 1),
            (404, 4_040_002, 3), (404, 4_040_004, 3), (404, 4_040_006, 3), (500, 5_000_000, 1),
            (500, 5_000_001, 3), (500, nil, 3), (503, nil, 3), (429, 4_290_000, 3),
            (400, 9_990_000, 1),
        ] as [(Int, Int?, Int)]
    )
    func onlyWhatMayHelpIsTriedAgain(_ status: Int, _ code: Int?, _ attempts: Int) async {
        let store = Store([AppStore.HTTPResponse?](repeating: refused(status, code), count: 5))
        let error = await #expect(throws: AppStore.ServerAPIError.self) {
            _ = try await client(store).transactionInfo("1")
        }
        guard case .refused(let refusal) = error?.cause else {
            Issue.record("not refused")
            return
        }
        #expect(refusal.status == status)
        #expect(refusal.code?.rawValue == code.map(Int64.init))
        #expect(refusal.message == (code == nil ? nil : "Why."))
        #expect(await store.requests.count == attempts)
        #expect(error?.isRetryable == (attempts > 1 || status >= 500), "later")
    }

    @Test func anotherHostIsAskedIfTheFirstIsSilent() async throws {
        let store = Store([nil, ok("{\"signedTransactionInfo\":\"a\"}")])
        #expect(try await client(store).transactionInfo("1") == "a")
        #expect(
            await store.requests.map { $0.url.prefix(15) } == [
                "https://one.tes", "https://two.tes",
            ]
        )
        #expect(await store.waits == [.seconds(1)])
    }

    @Test func retryAfterIsAnInstantInMilliseconds() async throws {
        let soon = ["Retry-After": "\(Self.now + 2500)"]
        let store = Store([
            refused(429, 4_290_000, headers: soon), ok("{\"signedTransactionInfo\":\"a\"}"),
        ])
        #expect(try await client(store).transactionInfo("1") == "a")
        #expect(await store.waits == [.milliseconds(2500)])

        let late = ["retry-after": "\(Self.now + 3_600_000)"]
        let closed = Store([refused(429, 4_290_000, headers: late)])
        let error = await #expect(throws: AppStore.ServerAPIError.self) {
            _ = try await client(closed).transactionInfo("1")
        }
        guard case .refused(let refusal) = error?.cause else { return }
        #expect(refusal.retryAfter == Self.now + 3_600_000)
        #expect(await closed.waits.isEmpty)
    }

    @Test func pagesFollowUntilTheLast() async throws {
        let store = Store(
            (1...3).map {
                ok(
                    "{\"revision\":\"r\($0)\",\"hasMore\":\($0 < 3),\"signedTransactions\":[\"t\($0)\"]}"
                )
            }
        )
        var transactions: [String] = []
        for try await page in client(store).transactionHistory("1") {
            transactions += page.signedTransactions
        }
        #expect(transactions == ["t1", "t2", "t3"])
        let queries = await store.requests.map {
            $0.url.split(separator: "?").last.map(String.init)
        }
        #expect(
            queries == [
                "sort=ASCENDING", "sort=ASCENDING&revision=r1", "sort=ASCENDING&revision=r2",
            ]
        )
    }

    @Test func aPageThatComesAgainEndsTheReading() async {
        let page = ok("{\"revision\":\"r\",\"hasMore\":true,\"signedTransactions\":[]}")
        let store = Store([page, page, page])
        let error = await #expect(throws: AppStore.ServerAPIError.self) {
            for try await _ in client(store).transactionHistory("1") {}
        }
        guard case .pagingStuck = error?.cause else {
            Issue.record("not stuck")
            return
        }
    }

    @Test(arguments: [
        "", ".", "..", "1/2", "1?x", "a b", "é", "%2e", String(repeating: "1", count: 300),
    ])
    func anIdentifierNeverBecomesAnotherAddress(_ id: String) async {
        let store = Store([])
        let error = await #expect(throws: AppStore.ServerAPIError.self) {
            _ = try await client(store).transactionInfo(id)
        }
        guard case .invalidIdentifier = error?.cause else {
            Issue.record("not refused")
            return
        }
        #expect(await store.requests.isEmpty)
    }

    @Test(arguments: ["", "[]", "{}", "{\"signedTransactionInfo\":1}", "{\"a\":1,\"a\":1}"])
    func anUnreadableAnswerIsAnError(_ body: String) async {
        let store = Store([ok(body)])
        let error = await #expect(throws: AppStore.ServerAPIError.self) {
            _ = try await client(store).transactionInfo("1")
        }
        guard case .unreadable = error?.cause else {
            Issue.record("not unreadable")
            return
        }
        #expect(error?.isRetryable == false)
    }
}
