import Foundation
import Testing
import TollgateAPI

@testable import BillingSDK

/// Signed answers on a device without network; the curve is played by a keyed checksum.
@Suite struct OfflineTests {
    static func checksum(_ message: Data, _ key: Data) -> Data {
        var state: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in key + message { state = (state ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return Data((0..<8).flatMap { _ in withUnsafeBytes(of: state) { Array($0) } })
    }

    static let key = JSONWebKeySet.Key(
        kid: "k1",
        x: Data(repeating: 1, count: 32),
        y: Data(repeating: 2, count: 32)
    )

    /// A phone: its disk outlives the apps that are launched on it.
    final class Phone: Sendable {
        let disk = Locked<[OfflineStorage.Name: Data]>([:])
        let server = FakeServer(clock: TestClock())
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("billing-sdk-" + UUID().uuidString)

        init(
            lasting: Int64 = 7 * 86400,
            audience: String = API.SignedAnswer.audience,
            party: String? = nil
        ) {
            server.grant("premium", to: "cus_ada")
            server.world.withLock { world in
                world.keys = JSONWebKeySet(keys: [key])
                world.signCatalog = { Self.signed($0) }
                world.sign = { customer, list in
                    Self.token(
                        customer,
                        list,
                        lasting: lasting,
                        audience: audience,
                        party: party
                    )
                }
            }
        }

        deinit { try? FileManager.default.removeItem(at: directory) }

        static func token(
            _ customer: String,
            _ list: API.EntitlementList,
            lasting: Int64,
            audience: String,
            party: String? = nil
        ) -> String {
            let claims = API.SignedAnswer(
                sub: customer,
                aud: audience,
                azp: party,
                environment: .sandbox,
                iat: list.at / 1000,
                exp: list.at / 1000 + lasting,
                at: list.at,
                entitlements: Dictionary(
                    uniqueKeysWithValues: list.data.map {
                        (
                            $0.lookupKey,
                            [.init(since: $0.since, until: $0.until, ground: $0.ground)]
                        )
                    }
                )
            )
            return signed(claims)
        }

        static func signed(_ claims: some Encodable) -> String {
            let input = try? JSONWebToken.signingInput(header: .init(kid: "k1"), claims: claims)
            let text = input ?? ""
            let signature = checksum(Data(text.utf8), key.x963Representation ?? Data())
            return text + "." + Base64URL.encode(signature)
        }

        func launch(
            canVerify: Bool = true,
            uptime: @escaping @Sendable () -> TimeInterval = { 0 },
            storeKit: @escaping @Sendable () async -> [StoreKitStatement] = { [] },
            allowsPurchasesBeforeSignIn: Bool = false,
            disk: Disk = .ofThisDevice
        ) -> TestApp {
            let check: BillingSDK.Configuration.SignatureCheck = { message, signature, key in
                OfflineTests.checksum(message, key) == signature
            }
            let directory = directory
            return TestApp(
                maximumStale: 60,
                server: server,
                uptime: uptime,
                storeKit: storeKit,
                disk: disk,
                configure: { configuration in
                    configuration.cacheDirectory = directory
                    configuration.allowsPurchasesBeforeSignIn = allowsPurchasesBeforeSignIn
                    configuration.verifySignature = canVerify ? check : nil
                }
            )
        }

        var file: URL {
            directory.appendingPathComponent("pk_test_shop").appendingPathComponent("answer")
        }

        func tamper(_ change: (String) -> String) throws {
            let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
            let changed = change(text)
            #expect(changed != text)
            try Data(changed.utf8).write(to: file)
        }
    }

    private func goOffline(_ phone: Phone, after seconds: TimeInterval = 3600) {
        phone.server.clock.advance(by: seconds)
        phone.server.mood(.unreachable)
    }

    @Test func aSignedAnswerHoldsAfterARelaunchWithoutNetwork() async throws {
        let phone = Phone()
        #expect(try await phone.launch().keys() == ["premium"])
        goOffline(phone)
        let app = phone.launch()
        #expect(
            try await app.billing.getActiveEntitlements()
                == [Entitlement(id: "ent_premium", feature: "feat_premium", lookupKey: "premium")]
        )
        #expect(app.heardSets == [["premium"]])
        let error = await billingError { try await app.keys(forceRefresh: true) }
        #expect(error?.name == "networkUnavailable")
    }

    @Test func itHoldsWhileTheAppsOwnBackendIsUnreachableToo() async throws {
        let phone = Phone()
        _ = try await phone.launch().keys()
        goOffline(phone)
        let app = phone.launch()
        app.backend.withLock { $0.failure = URLError(.notConnectedToInternet) }
        #expect(try await app.keys() == ["premium"])
    }

    @Test func itEndsAtItsHardEnd() async throws {
        let phone = Phone(lasting: 7200)
        _ = try await phone.launch().keys()
        goOffline(phone, after: 7199)
        #expect(try await phone.launch().keys() == ["premium"])
        phone.server.clock.advance(by: 1)
        let error = await billingError { try await phone.launch().keys() }
        #expect(error?.name == "networkUnavailable")
    }

    @Test func aClockSetBackDoesNotLengthenIt() async throws {
        let phone = Phone(lasting: 7200)
        phone.server.grant(
            "premium",
            to: "cus_ada",
            until: phone.server.clock.now.addingTimeInterval(5000)
        )
        _ = try await phone.launch().keys()
        goOffline(phone, after: 5000)
        #expect(try await phone.launch().keys() == [])
        phone.server.clock.advance(by: -4000)
        #expect(try await phone.launch().keys() == [])
    }

    @Test func aClockThatStandsStillDoesNotLengthenItWhileTheDeviceRuns() async throws {
        let phone = Phone(lasting: 7200)
        let uptime = Locked<TimeInterval>(100)
        let read: @Sendable () -> TimeInterval = { uptime.withLock { $0 } }
        _ = try await phone.launch(uptime: read).keys()
        goOffline(phone, after: 0)
        uptime.withLock { $0 += 7199 }
        #expect(try await phone.launch(uptime: read).keys() == ["premium"])
        uptime.withLock { $0 += 2 }
        let error = await billingError { try await phone.launch(uptime: read).keys() }
        #expect(error?.name == "networkUnavailable")
    }

    /// On Darwin the same statement is about sleep; on Linux both clocks are of the start.
    @Test func theClockOfTheDeviceIsNeverBehindTheOneThatStopsInSleep() {
        let first = DeviceClock.uptime
        #expect(first >= ProcessInfo.processInfo.systemUptime - 1)
        #expect(DeviceClock.uptime >= first)
    }

    @Test func aRestartOfTheDeviceDoesNotEndIt() async throws {
        let phone = Phone(lasting: 7200)
        _ = try await phone.launch(uptime: { 5000 }).keys()
        goOffline(phone, after: 10)
        #expect(try await phone.launch(uptime: { 3 }).keys() == ["premium"])
    }

    /// The wait for an end looks anew when it is over, and must not be cancelled by the next wait.
    @Test func theEndOfAnAnswerIsAnnouncedAfterALaunchWithoutNetwork() async throws {
        let phone = Phone()
        phone.server.grant(
            "premium",
            to: "cus_ada",
            until: phone.server.clock.now.addingTimeInterval(5000)
        )
        _ = try await phone.launch().keys()
        goOffline(phone)
        let cancelled = Locked<[Bool]>([])
        let app = phone.launch(storeKit: {
            cancelled.withLock { $0.append(Task.isCancelled) }
            return []
        })
        phone.server.world.withLock { $0.catalog = DeviceEvaluationTests.catalog }
        #expect(try await app.keys() == ["premium"])
        while app.pauses.count == 0 { await Task.yield() }
        phone.server.clock.advance(by: 1400)
        app.pauses.elapse()
        while app.heardSets.count < 2 { await Task.yield() }
        #expect(app.heardSets == [["premium"], []])
        #expect(cancelled.withLock { $0 } == [false, false])
    }

    @Test func anEntitlementEndsInsideTheAnswer() async throws {
        let phone = Phone()
        phone.server.grant(
            "premium",
            to: "cus_ada",
            until: phone.server.clock.now.addingTimeInterval(1000)
        )
        _ = try await phone.launch().keys()
        goOffline(phone, after: 999)
        #expect(try await phone.launch().keys() == ["premium"])
        phone.server.clock.advance(by: 1)
        #expect(try await phone.launch().keys() == [])
    }

    @Test func withoutASignatureCheckNothingIsTrusted() async throws {
        let phone = Phone()
        _ = try await phone.launch().keys()
        goOffline(phone)
        let error = await billingError { try await phone.launch(canVerify: false).keys() }
        #expect(error?.name == "networkUnavailable")
    }

    @Test func aTamperedFileIsWorthNothing() async throws {
        let phone = Phone()
        _ = try await phone.launch().keys()
        goOffline(phone)
        let forged = Phone.token(
            "cus_ada",
            API.EntitlementList(
                data: [
                    .init(
                        id: "e",
                        lookupKey: "gold",
                        feature: "f",
                        since: 0,
                        until: nil,
                        ground: .grant,
                        purchase: nil
                    )
                ],
                environment: .sandbox,
                at: 1_800_000_000_000
            ),
            lasting: 1 << 40,
            audience: API.SignedAnswer.audience
        )
        try phone.tamper { text in
            let token = text.components(separatedBy: #""token":""#)[1].prefix { $0 != "\"" }
            let signature = token.split(separator: ".")[2]
            let body = forged.split(separator: ".").prefix(2).joined(separator: ".")
            return text.replacingOccurrences(of: token, with: body + "." + signature)
        }
        #expect(
            await billingError { try await phone.launch().keys() }?.name == "networkUnavailable"
        )
    }

    @Test func anAnswerAboutSomebodyElseIsWorthNothing() async throws {
        let phone = Phone()
        _ = try await phone.launch().keys()
        goOffline(phone)
        try phone.tamper { $0.replacingOccurrences(of: "cus_ada", with: "cus_bob") }
        let app = phone.launch()
        app.signIn("cus_bob")
        #expect(await billingError { try await app.keys() }?.name == "networkUnavailable")
    }

    @Test(arguments: [("pk_test_shop", true), ("pk_test_other", false)])
    func anAnswerForAnotherAppOfTheTeamIsNotTrusted(_ party: String, isTrusted: Bool) async throws {
        let phone = Phone(party: party)
        #expect(try await phone.launch().keys() == ["premium"])
        goOffline(phone)
        let keys = try? await phone.launch().keys()
        #expect(keys == (isTrusted ? ["premium"] : nil))
    }

    @Test func anAnswerForAnotherAudienceIsWorthNothing() async throws {
        let phone = Phone(audience: "somebody else")
        _ = try await phone.launch().keys()
        goOffline(phone)
        #expect(
            await billingError { try await phone.launch().keys() }?.name == "networkUnavailable"
        )
    }

