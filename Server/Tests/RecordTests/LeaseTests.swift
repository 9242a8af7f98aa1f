import Storage
import Testing
import TollgateCore
import TollgateSimulation

@Suite("Leases, cursors, parked messages")
struct LeaseTests {
    @Test("One holder at a time; a lease that has ended is anybody's", arguments: Backend.allCases)
    func leases(_ backend: Backend) async throws {
        let store = try await RecordStore.open(backend)
        func take(_ holder: String, at now: Instant) async throws -> Bool {
            let until = now.advanced(by: 1000)
            return try await store.leases.take(
                Lease(name: "sweep", holder: holder, until: until),
                now: now
            )
        }
        let start = Instant.day(0)
        #expect(try await take("a", at: start))
        #expect(try await !take("b", at: start.advanced(by: 999)))
        #expect(try await take("a", at: start.advanced(by: 999)))
        #expect(try await !take("b", at: start.advanced(by: 1998)))
        #expect(try await take("b", at: start.advanced(by: 1999)))
        // Only its holder can give it back.
        try await store.leases.release(Lease(name: "sweep", holder: "a", until: start))
        #expect(try await !take("a", at: start.advanced(by: 2000)))
        try await store.leases.release(Lease(name: "sweep", holder: "b", until: start))
        #expect(try await take("a", at: start.advanced(by: 2000)))
        await store.driver.close()
    }

    @Test("A cursor is where it was put last", arguments: Backend.allCases)
    func cursors(_ backend: Backend) async throws {
        let store = try await RecordStore.open(backend)
        #expect(try await store.cursors.read("import") == nil)
        try await store.cursors.keep("import", [1], now: .day(1))
        try await store.cursors.keep("import", [2, 3], now: .day(2))
        try await store.cursors.keep("other", [9], now: .day(3))
        let kept = try await store.cursors.read("import")
        #expect(kept?.body == [2, 3])
        #expect(kept?.updated == .day(2))
        try await store.cursors.drop("import")
        #expect(try await store.cursors.read("import") == nil)
        #expect(try await store.cursors.read("other")?.body == [9])
        await store.driver.close()
    }

    @Test("What is parked is kept once, listed from the oldest on", arguments: Backend.allCases)
    func parked(_ backend: Backend) async throws {
        let store = try await RecordStore.open(backend)
        var messages: [ParkedMessage] = []
        for number in 0..<5 {
            messages.append(
                ParkedMessage(
                    key: RowKey("message", "\(number)"),
                    store: number == 4 ? .stripe : .appStore,
                    source: "\(number)",
                    reason: "no use",
                    body: [UInt8(number), 0, 255],
                    received: .day(Double(number / 2))
                )
            )
        }
        for message in messages { #expect(try await store.parked.park(message)) }
        #expect(try await !store.parked.park(messages[2]))
        var listed: [ParkedMessage] = []
        while true {
            let page = try await store.parked.page(after: listed.last, limit: 2)
            if page.isEmpty { break }
            listed += page
        }
        #expect(Set(listed.map(\.source)) == ["0", "1", "2", "3", "4"])
        #expect(listed.map(\.received) == messages.map(\.received))
        #expect(listed.first { $0.source == "3" }?.body == [3, 0, 255])
        #expect(try await store.parked.counts().map(\.count) == [4, 1])
        try await store.parked.unpark(messages[0])
        #expect(try await store.parked.page().count == 4)
        await store.driver.close()
    }
}
