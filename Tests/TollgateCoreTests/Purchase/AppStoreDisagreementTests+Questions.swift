import Foundation
import Testing
import TollgateCore

// What is asked of the App Store, and what of its words stays.
extension AppStoreDisagreementTests {
    private static func asks(_ facts: [Fact]) -> [Wanted] {
        World(facts).evaluations().flatMap(\.wanted)
    }

    static let status = [Wanted(kind: .subscriptionStatus, object: "1")]

    @Test(
        "a disagreement about the present is asked about once",
        arguments: [
            reversals[2], contradictions[0], contradictions[2], contradictions[3],
            contradictions[4], contradictions[5], stale[0], stale[1], receipts[2],
        ]
    )
    func asked(_ story: Story) {
        #expect(Self.asks(story.facts) == Self.status)
    }

    @Test(
        "what agrees is not asked about",
        arguments: [
            reversals[0], reversals[3], contradictions[1], contradictions[6], receipts[0],
            receipts[1], receipts[3], receipts[4], receipts[5], seats[0], seats[1], seats[2],
            seats[5],
        ]
    )
    func notAsked(_ story: Story) {
        #expect(Self.asks(story.facts).isEmpty)
    }

    @Test("a disagreement is settled by the answer")
    func settled() {
        let story = Self.contradictions[0].facts
        #expect(Self.asks(story + [.paid("p1", 0, 30, said: 21), .status(1, 21)]).isEmpty)
        let again: [Fact] = [.paid("p1", 0, 30, said: 21, revoked: 10), .status(5, 21)]
        #expect(Self.asks(story + again).isEmpty)
    }

    @Test("an upgraded plan whose successor is unknown is asked about until it is known")
    func upgraded() {
        let upgraded: [Fact] = [
            .paid("p1", 0, 30), .paid("p1", 0, 30, said: 10, upgraded: true),
        ]
        #expect(Self.asks(upgraded) == Self.status)
        let refunded: [Fact] = [
            .paid("p1", 0, 30, said: 10, revoked: 10, upgraded: true),
            .status(1, 10, reaching: 375),
        ]
        #expect(Self.asks(refunded) == Self.status)
        #expect(Self.asks(upgraded + [.paid("p2", 10, 375, Shop.yearly)]).isEmpty)
    }

    @Test("a receipt's refund of what is bought once is asked about in the history")
    func askedOfHistory() {
        var refund = Fact.bought("l1", .nonConsumable, "lifetime", on: 0, said: 20, revoked: 10)
        refund.source = "receipt:l1"
        let facts: [Fact] = [.bought("l1", .nonConsumable, "lifetime", on: 0), refund]
        #expect(Self.asks(facts) == [Wanted(kind: .transactionHistory, object: "l1")])
        #expect(World(facts).timeline().ground(at: .day(15)) == nil)
    }

    @Test("an answer that repeats the record is news only where it settles something")
    func repetition() throws {
        func record(_ facts: [Fact]) throws -> Purchase {
            try #require(World(facts).records.first)
        }
        func period(_ fact: Fact) -> Period? {
            if case .period(let period) = fact.statement { period } else { nil }
        }
        let paid = try #require(period(.paid("p1", 0, 30)))
        let plain = try record([.paid("p1", 0, 30), .status(1, 0)])
        #expect(plain.repeats(paid) && !plain.isContested)
        #expect(!plain.repeats(try #require(period(.paid("p1", 0, 37)))))
        #expect(!plain.repeats(try #require(period(.paid("p2", 0, 30)))))
        // A later signature says that it runs in spite of the status.
        let gone = try record([.paid("p1", 0, 30), .status(5, 10)])
        #expect(!gone.repeats(paid) && !gone.isContested)
        let past = try record([.paid("p1", 0, 30), .status(5, 40)])
        #expect(past.repeats(paid))
        let contested = try record([.paid("p1", 0, 30, said: 20), .status(5, 10)])
        #expect(contested.repeats(paid) && contested.isContested)
        let receipt = try record([
            .paid("p1", 0, 30), .paid("p1", 0, 30, said: 5, revoked: 5, source: "receipt:t"),
        ])
        #expect(receipt.isContested)
        #expect(receipt.repeats(try #require(period(.paid("p1", 0, 30, revoked: 5)))))
    }

    // MARK: - Fields

