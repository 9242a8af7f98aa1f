import AppStoreSimulator
import TollgateCore

// Customers of another system, who bought before this server was there.
extension WorldPlan {
    /// From where on such customers and their acts are numbered.
    private static let firstOfMoved = 98_000
    /// In months: how long before the world begins the first of them buy.
    fileprivate static let monthsBefore = 5

    /// `true` if anybody moved here from another system.
    var hasMovedCustomers: Bool {
        acts.contains { (Self.firstOfMoved..<100_000).contains($0.number) }
    }

    /// The first instant of the stores: before the world begins where customers moved.
    var start: Int64 {
        guard moved != nil else { return Self.beginning }
        return Self.beginning - Int64(Self.monthsBefore + 1) * 31 * Self.day
    }

    /// Adds customers whose purchases and coins were another system's matter until the world begins.
    ///
    /// They are imported an hour later, and the catalog's `coins_since` says when they moved. They are drawn from chance of their own and come after all others were numbered, and none of their
    /// acts is after the world's end. Where people have Android phones nobody moves: what Google Play
    /// tells of a purchase depends on when it is read first.
    mutating func addMovedCustomers(seed: UInt64, customers: Int) {
        var random = SplitMix64(seed: seed ^ 0x30_7ED0_11FE)
        guard random.chance(0.5), !hasAndroid else { return }
        moved = Self.beginning
        var added: [PlannedAct] = []
        for number in 0..<max(2, customers / 10) {
            let index = Self.firstOfMoved + number
            if number.isMultiple(of: 2) {
                var buyer = MovedBuyer(index: index, ends: end, random: &random)
                buyer.live(&random)
                people.append(buyer.person)
                added += buyer.diary.acts
            } else {
                people.append(Scenario.Person(name: "c\(index)"))
                var payer = MovedPayer(index: index, ends: end, random: &random)
                payer.live(&random)
                added += payer.diary.acts
            }
        }
        added.append(
            PlannedAct(
                number: 0,
                at: Self.beginning + 3_600_000,
                customer: nil,
                deed: .incident(.moveIn)
            )
        )
        add(added, from: Self.firstOfMoved)
    }

    /// An instant some months before the world begins, from which on no month ends near its beginning:
    /// of a renewal in that hour it is not said which system sold it.
    fileprivate static func before(_ random: inout SplitMix64) -> Int64 {
        let months = Int64.random(in: 1...Int64(monthsBefore), using: &random)
        return beginning - months * 31 * day + Int64.random(in: 5 * day...24 * day, using: &random)
    }
}

/// Somebody who bought in the App Store before the move.
private struct MovedBuyer {
    var diary: LifeDiary
    var person: Scenario.Person
    private let product: String

    private static let plans = ["coin_club", "studio_yearly", "pro_yearly", "coin_club"]

    init(index: Int, ends: Int64, random: inout SplitMix64) {
        diary = LifeDiary(index: index, ends: ends, at: WorldPlan.before(&random))
        person = Scenario.Person(name: "c\(index)")
        person.passesToken = random.chance(0.7)
        product = Self.plans.randomElement(using: &random) ?? "coin_club"
    }

    mutating func live(_ random: inout SplitMix64) {
        act(.buy(product: product, quantity: 1, offer: nil), &random)
        if random.chance(0.6) {
            let packs = Int.random(in: 1...3, using: &random)
            act(.buy(product: "coins_100", quantity: packs, offer: nil), &random)
        }
        if random.chance(0.2) { act(.cancel(.init(product: product)), &random) }
        diary.at = WorldPlan.beginning + 4 * 3_600_000
        diary.plan(.look)
        while diary.at < diary.ends {
            diary.wait(4...50, &random)
            actAfterwards(&random)
            if random.chance(0.5) {
                diary.wait(0.1...3, &random)
                diary.plan(.look)
            }
        }
    }

    private mutating func actAfterwards(_ random: inout SplitMix64) {
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<3:
            // The first period was paid for before the move.
            let share = [nil, nil, 50_000].randomElement(using: &random) ?? nil
            act(.refund(.init(product: product, number: 1), share: share), &random)
            guard random.chance(0.4) else { return }
            diary.wait(0.1...5, &random)
            act(.reverseRefund(.init(product: product, number: 1)), &random)
        case 3..<5: act(.refund(.init(product: "coins_100", number: 1), share: nil), &random)
        case 5..<7:
            act(.buy(product: "coins_100", quantity: 1, offer: nil), &random)
            act(.post(.init(product: "coins_100"), mode: "purchased"), &random)
        case 7..<8 where product == "studio_yearly":
            act(.change(to: "studio_weekly"), &random)
            diary.wait(1...20, &random)
            act(.cancel(.init(product: "studio_weekly")), &random)
        case 7..<8: act(.cancel(.init(product: product)), &random)
        default:
            act(.buy(product: product, quantity: 1, offer: nil), &random)
            act(.post(.init(product: product), mode: "purchased"), &random)
        }
    }

    private mutating func act(_ act: AppStoreAct, _ random: inout SplitMix64) {
        diary.plan(.appStore(act))
        diary.at += Int64.random(in: 1_000...60_000, using: &random)
    }
}

/// Somebody who paid at Stripe before the move.
private struct MovedPayer: StripeStories {
    var diary: LifeDiary
    private let product: String

    init(index: Int, ends: Int64, random: inout SplitMix64) {
        diary = LifeDiary(index: index, ends: ends, at: WorldPlan.before(&random))
        product = ["coin_club", "pro_yearly"].randomElement(using: &random) ?? "coin_club"
    }

    mutating func live(_ random: inout SplitMix64) {
        checkout(.init(product: product))
        if random.chance(0.6) {
            wait(0.1...3, &random)
            checkout(
                .init(product: "coins_100", quantity: Int.random(in: 1...3, using: &random))
            )
        }
        at = WorldPlan.beginning + 4 * 3_600_000
        look()
        while at < diary.ends {
            wait(4...50, &random)
            actAfterwards(&random)
            wait(0.1...3, &random)
            if random.chance(0.6) { look() }
        }
    }

    private mutating func actAfterwards(_ random: inout SplitMix64) {
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<3:
            // The first charge was paid before the move.
            let amount = random.chance(0.5) ? nil : Int.random(in: 1...400, using: &random)
            plan(.refund(amount: amount, charge: 1))
        case 3..<5: checkout(.init(product: "coins_100"))
        case 5..<8:
            let to = one("pro_yearly", "coin_club", "pro_monthly", of: &random)
            let proration = one("create_prorations", "always_invoice", of: &random)
            plan(.change(to: to, proration: proration))
        case 8..<9: plan(.cancel(.periodEnd))
        default: checkout(.init(product: product))
        }
    }
}
