import Testing
import TollgateCore

/// What becomes of a month whose token another one replaces, keeping its order, as with DEFERRED (RULES
/// §18.3).
@Suite("Periods in Google Play that go on under another token")
struct KeptPeriodTests {
    private static let month = Fact.play(
        "ACTIVE",
        0,
        .item(to: 30),
        .item(to: 30, "club", nil)
    )

    /// A read of the token that keeps the month.
    private static func keeps(
        _ token: String,
        _ state: String = "ACTIVE",
        _ day: Double = 10,
        from: Double = 10,
        month: Double = 30,
        club: Double? = nil,
        canceledBy: String? = nil,
        linked: String = "A"
    ) -> Fact {
        var items: [GooglePlaySubscription.Item] = [.item(to: month)]
        if let club { items.append(.item(to: club, "club", nil)) }
        return .said(
            .googlePlaySubscription(
                GooglePlaySubscription(
                    state: state,
                    start: .day(from),
                    items: items,
                    linkedToken: linked,
                    canceledBy: canceledBy
                )
            ),
            on: day,
            read: true,
            about: .play(token)
        )
    }

    private static func gold(_ day: Double, token: String, linked: String) -> Fact {
        .play(
            "ACTIVE",
            day,
            from: day,
            .item(to: day + 365, order: "GPA.2", "premium", "yearly"),
            token: token,
            linked: linked
        )
    }

    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let facts: [Fact]
        /// Whether it goes on under another token.
        var isKept = true
        /// The day on which it ends there before its time; `nil`: it runs to its end.
        var until: Double?
    }

    static let cases = [
        Case(testDescription: "nothing took its place", facts: [month], isKept: false),
        Case(
            testDescription: "the new token does not name its order",
            facts: [month, gold(10, token: "B", linked: "A")],
            isKept: false
        ),
        Case(
            testDescription: "only another product of its order is kept",
            facts: [
                month,
                .play("ACTIVE", 10, from: 10, .item(to: 30, "club", nil), token: "B", linked: "A"),
            ],
            isKept: false
        ),
        Case(testDescription: "it runs to its end", facts: [month, keeps("B")]),
        Case(
            testDescription: "the new token expires before its time",
            facts: [month, keeps("B"), keeps("B", "EXPIRED", 20, month: 20, club: 15)],
            until: 20
        ),
        Case(
            testDescription: "its buyer cancels the new token, which lasts to its end",
            facts: [month, keeps("B", "CANCELED", 20, club: 15, canceledBy: "user")],
            until: 30
        ),
        Case(
            testDescription: "a third token does not keep it",
            facts: [month, keeps("B"), gold(20, token: "C", linked: "B")],
            until: 20
        ),
        Case(
            testDescription: "a third token keeps it",
            facts: [month, keeps("B"), keeps("C", from: 20, linked: "B")]
        ),
        Case(
            testDescription: "a third token keeps it and expires",
            facts: [
                month, keeps("B"), keeps("C", "EXPIRED", 25, from: 20, month: 25, linked: "B"),
            ],
            until: 25
        ),
        Case(
            testDescription: "of two tokens that keep it one has expired",
            facts: [month, keeps("B", "EXPIRED", 20, month: 20), keeps("C")]
        ),
        Case(
            testDescription: "of two tokens that keep it the other one has expired",
            facts: [month, keeps("B"), keeps("C", "EXPIRED", 20, month: 20)]
        ),
        Case(
            testDescription: "of two tokens that kept it the one that lasted longer",
            facts: [
                month, keeps("B", "EXPIRED", 20, month: 20), keeps("C", "EXPIRED", 25, month: 25),
            ],
            until: 25
        ),
        Case(
            testDescription: "so it is where that one comes first",
            facts: [
                month, keeps("B", "EXPIRED", 25, month: 25), keeps("C", "EXPIRED", 20, month: 20),
            ],
            until: 25
        ),
    ]

    @Test("what became of the month:", arguments: cases)
    func kept(_ example: Case) throws {
        for facts in permutations(example.facts) {
            let purchase = World(facts).records.first { $0.key == .play("A") }
            let record = try #require(purchase?.googlePlay)
            let kept = record.continuation(of: "GPA.1", "premium")
            #expect((kept != nil) == example.isKept)
            #expect(kept?.until == example.until.map { .day($0) })
            #expect(record.continuation(of: "GPA.2", "premium") == nil)
        }
    }

    @Test("an order is of the token that bought it, whichever token it is read under")
    func orders() throws {
        let facts = [
            Self.month, Self.keeps("B"), .order("GPA.1", 12, from: 0, to: 30, token: "B"),
            .order("GPA.2", 12, from: 10, to: 40, token: "B"),
        ]
        for facts in permutations(facts) {
            let purchase = World(facts).records.first { $0.key == .play("A") }
            #expect(purchase?.googlePlay?.orders.map(\.value.id) == ["GPA.1"])
        }
    }

    @Test("the purchase before the only one that is known is asked for, as long as Google answers")
    func asked() throws {
        func wanted(_ facts: Fact...) throws -> Wanted? {
            let purchase = World([Self.keeps("B")] + facts).records.first { $0.key == .play("A") }
            return try #require(purchase).wanted(knownBy: "B")
        }
        #expect(try wanted() == Wanted(kind: .googlePlaySubscription, object: "A"))
        #expect(try wanted(Self.month) == nil)
        #expect(try wanted(.unreadable(12)) == nil)
    }
}
