import Logging
import ServiceLifecycle
import SandboxClock
import Storage
import Stores
import Synchronization
import Testing
import TollgateCore
import TollgateServer
import TollgateService
import TollgateSimulation

/// What a server does again and again until it ends.
@Suite("Recurring work")
struct RecurringTests {
    private struct Broken: Error {}

    /// Runs the work until `isEnough`, then ends as a server does.
    private func run(
        _ work: some Service,
        until isEnough: @escaping @Sendable () -> Bool
    ) async throws {
        let group = ServiceGroup(
            configuration: .init(services: [.init(service: work)], logger: TestServer.silent)
        )
        async let ended: Void = group.run()
        while !isEnough() { try await Task.sleep(for: .milliseconds(1)) }
        await group.triggerGracefulShutdown()
        try await ended
    }

    @Test("A round that fails is tried again after its own pause; a state goes on; the end is last")
    func failure() async throws {
        try await TestServer.run { server in
            let told = Mutex<[String]>([])
            let clock = ContinuousClock()
            let begin = clock.now
            let work = Recurring(
                "test",
                of: server.tollgate,
                every: .milliseconds(1),
                afterFailure: .milliseconds(50),
                keeping: 0,
                atEnd: { told.withLock { $0.append("end") } }
            ) { count in
                count += 1
                told.withLock { $0.append("\(count)") }
                if count == 1 { throw Broken() }
                return count == 2 ? .failed : .done
            }
            try await run(work) { told.withLock { $0.count >= 3 } }
            let lines = told.withLock(\.self)
            #expect(lines.prefix(3) == ["1", "2", "3"])
            #expect(lines.last == "end")
            // Two failures, each with its pause.
            #expect(clock.now - begin >= .milliseconds(100))
        }
    }

    @Test("The age of a work grows while it fails, and begins anew when a round ends well")
    func age() async throws {
        try await TestServer.run { server in
            @Sendable func age() async -> String? {
                await server.tollgate.metrics.text().split(separator: "\n")
                    .first { $0.hasPrefix("tollgate_recurring_age_seconds{work=\"test\"}") }
                    .map(String.init)
            }
            #expect(await age() == nil)
            let ages = Mutex<[String?]>([])
            let rounds = Mutex(0)
            let work = Recurring("test", of: server.tollgate, every: .milliseconds(1)) {
                let age = await age()
                ages.withLock { $0.append(age) }
                server.wall.advance(seconds: 7)
                return rounds.withLock { rounds in
                    rounds += 1
                    return rounds == 1 ? .failed : .done
                }
            }
            try await run(work) { rounds.withLock { $0 >= 3 } }
            let name = "tollgate_recurring_age_seconds{work=\"test\"}"
            #expect(ages.withLock { $0.prefix(3) } == ["\(name) 0", "\(name) 7", "\(name) 0"])
        }
    }

    @Test("Idle work is woken by a commit, long before its time")
    func idle() async throws {
        try await TestServer.run { server in
            let rounds = Mutex(0)
            let work = Recurring("test", of: server.tollgate, every: .milliseconds(1)) {
                rounds.withLock { $0 += 1 }
                return .idle(.seconds(36_000))
            }
            async let ended: Void = run(work) { rounds.withLock { $0 >= 3 } }
            for round in 1...2 {
                while rounds.withLock({ $0 }) < round { await Task.yield() }
                try await server.tollgate.store.driver.execute("DELETE FROM lease")
            }
            try await ended
        }
    }

    @Test("Nothing is to be published before the next lapse")
    func lapse() async throws {
        try await TestServer.run { server in
            let events = server.tollgate.events
            #expect(try await events.idleTime() == .zero, "the first sweep")
            await events.publish()
            #expect(try await events.idleTime() == Clocks.longestIdleTime)
            let buyer = try await Buyer(server)
            _ = try await buyer.buys("com.example.app.pass30")
            #expect(try await events.idleTime() == .zero)
            await events.publish()
            #expect(try await events.idleTime() == Clocks.longestIdleTime)
            await server.clock.advance(to: TestServer.start + 30 * 86_400_000 - 700)
            #expect(try await events.idleTime() == .milliseconds(700))
        }
    }

    @Test(
        "Work that logs its errors says that it failed, for as long as it does",
        arguments: Backend.allCases
    )
    func failing(_ backend: Backend) async throws {
        try await TestServer.run(on: backend) { server in
            let tollgate = server.tollgate
            func rounds() async -> [Bool] {
                [
                    await tollgate.fetchWanted(), await tollgate.events.publish(),
                    await tollgate.replies.dropExpired(),
                ]
            }
            #expect(await rounds() == [true, true, true])
            let tables = ["wanted", "message", "idempotency"]
            func rename(_ from: String, _ to: String) async throws {
                try await tollgate.store.driver.write { connection in
                    for table in tables {
                        try connection.execute(
                            "ALTER TABLE \(table)\(from) RENAME TO \(table)\(to)"
                        )
                    }
                }
            }
            try await rename("", "_gone")
            for _ in 0..<2 { #expect(await rounds() == [false, false, false]) }
            try await rename("_gone", "")
            // What failed waits before it is asked again.
            server.wall.advance(seconds: 3600)
            #expect(await rounds() == [true, true, true])
        }
    }
}
