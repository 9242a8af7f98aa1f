extension WorldPlan {
    /// From where on people with Android phones, and their acts, are numbered.
    static let firstOfAndroid = 60_000

    /// `true` if anybody has an Android phone.
    var hasAndroid: Bool {
        acts.contains { if case .googlePlay = $0.deed { true } else { false } }
    }

    /// Adds people with Android phones, some of whom have an iPhone too, to every other world.
    ///
    /// They are drawn from chance of their own, so that nobody else lives differently. Where a copy of
    /// the database takes its place there are none: Google Play lists no purchases, so what was bought
    /// since the copy was made would be known only once a device shows it.
    mutating func addAndroidPeople(seed: UInt64, customers: Int) {
        var random = SplitMix64(seed: seed ^ 0xA2D2_01D0)
        let isBackedUp = acts.contains { $0.deed == .incident(.restoreBackup) }
        guard random.chance(0.6), !isBackedUp else { return }
        // Reads lag by time here, not by their number; a switch more would change every world.
        let others = ["stale_reads", "ended_hold_moves_expiry", "moved_release_is_unread"]
        let variants =
            [Variant.likely] + Variant.googlePlay.filter { !others.contains($0.name) }
        variant.googlePlay = (variants.randomElement(using: &random) ?? .likely).googlePlay
        var added: [PlannedAct] = []
        for number in 0..<max(2, customers / 6) {
            var life = AndroidLife(
                index: Self.firstOfAndroid + number,
                ends: end,
                random: &random
            )
            life.live(&random)
            people.append(life.person)
            added += life.acts.filter { $0.at < end }
        }
        added.sort { ($0.at, $0.customer ?? -1) < ($1.at, $1.customer ?? -1) }
        for _ in 0..<Int.random(in: 2...5, using: &random) {
            // Purchases have to be acknowledged within three days.
            let span = Int64.random(in: 40...66, using: &random) * 3_600_000
            let at = Int64.random(
                in: Self.beginning..<max(Self.beginning + 1, end - span),
                using: &random
            )
            let deed = PlannedAct.Deed.incident(.googlePlayRefuses(span))
            added.append(PlannedAct(number: 0, at: at, customer: nil, deed: deed))
        }
        for index in added.indices { added[index].number = Self.firstOfAndroid + index }
        acts += added
        acts.sort { ($0.at, $0.number) < ($1.at, $1.number) }
    }
}

/// The life of somebody with an Android phone.
private struct AndroidLife {
    var person: Scenario.Person
    var acts: [PlannedAct] = []
    private let index: Int
    private let ends: Int64
    private var at: Int64
    private let hasIPhone: Bool

    private static let plans = ["pro_monthly", "pro_monthly", "pro_yearly", "coin_club"]
    /// Each is possible between the plans that are sold, or is refused by the store.
    private static let modes = [
        "WITH_TIME_PRORATION", "CHARGE_PRORATED_PRICE", "WITHOUT_PRORATION", "CHARGE_FULL_PRICE",
        "DEFERRED",
    ]

    init(index: Int, ends: Int64, random: inout SplitMix64) {
        (self.index, self.ends) = (index, ends)
        at = Int64.random(
            in: WorldPlan.beginning..<(WorldPlan.beginning + (ends - WorldPlan.beginning) / 3),
            using: &random
        )
        person = Scenario.Person(name: "c\(index)")
        person.passesToken = random.chance(0.8)
        // There tax comes on top of the listed prices.
        if random.chance(0.3) { person.region = "CA" }
        hasIPhone = random.chance(0.3)
    }

    mutating func live(_ random: inout SplitMix64) {
        while at < ends {
            if hasIPhone, random.chance(0.3) { actOnIPhone(&random) } else { act(&random) }
            if random.chance(0.1) { plan(.look) }
            wait(4...70, &random)
        }
    }

    // MARK: - Words

    private mutating func plan(_ deed: PlannedAct.Deed) {
        acts.append(PlannedAct(number: 0, at: at, customer: index, deed: deed))
    }

    private mutating func plan(
        _ name: String,
        _ product: String? = nil,
        number: Int? = nil,
        order: Int? = nil,
        _ values: [String: GooglePlayAct.Value] = [:]
    ) {
        var act = GooglePlayAct(name: name)
        act.which = .init(product: product, number: number, order: order)
        act.values = values
        plan(.googlePlay(act))
    }

