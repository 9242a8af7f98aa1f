import Foundation
import FoundationNetworking
import StoreKit
import Testing
import TollgateAPI
import UIKit

@testable import BillingSDK

extension OnePhone {
    /// Buying in the App Store: what is asked before, and what the server's word means after.
    @Suite @MainActor struct PurchaseTests {
        let store = _FakeAppStore.shared

        init() { store._reset() }

        private func error(of body: () async throws -> some Sendable) async -> BillingSDKError? {
            do {
                _ = try await body()
                return nil
            } catch {
                return error as? BillingSDKError
            }
        }

        // MARK: - Before

        @Test func theServerIsAskedBeforeAnythingIsBought() async throws {
            let app = await launched()
            _ = try await app.billing.purchase(Product(_stub: "monthly"))
            #expect(app.server.world.withLock { $0.prepared } == ["monthly"])
            #expect(store.lastOptions == [.appAccountToken(FakeServer.token(of: "cus_ada"))])
        }

        @Test func whatTheCustomerHasAlreadyIsNotSoldAgain() async throws {
            let app = await launched()
            app.server.mood(.answers(409, .alreadyActive), on: .appStorePurchases)
            let refused = await error { try await app.billing.purchase(Product(_stub: "monthly")) }
            guard case .requestRefused(409, "already_active", _)? = refused else {
                Issue.record("got \(String(describing: refused))")
                return
            }
            #expect(store.lastOptions.isEmpty)
        }

        @Test func theNextCustomerOfTheAppleAccountBuysUnderTheirOwnToken() async throws {
            let app = await launched()
            _ = try await app.billing.purchase(Product(_stub: "monthly"))
            await app.billing.reset()
            app.signIn("cus_bob")
            _ = try await app.billing.purchase(Product(_stub: "monthly"))
            #expect(store.lastOptions == [.appAccountToken(FakeServer.token(of: "cus_bob"))])
        }

        @Test func duringAnOutageTheTokenThatTheServerSaidBeforeIsUsed() async throws {
            let app = await launched()
            _ = try await app.billing.purchase(Product(_stub: "coins"))
            app.server.mood(.unreachable)
            guard
                case .awaitingServer = try await app.billing.purchase(Product(_stub: "monthly"))
            else {
                Issue.record("not bought")
                return
            }
            #expect(store.lastOptions == [.appAccountToken(FakeServer.token(of: "cus_ada"))])
        }

        @Test func withoutAnyTokenNothingIsSoldDuringAnOutage() async throws {
            let app = await launched()
            app.server.mood(.answers(503, .storageUnavailable), on: .appStorePurchases)
            let refused = await error { try await app.billing.purchase(Product(_stub: "monthly")) }
            #expect(refused?.name == "serverUnavailable")
            #expect(store.lastOptions.isEmpty)
        }
    }
}
