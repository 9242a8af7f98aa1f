import Foundation
import Testing
import TollgateCore

/// I1: the record is the same whatever order facts come in, and however often.
@Suite("I1: orders of arrival")
struct OrderTests {
    private static let environment = ProcessInfo.processInfo.environment

    /// The number of random orders in all; `make soak` asks for a million.
    private static let orders = environment["TOLLGATE_ORDERS"].flatMap { Int($0) } ?? 20_000
    private static let ordersPerHistory = 25

    /// Other histories each day (`make test`) and in each piece (`make soak`).
    private static let seed = environment["TOLLGATE_SEED"].flatMap { UInt64($0) } ?? 0

    @Test("random orders, with repetitions, make the same records", arguments: 0..<20)
    func randomOrders(part: Int) {
        var divergent = 0
        let histories = Self.orders / Self.ordersPerHistory / 20
        for number in 0..<histories {
            var random = Seeded(Self.seed &* 1_000_003 &+ UInt64(part * histories + number + 1))
            let history = OrderedHistory(
                LawTests.history(&random, count: 4 + number % 7)
            )
            let told = history.records(in: Array(history.facts.indices))
            var order: [Int] = []
            for _ in 0..<Self.ordersPerHistory {
                history.drawOrder(&order, &random)
                if history.records(in: order) != told { divergent += 1 }
            }
        }
        #expect(divergent == 0, "TOLLGATE_SEED=\(Self.seed) TOLLGATE_ORDERS=\(Self.orders)")
    }

    @Test("an order that is trusted makes other records: the check can fail")
    func trustedOrder() {
        var random = Seeded(7)
        let history = OrderedHistory(LawTests.history(&random, count: 12), trustsOrder: true)
        let told = history.records(in: Array(history.facts.indices))
        var order: [Int] = []
        var divergent = 0
        for _ in 0..<Self.ordersPerHistory {
            history.drawOrder(&order, &random)
            if history.records(in: order) != told { divergent += 1 }
        }
        #expect(divergent > 0)
    }

    static let cases = NamedCases.all.filter { $0.facts.count <= 7 }

    @Test("every order of the facts of a case makes the same records", arguments: cases)
    func everyOrder(_ story: Story) {
        let history = OrderedHistory(story.facts)
        let told = history.records(in: Array(story.facts.indices))
        let evaluations = told.map { $0.evaluate(in: Shop.history) }
        var (count, divergent) = (0, 0)
        for order in permutations(Array(story.facts.indices)) {
            let records = history.records(in: order)
            count += 1
            if records != told { divergent += 1 }
            if count.isMultiple(of: 100),
                records.map({ $0.evaluate(in: Shop.history) }) != evaluations
            {
                divergent += 1
            }
        }
        #expect(divergent == 0)
        #expect(count == (1...max(1, story.facts.count)).reduce(1, *))
    }

    @Test("every App Store, Stripe and Google Play case of docs/cases.md has a story or a reason")
    func names() throws {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        let document = try String(
            contentsOf: root.appendingPathComponent("docs/cases.md"),
            encoding: .utf8
        )
        // `| A1 | what happens | what must be answered |`
        let defined = Set(
            document.split(separator: "\n").compactMap { row in
                row.hasPrefix("| ") ? NamedCases.id(row.dropFirst(2).prefix { $0 != " " }) : nil
            }
        )
        let elsewhere = Set(NamedCases.elsewhere.keys)
        #expect(defined.subtracting(elsewhere).subtracting(NamedCases.told) == [], "have no story")
        #expect(NamedCases.told.subtracting(defined) == [], "are not defined")
        #expect(elsewhere.subtracting(defined) == [], "are not defined")
        #expect(elsewhere.intersection(NamedCases.told) == [], "have a story after all")
    }
}

/// Facts that are joined in one order after the other, without looking up their records each time.
struct OrderedHistory {
    let facts: [Fact]
    private let keys: [Purchase.Key]
    private let places: [Int]
    private let trustsOrder: Bool

    init(_ facts: [Fact], trustsOrder: Bool = false) {
        self.facts = facts
        self.trustsOrder = trustsOrder
        let keys = Set(facts.map(\.purchase)).sorted()
        self.keys = keys
        places = facts.map { fact in keys.firstIndex(of: fact.purchase) ?? 0 }
    }

    func records(in order: [Int]) -> [Purchase] {
        var records = keys.map { Purchase(key: $0) }
        for (arrival, index) in order.enumerated() {
            var fact = facts[index]
            if trustsOrder { fact.stated = Stated(.day(Double(arrival))) }
            records[places[index]].join(fact)
        }
        return records
    }

    /// All facts in a random order, some of them twice.
    func drawOrder(_ order: inout [Int], _ random: inout Seeded) {
        order.removeAll(keepingCapacity: true)
        for index in facts.indices {
            order.append(index)
            if random.next() % 3 == 0 { order.append(index) }
        }
        var left = order.count
        while left > 1 {
            let other = Int(random.next() % UInt64(left))
            left -= 1
            order.swapAt(left, other)
        }
    }
}
