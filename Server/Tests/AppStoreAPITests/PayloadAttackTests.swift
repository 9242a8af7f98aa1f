import AppStoreAPI
import Foundation
import Testing

/// Attacks with what is signed: dates (J6), signatures (J8), JSON (J10), apps and environments
/// (J11), types (J12), bindings (J13).
@Suite struct PayloadAttackTests {
    private let chain: SigningChain
    private let verifier: AppStore.SignedDataVerifier

    init() throws {
        chain = try SigningChain.make()
        verifier = try Payloads.verifier(chain)
    }

    private func verifyTransaction(_ payload: String, now: Int64 = Payloads.now) throws {
        _ = try verifier.verifyTransaction(try chain.sign(payload), now: now)
    }

    private func verifyNotification(_ payload: String) throws {
        _ = try verifier.verifyNotification(
            signedPayload: try chain.sign(payload),
            now: Payloads.now
        )
    }

    // MARK: - Dates

    @Test(arguments: [
        nil, "null", "0", "-1", "\"1759999999000\"", "1e300", "253402300800000",
        "9223372036854775807", "-9223372036854775808", "9223372036854775808", "1759999999000.5",
        "1.759999999e12", "true", "[]", "{}", "1199145599999", "7258118400001",
        "-62135769600000", "1760000300001", "1577836799999",
    ])
    func anAbsurdSigningDateIsRefused(_ date: String?) {
        let transaction = refusal {
            try verifyTransaction(Payloads.transaction(["signedDate": date]))
        }
        #expect(transaction?.code == .date)
        #expect(transaction?.isAuthentic == true)
        let appTransaction = Payloads.appTransaction(["receiptCreationDate": date])
        let error = refusal {
            _ = try verifier.verifyAppTransaction(try chain.sign(appTransaction), now: Payloads.now)
        }
        #expect(error?.code == .date)
    }

    @Test func aDateUpToFiveMinutesAheadIsAccepted() throws {
        try verifyTransaction(Payloads.transaction(["signedDate": "1760000300000"]))
    }

    @Test func aValidSignatureFromTheFutureMayPassLaterSinceOurClockIsBehind() throws {
        let ahead = refusal {
            try verifyTransaction(Payloads.transaction(["signedDate": "1760001200000"]))
        }
        #expect(ahead?.rule == .signedInFuture && ahead?.isAuthentic == true)
        #expect(ahead?.isRetryable == true && ahead?.secondsAhead == 1200)
        #expect("\(try #require(ahead))".contains("1200 seconds ahead"))
        // Where no certificate of the chain will ever be valid, no clock that is set helps.
        let never = refusal {
            try verifyTransaction(Payloads.transaction(["signedDate": "7258118400000"]))
        }
        #expect(never?.rule == .certificateExpired && never?.isRetryable == false)
        let forged = try chain.sign(Payloads.transaction(["signedDate": "1760001200000"]))
        let other = refusal {
            let damaged = Array(forged.dropLast(4)) + Array("AAAA".utf8)
            _ = try verifier.verifyTransaction(damaged, now: Payloads.now)
        }
        #expect(other?.rule == .signature && other?.isRetryable == false)
    }

    @Test func oldButValidlyDatedDataIsAccepted() throws {
        let signed = Payloads.transaction(["signedDate": "1577836800000"])
        try verifyTransaction(signed, now: 2_900_000_000_000)
    }

    @Test(arguments: [Int64.min, -1, 0, 1, Int64.max])
    func anAbsurdNowNeverTraps(_ now: Int64) {
        let error = refusal { try verifyTransaction(Payloads.transaction(), now: now) }
        #expect(error?.rule == (now == .max ? nil : .signedInFuture))
    }

    @Test(
        arguments: [
            "purchaseDate", "originalPurchaseDate", "expiresDate", "revocationDate",
        ],
        ["-1", "1e300", "253402300800000", "\"0\"", "1.5", "true"]
    )
    func everyOtherDateIsCheckedToo(_ name: String, _ value: String) {
        let payload = Payloads.object([
            ("transactionId", "\"1\""), ("signedDate", "1759999999000"),
            ("bundleId", "\"\(Payloads.bundleID)\""), ("environment", "\"Production\""),
            (name, value),
        ])
        #expect(refusal { try verifyTransaction(payload) }?.rule == .dateRange)
    }

