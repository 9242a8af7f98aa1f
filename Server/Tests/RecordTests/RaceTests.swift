import Foundation
import Storage
import Testing
import TollgateCore
import TollgateSimulation

/// C1, in numbers: what races for the same coins never gets more than there are.
@Suite("Races for coins")
struct RaceTests {
    /// How many spends race in all, on each database; `make soak` asks for more.
    static let spends =
        ProcessInfo.processInfo.environment["TOLLGATE_RACES"].flatMap(Int.init) ?? 10_000

    /// Other races: `make soak` adds up runs of different seeds.
    static let seed =
        9 + (ProcessInfo.processInfo.environment["TOLLGATE_SEED"].flatMap { UInt64($0) } ?? 0)

    /// One lot of a hundred coins, and all who want them at the same time.
    private struct Race {
        var customer: String
        var lot: String
        /// What each of them wants.
        var amount: Int64
        var width: Int
        /// Whether the store takes the lot back meanwhile.
        var isRefunded: Bool

        init(customer: Int, round: Int, using random: inout SplitMix64) {
            self.customer = "c\(customer)-\(round)"
            lot = "pi_\(customer)_\(round)"
            width = Int.random(in: 2...64, using: &random)
            // Never enough for all: with as many who want one coin each, it would be no race.
            amount = Int64.random(in: (100 / Int64(width) + 1)...100, using: &random)
            isRefunded = Int.random(in: 0..<8, using: &random) == 0
        }

        var beginning: [JournalItem] {
            [
                .register(customer, .stripeCustomer("cus_\(lot)")),
                .message(lot, .checkout(lot, customer: "cus_\(lot)")),
            ]
        }

        /// Every tenth is asked twice, as by somebody whose first answer was lost.
        var spends: [JournalItem] {
            (0..<width).map { .spend(customer, amount, key: "\($0)") }
                + stride(from: 0, to: width, by: 10).map {
                    .spend(customer, amount, key: "\($0)")
                }
        }

        var refund: [JournalItem] {
            isRefunded
                ? [.message("r\(lot)", .refund(1000, of: lot, "succeeded", on: 1))] : []
        }

        /// No amount that is none is ever spent.
        var nonsense: [JournalItem] {
            [0, -1, .min, .max].map { .spend(customer, $0, key: "nonsense \($0)") }
        }
    }

    /// One request.
    private struct Order: Sendable {
        var customer: String
        var item: JournalItem
    }

    /// What came of one request.
    private struct Spend {
        var customer: String
        var key: RowKey
        var decision: SpendDecision
    }

    @Test(
        "C1: thousands of spends race for coins that do not suffice; the sums are exact",
        .timeLimit(.minutes(10)),
        arguments: Backend.allCases
    )
    func races(_ backend: Backend) async throws {
        let database = try backend.makeDatabase()
        let one = try await RecordStore.open(database)
        // On PostgreSQL the racers come through two servers.
        let other = backend == .postgres ? try await RecordStore.open(database) : one
        var random = SplitMix64(seed: Self.seed)
        var raced = 0
        var accepted = 0
        var round = 0
        while raced < Self.spends {
            let races = (0..<60).map { Race(customer: $0, round: round, using: &random) }
            try await one.submitTogether(races.flatMap(\.beginning))
            let items = races.flatMap { race in
                (race.spends + race.nonsense).map { Order(customer: race.customer, item: $0) }
            }.shuffled(using: &random)
            let halves = (
                Array(items.prefix(items.count / 2)), Array(items.dropFirst(items.count / 2))
            )
            let refund = races.flatMap(\.refund)
            async let left = Self.submit(halves.0, to: one)
            async let right = Self.submit(halves.1, to: other)
            async let refunds = other.submitTogether(refund)
            let (first, second, _) = try await (left, right, refunds)
            let spends = Dictionary(grouping: first + second, by: \.customer)
            for race in races {
                accepted += try await Self.check(race, spends[race.customer] ?? [], one)
                raced += race.width
            }
            round += 1
        }
        #expect(accepted > 0 && accepted < raced)
        print("\(backend): \(raced) spends raced in \(round * 60) races, \(accepted) were accepted")
    }

    private static func submit(
        _ orders: [Order],
        to store: RecordStore
    ) async throws -> [Spend] {
        let outcomes = try await store.submitTogether(orders.map(\.item))
        return zip(orders, outcomes).compactMap { order, outcome in
            guard case .decided(let decision, _) = outcome else { return nil }
            return Spend(
                customer: order.customer,
                key: order.item.dedupeKey,
                decision: decision
            )
        }
    }

    /// - Returns: how many were accepted.
    private static func check(
        _ race: Race,
        _ spends: [Spend],
        _ store: RecordStore
    ) async throws -> Int {
        #expect(spends.count == race.spends.count + race.nonsense.count)
        var decided: [RowKey: SpendDecision] = [:]
        for spend in spends {
            // The same key has the same answer, whichever server was asked.
            let earlier = decided.updateValue(spend.decision, forKey: spend.key)
            #expect(earlier == nil || earlier == spend.decision)
        }
        let accepted = decided.values.filter(\.isAccepted).count
        let possible = Int(100 / race.amount)
        #expect(race.isRefunded ? accepted <= possible : accepted == possible, "\(race)")
        let balance = (race.isRefunded ? 0 : 100) - Int64(accepted) * race.amount
        #expect(try await store.balance(race.customer) == balance, "\(race)")
        let transfers = try await store.transfers(of: Customer.ID(race.customer), in: .production)
        #expect(transfers.reduce(0) { $0 + $1.amount } == balance, "\(race)")
        return accepted
    }
}
