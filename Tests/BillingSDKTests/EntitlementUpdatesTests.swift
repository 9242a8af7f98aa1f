import Testing

@testable import BillingSDK

@Suite struct EntitlementUpdatesTests {
    @Test func aStreamShowsEachNewSetAndEndsWithItsReader() async throws {
        let app = TestApp()
        let updates = app.billing.entitlementUpdates
        let seen = Task {
            var sets: [[String]] = []
            for await set in updates {
                sets.append(set.map(\.lookupKey))
                if sets.count == 2 { break }
            }
            return sets
        }
        app.server.grant("premium", to: "cus_ada")
        _ = try await app.keys()
        // Removing the callbacks leaves the streams alone.
        app.billing.removeAllEntitlementsChangedCallbacks()
        await app.billing.reset()
        #expect(await seen.value == [["premium"], []])
    }
}
