// People who order what is not out yet, and licence testers.
extension WorldPlan {
    /// The first number of people who order ahead, and of their acts.
    private static let firstOfPreOrders = 80_000
    /// The first number of licence testers, and of their acts.
    private static let firstOfTesters = 85_000
    /// The first number of the acts around releases that are moved.
    private static let firstOfMovedReleases = 88_000

    /// Adds them to worlds with Android phones, drawn from chance of their own.
    ///
    /// They come after all others were numbered, and none of their acts is after the world's end: so
    /// everybody else's acts stay what they were.
    mutating func addAndroidPreOrders(seed: UInt64, customers: Int) {
        guard hasAndroid else { return }
        var random = SplitMix64(seed: seed ^ 0x93E0_4DE5)
        let span = end - Self.beginning
        releases = [
            "game": Self.beginning + span * Int64.random(in: 20...60, using: &random) / 100,
            "coin_chest": Self.beginning + span * Int64.random(in: 40...90, using: &random) / 100,
        ]
        var added: [PlannedAct] = []
        for number in 0..<max(2, customers / 10) {
            var life = PreOrderLife(
                index: Self.firstOfPreOrders + number,
                ends: end,
                random: &random
            )
            life.live(releases, &random)
            people.append(life.diary.person)
            added += life.diary.acts
        }
        add(added, from: Self.firstOfPreOrders)
        added = []
        for number in 0..<max(1, customers / 16) {
            var life = TesterLife(
                index: Self.firstOfTesters + number,
                ends: end,
                random: &random
            )
            life.live(&random)
            people.append(life.diary.person)
            added += life.diary.acts
        }
        add(added, from: Self.firstOfTesters)
        add(
            movedReleases(seed: seed, people: max(2, customers / 10)),
            from: Self.firstOfMovedReleases
        )
    }

    /// The developer moves some releases to a later day, drawn from chance of their own, too.
    ///
    /// Everybody who may have ordered ahead opens the app within the three days that an acknowledgement
    /// may take.
    private func movedReleases(seed: UInt64, people: Int) -> [PlannedAct] {
        var random = SplitMix64(seed: seed ^ 0x5E1A_D0B7)
        var acts: [PlannedAct] = []
        for (product, release) in releases.sorted(by: { $0.key < $1.key }) {
            let share = Int64.random(in: 50...98, using: &random)
            let moved = release + Int64.random(in: 3...60, using: &random) * Self.day
            guard random.chance(0.5), moved < end - 4 * Self.day else { continue }
            var developer = AndroidDiary(
                index: Self.firstOfPreOrders,
                ends: end,
                at: Self.beginning + (release - Self.beginning) * share / 100
            )
            developer.plan(
                "move_release",
                product,
                ["offer_id": .text("preorder"), "release_time": .number(moved)]
            )
            acts += developer.acts
            for number in 0..<people {
                var diary = AndroidDiary(
                    index: Self.firstOfPreOrders + number,
                    ends: end,
                    at: moved + 1000
                )
                diary.open(product, &random)
                acts += diary.acts
            }
        }
        return acts
    }

    /// Adds acts up to the world's end, numbered by time.
    mutating func add(_ some: [PlannedAct], from first: Int) {
        var added = some.filter { $0.at < end }
        added.sort { ($0.at, $0.customer ?? -1) < ($1.at, $1.customer ?? -1) }
        for index in added.indices { added[index].number = first + index }
        acts += added
        acts.sort { ($0.at, $0.number) < ($1.at, $1.number) }
    }
}

/// The acts of one of them, while they are planned.
private struct AndroidDiary {
    var person: Scenario.Person
    var acts: [PlannedAct] = []
    var at: Int64
    let ends: Int64
    private let index: Int

    init(index: Int, ends: Int64, at: Int64) {
        (self.index, self.ends, self.at) = (index, ends, at)
        person = Scenario.Person(name: "c\(index)")
    }

    mutating func plan(
        _ name: String,
        _ product: String? = nil,
        _ values: [String: GooglePlayAct.Value] = [:]
    ) {
        var act = GooglePlayAct(name: name)
        act.which = .init(product: product)
        act.values = values
        acts.append(PlannedAct(number: 0, at: at, customer: index, deed: .googlePlay(act)))
    }

    mutating func look() {
        acts.append(PlannedAct(number: 0, at: at, customer: index, deed: .look))
    }

    mutating func wait(_ days: ClosedRange<Double>, _ random: inout SplitMix64) {
        at += Int64(Double.random(in: days, using: &random) * Double(WorldPlan.day))
    }

    /// The app shows what was bought.
    mutating func post(
        _ product: String,
        mode: String = "purchased",
        _ random: inout SplitMix64
    ) {
        at += Int64.random(in: 200...60_000, using: &random)
        plan("post", product, ["mode": .text(mode)])
    }

    /// The app is opened within the three days that an acknowledgement may take.
    mutating func open(_ product: String, _ random: inout SplitMix64) {
        wait(0.01...2, &random)
        post(product, mode: "observed", &random)
        guard random.chance(0.4) else { return }
        at += 60_000
        look()
    }
}