    @Test func theNextCustomerDoesNotInheritIt() async throws {
        let phone = Phone()
        _ = try await phone.launch().keys()
        goOffline(phone)
        let app = phone.launch()
        app.signIn("cus_bob")
        #expect(await billingError { try await app.keys() }?.name == "networkUnavailable")
    }

    @Test func signingOutRemovesIt() async throws {
        let phone = Phone()
        let app = phone.launch()
        _ = try await app.keys()
        #expect(FileManager.default.fileExists(atPath: phone.file.path))
        await app.billing.reset()
        #expect(!FileManager.default.fileExists(atPath: phone.file.path))
        goOffline(phone)
        #expect(
            await billingError { try await phone.launch().keys() }?.name == "networkUnavailable"
        )
    }

    @Test(arguments: [401, 403, 404])
    func aServerThatWillNotVouchAnyMoreEndsIt(_ status: Int) async throws {
        let phone = Phone()
        _ = try await phone.launch().keys()
        phone.server.mood(.answers(status, .sessionExpired))
        #expect(await billingError { try await phone.launch().keys() } != nil)
        goOffline(phone)
        #expect(
            await billingError { try await phone.launch().keys() }?.name == "networkUnavailable"
        )
    }

    @Test(arguments: ["", "{", "[]", "a.b.c", String(repeating: "x", count: 100_000)])
    func rubbishOnDiskIsNoCrash(_ rubbish: String) async throws {
        let phone = Phone()
        _ = try await phone.launch().keys()
        goOffline(phone)
        try phone.tamper { _ in rubbish }
        #expect(
            await billingError { try await phone.launch().keys() }?.name == "networkUnavailable"
        )
    }
}
