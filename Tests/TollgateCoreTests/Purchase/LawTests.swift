import Testing
import TollgateCore

@Suite("Laws of the record")
struct LawTests {
    /// Facts as a hostile world might send them: overlapping, contradicting, reordered, on few ids
    /// and clocks so that they meet.
    static func history(_ random: inout Seeded, count: Int) -> [Fact] {
        (0..<count).map { index in
            let day = Double(Int.random(in: 0...100, using: &random))
            let number = Int.random(in: 0...3, using: &random)
            let from = Double(number * 30)
            switch Int.random(in: 0...15, using: &random) {
            case 0...2:
                let tokens: [String?] = [nil, "a", "b"]
                let revoked: Double? =
                    Int.random(in: 0...3, using: &random) == 0
                    ? from + Double(Int.random(in: 0...40, using: &random)) : nil
                return .paid(
                    "p\(number)",
                    from,
                    from + 30,
                    said: day,
                    transaction: "t\(index)",
                    revoked: revoked,
                    share: [nil, 50_000].randomElement(using: &random) ?? nil,
                    upgraded: Int.random(in: 0...9, using: &random) == 0,
                    token: tokens.randomElement(using: &random) ?? nil,
                    seats: Int64.random(in: 1...3, using: &random),
                    addition: Int.random(in: 0...3, using: &random) == 0,
                    returned: [nil, nil, nil, 1].randomElement(using: &random) ?? nil,
                    switched: Int.random(in: 0...9, using: &random) == 0,
                    previous: [nil, nil, nil, "0", "7"].randomElement(using: &random) ?? nil,
                    source: [nil, nil, "receipt:t\(index % 4)"].randomElement(using: &random) ?? nil
                )
            case 3:
                return .terms(
                    day,
                    renews: Bool.random(using: &random),
                    grace: Bool.random(using: &random) ? day + 6 : nil
                )
            case 4:
                return .status(
                    Int64.random(in: 1...5, using: &random),
                    day,
                    source: [nil, nil, "receipt:1"].randomElement(using: &random) ?? nil
                )
            case 5:
                let periods: [String?] = [nil, "p0", "p1", "p2"]
                return .reversed(periods.randomElement(using: &random) ?? nil, day)
            case 6:
                let modes: [Claim.Mode] = [.purchased, .restored, .observed]
                return .claimed(
                    ["ann", "bob", "cyd"].randomElement(using: &random) ?? "ann",
                    modes.randomElement(using: &random) ?? .observed,
                    day
                )
            case 7:
                let statuses = ["active", "past_due", "canceled", "unpaid", "trialing"]
                return .subscription(
                    statuses.randomElement(using: &random) ?? "active",
                    day,
                    from: from,
                    to: from + 30,
                    cancelAt: Bool.random(using: &random) ? day : nil,
                    ended: day,
                    read: Bool.random(using: &random)
                )
            case 8:
                return .invoice(
                    "in_\(number)",
                    Double(Int.random(in: 0...3, using: &random) * 10),
                    isProration: Bool.random(using: &random),
                    amount: [999, 0, -500].randomElement(using: &random) ?? 999
                )
            case 9:
                return .checkout(
                    ["open", "complete", "expired"].randomElement(using: &random) ?? "open",
                    paid: Bool.random(using: &random),
                    day,
                    price: Bool.random(using: &random) ? "price_coins" : nil,
                    paidBy: Bool.random(using: &random) ? from : nil,
                    read: Bool.random(using: &random)
                )
            case 10:
                let statuses = ["pending", "requires_action", "succeeded", "failed", "canceled"]
                return .refund(
                    "re_\(number)",
                    400,
                    statuses.randomElement(using: &random) ?? "",
                    day,
                    created: Bool.random(using: &random) ? from : nil
                )
            case 11...14: return .play(&random, day: day, from: from)
            default:
                let statuses = ["needs_response", "won", "lost", "warning_closed"]
                return .dispute(
                    "dp_\(number)",
                    700,
                    statuses.randomElement(using: &random) ?? "",
                    day,
                    withdrawn: Bool.random(using: &random) ? from : nil
                )
            }
        }
    }

