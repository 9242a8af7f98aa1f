import AcceptedConnections
import AppStoreSimulator
import AsyncHTTPClient
import Foundation
import Hummingbird
import NIOCore
import NIOHTTP1
import SandboxClock
import Testing

@Suite struct Delivery {
    @Test func productionRetriesAfter1And12And24And48And72Hours() async throws {
        let test = try await TestStore()
        await test.inbox.answer(
            Array(repeating: .unsuccessfulHTTPResponseCode, count: 10)
        )
        let customer = try await test.store.createCustomer()
        _ = try await test.store.buy("coins", customer: customer.id)
        await test.pass(days: 20)
        let attempts = try #require(await test.store.notifications().first).attempts
        #expect(
            attempts.map { ($0.attemptDate - TestStore.start) / 3_600_000 }
                == [0, 1, 13, 37, 85, 157]
        )
        #expect(Set(await test.inbox.payloads).count == 1)
    }

    @Test func aSuccessEndsTheRetries() async throws {
        let test = try await TestStore()
        await test.inbox.answer([.timedOut, .noResponse])
        let customer = try await test.store.createCustomer()
        _ = try await test.store.buy("coins", customer: customer.id)
        await test.pass(days: 20)
        let attempts = try #require(await test.store.notifications().first).attempts
        #expect(attempts.map(\.sendAttemptResult) == [.timedOut, .noResponse, .success])
    }

    @Test func theSandboxTriesOnce() async throws {
        let test = try await TestStore(environment: .sandbox)
        await test.inbox.answer([.timedOut])
        let customer = try await test.store.createCustomer()
        _ = try await test.store.buy("coins", customer: customer.id)
        await test.pass(days: 20)
        #expect(await test.store.notifications().first?.attempts.count == 1)
    }

    @Test func anAdvanceReturnsOnlyWhenTheServerHasAnsweredOverHTTP() async throws {
        let received = Received()
        let router = Router()
        router.post("hook") { request, _ -> HTTPResponse.Status in
            let body = try await request.body.collect(upTo: 1 << 20)
            await received.add(String(buffer: body))
            return await received.count == 2 ? .internalServerError : .ok
        }
        try await listening(to: router) { port in
            let clock = VirtualClock(now: TestStore.start)
            let store = try SimulatedAppStore(
                configuration: .init(
                    environment: .production,
                    products: [TestStore.product("monthly")],
                    notificationURL: "http://127.0.0.1:\(port)/hook"
                ),
                clock: clock
            )
            await clock.join(store)
            let customer = try await store.createCustomer()
            _ = try await store.buy("monthly", customer: customer.id)
            #expect(await received.count == 1)
            await clock.advance(to: TestStore.start + 31 * TestStore.day)
            #expect(await received.count == 2)
            await clock.advance(to: TestStore.start + 32 * TestStore.day)
            #expect(await received.count == 3)
            let results = await store.notifications().map { $0.attempts.map(\.sendAttemptResult) }
            #expect(results == [[.success], [.unsuccessfulHTTPResponseCode, .success]])
            await store.setNotificationURL("http://127.0.0.1:1/nobody")
            _ = try await store.requestTestNotification()
            #expect(
                await store.notifications().last?.attempts.first?.sendAttemptResult != .success
            )
        }
    }

    @Test func theTrustRootSurvivesARestart() async throws {
        let path = FileManager.default.temporaryDirectory
            .appendingPathComponent("app-store-\(UUID().uuidString).json").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let first = try await TestStore(statePath: path)
        let customer = try await first.store.createCustomer()
        _ = try await first.store.buy("monthly", customer: customer.id)
        let second = try await TestStore(statePath: path)
        #expect(first.store.rootDER == second.store.rootDER)
        #expect(await first.store.apiKey == second.store.apiKey)
        #expect(try SimulatedAppStore.savedNow(statePath: path) == TestStore.start)
        await second.pass(days: 32)
        #expect(try await second.store.transactions(customer: customer.id).count == 2)
    }

    @Test func theSameSeedGivesTheSameIDs() async throws {
        var runs: [[String]] = []
        for _ in 0..<2 {
            let test = try await TestStore()
            let customer = try await test.store.createCustomer()
            _ = try await test.store.buy("monthly", customer: customer.id)
            await test.pass(days: 90)
            let notifications = await test.store.notifications()
            runs.append(notifications.flatMap { [$0.id, $0.transactionID ?? ""] })
        }
        #expect(runs[0] == runs[1])
    }
}

actor Received {
    private(set) var bodies: [String] = []
    var count: Int { bodies.count }

    func add(_ body: String) {
        bodies.append(body)
    }
}

/// Serves `router` on a free port while `body` runs.
func listening(
    to router: Router<BasicRequestContext>,
    _ body: @escaping @Sendable (Int) async throws -> Void
) async throws {
    let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
    let application = Application(
        router: router,
        server: .http1UntilEnded,
        configuration: .init(address: .hostname("127.0.0.1", port: 0)),
        onServerRunning: { channel in continuation.yield(channel.localAddress?.port ?? 0) }
    )
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await application.runService(gracefulShutdownSignals: []) }
        group.addTask {
            for await port in ports { return try await body(port) }
        }
        try await group.next()
        group.cancelAll()
        while let result = await group.nextResult() {
            if case .failure(let error) = result, !(error is CancellationError) { throw error }
        }
    }
}
