import Foundation
import SandboxClock
import Synchronization
import Testing

@testable import StripeSimulator

/// What was sent to an endpoint that accepts all, and how.
private final class Inbox: Sendable {
    struct Message: Hashable, Sendable {
        var event: String
        var signature: String
    }

    private let received = Mutex<[Message]>([])
    var messages: [Message] { received.withLock { $0 } }

    func take(_ body: String, _ signature: String) {
        let event = (try? JSON(parsing: Data(body.utf8)))?["id"].text ?? ""
        received.withLock { $0.append(Message(event: event, signature: signature)) }
    }
}

@Suite struct FaultTests {
    private static let start: Int64 = 1_767_225_600_000
    private static let day: Int64 = 86_400_000

    /// Five customers subscribe and live through `days` days.
    private func run(
        _ faults: StripeSimulator.Faults,
        days: Int64 = 40,
        seed: UInt64 = 1
    ) async throws -> (inbox: [Inbox.Message], events: [JSON]) {
        let inbox = Inbox()
        let clock = VirtualClock(now: Self.start)
        var configuration = StripeSimulator.Configuration.sample
        configuration.seed = seed
        configuration.webhookEndpoints = [.init(url: "http://nowhere.test", secret: "whsec_1")]
        configuration.wall = { 1_800_000_000 }
        configuration.deliver = { body, _, signature in
            inbox.take(body, signature)
            return true
        }
        let stripe = try await StripeSimulator(configuration: configuration, clock: clock)
        await stripe.setFaults(faults)
        for _ in 0..<5 {
            let body =
                "mode=subscription&line_items[0][price]=price_pro_monthly"
                + "&line_items[0][quantity]=1&success_url=https://example.com/done"
            let made = await stripe.exchange(
                method: "POST",
                path: "/v1/checkout/sessions",
                body: body,
                headers: ["authorization": "Bearer sk_test_1"]
            )
            let session = try JSON(parsing: Data(made.body.utf8))["id"].text
            _ = try await stripe.pay(checkoutSession: session)
        }
        await clock.advance(to: Self.start + days * Self.day)
        return (inbox.messages, await stripe.world.all(.event))
    }

    private static func isDelivered(_ event: JSON) -> Bool { event["pending_webhooks"] == 0 }

    @Test func lostEventsAreDeliveredByRetries() async throws {
        var faults = StripeSimulator.Faults()
        faults.drop = 0.3
        let (inbox, events) = try await run(faults)
        #expect(events.count > 50)
        #expect(events.allSatisfy(Self.isDelivered))
        // Each arrived once, but not in the order in which it happened.
        #expect(Set(inbox.map(\.event)) == Set(events.map { $0["id"].text }))
        #expect(inbox.count == events.count)
        #expect(inbox.map(\.event) != events.map { $0["id"].text })
    }

    @Test func anOutageIsFollowedByWhatWasMissed() async throws {
        var faults = StripeSimulator.Faults()
        faults.outageStart = Self.start
        faults.outageEnd = Self.start + 2 * 3_600_000
        let before = try await run(faults, days: 0)
        #expect(before.inbox.isEmpty)
        let after = try await run(faults, days: 1)
        #expect(!after.inbox.isEmpty)
        #expect(after.events.allSatisfy(Self.isDelivered))
    }