    private mutating func wait(_ days: ClosedRange<Double>, _ random: inout SplitMix64) {
        at += Int64(Double.random(in: days, using: &random) * Double(WorldPlan.day))
    }

    /// The app shows what was bought: at once, or when it is opened again.
    private mutating func post(_ random: inout SplitMix64) {
        at += Int64.random(in: 200...60_000, using: &random)
        if random.chance(0.7) { return plan("post", ["mode": .text("purchased")]) }
        wait(0.01...1.5, &random)
        plan("post", ["mode": .text("observed")])
    }

    private mutating func plan(_ name: String, _ values: [String: GooglePlayAct.Value]) {
        plan(name, nil, values)
    }

    // MARK: - Acts

    private mutating func act(_ random: inout SplitMix64) {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<26:
            plan("buy", Self.plans.randomElement(using: &random))
            post(&random)
        case 26..<38:
            let quantity = Int64.random(in: 1...4, using: &random)
            plan("buy", "coins_100", ["quantity": .number(quantity)])
            post(&random)
            guard random.chance(0.4) else { return }
            wait(0.1...20, &random)
            plan("refund_pieces", "coins_100", ["quantity": .number(1)])
        case 38..<41:
            plan("buy", "lifetime")
            post(&random)
        case 41..<49:
            plan("cancel")
            guard random.chance(0.4) else { return }
            wait(0.1...10, &random)
            plan("restore")
        case 49..<59: change(&random)
        case 59..<67:
            plan("set_account", ["payment": .text("declines")])
            wait(1...60, &random)
            plan("set_account", ["payment": .text("approves")])
        case 67..<72: pause(&random)
        case 72..<84: giveBack(&random)
        case 84..<90: payLater(&random)
        case 90..<94:
            // Without an account id only the token of the expired purchase says whose it is.
            guard person.passesToken else { return }
            plan("resubscribe")
        case 94..<97: plan("defer", ["days": .number(Int64.random(in: 1...20, using: &random))])
        default:
            let type = [2, 3, 12, 13, 23].randomElement(using: &random) ?? 2
            plan("tell", ["type": .number(Int64(type))])
        }
    }

    private mutating func change(_ random: inout SplitMix64) {
        let mode = Self.modes.randomElement(using: &random) ?? "DEFERRED"
        plan(
            "change",
            Self.plans.randomElement(using: &random),
            ["replacement_mode": .text(mode)]
        )
        post(&random)
    }

    private mutating func pause(_ random: inout SplitMix64) {
        plan("pause", ["length": .text(random.chance(0.5) ? "P1M" : "P2M")])
        wait(1...60, &random)
        plan(random.chance(0.5) ? "unpause" : "resume")
    }

    private mutating func giveBack(_ random: inout SplitMix64) {
        let product = random.chance(0.3) ? "coins_100" : nil
        let order = random.chance(0.3) ? 1 : nil
        switch Int.random(in: 0..<5, using: &random) {
        case 0: plan("refund", product, order: order, ["revoke": .truth(true)])
        case 1: plan("refund", product, order: order, ["revoke": .truth(false)])
        case 2: plan("charge_back", product, order: order)
        case 3: plan("review_refund", product, order: order)
        default: plan("revoke", product)
        }
    }

    /// Pays at a shop, or never.
    private mutating func payLater(_ random: inout SplitMix64) {
        plan("set_account", ["payment": .text("cash")])
        at += 1000
        plan("buy", random.chance(0.5) ? "coins_100" : Self.plans.randomElement(using: &random))
        wait(0.1...2, &random)
        plan(random.chance(0.6) ? "pay" : "let_pending_end")
        at += 1000
        plan("set_account", ["payment": .text("approves")])
        post(&random)
    }

    private mutating func actOnIPhone(_ random: inout SplitMix64) {
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<3:
            plan(.appStore(.buy(product: "pro_monthly", quantity: 1, offer: nil)))
        case 3..<6:
            plan(.appStore(.buy(product: "coins_100", quantity: 1, offer: nil)))
        case 6..<8: return plan(.appStore(.cancel(.init())))
        default: return plan(.appStore(.refund(.init(), share: nil)))
        }
        at += Int64.random(in: 50...90_000, using: &random)
        plan(.appStore(.post(.init(), mode: "purchased")))
    }
}
