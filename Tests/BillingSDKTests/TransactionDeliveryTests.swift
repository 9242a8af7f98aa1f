import Foundation
import Testing
import TollgateAPI

@testable import BillingSDK

@Suite struct TransactionDeliveryTests {
    private func transaction(_ finished: Locked<Int>) -> SignedTransaction {
        SignedTransaction(id: 7, jwsRepresentation: "e30.e30.c2ln") {
            finished.withLock { $0 += 1 }
        }
    }

    @Test func aTransactionIsFinishedOnlyAfterTheServerHasAcknowledgedIt() async throws {
        let app = TestApp()
        let finished = Locked(0)
        app.server.mood(.answers(500, .internalError))
        let error = await billingError {
            try await app.delivery.deliver(transaction(finished), mode: .observed)
        }
        #expect(error?.name == "serverUnavailable")
        #expect(finished.withLock { $0 } == 0)
        app.server.mood(.well)
        try await app.delivery.deliver(transaction(finished), mode: .observed)
        #expect(finished.withLock { $0 } == 1)
    }

    @Test func aTransactionThatArrivesTwiceAtATimeIsSentOnce() async throws {
        let app = TestApp()
        let gate = Gate()
        app.backend.withLock { $0.gate = gate }
        let finished = Locked(0)
        let transaction = transaction(finished)
        let deliveries = (0..<10).map { _ in
            Task { try await app.delivery.deliver(transaction, mode: .observed) }
        }
        await gate.arrivals(1)
        gate.open()
        for delivery in deliveries { _ = try await delivery.value }
        let sent = app.server.world.withLock { $0.submitted.count }
        #expect(sent == 1)
        #expect(finished.withLock { $0 } == 1)
    }

    @Test func whatWaitsForASessionIsNoClaimOfTheNextCustomer() async throws {
        let app = TestApp()
        _ = try await app.keys()
        // Ada's session is due.
        app.clock.advance(by: 3600)
        let gate = Gate()
        app.backend.withLock { $0.gate = gate }
        let transaction = transaction(Locked(0))
        let delivery = Task { try await app.delivery.deliver(transaction, mode: .purchased) }
        await gate.arrivals(1)
        let stay = app.billing.client.stay
        app.signIn("cus_bob")
        let change = Task { await app.billing.customerDidChange() }
        while app.billing.client.stay == stay { await Task.yield() }
        gate.open()
        _ = try await delivery.value
        await change.value
        #expect(app.server.world.withLock { $0.submitted.map(\.mode) } == [.observed])
    }

    @Test func anotherStatementAboutTheSameTransactionIsSentToo() async throws {
        let app = TestApp()
        let bought = SignedTransaction(id: 7, jwsRepresentation: "e30.e30.Ym91Z2h0") {}
        let refunded = SignedTransaction(id: 7, jwsRepresentation: "e30.e30.cmVmdW5k") {}
        try await app.delivery.deliver(bought, mode: .observed)
        try await app.delivery.deliver(refunded, mode: .observed)
        try await app.delivery.deliver(bought, mode: .observed)
        #expect(app.server.world.withLock { $0.submitted.count } == 2)
    }

    @Test func aClaimIsSentEvenIfTheTransactionWasObservedBefore() async throws {
        let app = TestApp()
        let finished = Locked(0)
        try await app.delivery.deliver(transaction(finished), mode: .observed)
        try await app.delivery.deliver(transaction(finished), mode: .restored)
        let modes = app.server.world.withLock { $0.submitted.map(\.mode) }
        #expect(modes == [.observed, .restored])
    }

    @Test func whatIsRefusedForGoodIsNotSentAgainAndReportedOnce() async throws {
        let app = TestApp()
        let finished = Locked(0)
        app.server.mood(.answers(422, .signatureInvalid), on: .appStoreTransactions)
        // StoreKit shows it in several sequences.
        for _ in 0..<2 { await app.delivery.deliverUnattended(transaction(finished)) }
        #expect(app.server.requests("POST", APIPath.appStoreTransactions.path).count == 1)
        #expect(app.refusals.withLock { $0 }.map(\.code) == ["signature_invalid"])
        #expect(finished.withLock { $0 } == 1)
    }

    @Test func whatACallerWasToldIsNotReported() async throws {
        let app = TestApp()
        let finished = Locked(0)
        app.server.mood(.answers(422, .signatureInvalid), on: .appStoreTransactions)
        _ = try await app.delivery.deliverAttended(transaction(finished), mode: .restored)
        await app.delivery.deliverUnattended(transaction(finished))
        #expect(app.refusals.withLock { $0.isEmpty })
    }

    @Test func aRefusalWaitsForTheFirstListener() {
        let reports = RefusalReports()
        let heard = Locked<[String]>([])
        reports.report(
            AppStoreRefusal(
                id: 7,
                productID: nil,
                mode: .observed,
                status: 422,
                code: "app_mismatch",
                message: ""
            )
        )
        for name in ["first", "second"] {
            reports.add { refusal in heard.withLock { $0.append("\(name) \(refusal.id)") } }
        }
        #expect(heard.withLock { $0 } == ["first 7"])
    }

    @Test func pausesGrowToTenMinutes() {
        var deliveries = TransactionDeliveries()
        let pauses = (0..<11).map { _ in deliveries.nextPause() }
        #expect(pauses == [2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600])
    }

    @Test func aCallerWhoGivesUpDoesNotTakeTheTransactionAlong() async throws {
        let app = TestApp()
        let finished = Locked(0)
        let transaction = transaction(finished)
        let gate = Gate()
        app.server.gate(gate)
        let call = Task { try await app.delivery.deliver(transaction, mode: .purchased) }
        await gate.arrivals(1)
        call.cancel()
        gate.open()
        _ = await call.result
        #expect(finished.withLock { $0 } == 1)
    }

    @Test func aTransactionOfNobodyWaits() async throws {
        let app = TestApp()
        app.signIn(nil)
        let finished = Locked(0)
        let error = await billingError {
            try await app.delivery.deliver(transaction(finished), mode: .observed)
        }
        #expect(error?.name == "unauthenticated")
        #expect(finished.withLock { $0 } == 0)
    }
}