    @Test func duplicatesReorderingSlownessDelayAndDamageHappenAsAsked() async throws {
        let plain = try await run(.init(), days: 0)
        let events = plain.events.map { $0["id"].text }
        #expect(plain.inbox.map(\.event) == events)
        var faults = StripeSimulator.Faults()
        faults.duplicate = 1
        #expect(try await run(faults, days: 0).inbox.map(\.event) == events.flatMap { [$0, $0] })

        faults = .init()
        faults.reorder = 0.5
        let reordered = try await run(faults, days: 0).inbox.map(\.event)
        #expect(reordered != events)
        #expect(reordered.sorted() == events.sorted())

        faults = .init()
        faults.slow = 1
        let slow = try await run(faults, days: 0)
        #expect(slow.inbox.map(\.event) == events)
        #expect(!slow.events.contains(where: Self.isDelivered))

        faults = .init()
        faults.delay = 1
        #expect(try await run(faults, days: 0).inbox.isEmpty)
        let delayed = try await run(faults, days: 1)
        #expect(delayed.events.allSatisfy(Self.isDelivered))

        faults = .init()
        faults.corrupt = 1
        let corrupt = try await run(faults, days: 0)
        #expect(corrupt.inbox.map(\.event) == events)
        #expect(zip(corrupt.inbox, plain.inbox).allSatisfy { $0.signature != $1.signature })
        #expect(corrupt.inbox.allSatisfy { $0.signature.hasPrefix("t=1800000000,v1=") })
    }

    @Test func theSameSeedFailsTheSameWay() async throws {
        var faults = StripeSimulator.Faults()
        faults.drop = 0.2
        faults.delay = 0.2
        faults.slow = 0.1
        faults.duplicate = 0.1
        faults.corrupt = 0.1
        let first = try await run(faults)
        #expect(try await run(faults).inbox == first.inbox)
        func places(_ run: (inbox: [Inbox.Message], events: [JSON])) -> [Int?] {
            let events = run.events.map { $0["id"].text }
            return run.inbox.map { events.firstIndex(of: $0.event) }
        }
        #expect(try await places(run(faults, seed: 2)) != places(first))
    }

    @Test func aFailureOfTheAPIIsKeptWithItsIdempotencyKey() async throws {
        let stripe = try await StripeSimulator(
            configuration: .sample,
            clock: VirtualClock(now: Self.start)
        )
        var faults = StripeSimulator.Faults()
        faults.apiErrors = 1
        await stripe.setFaults(faults)
        func post(_ key: String?) async -> StripeSimulator.Exchange {
            var headers = ["authorization": "Bearer sk_test_1"]
            headers["idempotency-key"] = key
            return await stripe.exchange(
                method: "POST",
                path: "/v1/customers",
                headers: headers
            )
        }
        let failed = await post("key-1")
        #expect(failed.status == 500)
        #expect(failed.body.contains("api_error"))
        #expect(await post(nil).status == 500)
        #expect(await stripe.world.all(.customer).isEmpty)
        await stripe.setFaults(.init())
        let replayed = await post("key-1")
        #expect(replayed.status == 500)
        #expect(replayed.body == failed.body)
        #expect(replayed.headers["idempotent-replayed"] == "true")
        #expect(replayed.headers["original-request"] == failed.headers["request-id"])
        #expect(await stripe.world.all(.customer).isEmpty)
        #expect(await post("key-2").status == 200)
    }

    @Test func someRequestsFailWhereAShareOfThemShould() async throws {
        let stripe = try await StripeSimulator(
            configuration: .sample,
            clock: VirtualClock(now: Self.start)
        )
        var faults = StripeSimulator.Faults()
        faults.apiErrors = 0.3
        await stripe.setFaults(faults)
        var statuses: [Int] = []
        for _ in 0..<200 {
            statuses.append(
                await stripe.exchange(
                    method: "GET",
                    path: "/v1/customers",
                    headers: ["authorization": "Bearer sk_test_1"]
                ).status
            )
        }
        let failed = statuses.filter { $0 == 500 }.count
        #expect((30...90).contains(failed))
        #expect(Set(statuses) == [200, 500])
    }

    @Test func faultsAreReadByTheNamesOfTheAppStoresSandbox() throws {
        let sent = #"{"drop": 0.2, "api_errors": 7, "outage_start": 5, "outage_end": 9000}"#
        let faults = try JSONDecoder().decode(StripeSimulator.Faults.self, from: Data(sent.utf8))
        #expect((faults.drop, faults.apiErrors, faults.delay) == (0.2, 1, 0))
        #expect(faults.isOutage(at: 1) && faults.isOutage(at: 8) && !faults.isOutage(at: 9))
    }
}
