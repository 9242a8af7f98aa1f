import AppStoreSimulator
import StripeSimulator

/// All that happens in a world: who lives in it, and what they do when.
struct WorldPlan: Sendable {
    /// 2025-01-01, so that two years hold a 29th of February only in longer worlds.
    static let beginning: Int64 = 1_735_689_600_000
    static let day: Int64 = 86_400_000
    static let hour: Int64 = 3_600_000

    var people: [Scenario.Person] = []
    var settings = Scenario.AppStoreSettings()
    var stripe = Scenario.StripeSettings()
    var variant = Variant.likely
    var acts: [PlannedAct] = []
    var end: Int64

    init(seed: UInt64, customers: Int, years: Double) {
        var random = SplitMix64(seed: seed)
        end = Self.beginning + Int64(years * 365) * Self.day
        settings.isProduction = random.chance(0.6)
        settings.graceDays = [nil, 3, 16, 28].randomElement(using: &random) ?? 16
        settings.shareable = SimulatedShop.shareable
        settings.multiseat = SimulatedShop.multiseat
        if let week = SimulatedAppStore.Period("P1W") {
            settings.offers = [
                .init(
                    product: "pro_monthly",
                    offer: .init(kind: .introductory, discount: .freeTrial, period: week)
                )
            ]
        }
        stripe.dunningEnd =
            [.canceled, .unpaid, .pastDue].randomElement(using: &random) ?? .canceled
        variant = Variant.all.randomElement(using: &random) ?? .likely
        var lives = (0..<customers).map { index in
            Life(index: index, begins: Self.beginning, ends: end, random: &random)
        }
        for index in lives.indices { lives[index].live(&random) }
        planMisfortunes(&lives, &random, years: years)
        people = lives.map(\.person)
        acts = lives.flatMap(\.acts) + acts
        planWorld(&random, years: years)
        acts.sort { ($0.at, $0.customer ?? -1) < ($1.at, $1.customer ?? -1) }
        for index in acts.indices { acts[index].number = index }
    }

    private func anyTime(_ random: inout SplitMix64) -> Int64 {
        Int64.random(in: Self.beginning..<end, using: &random)
    }

    private mutating func plan(_ at: Int64, _ deed: PlannedAct.Deed) {
        acts.append(PlannedAct(number: 0, at: at, customer: nil, deed: deed))
    }

    /// What happens to the server, and now and then just while somebody's purchase changes.
    private mutating func planMisfortunes(
        _ lives: inout [Life],
        _ random: inout SplitMix64,
        years: Double
    ) {
        for _ in 0..<Int((years * 2).rounded(.up)) {
            guard let index = lives.indices.filter({ lives[$0].usesAppStore })
                .randomElement(using: &random)
            else { break }
            lives[index].isUnheard(from: anyTime(&random), &random)
        }
        for _ in 0..<Int(years.rounded(.up)) {
            let at = anyTime(&random)
            plan(at, .world(.backUp))
            let span = Int64.random(in: Self.hour...(14 * Self.day), using: &random)
            plan(at + span, .world(.restore))
            guard let index = lives.indices.filter({ lives[$0].usesAppStore })
                .randomElement(using: &random)
            else { continue }
            lives[index].livesOnReceipts(from: anyTime(&random), &random)
        }
        for _ in 0..<Int((years * 2).rounded(.up)) {
            let behind = Int64.random(in: 60_000...3_600_000, using: &random)
            let span = Int64.random(in: Self.hour...(3 * Self.day), using: &random)
            plan(anyTime(&random), .world(.clockBehind(by: behind, for: span)))
        }
    }

    /// What concerns everybody.
    private mutating func planWorld(_ random: inout SplitMix64, years: Double) {
        for _ in 0..<Int((years * 3).rounded()) {
            let span = Int64.random(in: 1...72, using: &random) * Self.hour
            plan(anyTime(&random), .outage(span))
        }
        // The stores remember what they could not deliver for 30 days.
        var at = Self.beginning + 12 * Self.day
        while at < end {
            plan(at, .reconcile)
            at += Int64.random(in: 18...27, using: &random) * Self.day
        }
        // What somebody begins near the end is finished after it.
        let last = acts.map(\.at).max() ?? end
        while at < last {
            plan(at, .reconcile)
            at += 20 * Self.day
        }
        guard let first = acts.first else { return }
        func anybody(_ deed: AppStoreAct) -> PlannedAct {
            PlannedAct(
                number: 0,
                at: anyTime(&random),
                customer: first.customer ?? 0,
                deed: .appStore(deed)
            )
        }
        acts.append(
            anybody(
                .raisePrice(
                    product: "pro_monthly",
                    price: 10_990,
                    asksConsent: random.chance(0.5)
                )
            )
        )
        acts.append(
            anybody(
                .extendAll(product: "pro_monthly", days: Int.random(in: 1...20, using: &random))
            )
        )
    }
}

extension SplitMix64 {
    mutating func chance(_ share: Double) -> Bool {
        Double(next() >> 11) / Double(1 << 53) < share
    }

    mutating func any<Element>(_ elements: [Element]) -> Element {
        elements[Int(next() % UInt64(elements.count))]
    }
}