    @Test("a record is the join of its facts, in any order and repetition", arguments: 1...60)
    func join(seed: Int) throws {
        var random = Seeded(UInt64(seed))
        let facts = Self.history(&random, count: 40)
        let world = World(facts)
        let bytes = try world.bytes()
        for _ in 0..<6 {
            let arrived = (facts + facts.shuffled(using: &random).prefix(20))
                .shuffled(using: &random)
            #expect(try World(arrived).bytes() == bytes)
        }
    }

    @Test("no access beyond what was paid, with grace and leeway", arguments: 1...60)
    func soundness(seed: Int) {
        var random = Seeded(UInt64(seed))
        let facts = Self.history(&random, count: 40).filter { $0.purchase == .appStore() }
        var ends: [Instant] = []
        for fact in facts {
            switch fact.statement {
            case .period(let period): ends += period.end.map { [$0.advanced(by: 7_200_000)] } ?? []
            case .renewal(let terms): ends += terms.graceEnd.map { [$0] } ?? []
            case .status(let status) where status.value == 4:
                ends.append(fact.stated.instant.advanced(by: 3 * 86_400_000))
            default: break
            }
        }
        let limit = ends.max() ?? .day(0)
        for entry in World(facts).timeline().entries {
            #expect(entry.until.map { $0 <= limit } ?? false)
        }
    }

    @Test("no access in Google Play beyond what was stated, with leeway", arguments: 1...60)
    func googlePlaySoundness(seed: Int) {
        var random = Seeded(UInt64(seed))
        let facts = Self.history(&random, count: 80).filter { $0.purchase.store == .googlePlay }
        var limit = Instant.day(0)
        for case .googlePlaySubscription(let read) in facts.map(\.statement) {
            for end in read.items.compactMap(\.expiry) { limit = max(limit, end) }
        }
        limit = limit.advanced(by: 86_400_000)
        for entry in World(facts).timeline().entries where entry.purchase.id != "P" {
            #expect(entry.until.map { $0 <= limit } ?? false)
        }
    }

    @Test("of linked tokens of Google Play at most one gives access", arguments: 1...60)
    func oneTier(seed: Int) {
        var random = Seeded(UInt64(seed))
        // All three are known: of a chain with a gap the first would still count.
        let facts =
            ["A", "B", "C"].map { .play(token: $0, &random, day: 0) }
            + Self.history(&random, count: 80)
        let access = World(facts).records.filter { $0.key.store == .googlePlay && $0.key.id != "P" }
            .flatMap { record in
                record.evaluate(in: Shop.history).shares.flatMap(\.access.intervals).map {
                    (token: record.key.id, interval: $0)
                }
            }
        for day in stride(from: 0.5, to: 130, by: 1) {
            let active = access.filter { _, interval in
                interval.since <= .day(day) && interval.until.map { .day(day) < $0 } ?? true
            }
            #expect(Set(active.map(\.token)).count <= 1, "day \(day)")
        }
    }

    @Test("coins of a lot are between nothing and its credit", arguments: 1...60)
    func coins(seed: Int) {
        var random = Seeded(UInt64(seed))
        let world = World(Self.history(&random, count: 40))
        for lot in world.evaluations().flatMap(\.lots) {
            #expect((0...lot.credit).contains(lot.clawed))
        }
        for evaluation in world.evaluations() {
            #expect(Set(evaluation.lots.map(\.id)).count == evaluation.lots.count)
        }
    }

    @Test("texts that differ only in Unicode's normal form do not depend on their order")
    func normalForms() throws {
        func named(_ product: String) -> Fact { .paid("p1", 0, 30, product) }
        let facts = [named("caf\u{e9}"), named("cafe\u{301}")]
        #expect(try World(facts).bytes() == World(facts.reversed()).bytes())
    }

    static let extremes: [Int64] = [.min, .min + 1, -1, 0, 1, .max - 1, .max]

