import Foundation
import Testing

@testable import BillingSDK

@Suite struct SessionTests {
    @Test func concurrentCallersShareOneProviderCall() async throws {
        let app = TestApp()
        app.server.grant("premium", to: "cus_ada")
        let gate = Gate()
        app.backend.withLock { $0.gate = gate }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    switch number % 4 {
                    case 0: #expect(try await app.billing.hasEntitlement(lookupKey: "premium"))
                    case 1: _ = try await app.billing.getCoinBalance()
                    case 2: _ = try await app.billing.getCustomerPortal()
                    default: #expect(try await app.keys() == ["premium"])
                    }
                }
            }
            await gate.arrivals(1)
            gate.open()
            try await group.waitForAll()
        }
        #expect(app.providerCalls == 1)
        #expect(app.entitlementRequests() == 1)
    }

    @Test func whoSignsInWhileTheProviderIsStillBeingAskedForNobodyIsHeard() async throws {
        let app = TestApp()
        app.server.grant("premium", to: "cus_ada")
        app.signIn(nil)
        let gate = Gate()
        app.backend.withLock { $0.gate = gate }
        async let before = app.keys()
        await gate.arrivals(1)
        let reads = app.clockReads.withLock { $0 }
        async let after = app.billing.getCoinBalance()
        while app.clockReads.withLock({ $0 }) == reads { await Task.yield() }
        app.signIn("cus_ada")
        gate.open()
        #expect(try await before == [])
        _ = try await after
        #expect(app.providerCalls == 2)
    }

    @Test func theSessionIsRenewedBeforeItExpires() async throws {
        let app = TestApp(maximumStale: 0)
        _ = try await app.keys()
        app.clock.advance(by: 1739)
        _ = try await app.keys()
        #expect(app.providerCalls == 1)
        app.clock.advance(by: 1)  // one minute is left
        _ = try await app.keys()
        #expect(app.providerCalls == 2)
    }

    @Test func aSessionOfAFewSecondsIsUsedAndNotAskedForAtEveryCall() async throws {
        let app = TestApp(maximumStale: 0)
        app.backend.withLock { $0.sessionLife = 20 }
        _ = try await app.keys()
        app.clock.advance(by: 10)
        _ = try await app.keys()
        #expect(app.providerCalls == 1)
    }

    @Test func aSessionThatTheDeviceClockCallsExpiredIsLeftToTheServerToJudge() async throws {
        let app = TestApp()
        app.server.grant("premium", to: "cus_ada")
        app.backend.withLock { $0.sessionLife = -3600 }
        #expect(try await app.billing.hasEntitlement(lookupKey: "premium"))
    }

    @Test func aSessionRefusedOnceIsReplacedOnceAndTheCallSucceeds() async throws {
        let app = TestApp(maximumStale: 0)
        app.server.grant("premium", to: "cus_ada")
        _ = try await app.keys()
        app.server.expireSessions()
        #expect(try await app.keys() == ["premium"])
        #expect(app.providerCalls == 2)
        #expect(app.entitlementRequests() == 3)
    }

    @Test func aSessionRefusedForEverIsSurfacedAfterOneRetry() async throws {
        let app = TestApp()
        app.server.mood(.answers(401, .sessionExpired))
        let error = await billingError { try await app.keys() }
        #expect(error?.name == "sessionRejected")
        #expect(app.providerCalls == 2)
        #expect(app.entitlementRequests() == 2)
    }

    @Test func nobodySignedInIsNoError() async throws {
        let app = TestApp()
        app.signIn(nil)
        #expect(try await app.keys() == [])
        #expect(try await app.keys(forceRefresh: true) == [])
        #expect(try await app.billing.hasEntitlement(lookupKey: "premium") == false)
        #expect(app.server.world.withLock { $0.requests.isEmpty })
        #expect(app.heardSets.isEmpty)
    }

    @Test func withoutAProviderNobodyIsSignedIn() async throws {
        let app = TestApp(hasProvider: false)
        #expect(try await app.keys() == [])
        #expect(
            await billingError { try await app.billing.getCustomerPortal() }?.name
                == "unauthenticated"
        )
    }

    @Test func aProviderThatSaysNobodyIsAskedAgainNextTime() async throws {
        let app = TestApp()
        app.server.grant("premium", to: "cus_ada")
        app.signIn(nil)
        #expect(try await app.keys() == [])
        app.signIn("cus_ada")
        #expect(try await app.keys() == ["premium"])
    }

    @Test func aProviderThatFailsIsNotTakenForASignOut() async throws {
        let app = TestApp()
        app.server.grant("premium", to: "cus_ada")
        app.backend.withLock { $0.failure = URLError(.timedOut) }
        let error = await billingError { try await app.keys() }
        guard case .customerSessionProviderFailed(let cause)? = error else {
            Issue.record("got \(String(describing: error))")
            return
        }
        #expect((cause as? URLError)?.code == .timedOut)
        app.backend.withLock { $0.failure = nil }
        #expect(try await app.keys() == ["premium"])
    }

    @Test func theOldSessionServesWhileItsRenewalFails() async throws {
        let app = TestApp(maximumStale: 0)
        app.server.grant("premium", to: "cus_ada")
        _ = try await app.keys()
        app.clock.advance(by: 1770)
        app.backend.withLock { $0.failure = URLError(.timedOut) }
        #expect(try await app.keys() == ["premium"])
        app.clock.advance(by: 60)
        let error = await billingError { try await app.keys() }
        #expect(error?.name == "customerSessionProviderFailed")
    }

    @Test func aCallerWhoGivesUpDoesNotTakeTheOthersAlong() async throws {
        let app = TestApp()
        app.server.grant("premium", to: "cus_ada")
        let gate = Gate()
        app.backend.withLock { $0.gate = gate }
        // This one waits for the session itself; a read waits for it in a task of its own.
        let impatient = Task { try await app.billing.getCoinBalance() }
        await gate.arrivals(1)
        let patient = Task { try await app.keys() }
        impatient.cancel()
        gate.open()
        #expect(try await patient.value == ["premium"])
        _ = await impatient.result
        #expect(app.providerCalls == 1)
    }

    @Test func sessionDetailsDecodeAsTheBackendSendsThemAndKeepTheirSecret() throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        let json = #"{"clientSecret":"cuss_secret_x","expiresAt":1800000000,"customer":"cus_1"}"#
        let details = try decoder.decode(UBCustomerSessionDetails.self, from: Data(json.utf8))
        #expect(details.expiresAt == Date(timeIntervalSince1970: 1_800_000_000))
        var dumped = ""
        dump(details, to: &dumped)
        #expect(!"\(details) \(String(reflecting: details)) \(dumped)".contains("cuss_secret"))
    }
}
