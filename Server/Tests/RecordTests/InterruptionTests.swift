import Foundation
import Storage
import Testing
import TollgateCore
import TollgateSimulation
import TollgateTesting

/// F4, F6 and F7 at the level of statements: a write that fails at any of them leaves nothing, and
/// whoever asks again gets what they would have got.
@Suite("Every write that can fail")
struct InterruptionTests {
    private static let script: [JournalItem] = [
        .register("ann", .token("a")),
        .message("1", .month(0, of: "p", token: "a")),
        .message("2", .bought("coins", .consumable, "c1", token: "a")),
        .spend("ann", 60, key: "s1"),
        .message("3", .month(30, of: "p", token: "a"), .month(0, of: "p", token: "a", said: 31)),
        .message("4", .bought("coins", .consumable, "c1", token: "a", revoked: 12)),
        .message("5", .checkout("pay", customer: "cus_x", on: 3)),
        .register("ann", .stripeCustomer("cus_x"), number: 2),
        .message("6", .refund(500, of: "pay", "succeeded", on: 9)),
        .spend("ann", 1000, key: "s2"),
        .message("7", .bought("pass", .nonRenewing, "n1", on: 20, token: "b")),
        .message("8", .claimed("ann", .restored, 21, .appStore("n1"))),
    ]

    /// Submits as a store does: again until it is answered.
    private static func play(_ store: RecordStore) async throws {
        for item in script {
            for attempt in 0... {
                do {
                    _ = try await store.submit(item)
                    break
                } catch let error as StorageError where error.isRetryable {
                    try #require(attempt < 5)
                }
            }
        }
    }

    private static func answer(_ store: RecordStore) async throws -> [String] {
        let journal = try await store.driver.readNow(
            "SELECT count(*), count(DISTINCT dedupe_key) FROM journal",
            []
        )
        let messages = try await store.driver.readNow(
            "SELECT count(*), sum(sequence) FROM message WHERE number IS NULL",
            []
        )
        let active = try await store.active("ann", at: 25)
        return [
            "\(try await store.balance("ann"))", "\(active)", "\(journal)", "\(messages)",
        ]
    }

    /// Every how many statements there is a fault: another fourth of them each day on SQLite, and each
    /// of them in the soak (`TOLLGATE_EVERY_STATEMENT`).
    private static func stride(on backend: Backend) -> (first: Int, step: Int) {
        let environment = ProcessInfo.processInfo.environment
        guard environment["TOLLGATE_EVERY_STATEMENT"] == nil else { return (1, 1) }
        let seed = environment["TOLLGATE_SEED"].flatMap { Int($0) } ?? 0
        let step = backend == .postgres ? 13 : 4
        return (1 + seed % step, step)
    }

    @Test("F6: a fault at a statement of a write, once", arguments: Backend.allCases)
    func everyStatement(_ backend: Backend) async throws {
        let calm = try await RecordStore.open(backend)
        try await Self.play(calm)
        let wanted = try await Self.answer(calm)
        await calm.driver.close()

        let (first, stride) = Self.stride(on: backend)
        var step = first - stride
        while true {
            step += stride
            let driver = InterruptedDriver(try backend.makeDatabase().open())
            let store = try await RecordStore(driver)
            try await store.adopt(Shop.catalog, at: .day(-100))
            driver.fail(at: step, step / stride % 2 == 0 ? .unavailable : .diskFull)
            try await Self.play(store)
            let isDone = driver.steps < step
            #expect(try await Self.answer(store) == wanted, "step \(step)")
            if step / stride % 5 == 0 || isDone {
                let report = try await store.rebuilt()
                #expect(report.isIdentical, "step \(step): \(report.differences)")
            }
            await driver.close()
            if isDone { break }
        }
        #expect(step > 100)
    }
}