    // MARK: - Signatures

    @Test func everyBitOfASignatureCounts() throws {
        let jws = String(decoding: try chain.sign(Payloads.transaction()), as: UTF8.self)
        let dot = try #require(jws.lastIndex(of: "."))
        let input = jws[...dot]
        let text = jws[jws.index(after: dot)...].replacing("-", with: "+").replacing("_", with: "/")
        let signature = try #require(Data(base64Encoded: text + "=="))
        func verify(_ signature: some Sequence<UInt8>) -> AppStore.VerificationError.Code? {
            refusal {
                _ = try verifier.verifyTransaction(
                    Array((input + base64url(signature)).utf8),
                    now: Payloads.now
                )
            }?.code
        }
        #expect(verify(signature) == nil)
        for bit in 0..<512 {
            var changed = [UInt8](signature)
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(verify(changed) == .signature, "bit \(bit)")
        }
        let half = [UInt8](repeating: 0, count: 32)
        let order: [UInt8] = [
            0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
            0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63,
            0x25, 0x51,
        ]
        let r = [UInt8](signature.prefix(32))
        let s = [UInt8](signature.suffix(32))
        for forged in [
            [], half, half + s, r + half, half + half, order + s, r + order, order + order, s + r,
            r + s + [0], Array((r + s).dropLast()), [UInt8](repeating: 0xFF, count: 64),
            [0x30, 0x44, 0x02, 0x20] + r + [0x02, 0x20] + s,
            [UInt8](repeating: 1, count: 10_000),
        ] {
            #expect(verify(forged) == .signature)
        }
        // The twin n − s is valid mathematics: it is no second event only because events are told
        // apart by their ids.
        #expect(verify(r + subtract(s, from: order)) == nil)
    }

    private func subtract(_ right: [UInt8], from left: [UInt8]) -> [UInt8] {
        var borrow = 0
        var result = left
        for place in result.indices.reversed() {
            let value = Int(left[place]) - Int(right[place]) - borrow
            borrow = value < 0 ? 1 : 0
            result[place] = UInt8(truncatingIfNeeded: value)
        }
        return result
    }

    @Test func aChangedPayloadOrHeaderIsRefused() throws {
        let jws = String(decoding: try chain.sign(Payloads.transaction()), as: UTF8.self)
        let parts = jws.split(separator: ".")
        let price = Payloads.transaction(["price": "1"])
        let payload = "\(parts[0]).\(base64url(price.utf8)).\(parts[2])"
        let header = chain.header(more: ",\"typ\":\"JWT\"")
        let other = "\(base64url(header.utf8)).\(parts[1]).\(parts[2])"
        for forged in [payload, other] {
            let error = refusal {
                _ = try verifier.verifyTransaction(Array(forged.utf8), now: Payloads.now)
            }
            #expect(error?.code == .signature)
        }
    }

    // MARK: - JSON

    static let texts: [[UInt8]] =
        [
            "", "{", "{}}", "{\"transactionId\":\"1\",\"transactionId\":\"2\"}",
            "{\"transactionId\":\"1\",\"\\u0074ransactionId\":\"2\"}",
            "{\"transactionId\":\"\\u0000\"}", "{\"transactionId\":\"\\uD800\"}",
            "{\"transactionId\":1e999}", String(repeating: "[", count: 65),
        ].map { Array($0.utf8) } + [
            [0xEF, 0xBB, 0xBF] + Array("{}".utf8), [0xFF, 0xFE, 0x7B, 0x00, 0x7D, 0x00],
            Array("{\"a\":\"".utf8) + [0xC0, 0x80] + Array("\"}".utf8),
        ]

    @Test(arguments: texts)
    func payloadHeaderAndBodyAreStrictJSON(_ text: [UInt8]) throws {
        let error = refusal {
            _ = try verifier.verifyTransaction(try chain.sign(text), now: Payloads.now)
        }
        #expect(error?.code == .json)
        #expect(error?.isAuthentic == true)
        let header = base64url(text)
        let jws = "\(header).e30.\(base64url([UInt8](repeating: 1, count: 64)))"
        let inHeader = refusal {
            _ = try verifier.verifyTransaction(Array(jws.utf8), now: Payloads.now)
        }
        #expect(inHeader?.code == .json)
        #expect(inHeader?.isAuthentic == false)
        #expect(refusal { _ = try AppStore.NotificationBody(text) }?.code == .json)
    }

