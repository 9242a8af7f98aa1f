// SPDX-License-Identifier: Apache-2.0
import AppStoreSimulator
import Foundation
import SandboxClock
import Storage
import Stores
import Testing
import TollgateAssembly
import TollgateCore
import TollgateService
import TollgateSimulation

/// Refunds and churn as alarms judge them.
@Suite("Shares of the past days")
struct RecentSharesTests {
    private static func shares(_ server: TestServer) async throws -> RecentShares {
        let (store, now) = (server.tollgate.store, await server.tollgate.clocks.now())
        try await FigureDerivation(store, rows: Tollgate.storeRows).followToTheEnd(now: now)
        return RecentShares(store, in: .sandbox, at: now)
    }

    /// Buys something as a customer of one's own.
    private static func buy(
        _ product: String,
        _ server: TestServer
    ) async throws -> SimulatedAppStore.SignedTransaction {
        let token = UUID()
        _ = try await server.customer("user-\(token.uuidString)", token: token)
        return try await server.appStore.buy(
            "com.example.app.\(product)",
            customer: try await server.appStore.createCustomer().id,
            appAccountToken: token.uuidString.lowercased()
        )
    }

    @Test("Until the figures of all purchases are derived, they are incomplete")
    func incomplete() async throws {
        try await TestServer.run { server in
            _ = try await Self.buy("pro.monthly", server)
            try await server.deliverNotifications()
            #expect(try await FigureDerivation.isIncomplete(in: server.tollgate.store))
            _ = try await Self.shares(server)
            #expect(try await !FigureDerivation.isIncomplete(in: server.tollgate.store))
        }
    }

    @Test(
        "Refunds of the seven days before today are counted beside the payments of these days",
        arguments: Backend.allCases
    )
    func refunds(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            for _ in 0..<3 { _ = try await Self.buy("coins100", server) }
            let refunded = try await Self.buy("coins100", server)
            try await server.appStore.refund(refunded.transactionID)
            try await server.deliverNotifications()
            // Today is not over.
            var found = try await Self.shares(server).refunds()
            #expect(found == FigureShare(part: 0, whole: 0) && found.percent == 0)
            try await server.pass(days: 1)
            found = try await Self.shares(server).refunds()
            #expect(found == FigureShare(part: 1, whole: 4) && found.percent == 25)
            try await server.pass(days: 7)
            found = try await Self.shares(server).refunds()
            #expect(found == FigureShare(part: 0, whole: 0))
        }
    }

    @Test("Churn is who ended within thirty days, beside who was active before")
    func churn() async throws {
        try await TestServer.run { server in
            for _ in 0..<3 { _ = try await Self.buy("pro.monthly", server) }
            let leaving = try await Self.buy("pro.monthly", server)
            try await server.appStore.cancel(leaving.originalTransactionID)
            try await server.deliverNotifications()
            // A month and a day: the last thirty days begin with four subscriptions.
            try await server.pass(days: 32)
            let found = try await Self.shares(server).churn()
            #expect(found == FigureShare(part: 1, whole: 4))
        }
    }

    @Test("Without reports of a store nothing was compared")
    func nothingCompared() async throws {
        try await TestServer.run { server in
            let store = server.tollgate.store
            let unexplained = try await Accounts.unexplained(in: .sandbox, of: store)
            #expect(unexplained == nil)
        }
    }
}