    @Test("what was signed of a period stays, and a receipt fills in the rest", arguments: [1, 9])
    func fields(day: Double) throws {
        func fact(_ period: Period, _ day: Double, _ source: String) -> Fact {
            .said(.period(period), on: day, source: source)
        }
        let signed = Period(
            id: "p1",
            transactionID: "t1",
            product: Shop.monthly,
            kind: .autoRenewable,
            start: .day(0),
            end: .day(30),
            revoked: .day(2),
            revokedShare: 33_333,
            quantity: 4,
            isFamilyShared: true,
            price: 9990,
            currency: "EUR",
            offerType: 2,
            offer: "spring",
            storefront: "DEU",
            previous: "0",
            additionalReason: "SEAT_ADDITION",
            revokedSeats: 1
        )
        let receipt = Period(
            id: "p1",
            transactionID: "alias",
            product: Shop.yearly,
            kind: .unstated,
            start: .day(1),
            end: .day(20),
            revoked: .day(3),
            token: "ann",
            offerType: 1,
            discount: "FREE_TRIAL"
        )
        var merged = signed
        merged.token = "ann"
        merged.discount = "FREE_TRIAL"
        let facts = [fact(signed, 5, "m"), fact(receipt, day, "receipt:t1")]
        for order in [facts, facts.reversed()] {
            let record = try #require(World(order).records.first)
            #expect(record.periods.map(\.period) == [merged])
        }
    }

    @Test("terms of a receipt keep the renewal date that was signed")
    func terms() throws {
        let signed = RenewalTerms(willRenew: true, nextProduct: "p", renewalDate: .day(30))
        let facts: [Fact] = [
            .said(.renewal(signed), on: 1),
            .said(.renewal(RenewalTerms(willRenew: false)), on: 2, source: "receipt:1"),
        ]
        let renewal = try #require(World(facts).records.first?.renewal)
        #expect(!renewal.value.willRenew)
        #expect(renewal.value.nextProduct == "p" && renewal.value.renewalDate == .day(30))
    }

    @Test(
        "terms of a receipt leave a signed grace period that still runs, and may name a later one",
        arguments: [
            (29, nil, 30), (29, 25, 30), (29, 35, 35), (30, nil, nil), (31, 25, 25),
        ] as [(Double, Double?, Double?)]
    )
    func grace(day: Double, receipt: Double?, holds: Double?) throws {
        var terms = Fact.terms(day, grace: receipt)
        terms.source = "receipt:1"
        let renewal = try #require(World([.terms(20, grace: 30), terms]).records.first?.renewal)
        #expect(renewal.value.graceEnd == holds.map { .day($0) })
    }

    // MARK: - Journal rows of before

    @Test("a reversal without its period is of the one that its message states")
    func namedBySibling() {
        let row: [Fact] = [
            .paid("p1", 0, 30, said: 20, source: "m"), .status(1, 20, source: "m"),
            .reversed(nil, 20, source: "m"), .reversed(nil, 21, source: "alone"),
        ]
        let named = Fact.namingReversals(row)
        #expect(named.map(\.statement).contains(.refundReversed(period: "p1")))
        #expect(named.last?.statement == .refundReversed(period: nil))
        #expect(Fact.namingReversals(named) == named)
    }

    @Test("a bare reversal is read as it was written")
    func bareReversal() throws {
        let bytes = Data("{\"refundReversed\":{}}".utf8)
        let read = try JSONDecoder().decode(Statement.self, from: bytes)
        #expect(read == .refundReversed(period: nil))
        #expect(try JSONEncoder().encode(read) == bytes)
    }

    // MARK: - Figures

    @Test("figures see refunded seats, and no refund in a switch to a bundle or in an upgrade")
    func effective() {
        func period(_ facts: [Fact]) -> EffectivePeriod? {
            World(facts).records.first?.effectivePeriods.first
        }
        let seats = period(Self.seats[3].facts)
        #expect(seats?.revoked == nil && seats?.seatRefunds.map(\.stated) == [.day(10)])
        #expect(seats?.period.quantity == 10 && seats?.period.revokedSeats == 3)
        let switched = period(Self.seats[5].facts)
        #expect(switched?.revoked == nil && switched?.end == .day(10))
        for story in [Self.receipts[4], Self.receipts[5]] {
            let upgraded = period(story.facts)
            #expect(upgraded?.revoked == nil && upgraded?.end == .day(10), "\(story)")
        }
        let added = World(Self.seats[2].facts).records.first?.effectivePeriods
        #expect(added?.map(\.isAddition) == [false, true, false])
        #expect(added?.map(\.end) == [.day(30), .day(30), .day(60)])
    }
}
