import TollgateCore

extension WorldPlan {
    /// From where on people who buy on pages of this server, and their acts, are numbered.
    private static let firstOfOwnPages = 96_000

    /// Adds people who buy on Checkout pages that name what they sell, as every page of this server does:
    /// the event says it, and the read that follows says it again.
    ///
    /// They are drawn from chance of their own and come after all others were numbered, and none of their
    /// acts is after the world's end: so everybody else's acts stay what they were.
    mutating func addOwnPages(seed: UInt64, customers: Int) {
        var random = SplitMix64(seed: seed ^ 0x0B5_0A6E_5EED)
        var added: [PlannedAct] = []
        for number in 0..<max(1, customers / 16) {
            let index = Self.firstOfOwnPages + number
            people.append(Scenario.Person(name: "c\(index)"))
            var visitor = PageVisitor(index: index, ends: end, random: &random)
            visitor.live(&random)
            added += visitor.diary.acts
        }
        add(added, from: Self.firstOfOwnPages)
    }
}

/// Somebody who buys on pages of this server, by card or by a bank debit that takes days.
private struct PageVisitor: StripeStories {
    var diary: LifeDiary

    init(index: Int, ends: Int64, random: inout SplitMix64) {
        let at = WorldPlan.beginning + Int64.random(in: 1...60, using: &random) * WorldPlan.day
        diary = LifeDiary(index: index, ends: ends, at: at)
    }

    mutating func live(_ random: inout SplitMix64) {
        while at < diary.ends {
            buy(&random)
            wait(10...60, &random)
        }
    }

    private mutating func buy(_ random: inout SplitMix64) {
        var order = StripeAct.Order(product: one("coins_100", "pass_30_days", of: &random))
        order.namesLines = true
        if order.product == "coins_100" { order.quantity = Int.random(in: 1...3, using: &random) }
        let card = one(Self.good, Self.good, "pm_card_sepaDebit", of: &random)
        if card == Self.good {
            checkout(order)
        } else {
            let days = Int.random(in: 2...9, using: &random)
            plan(.checkoutByDebit(order, card: card, days: days))
            wait(0.2...1.5, &random)
            look()
            wait(10...12, &random)
        }
        wait(0.05...2, &random)
        look()
        guard random.chance(0.5) else { return }
        plan(.refund(amount: random.chance(0.4) ? nil : Int.random(in: 1...900, using: &random)))
        look()
    }
}