/// The life of somebody who orders ahead.
///
/// An order ahead is pending until the release, when it is charged; until then it can be cancelled:
/// https://support.google.com/googleplay/answer/1061913.
private struct PreOrderLife {
    var diary: AndroidDiary

    init(index: Int, ends: Int64, random: inout SplitMix64) {
        let span = ends - WorldPlan.beginning
        let at = Int64.random(in: 0..<max(1, span / 3), using: &random)
        diary = AndroidDiary(index: index, ends: ends, at: WorldPlan.beginning + at)
        diary.person.passesToken = random.chance(0.8)
        // There tax comes on top of the listed prices.
        if random.chance(0.3) { diary.person.region = "CA" }
    }

    mutating func live(_ releases: [String: Int64], _ random: inout SplitMix64) {
        for (product, release) in releases.sorted(by: { $0.value < $1.value }) {
            diary.wait(0.1...90, &random)
            if diary.at < release {
                order(product, before: release, &random)
            } else {
                diary.plan("buy", product)
                diary.post(product, &random)
            }
            regret(product, &random)
        }
    }

    /// Orders ahead, and waits for the release or does not.
    private mutating func order(
        _ product: String,
        before release: Int64,
        _ random: inout SplitMix64
    ) {
        // A card that will decline the charge at the release.
        let isPaid = random.chance(0.85)
        if !isPaid { pay("slowly_declines") }
        diary.plan("buy", product, ["offer_id": .text("preorder")])
        diary.post(product, &random)
        if !isPaid { pay("approves") }
        if random.chance(0.4) {
            diary.wait(0.1...3, &random)
            if diary.at < release { diary.look() }
        }
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<2:
            guard moveOn(towards: release, &random) else { break }
            diary.plan("let_pending_end", product)
            guard random.chance(0.4), moveOn(towards: release, &random) else { return }
            diary.plan("buy", product, ["offer_id": .text("preorder")])
        case 2..<4:
            // It comes out earlier than was said.
            guard isPaid, moveOn(towards: release, &random) else { break }
            diary.plan("release", product)
            return diary.open(product, &random)
        default: break
        }
        diary.at = max(diary.at, release) + 1000
        diary.open(product, &random)
    }

    private mutating func pay(_ payment: String) {
        diary.at += 1000
        diary.plan("set_account", nil, ["payment": .text(payment)])
        diary.at += 1000
    }

    /// Lets some of the time until the release pass.
    ///
    /// - Returns: `false` where hardly any is left.
    private mutating func moveOn(towards release: Int64, _ random: inout SplitMix64) -> Bool {
        let left = release - diary.at - 3_600_000
        guard left > 0 else { return false }
        diary.at += Int64.random(in: 0...left, using: &random)
        return true
    }

    private mutating func regret(_ product: String, _ random: inout SplitMix64) {
        guard random.chance(0.3) else { return }
        diary.wait(0.1...30, &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: diary.plan("refund", product, ["revoke": .truth(true)])
        case 1: diary.plan("refund", product, ["revoke": .truth(false)])
        default: diary.plan("charge_back", product)
        }
    }
}

/// The life of a licence tester, whose month lasts five minutes and who pays nothing:
/// https://developer.android.com/google/play/billing/test.
///
/// They buy no plan with coins. Where nothing told of the first minutes, the server's first read names a
/// later renewal, and it credits none before that (RULES §18.5).
private struct TesterLife {
    var diary: AndroidDiary

    private static let products = ["pro_monthly", "pro_monthly", "coins_100", "lifetime"]

    init(index: Int, ends: Int64, random: inout SplitMix64) {
        let span = ends - WorldPlan.beginning
        let at = Int64.random(in: 0..<max(1, span / 2), using: &random)
        diary = AndroidDiary(index: index, ends: ends, at: WorldPlan.beginning + at)
        diary.person.isTester = true
        diary.person.passesToken = random.chance(0.8)
    }

    mutating func live(_ random: inout SplitMix64) {
        while diary.at < diary.ends {
            test(Self.products.randomElement(using: &random) ?? "pro_monthly", &random)
            diary.wait(6...60, &random)
        }
    }

    private mutating func test(_ product: String, _ random: inout SplitMix64) {
        diary.plan("buy", product)
        diary.post(product, &random)
        if random.chance(0.6) {
            diary.at += Int64.random(in: 1000...60_000, using: &random)
            diary.look()
        }
        if product == "pro_monthly" {
            // Six renewals are over after 35 minutes.
            if random.chance(0.3) {
                diary.at += Int64.random(in: 1000...1_500_000, using: &random)
                diary.plan("cancel", product)
            }
        } else if random.chance(0.3) {
            diary.wait(0.01...3, &random)
            diary.plan("refund", product, ["revoke": .truth(true)])
        }
        guard random.chance(0.5) else { return }
        diary.at += Int64.random(in: 60_000...5_400_000, using: &random)
        diary.look()
    }
}
