import Testing
import TollgateCore

/// What people read of a purchase in Google Play, and what an erasure leaves.
@Suite("Google Play in words")
struct GooglePlayTextTests {
    private static func lines(_ facts: [Fact], at day: Double, key: String = "pro") -> [String] {
        let explanation = Explanation(
            of: key,
            at: .day(day),
            purchases: World(facts).records.map { record in
                (record, record.evaluate(in: Shop.history).shares.first?.access ?? .init())
            },
            in: Shop.history
        )
        return explanation.facts.map { ($0.decides ? "→ " : "") + $0.summary }
    }

    @Test("a subscription that was replaced")
    func replaced() {
        let facts: [Fact] = [
            .play("ACTIVE", 0, .item(to: 30)),
            .play(
                "ACTIVE",
                10,
                from: 10,
                .item(to: 30, renews: false, then: "premium_basic"),
                .item(to: nil, order: nil, "premium", "basic"),
                token: "B",
                linked: "A"
            ),
        ]
        #expect(
            Self.lines(facts, at: 20) == [
                "subscription is ACTIVE: premium:monthly to 2026-01-31T00:00:00Z, "
                    + "replaced by another purchase at 2026-01-11T00:00:00Z",
                "→ subscription is ACTIVE: premium:basic, not begun; "
                    + "premium:monthly to 2026-01-31T00:00:00Z, then premium_basic",
            ]
        )
    }

    @Test("orders, voids and a read that is refused")
    func orders() {
        let facts: [Fact] = [
            .play("ACTIVE", 0, .item(to: 30)), .order("GPA.1", 1, from: 0, to: 30),
            .void("GPA.1", 2), .unreadable(3), .outage(2.5),
        ]
        #expect(
            Self.lines(facts, at: 4) == [
                "→ subscription is ACTIVE: premium:monthly to 2026-01-31T00:00:00Z",
                "order GPA.1 is PROCESSED",
                "order GPA.1 was voided at 2026-01-03T00:00:00Z",
                "Google Play could not be asked about it (permissionDenied), "
                    + "so a renewal may be unknown",
                "Google Play no longer answers for it (purchaseTokenNoLongerValid); "
                    + "what was read before still counts",
            ]
        )
    }

    @Test("an outage is told until Google answers again")
    func outage() {
        let read = "→ subscription is ACTIVE: premium:monthly to 2026-01-31T00:00:00Z"
        for day in [2.5, 3] {
            let facts: [Fact] = [.outage(2.5), .play("ACTIVE", day, .item(to: 30))]
            #expect(Self.lines(facts, at: 4) == [read])
        }
    }

    @Test("what was bought once")
    func boughtOnce() {
        let facts: [Fact] = [
            .bought(
                "PURCHASED",
                0,
                .init(product: "lifetime"),
                .init(product: "pass", option: "rent", isRental: true),
                .init(product: "coins", quantity: 3)
            ),
            .void("GPA.P", 2, quantity: 1, token: "P"),
        ]
        #expect(
            Self.lines(facts, at: 40) == [
                "→ purchase is PURCHASED: 3 × coins; lifetime; pass:rent, rented",
                "1 of order GPA.P was voided at 2026-01-03T00:00:00Z",
            ]
        )
    }

    @Test("what was taken back of it")
    func takenBack() {
        let facts: [Fact] = [
            .bought("PURCHASED", 0, .init(product: "coins", quantity: 3)),
            .void("GPA.P", 2, quantity: 1, token: "P"),
        ]
        let text = Purchase(key: .play("P"), joining: facts)
        #expect(text.storeProducts == [StoreProduct(.googlePlay, "coins")])
        let summaries = facts.map(\.summary)
        #expect(summaries[0] == "purchase is PURCHASED: 3 × coins")
        let explanation = Explanation(
            of: "coins",
            at: .day(3),
            purchases: [(text, .init())],
            in: .init()
        )
        #expect(explanation.facts.map(\.summary)[0].hasSuffix("3 × coins, 1 taken back"))
    }

    @Test("a lifetime purchase decides, and once it is cancelled says so without pieces")
    func deciding() {
        let lifetime = Fact.bought("PURCHASED", 0, .init(product: "lifetime"))
        #expect(Self.lines([lifetime], at: 1) == ["→ purchase is PURCHASED: lifetime"])
        let cancelled = Fact.bought("CANCELLED", 2, .init(product: "lifetime"))
        #expect(Self.lines([lifetime, cancelled], at: 3) == ["purchase is CANCELLED: lifetime"])
    }

    @Test("an item that was removed says so")
    func removed() {
        let fact = Fact.play("ACTIVE", 0, .item(to: 30, isRemoved: true))
        #expect(
            Self.lines([fact], at: 1) == [
                "→ subscription is ACTIVE: premium:monthly to 2026-01-31T00:00:00Z, removed"
            ]
        )
    }

    @Test("each kind of statement has a name and a sentence of its own")
    func summaries() {
        let facts: [Fact] = [
            .play("PAUSED", 0, .item(to: 0)),
            .bought("PENDING", 0, at: nil, .init(product: "coins")),
            .order("GPA.1", 0, from: 0, to: 30), .void("GPA.1", 0), .unreadable(0),
        ]
        #expect(
            facts.map(\.kind) == [
                "google_play_subscription", "google_play_purchase", "google_play_order",
                "google_play_void", "google_play_unreadable",
            ]
        )
        #expect(facts.map(\.summary).allSatisfy { !$0.hasPrefix("google_play") })
    }

    @Test("an erasure puts hashes in the place of account ids, and owners stay apart")
    func renamed() throws {
        let facts: [Fact] = [
            .play(
                "ACTIVE",
                0,
                .item(to: 30),
                account: "a",
                again: .init(token: "Z", account: "a")
            ),
            .bought("PURCHASED", 0, .init(product: "coins"), account: "a"),
            .play("ACTIVE", 10, from: 10, .item(to: 40, order: "GPA.2"), token: "B", linked: "A"),
        ]
        let hash = "0123456789abcdef0123456789abcdef"
        let renaming = Renaming { $0 == .token("a") ? hash : nil }
        var renamed = World(facts).records
        for index in renamed.indices { try renamed[index].rename(renaming) }
        #expect(renamed == World(try facts.map { try $0.renamed(renaming) }).records)
        #expect(!renamed.flatMap(\.names).contains(.token("a")))
        for record in renamed where record.key.id != "Z" {
            let owners = record.evaluate(in: Shop.history).shares.map(\.owner)
            #expect(owners == [[.erased(hash)]], "\(record.key)")
        }
        #expect(facts.flatMap(\.names) == [.token("a"), .token("a"), .token("a")])
    }
}
