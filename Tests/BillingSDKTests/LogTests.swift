import Foundation
import Testing
import TollgateAPI

@testable import BillingSDK

@Suite struct LogTests {
    private func lines(_ app: TestApp) -> [String] {
        app.logged.withLock { $0.map { "\($0.level) \($0.message)" } }
    }

    @Test func eachRequestIsALineForThoseWhoAskForIt() async throws {
        let app = TestApp(configure: { $0.logLevel = .debug })
        _ = try await app.keys()
        #expect(lines(app).contains("debug GET /v1/customers/{id}/entitlements: 200"))
        #expect(lines(app).contains("info Somebody has signed in."))
        let quiet = TestApp()
        _ = try await quiet.keys()
        #expect(lines(quiet).isEmpty)
    }

    @Test func eachPathIsNamedAndHoldsNoId() async throws {
        let app = TestApp(configure: { $0.logLevel = .debug })
        _ = try? await app.billing.getOfferings()
        _ = try? await app.billing.getPlacement(id: "paywall")
        let offering = Offering(id: "standard", products: [])
        try? await app.billing.recordShown(Placement(id: "paywall", offering: offering))
        _ = try? await app.billing.getPurchases()
        let all = lines(app).joined(separator: "\n")
        for path in [
            "GET /v1/offerings:", "GET /v1/placements/{id}:", "POST /v1/placements/{id}/shown:",
            "GET /v1/customers/{id}/purchases:",
        ] {
            #expect(all.contains(path))
        }
        #expect(!all.contains("paywall"))
    }

    @Test func nothingInTheLogIsPersonalOrSecret() async throws {
        let app = TestApp(configure: { $0.logLevel = .debug })
        _ = try await app.keys()
        _ = try await app.billing.getBuyButton(id: "buy_btn_monthly").checkout()
        let link = try #require(
            URL(string: "https://x.example/checkout_redirect/success?session_id=cs_1")
        )
        _ = await app.billing.handleCheckoutReturn(link)
        _ = try await app.billing.submit(signedTransaction: "e30.e30.c2ln")
        app.server.mood(.unreachable)
        _ = try? await app.keys(forceRefresh: true)
        app.backend.withLock { $0.failure = URLError(.timedOut) }
        app.billing.client.customerChanged()
        _ = try? await app.keys(forceRefresh: true)
        let all = lines(app).joined(separator: "\n")
        #expect(lines(app).count > 8)
        for secret in ["cus_ada", "cuss_secret", "pk_test", "cs_1", "e30.", "tollgate.example"] {
            #expect(!all.contains(secret), "\(secret)")
        }
    }

    @Test func diagnosticsSayWhatIsKnownWhatWaitsAndWhatWentWrong() async throws {
        let app = TestApp()
        #expect(app.billing.diagnostics().lastAnswer == nil)
        app.server.grant("premium", to: "cus_ada")
        _ = try await app.keys()
        app.server.mood(.answers(503, .storageUnavailable), on: .appStoreTransactions)
        let transaction = SignedTransaction(id: 1, jwsRepresentation: "e30.e30.c2ln") {}
        _ = try? await app.delivery.deliver(transaction, mode: .purchased)
        let known = app.billing.diagnostics()
        #expect(known.isSignedIn && known.isTestMode && known.waitingTransactions == 1)
        #expect(known.lastAnswer?.lookupKeys == ["premium"])
        #expect(known.server == "https://tollgate.example")
        #expect(
            known.problems.map(\.message) == [
                "POST /v1/app_store/transactions: 503 storage_unavailable"
            ]
        )
    }

    @Test func theLogOfProblemsDoesNotGrow() async {
        let app = TestApp()
        app.server.mood(.unreachable)
        for _ in 0..<30 { _ = try? await app.billing.getBuyButton(id: "x") }
        #expect(app.billing.diagnostics().problems.count == 20)
    }
}
