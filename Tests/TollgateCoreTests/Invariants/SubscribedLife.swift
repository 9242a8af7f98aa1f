import TollgateCore

/// A subscription as a store would live it, with what must come of it, computed by hand.
struct SubscribedLife {
    private(set) var facts: [Fact] = []
    /// Spans of access, half-open, in milliseconds.
    private(set) var spans: [Range<Int64>] = []
    private(set) var coins: Int64 = 0
    /// The same after every refund was taken back.
    private(set) var reversedCoins: Int64 = 0
    private var refunded: [String] = []
    private(set) var probes: [Instant] = []
    /// Where access ends for good reasons that are known.
    private(set) var ends: [Instant] = []

    private static let day: Int64 = 86_400_000

    init(_ random: inout Seeded) {
        var start = 0.0
        var said = 0.0
        var number = 0
        var isOver = false
        while !isOver, number < 6 {
            number += 1
            let id = "p\(number)"
            let end = start + 30
            facts += [.paid(id, start, end, said: said), .terms(said), .status(1, said)]
            coins += 10
            reversedCoins += 10
            switch Int.random(in: 0..<5, using: &random) {
            case 0:  // Renewed in time.
                add(start, end)
                (start, said) = (end, end)
            case 1:  // Cancelled, and over at the end.
                facts += [.terms(start + 5, renews: false), .status(2, end)]
                add(start, end, isEnd: true)
                isOver = true
            case 2:  // The card fails; grace; recovered within it.
                facts += [.terms(end, grace: end + 16), .status(4, end)]
                add(start, end)
                (start, said) = (end, end + 4)
            case 3:  // The card fails; grace runs out, and nobody says so.
                facts += [.terms(end, grace: end + 16), .status(4, end)]
                add(start, end + 16, isEnd: true)
                isOver = true
            default:  // Refunded in the middle; bought anew later.
                let cut = start + Double(Int.random(in: 5...29, using: &random))
                facts += [
                    .paid(id, start, end, said: cut, revoked: cut), .status(5, cut),
                    .terms(cut, renews: false),
                ]
                coins -= 10
                refunded.append(id)
                add(start, cut, isEnd: true)
                start = cut + Double(Int.random(in: 1...40, using: &random))
                said = start
            }
        }
        if !isOver {
            // What is known ends here: no renewal window beyond it.
            facts += [.terms(said + 1, renews: false), .status(2, said + 1)]
        }
        for _ in 0..<40 {
            let day = Double(Int.random(in: 0...300, using: &random))
            // Never within the renewal window of two hours.
            probes.append(
                .day(day, plus: Int64.random(in: 10_800_000...80_000_000, using: &random))
            )
        }
    }

    private mutating func add(_ from: Double, _ to: Double, isEnd: Bool = false) {
        let (start, end) = (Instant.day(from).milliseconds, Instant.day(to).milliseconds)
        spans.append(start..<max(start, end))
        if isEnd { ends.append(.day(to)) }
    }

    func isEntitled(at instant: Instant) -> Bool {
        spans.contains { $0.contains(instant.milliseconds) }
    }

    /// The same facts under other messages.
    var restated: [Fact] {
        facts.map { fact in
            var fact = fact
            fact.source += ", again"
            return fact
        }
    }

    /// A refund of the first period, and its reversal and that of every other refund, after all
    /// else.
    func refundedAndReversed(_ key: Purchase.Key) -> [Fact] {
        [
            .paid("p1", 0, 30, said: 500, revoked: 500), .reversed("p1", 510),
        ] + refunded.map { .reversed($0, 510) }
    }

    /// Three people say that it is theirs.
    var claims: [Fact] {
        [
            .claimed("ann", .purchased, 1), .claimed("bob", .restored, 2),
            .claimed("cyd", .observed, 0),
        ]
    }
}
