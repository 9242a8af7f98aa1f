import AppStoreSimulator
import TollgateCore

extension WorldPlan {
    /// From where on people who do two things in one instant, and their acts, are numbered.
    private static let firstOfInstants = 95_000

    /// Adds people whose trial in the App Store is upgraded in the instant in which it begins, as in a
    /// sandbox whose clock stands still.
    ///
    /// They are drawn from chance of their own and come after all others were numbered, and none of their
    /// acts is after the world's end: so everybody else's acts stay what they were.
    mutating func addInstants(seed: UInt64, customers: Int) {
        var random = SplitMix64(seed: seed ^ 0x1A57_A275)
        var added: [PlannedAct] = []
        for number in 0..<max(1, customers / 16) {
            let index = Self.firstOfInstants + number
            var person = Scenario.Person(name: "c\(index)")
            person.passesToken = random.chance(0.7)
            people.append(person)
            var hasty = HastyBuyer(index: index, ends: end, random: &random)
            hasty.live(&random)
            added += hasty.diary.acts
        }
        add(added, from: Self.firstOfInstants)
    }
}

/// Somebody who changes to the year before the free week has lasted a millisecond.
private struct HastyBuyer {
    var diary: LifeDiary

    private static let (first, next) = ("pro_monthly", "pro_yearly")

    init(index: Int, ends: Int64, random: inout SplitMix64) {
        let at = WorldPlan.beginning + Int64.random(in: 1...60, using: &random) * WorldPlan.day
        diary = LifeDiary(index: index, ends: ends, at: at)
    }

    mutating func live(_ random: inout SplitMix64) {
        plan(.buy(product: Self.first, quantity: 1, offer: nil))
        plan(.change(to: Self.next))
        diary.at += Int64.random(in: 50...90_000, using: &random)
        plan(.post(.init(product: Self.next), mode: "purchased"))
        diary.wait(0.01...2, &random)
        diary.plan(.look)
        diary.wait(5...20, &random)
        if random.chance(0.5) { plan(.cancel(.init(product: Self.next))) }
        if random.chance(0.3) {
            diary.wait(0.1...5, &random)
            plan(.refund(.init(product: Self.next), share: nil))
        }
        diary.wait(1...30, &random)
        diary.plan(.look)
    }

    private mutating func plan(_ act: AppStoreAct) { diary.plan(.appStore(act)) }
}
