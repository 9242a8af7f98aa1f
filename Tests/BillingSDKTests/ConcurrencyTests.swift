import Foundation
import Testing
import TollgateAPI

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

    /// What the server says to each request, as bytes of HTTP.
    private static func answer(_ request: String) -> String {
        let line = request.prefix { $0 != "\r" }
        let body: (any Encodable)? =
            if line.hasPrefix("GET \(APIPath.customerEntitlements.path(id: "cus_ada")) ") {
                API.EntitlementList(
                    data: [
                        API.Entitlement(
                            id: "ent_premium",
                            lookupKey: "premium",
                            feature: "Premium",
                            since: 0,
                            until: nil,
                            ground: .payment,
                            purchase: "app_store/1"
                        )
                    ],
                    environment: .sandbox,
                    at: 0
                )
            } else if line.hasPrefix("GET \(APIPath.customerCoins.path(id: "cus_ada")) ") {
                API.CoinBalance(balance: 100)
            } else {
                nil
            }
        let json = body.flatMap { try? APIJSON.encode($0) } ?? Data()
        return "HTTP/1.1 \(json.isEmpty ? "404 Not Found" : "200 OK")\r\n"
            + "Content-Type: application/json\r\nContent-Length: \(json.count)\r\n"
            + "Connection: close\r\n\r\n" + String(decoding: json, as: UTF8.self)
    }

    @Test func aThousandConcurrentCallsOverHTTPShareOneSessionAndAreEachAnswered() async throws {
        let listener = try TransportTests.Listener { Self.answer($0) }
        var configuration = BillingSDK.Configuration(
            publishableKey: "pk_test_shop",
            maximumStaleEntitlementsDuration: 300,
            serverURL: try listener.url("")
        )
        configuration.cacheDirectory = nil
        let billing = BillingSDK(
            client: BillingClient(
                configuration: configuration,
                transport: URLSessionTransport.make(),
                now: { Date(timeIntervalSince1970: 0) },
                uptime: { 0 }
            )
        )
        let providerCalls = Locked(0)
        billing.setCustomerSessionProvider {
            providerCalls.withLock { $0 += 1 }
            return UBCustomerSessionDetails(
                clientSecret: "cuss_secret_ada",
                expiresAt: Date(timeIntervalSince1970: 1800),
                customer: "cus_ada"
            )
        }
        let heard = Locked<[[String]]>([])
        billing.onEntitlementsChanged { set in heard.withLock { $0.append(set.map(\.lookupKey)) } }
        let calls = (0..<1000).map { number in
            Task.detached {
                switch number % 4 {
                case 0: try await billing.hasEntitlement(lookupKey: "premium")
                case 1: try await billing.getActiveEntitlements().map(\.lookupKey) == ["premium"]
                case 2:
                    try await billing.getActiveEntitlements(forceRefresh: true).map(\.lookupKey)
                        == ["premium"]
                default: try await billing.getCoinBalance().balance == 100
                }
            }
        }
        for call in calls { #expect(try await call.value) }
        #expect(providerCalls.withLock { $0 } == 1)
        #expect(heard.withLock { $0 } == [["premium"]])
        // Nobody is answered by somebody else's question about coins.
        let asked = listener.requests
        #expect(asked.count { $0.contains("/coins ") } == 250)
        #expect((1...750).contains(asked.count { $0.contains("/entitlements ") }))
        #expect(asked.allSatisfy { $0.contains("Authorization: Bearer cuss_secret_ada\r\n") })
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
        #expect(app.billing.purchaseInbox.pending.isEmpty)
    }
}
