import Foundation
import Testing

@testable import BillingSDK

/// A thousand calls at once from everywhere; run under the thread sanitizer too (scripts/tsan.sh).
@Suite struct ConcurrencyTests {
    @Test func aThousandConcurrentCallsShareOneProviderCallAndOneRequest() async throws {
        let app = TestApp()
        app.server.grant("premium", to: "cus_ada")
        let gate = Gate()
        app.backend.withLock { $0.gate = gate }
        let calls = (0..<1000).map { number in
            Task.detached {
                number.isMultiple(of: 2)
                    ? try await app.billing.hasEntitlement(lookupKey: "premium")
                    : try await app.billing.getActiveEntitlements().map(\.lookupKey)
                        == ["premium"]
            }
        }
        await gate.arrivals(1)
        gate.open()
        for call in calls { #expect(try await call.value) }
        #expect(app.providerCalls == 1)
        #expect(app.entitlementRequests() == 1)
        #expect(app.heardSets == [["premium"]])
    }

    @Test func nothingIsTornWhileCustomersComeAndGo() async throws {
        let app = TestApp(maximumStale: 0.001)
        app.server.grant("ada's", to: "cus_ada")
        app.server.grant("bob's", to: "cus_bob")
        let updates = app.billing.entitlementUpdates
        let reader = Task { for await _ in updates {} }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<1000 {
                group.addTask {
                    switch number % 8 {
                    case 0: _ = try? await app.billing.hasEntitlement(lookupKey: "ada's")
                    case 1: _ = try? await app.keys()
                    case 2: _ = try? await app.keys(forceRefresh: true)
                    case 3: _ = try? await app.billing.getCustomerPortal()
                    case 4: app.billing.purchaseInbox.add(productID: "p\(number)", origin: .code)
                    case 5: app.clock.advance(by: 1)
                    case 6: _ = try? await app.billing.getPurchaseReadiness(isSetUp: true)
                    default:
                        await app.billing.reset()
                        app.signIn(number.isMultiple(of: 16) ? "cus_bob" : "cus_ada")
                    }
                    await Task.yield()
                }
            }
        }
        reader.cancel()
        app.signIn("cus_bob")
        await app.billing.reset()
        #expect(try await app.keys() == ["bob's"])
        #expect(app.heardSets.last == ["bob's"])
        #expect(app.billing.purchaseInbox.pending.count == 125)
    }
}
