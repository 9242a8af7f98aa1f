import Foundation
import Testing

@testable import AppStoreSimulator

@Suite struct FaultInjection {
    private func run(_ faults: SimulatedAppStore.Faults) async throws -> (TestStore, [String]) {
        let test = try await TestStore()
        await test.store.setFaults(faults)
        for _ in 0..<10 {
            let customer = try await test.store.createCustomer()
            _ = try await test.store.buy("monthly", customer: customer.id)
        }
        await test.pass(days: 100)
        return (test, await test.inbox.payloads)
    }

    @Test func lostNoticesAreDeliveredByRetries() async throws {
        var faults = SimulatedAppStore.Faults()
        faults.drop = 0.3
        let (test, payloads) = try await run(faults)
        let notifications = await test.store.notifications()
        #expect(notifications.contains { $0.attempts.count > 1 })
        #expect(payloads.count == notifications.filter(\.isDelivered).count)
        #expect(notifications.filter(\.isDelivered).count > 30)
    }

    @Test func anOutageIsFollowedByWhatWasMissed() async throws {
        var faults = SimulatedAppStore.Faults()
        faults.outageStart = TestStore.start + 30 * TestStore.day
        faults.outageEnd = TestStore.start + 33 * TestStore.day
        let (test, _) = try await run(faults)
        let renewals = await test.store.notifications().filter { $0.type == "DID_RENEW" }
        #expect(renewals.prefix(10).allSatisfy { $0.attempts.count == 5 && $0.isDelivered })
        #expect(renewals.dropFirst(10).allSatisfy { $0.attempts.count == 1 })
    }

    @Test func duplicatesLatenessReorderingAndDamageHappenAsAsked() async throws {
        var faults = SimulatedAppStore.Faults()
        faults.duplicate = 1
        #expect(try await run(faults).1.count == 80)
        faults = .init()
        faults.slow = 1
        let late = try await run(faults)
        #expect(await late.0.store.notifications().allSatisfy { !$0.isDelivered })
        #expect(late.1.count > 80)
        faults = .init()
        faults.reorder = 0.5
        let reordered = try await run(faults)
        let sent = await reordered.0.store.notifications().map(\.signedPayload)
        #expect(reordered.1 != sent)
        #expect(Set(reordered.1) == Set(sent))
        faults = .init()
        faults.corrupt = 1
        let corrupt = try await run(faults)
        let clean = Set(await corrupt.0.store.notifications().map(\.signedPayload))
        #expect(corrupt.1.allSatisfy { !clean.contains($0) })
    }

    @Test func theSameSeedFailsTheSameWay() async throws {
        var faults = SimulatedAppStore.Faults()
        faults.drop = 0.2
        faults.delay = 0.2
        faults.slow = 0.1
        var runs: [[[SimulatedAppStore.Notification.Attempt]]] = []
        for _ in 0..<2 {
            runs.append(try await run(faults).0.store.notifications().map(\.attempts))
        }
        #expect(runs[0] == runs[1])
    }

    /// Apple's table, of which the sandbox allows a tenth.
    @Test(arguments: [
        ("GET", "/inApps/v1/transactions/1", 50),
        ("GET", "/inApps/v1/transactions/appTransactions/1", 50),
        ("POST", "/inApps/v1/transactions/1/finish", 50),
        ("GET", "/inApps/v1/history/1", 50), ("GET", "/inApps/v2/history/1", 50),
        ("GET", "/inApps/v1/subscriptions/1", 50),
        ("PUT", "/inApps/v1/transactions/consumption/1", 50),
        ("PUT", "/inApps/v2/transactions/consumption/1", 50),
        ("POST", "/inApps/v1/notifications/history", 50),
        ("PUT", "/inApps/v1/subscriptions/extend/1", 20),
        ("PUT", "/inApps/v1/transactions/1/appAccountToken", 20),
        ("GET", "/inApps/v1/lookup/1", 10), ("GET", "/inApps/v2/refund/lookup/1", 10),
        ("POST", "/inApps/v1/subscriptions/extend/mass", 1),
        ("POST", "/inApps/v1/notifications/test", 1),
        ("GET", "/inApps/v1/notifications/test/1", 1),
    ])
    func eachKindOfCallHasALimitOfItsOwn(_ method: String, _ path: String, _ limit: Int) throws {
        for environment in [SimulatedAppStore.Environment.production, .sandbox] {
            var limits = RateLimits(environment: environment)
            let allowed = environment == .production ? limit : max(1, limit / 10)
            for _ in 0..<allowed { try limits.admit(method: method, path: path, wall: 100.2) }
            // Another kind has used up nothing.
            try limits.admit(method: "GET", path: "/inApps/v1/another", wall: 100.3)
            let refused = #expect(throws: APIError.self) {
                try limits.admit(method: method, path: path, wall: 100.9)
            }
            #expect(refused?.code == 4_290_000 && refused?.retryAfter == 101_000)
            try limits.admit(method: method, path: path, wall: 101)
        }
    }

    @Test func callsBeyondTheLimitAreToldWhenToComeBack() async throws {
        let test = try await TestStore(enforcesRateLimits: true)
        try await listening(to: test.store.router()) { port in
            let token = Token(await test.store.apiKey)
            let url = "http://127.0.0.1:\(port)/inApps/v1/notifications/test/nonsense"
            // One a second is allowed; of thirty at once, some come too soon on any machine.
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<30 { group.addTask { try await get(url, token).status } }
                return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
            }
            #expect(statuses.contains(429))
        }
    }
}
