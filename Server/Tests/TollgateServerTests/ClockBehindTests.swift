import AppStoreAPI
import AppStoreConnector
import AppStoreSimulator
import Foundation
import HTTPTypes
import SandboxClock
import Storage
import Testing
import TollgateAssembly
import TollgateCore
import TollgateService
import TollgateSimulation

/// Minutes are enough that all that the App Store signs lies in the future.
@Suite("A server whose clock is behind")
struct ClockBehindTests {
    private static let minutes: Int64 = 20

    @Test(
        "has the App Store send its notifications again, keeps nothing, and says so once a minute"
    )
    func notifications() async throws {
        let warnings = Warnings()
        try await TestServer.run(logger: warnings.logger) { server in
            let ahead = TestServer.start + Self.minutes * 60_000
            let signed = try await server.appStore.sign(
                anyPayload: ParkingTests.payload(["signedDate": "\(ahead)"])
            )
            let before = try await server.rowCounts()
            for _ in 0..<50 {
                let answer = try await server.deliver(signed)
                #expect(answer.status == 503 && answer.code == "jws_date")
            }
            #expect(try await server.rowCounts() == before)
            #expect(try await server.tollgate.store.parked.page().isEmpty)
            #expect(warnings.all.count == 1, "\(warnings.all)")
            #expect(warnings.all.allSatisfy { $0.contains("1200 seconds behind the App Store's") })
            server.wall.advance(seconds: 60)
            _ = try await server.deliver(signed)
            #expect(warnings.all.count == 2)
            let metrics = try await server.get("/metrics", as: nil).text
            #expect(
                metrics.contains(
                    "tollgate_refusals_total{status=\"503\",code=\"jws_date\"} 51\n"
                )
            )
            // What a stranger damages or forges is refused as ever.
            let forged = try await server.deliver(signed.dropLast(4) + "AAAA")
            #expect(forged.status == 400 && forged.code == "jws_signature")
            await server.clock.advance(to: ahead)
            #expect(try await server.deliver(signed).status == 200)
        }
    }

    @Test(
        "loses no purchase: the App Store's next attempt brings it",
        arguments: Backend.allCases
    )
    func nextAttempt(_ backend: Backend) async throws {
        var setup = AppStoreWorld.Setup()
        setup.environment = .production
        try await AppStoreWorld.run(on: backend, setup) { world in
            let customer = try await world.customer("user")
            world.lag.advance(seconds: Self.minutes * 60)
            _ = try await world.appStore.buy(AppStoreWorld.lifetime, customer: customer.buyer)
            #expect(try await !world.isEntitled(customer.id))
            world.lag.advance(seconds: -Self.minutes * 60)
            // An hour after the first attempt comes the second.
            await world.pass(days: 0.05)
            #expect(try await world.isEntitled(customer.id))
        }
    }

    @Test("takes no answer of the App Store's for an empty one, and proves nothing by it")
    func reads() async throws {
        var setup = AppStoreWorld.Setup()
        setup.faults.drop = 1
        try await AppStoreWorld.run(on: .sqlite, setup) { world in
            let customer = try await world.customer("user")
            _ = try await world.tollgate.appStore.reconcile(in: .sandbox)
            let bought = try await world.appStore.buy(
                AppStoreWorld.lifetime,
                customer: customer.buyer
            )
            world.lag.advance(seconds: Self.minutes * 60)
            let key = Purchase.Key(
                store: .appStore,
                environment: .sandbox,
                application: TestServer.bundleID,
                id: bought.transactionID
            )
            try await world.tollgate.store.questions.want(
                Wanted(kind: .transactionHistory, object: bought.transactionID),
                about: key,
                at: Instant(milliseconds: AppStoreWorld.start)
            )
            await world.tollgate.fetchWanted()
            #expect(try await world.count("wanted") == 1, "the question is not answered")
            let asked = world.calls.all.count
            await world.tollgate.fetchWanted()
            #expect(world.calls.all.count == asked, "nor asked again at once")
            await world.pass(days: 0.01)
            let early = try #require(try await world.tollgate.appStore.reconcile(in: .sandbox))
            #expect(early.completeUntil < AppStoreWorld.start)
            #expect(try await !world.isEntitled(customer.id))

            world.lag.advance(seconds: -Self.minutes * 60)
            world.wall.advance(seconds: 600)
            await world.tollgate.fetchWanted()
            #expect(try await world.count("wanted") == 0)
            #expect(try await world.isEntitled(customer.id))
            let report = try #require(try await world.tollgate.appStore.reconcile(in: .sandbox))
            #expect(report.undelivered == 1)
        }
    }

    @Test("takes Stripe's webhooks in, as Stripe's own libraries do, and says so once a minute")
    func stripe() async throws {
        let warnings = Warnings()
        try await TestServer.run(logger: warnings.logger) { server in
            let id = try await server.customer()
            _ = try await server.post(
                "/v1/checkout_sessions",
                "{\"customer\":\"\(id)\",\"product\":\"coins_100\"}"
            )
            let session = try #require(server.stripe.sessions.first)
            server.stripe.pay(session.id)
            let paid = try #require(server.stripe.sessions.first)
            func event(at seconds: Int64) -> (body: [UInt8], signature: String) {
                server.stripe.event("checkout.session.completed", about: paid, at: seconds)
            }
            func send(_ event: (body: [UInt8], signature: String)) async throws -> Answer {
                try await server.send(
                    .post,
                    "/webhooks/stripe",
                    as: nil,
                    body: event.body,
                    headers: ["Stripe-Signature": event.signature]
                )
            }
            let now = TestServer.start / 1000
            let ahead = event(at: now + Self.minutes * 60)
            for _ in 0..<50 { #expect(try await send(ahead).status == 200) }
            let coins = try await server.get("/v1/customers/\(id)/coins")
            #expect(coins.json["balance"].integer == 100)
            #expect(warnings.all.count == 1, "\(warnings.all)")
            #expect(warnings.all.allSatisfy { $0.contains("1200 seconds behind Stripe's") })
            // One that is ahead cannot be told from somebody who sends again what they caught.
            server.wall.advance(seconds: 60)
            for _ in 0..<50 {
                let old = try await send(event(at: now - Self.minutes * 60))
                #expect(old.status == 400 && old.code == "stripe_timestamp")
            }
            #expect(warnings.all.count == 2)
            #expect(warnings.all.last?.contains("1260 seconds ago") == true)
        }
    }
}
