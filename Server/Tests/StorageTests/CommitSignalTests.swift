import Testing
import TollgateSimulation

@testable import Storage

@Suite("Background work that rests until something is committed")
struct CommitSignalTests {
    /// Whoever rests for so long has failed.
    private static let hours = Duration.seconds(36_000)

    @Test("A commit wakes whoever rests, once; one that came before leaves nothing to rest for")
    func sleepers() {
        var sleepers = Sleepers<String>()
        let (ann, bob) = (sleepers.newPlace(), sleepers.newPlace())
        #expect(sleepers.add("ann", at: ann, since: 0) && sleepers.add("bob", at: bob, since: 0))
        #expect(Set(sleepers.wake()) == ["ann", "bob"])
        #expect(sleepers.wake().isEmpty && sleepers.count == 2)
        let (late, asleep) = (
            sleepers.add("ann", at: ann, since: 1), sleepers.add("ann", at: ann, since: 2)
        )
        #expect(!late && asleep)
    }

    @Test("Whose time is over is not woken")
    func gone() {
        var sleepers = Sleepers<String>()
        let (ann, bob) = (sleepers.newPlace(), sleepers.newPlace())
        #expect(sleepers.add("ann", at: ann, since: 0) && sleepers.add("bob", at: bob, since: 0))
        let removed = sleepers.remove(ann)
        let woken = sleepers.wake()
        let again = sleepers.remove(bob)
        #expect(removed == "ann" && woken == ["bob"] && again == nil)
    }

    @Test("A write wakes, a read does not", arguments: Backend.allCases)
    func writes(_ backend: Backend) async throws {
        let driver = try await DriverTests.open(backend)
        let seen = driver.commits.count
        _ = try await DriverTests.count(driver)
        _ = try await driver.read { try $0.query("SELECT 1") }
        #expect(driver.commits.count == seen)
        async let rested: Void = driver.commits.rest(since: seen, from: .zero, to: Self.hours)
        try await driver.write { try DriverTests.insert($0, 1, "one", 1) }
        await rested
        await driver.commits.rest(since: seen, from: .zero, to: Self.hours)
        #expect(driver.commits.count == seen + 1)
        await driver.close()
    }

    @Test("Many who rest at the same time are all woken")
    func many() async {
        let signal = CommitSignal()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 {
                group.addTask { await signal.rest(since: 0, from: .zero, to: Self.hours) }
            }
            await Task.yield()
            signal.raise()
        }
    }

    @Test("A rest ends with its time, and with its task")
    func ends() async {
        let signal = CommitSignal()
        await signal.rest(since: 0, from: .zero, to: .milliseconds(1))
        for _ in 0..<100 {
            let resting = Task { await signal.rest(since: 0, from: .zero, to: Self.hours) }
            await Task.yield()
            resting.cancel()
            await resting.value
        }
    }
}