    @Test(arguments: [
        "[]", "1", "{}", "{\"signedPayload\":null}", "{\"signedPayload\":1}",
        "{\"signedPayload\":[\"a.b.c\"]}", "{\"notification_type\":\"CANCEL\"}",
    ])
    func aBodyHasASignedPayload(_ body: String) {
        #expect(refusal { _ = try AppStore.NotificationBody(Array(body.utf8)) }?.code == .json)
    }

    @Test(arguments: [
        ("price", "\"9990\""), ("price", "1.5"), ("quantity", "true"), ("bundleId", "1"),
        ("isUpgraded", "1"), ("appAccountToken", "\"x\""), ("appAccountToken", "1"),
        ("appAccountToken", "\"7e3fb20b-4cdb-47cc-936d-99d65f60813\""),
        ("appAccountToken", "\"7e3fb20b-4cdb-47cc-936d-99d65f60813g\""),
        ("appAccountToken", "\"7e3fb20b04cdb-47cc-936d-99d65f608138\""), ("commitmentInfo", "[]"),
    ])
    func aFieldOfAnotherTypeIsRefused(_ name: String, _ value: String) {
        let payload = Payloads.transaction([name: value])
        let error = refusal { try verifyTransaction(payload) }
        #expect(error?.rule == .fieldType)
        #expect(error?.place == name)
    }

    // MARK: - Whose it is