    @Test("no number that a store could send ends the process", arguments: extremes)
    func hostileNumbers(_ number: Int64) throws {
        let instant = Instant(milliseconds: number)
        let seconds = Instant(seconds: number)
        var facts: [Fact] = []
        for other in Self.extremes {
            let day = Instant(milliseconds: other)
            func said(_ statement: Statement, _ key: Purchase.Key) {
                facts.append(
                    Fact(
                        purchase: key,
                        source: "\(other)",
                        stated: Stated(day),
                        statement: statement
                    )
                )
            }
            said(
                .period(
                    Period(
                        id: "\(other)",
                        transactionID: "\(other)",
                        product: Shop.monthly,
                        kind: .autoRenewable,
                        start: instant,
                        end: day,
                        revoked: day,
                        revokedShare: number,
                        quantity: number
                    )
                ),
                .appStore()
            )
            said(
                .period(
                    Period(
                        id: "n",
                        transactionID: "n",
                        product: "com.example.app.pass",
                        kind: .nonRenewing,
                        start: instant
                    )
                ),
                .appStore("n\(other)")
            )
            said(.renewal(RenewalTerms(willRenew: true, graceEnd: day)), .appStore())
            said(.status(SubscriptionStatus(value: 4, reachesTo: instant)), .appStore())
            said(.status(SubscriptionStatus(value: number)), .appStore())
            for price in ["price_coins", "price_pass", "price_lifetime"] {
                let line = StripePayment.Line(price: price, quantity: number)
                said(
                    .payment(
                        StripePayment(
                            session: "cs",
                            status: "complete",
                            isPaid: true,
                            customer: nil,
                            reference: nil,
                            lines: [line, line, .init(price: price, quantity: other)],
                            amount: number,
                            currency: "usd",
                            created: seconds
                        )
                    ),
                    .stripe("pi_\(price)\(other)")
                )
                for id in ["1", "2", "3"] {
                    said(
                        .refund(StripeRefund(id: id, amount: other, status: "succeeded")),
                        .stripe("pi_\(price)\(other)")
                    )
                    said(
                        .dispute(StripeDispute(id: id, amount: number, status: "lost")),
                        .stripe("pi_\(price)\(other)")
                    )
                }
            }
            said(
                .subscription(
                    StripeSubscription(
                        status: "active",
                        customer: "cus",
                        items: [
                            .init(
                                id: "si",
                                price: "price_monthly",
                                quantity: number,
                                start: instant,
                                end: day
                            )
                        ]
                    )
                ),
                .stripe("sub")
            )
            said(
                .subscription(
                    StripeSubscription(
                        status: "past_due",
                        customer: "cus",
                        items: [
                            .init(
                                id: "si",
                                price: "price_monthly",
                                quantity: number,
                                start: instant,
                                end: day,
                                isBilledInArrears: true
                            )
                        ],
                        daysUntilDue: number
                    )
                ),
                .stripe("sub_late")
            )
            for amount in [number, 1, -1] {
                said(
                    .invoice(
                        StripeInvoice(
                            id: "in_\(amount)",
                            isPaid: true,
                            amount: amount,
                            currency: "usd",
                            lines: [false, true].map { isProration in
                                .init(
                                    id: "il_\(amount)_\(isProration)",
                                    price: "price_monthly",
                                    quantity: other,
                                    amount: amount,
                                    start: day,
                                    end: instant,
                                    isProration: isProration
                                )
                            }
                        )
                    ),
                    .stripe("sub_late")
                )
            }
            hostileGooglePlay(number, other) { said($0, .play($1)) }
            said(
                .invoice(
                    StripeInvoice(
                        id: "in",
                        isPaid: true,
                        amount: number,
                        currency: "usd",
                        lines: [
                            .init(
                                id: "il",
                                price: "price_monthly",
                                quantity: number,
                                amount: other,
                                start: instant,
                                end: day,
                                isProration: false
                            )
                        ]
                    )
                ),
                .stripe("sub")
            )
        }
        let world = World(facts)
        var sum: Int64 = 0
        for lot in world.evaluations().flatMap(\.lots) { sum += lot.remainder }
        let timeline = world.timeline()
        for other in Self.extremes {
            _ = timeline.active(at: Instant(milliseconds: other))
            _ = timeline.nextChange(after: Instant(milliseconds: other))
            for key in ["pro", "archive"] {
                let records = world.records.map { record in
                    (record, record.evaluate(in: Shop.history).shares.first?.access ?? .init())
                }
                let explanation = Explanation(
                    of: key,
                    at: Instant(milliseconds: other),
                    purchases: records,
                    in: Shop.history
                )
                #expect(explanation.lookupKey == key)
            }
        }
        #expect(!instant.description.isEmpty && !seconds.description.isEmpty)
    }
}
