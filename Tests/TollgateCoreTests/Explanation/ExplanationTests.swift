import Testing
import TollgateCore

@Suite("Explanation")
struct ExplanationTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let facts: [Fact]
        let day: Double
        /// The kinds of the facts that decide.
        let decides: [String]
    }

    static let cases = [
        Case(
            testDescription: "a paid period",
            facts: [.paid("p1", 0, 30), .terms(0), .status(1, 0)],
            day: 1,
            decides: ["period"]
        ),
        Case(
            testDescription: "of two periods the current one",
            facts: [.paid("p1", 0, 30), .paid("p2", 30, 60), .terms(0)],
            day: 31,
            decides: ["period"]
        ),
        Case(
            testDescription: "the renewal window rests on the terms, not on the status beside them",
            facts: [.paid("p1", 0, 30), .terms(0), .status(1, 0)],
            day: 30.05,
            decides: ["period", "renewal"]
        ),
        Case(
            testDescription: "grace with a date rests on the renewal info",
            facts: [.paid("p1", 0, 30), .terms(30, grace: 46), .status(4, 30)],
            day: 40,
            decides: ["period", "renewal"]
        ),
        Case(
            testDescription: "grace without a date rests on the status",
            facts: [.paid("p1", 0, 30), .terms(30, renews: false), .status(4, 30)],
            day: 32,
            decides: ["period", "status"]
        ),
        Case(
            testDescription: "a lost renewal rests on the status",
            facts: [.paid("p1", 0, 30), .terms(29), .status(1, 31, reaching: 60)],
            day: 40,
            decides: ["period", "status"]
        ),
        Case(
            testDescription: "a subscription of Stripe's",
            facts: [.subscription("active", 0, from: 0, to: 30), .invoice("in_1", 0)],
            day: 1,
            decides: ["subscription"]
        ),
        Case(
            testDescription: "an unlock on a plan's invoice outlives the plan",
            facts: [
                .plan("canceled", 10, .item(0, 30), ended: 10),
                .bill("in_1", 0, [.full(0, 30), .once("price_lifetime", 0)]),
                .bill("in_2", 30, [.full(30, 60)]),
            ],
            day: 40,
            decides: ["invoice"]
        ),
        Case(
            testDescription: "a payment",
            facts: [
                .checkout("complete", paid: true, 0, price: "price_lifetime"),
                .refund("re_1", 1, "succeeded", 1),
            ],
            day: 5,
            decides: ["payment"]
        ),
    ]

    static func explain(
        _ facts: [Fact],
        _ day: Double,
        _ lookupKey: String = "pro"
    ) -> Explanation {
        let purchases = World(facts).records.map { record in
            (record, record.evaluate(in: Shop.history).shares.first?.access ?? PurchaseAccess())
        }
        return Explanation(of: lookupKey, at: .day(day), purchases: purchases, in: Shop.history)
    }

    @Test("the fact that decides is marked", arguments: cases)
    func decides(_ story: Case) {
        let explanation = Self.explain(story.facts, story.day)
        #expect(explanation.isEntitled)
        #expect(explanation.facts.filter(\.decides).map(\.kind).sorted() == story.decides)
    }

    @Test("facts are told in the order of their clocks")
    func order() {
        let explanation = Self.explain(
            [.status(1, 30), .paid("p2", 30, 60), .paid("p1", 0, 30)],
            31
        )
        #expect(explanation.facts.map(\.stated) == explanation.facts.map(\.stated).sorted())
        #expect(explanation.facts.count == 3)
    }

    @Test("a refusal says what would change it")
    func refusal() {
        let explanation = Self.explain([.paid("p1", 0, 30)], 40)
        #expect(!explanation.isEntitled)
        #expect(explanation.wouldChange.contains { $0.contains("2026-01-31T00:00:00Z") })
        #expect(explanation.wouldChange.contains { $0.contains("monthly") })
        #expect(
            Self.explain([], 1, "unheard_of").wouldChange.contains { $0.contains("unheard_of") }
        )
    }

    @Test("a product that no catalog knows is named")
    func unknownProduct() {
        let explanation = Self.explain([.paid("p1", 0, 30, "com.example.app.secret")], 1)
        #expect(explanation.wouldChange.contains { $0.contains("com.example.app.secret") })
    }
}
