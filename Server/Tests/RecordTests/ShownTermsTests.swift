import Storage
import Testing
import TollgateCore
import TollgateSimulation

@Suite("What apps show of a purchase beside its access")
struct ShownTermsTests {
    @Test(
        "Whether a plan renews is told as news of the purchase, not of the entitlements",
        arguments: Backend.allCases
    )
    func renewal(_ backend: Backend) async throws {
        let store = try await RecordStore.open(backend)
        let ann = Customer.ID("ann")
        _ = try await store.submit(.register("ann", .token("a")))
        _ = try await store.submit(.message("month", .month(0, of: "1", token: "a")))
        let before = try await store.reading(of: ann, in: .production).timeline.active(at: .day(2))
        #expect(before.map(\.willRenew) == [nil])
        // Access ends on day 30, as before.
        let ended = RenewalTerms(willRenew: false)
        _ = try await store.submit(
            .message("ended", .said(.renewal(ended), on: 1, about: .appStore("1")))
        )
        let after = try await store.reading(of: ann, in: .production).timeline.active(at: .day(2))
        #expect(after.map(\.willRenew) == [false])
        #expect(after.map(\.until) == before.map(\.until))
        _ = try await store.submit(.message("again", .month(30, of: "1", token: "a")))
        let kinds = try await store.driver.read { connection in
            try connection.query("SELECT kind FROM message ORDER BY id").map {
                try $0.text(0)
            }
        }
        #expect(kinds == ["entitlements.changed", "purchase.changed", "entitlements.changed"])
        #expect(try await store.rebuilt().isIdentical)
        await store.driver.close()
    }
}
