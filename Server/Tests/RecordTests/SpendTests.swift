import Storage
import Testing
import TollgateCore
import TollgateSimulation

@Suite("Spends")
struct SpendTests {
    static func decisions(_ outcomes: [JournalOutcome]) -> [(
        decision: SpendDecision, isReplay: Bool
    )] {
        outcomes.compactMap {
            if case .decided(let decision, let isReplay) = $0 { (decision, isReplay) } else { nil }
        }
    }

    @Test("of 64 spends of the last coins at once, one is accepted", arguments: Backend.allCases)
    func lastCoin(_ backend: Backend) async throws {
        let store = try await RecordStore.open(backend)
        _ = try await store.submit(.register("ann", .token("a")))
        _ = try await store.submit(.message("m1", .month(0, of: "1", token: "a")))
        let outcomes = try await store.submitTogether(
            (0..<64).map { .spend("ann", 10, key: "\($0)") }
        )
        let decisions = Self.decisions(outcomes)
        #expect(decisions.count == 64)
        #expect(decisions.filter(\.decision.isAccepted).count == 1)
        #expect(try await store.balance("ann") == 0)
        #expect(try await store.rebuilt().differences.map(\.table) == [])
    }

    @Test(
        "the same key gives the same answer, whatever came between",
        arguments: Backend.allCases
    )
    func replay(_ backend: Backend) async throws {
        let store = try await RecordStore.open(backend)
        let refused = Self.decisions([try await store.submit(.spend("ann", 5, key: "early"))])
        #expect(refused.first?.decision.isAccepted == false)
        _ = try await store.submit(.register("ann", .token("a")))
        _ = try await store.submit(.message("m1", .month(0, of: "1", token: "a")))
        // What was refused stays refused under its key, though there are coins now.
        let again = Self.decisions([try await store.submit(.spend("ann", 5, key: "early"))])
        #expect(again.first?.isReplay == true)
        #expect(again.first?.decision == refused.first?.decision)

        let first = Self.decisions([try await store.submit(.spend("ann", 4, key: "k"))])
        _ = try await store.submit(.spend("ann", 1, key: "other"))
        let second = Self.decisions([
            try await store.submit(.spend("ann", 4, key: "k", body: "another body"))
        ])
        #expect(first.first?.isReplay == false && second.first?.isReplay == true)
        #expect(first.first?.decision == second.first?.decision)
        #expect(second.first?.decision.bodyHash == RowKey("body"))
        #expect(try await store.balance("ann") == 5)
        #expect(try await store.rebuilt().differences.map(\.table) == [])
    }

    @Test("no spend of nothing, of less, or of too much", arguments: Backend.allCases)
    func amounts(_ backend: Backend) async throws {
        let store = try await RecordStore.open(backend)
        _ = try await store.submit(.register("ann", .token("a")))
        _ = try await store.submit(.message("m1", .month(0, of: "1", token: "a")))
        for amount in [0, -1, .min, 11, .max] as [Int64] {
            let outcome = try await store.submit(.spend("ann", amount, key: "\(amount)"))
            #expect(Self.decisions([outcome]).first?.decision.isAccepted == false)
        }
        #expect(try await store.balance("ann") == 10)
    }

    @Test("spends and refunds at once leave an exact sum", arguments: Backend.allCases)
    func spendsAndRefunds(_ backend: Backend) async throws {
        let store = try await RecordStore.open(backend)
        _ = try await store.submit(.register("ann", .stripeCustomer("cus_1")))
        _ = try await store.submitTogether(
            (0..<20).map { .message("m\($0)", .checkout("pi_\($0)", customer: "cus_1")) }
        )
        let spends = (0..<50).map { JournalItem.spend("ann", 60, key: "\($0)") }
        let refunds = (0..<10).map {
            JournalItem.message("r\($0)", .refund(1000, of: "pi_\($0)", "succeeded", on: 1))
        }
        var random = SplitMix64(seed: 2)
        let outcomes = try await store.submitTogether((spends + refunds).shuffled(using: &random))
        let spent = Self.decisions(outcomes).filter(\.decision.isAccepted).count
        #expect(try await store.balance("ann") == 1000 - Int64(spent) * 60)
        let transfers = try await store.transfers(of: Customer.ID("ann"), in: .production)
        #expect(transfers.reduce(0) { $0 + $1.amount } == 1000 - Int64(spent) * 60)
        #expect(try await store.rebuilt().differences.map(\.table) == [])
    }
}
