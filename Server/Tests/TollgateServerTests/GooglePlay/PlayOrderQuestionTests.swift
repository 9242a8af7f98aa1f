import Testing
import TollgateCore

@testable import GooglePlayConnector

/// The orders that a read asks for: only an order states money, and the dates of a period.
@Suite("Orders that Google Play is asked for")
struct PlayOrderQuestionTests {
    private static let key = Purchase.Key(
        store: .googlePlay,
        environment: .production,
        application: "com.example.app",
        id: "token"
    )

    private static func fact(_ statement: Statement, readOn day: Int64) -> Fact {
        Fact(
            purchase: key,
            source: "read",
            stated: Stated(Instant(milliseconds: day * 86_400_000), isRead: true),
            statement: statement
        )
    }

    /// A read of a plan whose items have these orders.
    private static func read(_ orders: [String], on day: Int64) -> Fact {
        let items = orders.enumerated().map { number, order in
            GooglePlaySubscription.Item(
                product: "p\(number)",
                expiry: Instant(milliseconds: (day + 7) * 86_400_000),
                order: order,
                renews: true
            )
        }
        return fact(
            .googlePlaySubscription(
                GooglePlaySubscription(
                    state: "ACTIVE",
                    start: Instant(milliseconds: 0),
                    items: items
                )
            ),
            readOn: day
        )
    }

    private static func asked(_ fact: Fact, after known: [Fact]) -> [String] {
        let record = known.isEmpty ? nil : Purchase(key: key, joining: known)
        return GooglePlayTranslator.questions([fact], record)
            .filter { $0.kind == .googlePlayOrder }.map(\.object)
    }

    /// Reads on some days, and the orders that the last one asks for.
    struct Story: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var before: [(day: Int64, orders: [String])]
        var last: (day: Int64, orders: [String])
        var expected: [String]
    }

    static let stories = [
        Story(
            testDescription: "two renewals between two reads",
            before: [(0, ["GPA.1"])],
            last: (22, ["GPA.1..2"]),
            expected: ["GPA.1..0", "GPA.1..1", "GPA.1..2"]
        ),
        Story(
            testDescription: "the first read names a late renewal: what was before is not ours",
            before: [],
            last: (42, ["GPA.1..5"]),
            expected: ["GPA.1..5"]
        ),
        Story(
            testDescription: "after such a first read, what follows is ours",
            before: [(42, ["GPA.1..5"])],
            last: (63, ["GPA.1..8"]),
            expected: ["GPA.1..6", "GPA.1..7", "GPA.1..8"]
        ),
        Story(
            testDescription: "an earlier read comes later",
            before: [(22, ["GPA.1..2"])],
            last: (0, ["GPA.1"]),
            expected: ["GPA.1", "GPA.1..0", "GPA.1..1"]
        ),
        Story(
            testDescription: "an add-on has renewed by itself",
            before: [(0, ["GPA.1", "GPA.1"]), (7, ["GPA.1", "GPA.1..0"])],
            last: (40, ["GPA.1..1", "GPA.1..3"]),
            expected: ["GPA.1..1", "GPA.1..2", "GPA.1..3"]
        ),
        Story(
            testDescription: "the first read names two orders: what lies between them is not ours",
            before: [(20, ["GPA.1..0", "GPA.1..3"])],
            last: (41, ["GPA.1..4", "GPA.1..3"]),
            expected: ["GPA.1..3", "GPA.1..4"]
        ),
        Story(
            testDescription: "a change of plan has an order of its own",
            before: [(0, ["GPA.1..3"])],
            last: (9, ["GPA.2"]),
            expected: ["GPA.2"]
        ),
        Story(
            testDescription: "years of weeks: sixty at most, the latest",
            before: [(0, ["GPA.1"])],
            last: (999, ["GPA.1..100"]),
            expected: (40...100).map { "GPA.1..\($0)" }.sorted()
        ),
        Story(
            testDescription: "ids that are not numbered",
            before: [(0, ["GPA.1"])],
            last: (9, ["GPA.1..x"]),
            expected: ["GPA.1..x"]
        ),
    ]

    @Test("A read asks for the orders of the renewals that no read named", arguments: stories)
    func skipped(_ story: Story) {
        let known = story.before.map { Self.read($0.orders, on: $0.day) }
        let last = Self.read(story.last.orders, on: story.last.day)
        #expect(Self.asked(last, after: known) == story.expected)
    }

    @Test("A record lacks the skipped renewals that its reads have asked for", arguments: stories)
    func lacking(_ story: Story) {
        var known: [Fact] = []
        var asked: Set<String> = []
        var named: Set<String> = []
        for read in story.before + [story.last] {
            let fact = Self.read(read.orders, on: read.day)
            asked.formUnion(Self.asked(fact, after: known))
            named.formUnion(read.orders)
            known.append(fact)
        }
        let record = Purchase(key: Self.key, joining: known).googlePlay
        let lacking = record.map { SkippedRenewals.orders(of: $0).map(\.order) } ?? []
        #expect(Set(lacking) == asked.subtracting(named))
    }

    @Test(
        "G11: an order that was read while its payment was pending is read again with the payment"
    )
    func pendingOrder() {
        func purchase(_ state: String) -> Statement {
            .googlePlayPurchase(
                GooglePlayPurchase(
                    state: state,
                    completed: nil,
                    lines: [.init(product: "lifetime")],
                    order: "GPA.1"
                )
            )
        }
        func asked(withOrder state: String) -> [String] {
            let order = GooglePlayOrder(id: "GPA.1", state: state, lines: [])
            return Self.asked(
                Self.fact(purchase("PURCHASED"), readOn: 2),
                after: [
                    Self.fact(purchase("PENDING"), readOn: 0),
                    Self.fact(.googlePlayOrder(order), readOn: 0),
                ]
            )
        }
        #expect(asked(withOrder: "PENDING") == ["GPA.1"])
        #expect(asked(withOrder: "PROCESSED").isEmpty)
        #expect(asked(withOrder: "REFUNDED").isEmpty)
        #expect(asked(withOrder: "CANCELED").isEmpty)
    }
}