    @Test(arguments: ["\"com.example.other\"", "\"COM.EXAMPLE.APP\"", "\"\"", "null", nil])
    func anotherAppIsUnknown(_ bundle: String?) {
        let transaction = Payloads.transaction(["bundleId": bundle])
        #expect(refusal { try verifyTransaction(transaction) }?.code == .appUnknown)
        let data = Payloads.data(["bundleId": bundle])
        #expect(
            refusal { try verifyNotification(Payloads.notification(data: data)) }?.code
                == .appUnknown
        )
        let appTransaction = Payloads.appTransaction(["bundleId": bundle])
        let error = refusal {
            _ = try verifier.verifyAppTransaction(try chain.sign(appTransaction), now: Payloads.now)
        }
        #expect(error?.code == .appUnknown)
    }

    @Test(arguments: ["1", "-1", "null", nil])
    func anotherAppleIDIsUnknownInProduction(_ id: String?) throws {
        let data = Payloads.data(["appAppleId": id])
        #expect(
            refusal { try verifyNotification(Payloads.notification(data: data)) }?.rule
                == .appAppleID
        )
        let both = try Payloads.verifier(chain, environments: [.production, .sandbox])
        let sandbox = Payloads.data(["appAppleId": id, "environment": "\"Sandbox\""])
        _ = try both.verifyNotification(
            signedPayload: try chain.sign(Payloads.notification(data: sandbox)),
            now: Payloads.now
        )
    }

    @Test(arguments: [
        ("\"Sandbox\"" as String?, AppStore.VerificationError.Rule.environment),
        ("\"Xcode\"", .testEnvironment),
        ("\"LocalTesting\"", .testEnvironment), ("\"production\"", .environment),
        ("\"\"", .environment), ("null", .environment), (nil, .environment),
    ])
    func anotherEnvironmentIsRefused(
        _ environment: String?,
        _ rule: AppStore.VerificationError.Rule
    ) {
        #expect(rule.code == .environment)
        let transaction = Payloads.transaction(["environment": environment])
        #expect(refusal { try verifyTransaction(transaction) }?.rule == rule)
        let data = Payloads.data(["environment": environment])
        #expect(
            refusal { try verifyNotification(Payloads.notification(data: data)) }?.rule == rule
        )
        let renewal = Payloads.renewalInfo(["environment": environment])
        let error = refusal {
            _ = try verifier.verifyRenewalInfo(try chain.sign(renewal), now: Payloads.now)
        }
        #expect(error?.rule == rule)
    }

    @Test func aNotificationThatNamesNoAppIsUnknown() {
        let payload = Payloads.notification(["data": nil])
        #expect(refusal { try verifyNotification(payload) }?.code == .appUnknown)
    }

    /// Parts that may come without an app, from which nothing follows.
    static let withoutApp = [
        ("unclaimInfo", "{\"unclaimSeatIds\":[\"48ccfa42-7431-4f22-9908-7e88983e105a\"]}"),
        ("unclaimInfo", "{}"),
        ("externalPurchaseToken", "{\"externalPurchaseId\":\"1\"}"),
        ("externalPurchaseToken", "{}"),
    ]

    @Test(arguments: withoutApp)
    func whatIsAboutNoPurchaseMayNameNoApp(_ part: String, _ content: String) throws {
        try verifyNotification(Payloads.notification(["data": nil, part: content]))
        // Beside another app's data it is another app's.
        let beside = Payloads.notification([
            part: content, "data": "{\"bundleId\":\"com.example.other\"}",
        ])
        #expect(refusal { try verifyNotification(beside) }?.code == .appUnknown)
    }

    @Test(arguments: [
        "\"bundleId\":\"com.example.other\"", "\"appAppleId\":7",
        "\"bundleId\":\"com.example.other\",\"appAppleId\":\(Payloads.appAppleID)",
        "\"bundleId\":\"\(Payloads.bundleID)\",\"appAppleId\":7",
    ])
    func aTokenOfAnotherAppIsRefused(_ identity: String) {
        let token = "{\"externalPurchaseId\":\"1\",\(identity)}"
        let payload = Payloads.notification(["data": nil, "externalPurchaseToken": token])
        let error = refusal { try verifyNotification(payload) }
        #expect(error?.code == .appUnknown)
        #expect(error?.isUnusable == false)
    }

    @Test func everyPartOfANotificationIsForOurApp() {
        for part in ["summary", "appData", "externalPurchaseToken"] {
            let payload = Payloads.notification([part: "{\"bundleId\":\"com.example.other\"}"])
            #expect(refusal { try verifyNotification(payload) }?.code == .appUnknown)
        }
    }

    @Test func eachOfSeveralAppsHasItsOwnNumber() throws {
        let verifier = try AppStore.SignedDataVerifier(
            roots: [chain.root],
            apps: [
                .init(bundleID: Payloads.bundleID, appAppleID: Payloads.appAppleID),
                .init(bundleID: "com.example.mac", appAppleID: 7),
            ],
            environments: [.production]
        )
        func rule(_ payload: String) -> AppStore.VerificationError.Rule? {
            refusal {
                _ = try verifier.verifyNotification(
                    signedPayload: try chain.sign(payload),
                    now: Payloads.now
                )
            }?.rule
        }
        func summary(_ bundleID: String, _ number: Int64) -> String {
            "{\"bundleId\":\"\(bundleID)\",\"appAppleId\":\(number),\"environment\":\"Production\"}"
        }
        #expect(rule(Payloads.notification()) == nil)
        #expect(rule(Payloads.notification(["data": summary("com.example.mac", 7)])) == nil)
        for (data, expected) in [
            (summary("com.example.mac", Payloads.appAppleID), .appAppleID),
            (summary(Payloads.bundleID, 7), .appAppleID),
            (summary("com.example.other", 7), .unlistedApp),
        ] as [(String, AppStore.VerificationError.Rule)] {
            #expect(rule(Payloads.notification(["data": data])) == expected)
        }
        // One notification is about one app.
        let two = Payloads.notification(["summary": summary("com.example.mac", 7)])
        #expect(rule(two) == .innerApp)
        #expect(try verifier.app(appAppleID: 7).bundleID == "com.example.mac")
    }

    private func configurationError(
        roots: [[UInt8]]? = nil,
        bundleID: String = "a",
        appAppleID: Int64? = 1,
        _ environments: Set<AppStore.Environment>
    ) -> AppStore.SignedDataVerifier.ConfigurationError? {
        let made = Result { () throws(AppStore.SignedDataVerifier.ConfigurationError) in
            try AppStore.SignedDataVerifier(
                roots: roots ?? [chain.root],
                bundleID: bundleID,
                appAppleID: appAppleID,
                environments: environments
            )
        }
        if case .failure(let error) = made { return error }
        return nil
    }

    @Test func aVerifierThatWouldAcceptTooMuchIsNotMade() {
        #expect(configurationError([.xcode]) == .environment(.xcode))
        #expect(configurationError([.production, .localTesting]) == .environment(.localTesting))
        #expect(configurationError([]) == .noEnvironment)
        #expect(configurationError(roots: [], [.sandbox]) == .noRoot)
        #expect(configurationError(roots: [chain.root, [1]], [.sandbox]) == .unreadableRoot(1))
        #expect(configurationError(bundleID: "", [.sandbox]) == .noBundleID)
        #expect(configurationError(appAppleID: nil, [.production]) == .noAppAppleID)
        #expect(configurationError(appAppleID: nil, [.sandbox]) == nil)
    }

    // MARK: - Types and bindings

    static let kinds = ["notification", "transaction", "renewalInfo", "appTransaction"]

    @Test(arguments: kinds, kinds + ["realtimeRequest", "nothing"])
    func oneTypeIsNeverTakenForAnother(_ expected: String, _ sent: String) throws {
        let payload =
            switch sent {
            case "notification": Payloads.notification()
            case "transaction": Payloads.transaction()
            case "renewalInfo": Payloads.renewalInfo()
            case "appTransaction": Payloads.appTransaction()
            case "realtimeRequest": Payloads.realtimeRequest()
            default: "{\"signedDate\":1759999999000}"
            }
        let jws = try chain.sign(payload)
        let error = refusal {
            switch expected {
            case "notification":
                _ = try verifier.verifyNotification(signedPayload: jws, now: Payloads.now)
            case "transaction": _ = try verifier.verifyTransaction(jws, now: Payloads.now)
            case "renewalInfo": _ = try verifier.verifyRenewalInfo(jws, now: Payloads.now)
            default: _ = try verifier.verifyAppTransaction(jws, now: Payloads.now)
            }
        }
        #expect(error?.code == (expected == sent ? nil : .type))
    }

    static let bindings: [(String, AppStore.VerificationError.Code)] = [
        (Payloads.data(transaction: Payloads.transaction(["bundleId": "\"other\""])), .binding),
        (Payloads.data(transaction: Payloads.transaction(["bundleId": nil])), .binding),
        (
            Payloads.data(transaction: Payloads.transaction(["environment": "\"Sandbox\""])),
            .binding
        ),
        (
            Payloads.data(renewalInfo: Payloads.renewalInfo(["environment": "\"Sandbox\""])),
            .binding
        ),
        (
            Payloads.data(
                transaction: Payloads.transaction(),
                renewalInfo: Payloads.renewalInfo(["originalTransactionId": "\"1\""])
            ), .binding
        ),
        (
            Payloads.data(
                transaction: Payloads.transaction(["originalTransactionId": nil]),
                renewalInfo: Payloads.renewalInfo(["originalTransactionId": nil])
            ), .binding
        ),
        (Payloads.data(transaction: Payloads.renewalInfo()), .type),
        (Payloads.data(renewalInfo: Payloads.transaction()), .type),
        (Payloads.data(transaction: Payloads.notification()), .type),
        (Payloads.data(["signedTransactionInfo": "\"a.b\""]), .encoding),
        (Payloads.data(["signedTransactionInfo": "\"e30.e3!.e30\""]), .encoding),
        (Payloads.data(["signedTransactionInfo": "1"]), .json),
        (Payloads.data(["signedRenewalInfo": "\"e30.e30.e30\""]), .type),
    ]

    @Test(arguments: bindings.indices)
    func innerObjectsBelongToTheNotification(_ index: Int) {
        let (data, code) = Self.bindings[index]
        let error = refusal { try verifyNotification(Payloads.notification(data: data)) }
        #expect(error?.code == code)
        #expect(error?.isAuthentic == true)
    }

    @Test func renewalInfoNextToATransactionBelongsToIt() throws {
        let transaction = try verifier.verifyTransaction(
            try chain.sign(Payloads.transaction()),
            now: Payloads.now
        )
        let own = try chain.sign(Payloads.renewalInfo())
        _ = try verifier.verifyRenewalInfo(own, of: transaction, now: Payloads.now)
        let other = try chain.sign(Payloads.renewalInfo(["originalTransactionId": "\"1\""]))
        let error = refusal {
            _ = try verifier.verifyRenewalInfo(other, of: transaction, now: Payloads.now)
        }
        #expect(error?.code == .binding)
    }

    @Test func aRefusalNeverShowsThePayload() throws {
        let payload = Payloads.transaction(["bundleId": "\"canary\"", "price": "\"canary\""])
        let error = refusal { try verifyTransaction(payload) }
        #expect(!"\(String(describing: error)) \(String(reflecting: error))".contains("canary"))
    }
}
