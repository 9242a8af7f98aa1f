import TollgateCore

/// The acts of somebody, while they are planned.
struct LifeDiary {
    var at: Int64
    let ends: Int64
    private(set) var acts: [PlannedAct] = []
    private let index: Int

    init(index: Int, ends: Int64, at: Int64) {
        (self.index, self.ends, self.at) = (index, ends, at)
    }

    mutating func plan(_ deed: PlannedAct.Deed) {
        acts.append(PlannedAct(number: 0, at: at, customer: index, deed: deed))
    }

    /// Lets so many days pass, to the millisecond.
    mutating func wait(_ days: ClosedRange<Double>, _ random: inout SplitMix64) {
        at += Int64(Double.random(in: days, using: &random) * Double(WorldPlan.day))
    }
}

/// Stories of somebody at Stripe, and the words in which they are told.
protocol StripeStories {
    var diary: LifeDiary { get set }
}

extension StripeStories {
    static var good: String { "pm_card_visa" }
    /// It can be kept, and declines every charge.
    static var bad: String { "pm_card_chargeCustomerFail" }

    var at: Int64 {
        get { diary.at }
        set { diary.at = newValue }
    }

    mutating func plan(deed: PlannedAct.Deed) { diary.plan(deed) }

    mutating func plan(_ act: StripeAct) {
        plan(deed: .stripe(act))
        at += 1000
    }

    mutating func plan(_ deed: StripeDeed) {
        plan(deed: .atStripe(deed))
        at += 1000
    }

    /// Compares what is said of the person with the books, then goes on.
    mutating func look() { plan(deed: .look) }

    mutating func wait(_ days: ClosedRange<Double>, _ random: inout SplitMix64) {
        diary.wait(days, &random)
    }

    mutating func checkout(_ order: StripeAct.Order, card: String = "pm_card_visa") {
        plan(.checkout(order, card: card, passesChallenge: true, outcome: "completed"))
    }

    func one(_ words: String..., of random: inout SplitMix64) -> String {
        words.randomElement(using: &random) ?? words[0]
    }
}
