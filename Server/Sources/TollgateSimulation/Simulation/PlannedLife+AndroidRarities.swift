// What few people with Android phones do: prepaid plans, installments, add-ons, codes, bundles, and new
// prices.
extension WorldPlan {
    /// The first number of these people and their acts.
    private static let firstOfRarities = 90_000

    /// The plans of Google Play that a catalog does not tell.
    var googlePlayPlans: [String: Scenario.GooglePlaySettings.Plan] {
        let plans: [String: Scenario.GooglePlaySettings.Plan] = [
            "pro_prepaid": .init(kind: "prepaid"),
            "pro_installments": .init(kind: "installments", committedPayments: 3),
        ]
        return plans.merging(releases.mapValues { .init(release: $0) }) { own, _ in own }
    }

    /// Adds them to worlds with Android phones, drawn from chance of their own: the acts of all others
    /// stay what they were, though a new price concerns them too.
    mutating func addAndroidRarities(seed: UInt64, customers: Int) {
        guard hasAndroid else { return }
        var random = SplitMix64(seed: seed ^ 0x7A12_E5A1)
        var added: [PlannedAct] = []
        for number in 0..<max(2, customers / 8) {
            var life = RareAndroidLife(
                index: Self.firstOfRarities + number,
                ends: end,
                random: &random
            )
            life.live(&random)
            people.append(life.person)
            added += life.acts
        }
        add(added, from: Self.firstOfRarities)
    }
}

/// The life of one of them.
private struct RareAndroidLife {
    var person: Scenario.Person
    var acts: [PlannedAct] = []
    private let index: Int
    private let ends: Int64
    private var at: Int64

    init(index: Int, ends: Int64, random: inout SplitMix64) {
        (self.index, self.ends) = (index, ends)
        at = Int64.random(
            in: WorldPlan.beginning..<(WorldPlan.beginning + (ends - WorldPlan.beginning) / 3),
            using: &random
        )
        person = Scenario.Person(name: "c\(index)")
        person.passesToken = random.chance(0.8)
        // Installments are sold in few countries, Brazil among them.
        if random.chance(0.4) { person.region = "BR" }
    }

    mutating func live(_ random: inout SplitMix64) {
        while at < ends {
            act(&random)
            if random.chance(0.1) {
                acts.append(PlannedAct(number: 0, at: at, customer: index, deed: .look))
            }
            wait(4...50, &random)
        }
    }

    private mutating func plan(
        _ name: String,
        _ product: String? = nil,
        _ values: [String: GooglePlayAct.Value] = [:]
    ) {
        var act = GooglePlayAct(name: name)
        act.which = .init(product: product)
        act.values = values
        acts.append(PlannedAct(number: 0, at: at, customer: index, deed: .googlePlay(act)))
    }

    private mutating func wait(_ days: ClosedRange<Double>, _ random: inout SplitMix64) {
        at += Int64(Double.random(in: days, using: &random) * Double(WorldPlan.day))
    }

    private mutating func buy(
        _ product: String,
        _ random: inout SplitMix64,
        _ values: [String: GooglePlayAct.Value] = [:]
    ) {
        plan("buy", product, values)
        at += Int64.random(in: 200...60_000, using: &random)
        plan("post", nil, ["mode": .text("purchased")])
    }

    private mutating func act(_ random: inout SplitMix64) {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<22:
            buy("pro_prepaid", &random)
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                wait(3...45, &random)
                plan("top_up")
            }
        case 22..<40:
            buy("pro_monthly", &random, ["add_ons": .texts(["coin_club"])])
            wait(1...40, &random)
            if random.chance(0.3) { plan("revoke_item", nil, ["item": .text("coin_club")]) }
        case 40..<54:
            buy("pro_installments", &random)
            wait(1...100, &random)
            plan("cancel")
        case 54..<64:
            let product = random.chance(0.5) ? "pro_monthly" : "lifetime"
            buy(product, &random, ["promotion": .text("SPRING")])
        case 64..<70:
            buy("lifetime", &random, ["bundle": .texts(["coins_100"])])
            wait(1...20, &random)
            if random.chance(0.4) { plan("refund", "lifetime", ["revoke": .truth(true)]) }
        case 70..<78: raisePrice(&random)
        case 78..<86:
            plan("set_account", nil, ["payment": .text("declines")])
            wait(1...60, &random)
            plan("set_account", nil, ["payment": .text("approves")])
        case 86..<94:
            plan("cancel")
            guard random.chance(0.4) else { return }
            wait(0.1...10, &random)
            plan("restore")
        default: plan("revoke")
        }
    }

    /// A new price for everybody; who does not consent is cancelled at the renewal.
    private mutating func raisePrice(_ random: inout SplitMix64) {
        let modes = ["PRICE_INCREASE", "PRICE_DECREASE", "OPT_OUT_PRICE_INCREASE"]
        let mode = modes.randomElement(using: &random) ?? "PRICE_INCREASE"
        let price = mode == "PRICE_DECREASE" ? 9 : Int64.random(in: 10...13, using: &random)
        plan(
            "price",
            "pro_monthly",
            ["mode": .text(mode), "price_micros": .number(price * 1_000_000)]
        )
        wait(1...30, &random)
        if random.chance(0.6) { plan("consent") }
    }
}
