import AppStoreSimulator

extension PlannedAct {
    /// An incident that no customer's own life contains.
    public enum Incident: Hashable, Sendable {
        /// The act happens, and every notice of it gets lost at the first attempt.
        case unheard(AppStoreAct)
        /// The customer is compared at once, with what the server has been told so far.
        case look(Look)
        /// The server asks the stores what it has to ask.
        case settle
        /// For so many milliseconds nothing that the App Store says of the customer arrives, and it
        /// answers no question.
        case cutOff(Int64)
        /// The server's clock is behind by so many milliseconds for so many.
        case clockBehind(Int64, span: Int64)
        /// For so many milliseconds Google Play refuses every call, and nobody does anything.
        case googlePlayRefuses(Int64)
        /// Customers of another system are imported.
        case moveIn
        /// A copy of the database is made.
        case backUp
        /// The database is lost, and the last copy takes its place.
        case restoreBackup
    }

    /// A comparison at once, and the condition for it.
    public struct Look: Hashable, Sendable {
        /// Whether the coins are known too, not only the access.
        public var knowsCoins = true
        /// Whether it is known without any answer of the App Store's.
        public var needsNoAnswer = false
        /// Whether a reversal can be known only by the revocation's fields having vanished from the
        /// transaction, as Apple's staff says that they do:
        /// https://developer.apple.com/forums/thread/757986.
        public var needsClearedFields = false
    }
}

extension WorldPlan {
    /// From where on people and acts of these histories are numbered, whatever else the world holds.
    static let firstOfAppStoreHistories = 100_000

    /// Adds people who live through what nobody plans, drawn from chance of their own, so that the
    /// lives of everybody else stay what they are.
    mutating func addAppStoreHistories(seed: UInt64, customers: Int, years: Double) {
        var random = SplitMix64(seed: seed ^ 0xA991_E000)
        settings.multiseat = SimulatedShop.multiseat
        var added: [PlannedAct] = []
        for number in 0..<max(2, customers / 8) {
            var household = Household(
                buyer: Self.firstOfAppStoreHistories + 2 * number,
                family: "g\(number)",
                begins: Self.beginning,
                ends: end,
                random: &random
            )
            household.live(&random)
            people += household.people
            added += household.acts
        }
        added += incidents(&random, years: years)
        added.sort { ($0.at, $0.customer ?? -1) < ($1.at, $1.customer ?? -1) }
        for index in added.indices { added[index].number = Self.firstOfAppStoreHistories + index }
        acts += added
        acts.sort { ($0.at, $0.number) < ($1.at, $1.number) }
    }

    /// The incidents of the server itself.
    private func incidents(_ random: inout SplitMix64, years: Double) -> [PlannedAct] {
        var planned: [PlannedAct] = []
        func plan(_ at: Int64, _ incident: PlannedAct.Incident) {
            planned.append(PlannedAct(number: 0, at: at, customer: nil, deed: .incident(incident)))
        }
        for _ in 0..<Int((years * 3).rounded(.up)) {
            plan(
                Int64.random(in: Self.beginning..<end, using: &random),
                .clockBehind(
                    Int64.random(in: 6...55, using: &random) * 60_000,
                    span: Int64.random(in: 10...1200, using: &random) * 60_000
                )
            )
        }
        return planned + backups(&random)
    }

    /// Copies of the database, and its loss some days later: longer ago the sandbox remembers nothing.
    private func backups(_ random: inout SplitMix64) -> [PlannedAct] {
        guard random.chance(0.6) else { return [] }
        let copied = Int64.random(
            in: Self.beginning + 20
                * Self.day..<max(end - 20 * Self.day, Self.beginning + 21 * Self.day),
            using: &random
        )
        let lost = copied + Int64.random(in: 1...12 * Self.day, using: &random)
        return [
            PlannedAct(number: 0, at: copied, customer: nil, deed: .incident(.backUp)),
            PlannedAct(number: 0, at: lost, customer: nil, deed: .incident(.restoreBackup)),
            // What a server does when it starts.
            PlannedAct(number: 0, at: lost + 1000, customer: nil, deed: .reconcile),
        ]
    }

    /// Leaves out all acts but those of these numbers, and people without any.
    ///
    /// Whoever was added to a world of so many customers and does nothing would move the ids of the
    /// others.
    mutating func keepOnly(_ numbers: Set<Int>, of customers: Int) {
        // A server that never asks the stores misses what they forget after 30 days.
        acts.removeAll { !numbers.contains($0.number) && $0.deed != .reconcile }
        let busy = Set(acts.compactMap(\.customer))
        let added = people.dropFirst(customers).filter { person in
            guard let index = Int(person.name.dropFirst()) else { return true }
            let isOfHousehold = index >= Self.firstOfAppStoreHistories
            return busy.contains(index) || isOfHousehold && busy.contains(index ^ 1)
        }
        people = people.prefix(customers) + added
    }
}

/// Two people of one family: one who buys, and one with whom things are shared.
private struct Household {
    let people: [Scenario.Person]
    private(set) var acts: [PlannedAct] = []
    private let buyer: Int
    private let member: Int
    private let family: String
    private let ends: Int64
    private var at: Int64
    private var history: Int

    init(buyer: Int, family: String, begins: Int64, ends: Int64, random: inout SplitMix64) {
        (self.buyer, self.family, self.ends) = (buyer, family, ends)
        member = buyer + 1
        history = buyer * 1000
        at = begins + Int64.random(in: 1...40 * 86_400_000, using: &random)
        people = [buyer, buyer + 1].map { index in
            var person = Scenario.Person(name: "c\(index)")
            person.passesToken = random.chance(0.8)
            person.family = family
            return person
        }
    }

    mutating func live(_ random: inout SplitMix64) {
        while at < ends {
            history += 1
            switch Int.random(in: 0..<10, using: &random) {
            case 0: refundInAnyPairing(&random)
            case 1: loseARefundOrItsReversal(&random)
            case 2: shareAnew(&random)
            case 3: changePlansCutOff(&random)
            case 4: showReceipts(&random)
            case 5: buySeats(&random)
            case 6: goOnElsewhere(&random)
            case 7: upgradeUnheard(&random)
            case 8: showReceiptInGrace(&random)
            default: crossgrade(&random)
            }
            wait(8...30, &random)
        }
    }

    // MARK: - Saying what happens

    private mutating func plan(_ who: Int, _ deed: PlannedAct.Deed, _ random: inout SplitMix64) {
        acts.append(PlannedAct(number: 0, at: at, customer: who, deed: deed, history: history))
        at += Int64.random(in: 1_000...60_000, using: &random)
    }

    private mutating func act(_ act: AppStoreAct, by who: Int? = nil, _ random: inout SplitMix64) {
        plan(who ?? buyer, .appStore(act), &random)
    }

    private mutating func unheard(
        _ act: AppStoreAct,
        by who: Int? = nil,
        _ random: inout SplitMix64
    ) {
        plan(who ?? buyer, .incident(.unheard(act)), &random)
    }

    private mutating func look(
        at who: Int? = nil,
        knowsCoins: Bool = true,
        needsNoAnswer: Bool = false,
        needsClearedFields: Bool = false,
        _ random: inout SplitMix64
    ) {
        let look = PlannedAct.Look(
            knowsCoins: knowsCoins,
            needsNoAnswer: needsNoAnswer,
            needsClearedFields: needsClearedFields
        )
        plan(who ?? buyer, .incident(.look(look)), &random)
    }

    private mutating func settle(_ random: inout SplitMix64) {
        plan(buyer, .incident(.settle), &random)
    }

    private mutating func buy(
        _ product: String,
        quantity: Int = 1,
        by who: Int? = nil,
        _ random: inout SplitMix64
    ) {
        act(.buy(product: product, quantity: quantity, offer: nil), by: who, &random)
        show(product, by: who, as: "purchased", &random)
    }

    private mutating func show(
        _ product: String,
        number: Int? = nil,
        by who: Int? = nil,
        as mode: String = "observed",
        _ random: inout SplitMix64
    ) {
        act(.post(.init(product: product, number: number), mode: mode), by: who, &random)
    }

    /// Lets so many days pass, to the millisecond.
    private mutating func wait(_ days: ClosedRange<Double>, _ random: inout SplitMix64) {
        at += Int64(Double.random(in: days, using: &random) * Double(WorldPlan.day))
    }

    // MARK: - Histories

    /// Periods are refunded and their refunds taken back, in any pairing.
    private mutating func refundInAnyPairing(_ random: inout SplitMix64) {
        let (product, days) =
            random.chance(0.5) ? ("studio_weekly", 7.01) : ("coin_club", 31.0)
        buy(product, &random)
        let periods = Int.random(in: 2...4, using: &random)
        let span = Double(periods - 1) * days
        wait(span...(span + 2), &random)
        var refunded: Set<Int> = []
        for _ in 0..<Int.random(in: 3...7, using: &random) {
            let number = Int.random(in: 1...periods, using: &random)
            let which = AppStoreAct.Which(product: product, number: number)
            var isReversal = false
            if refunded.contains(number) {
                refunded.remove(number)
                isReversal = true
            } else {
                refunded.insert(number)
            }
            let share = [nil, nil, 50_000, 33_333].randomElement(using: &random) ?? nil
            let deed =
                isReversal ? AppStoreAct.reverseRefund(which) : .refund(which, share: share)
            if random.chance(0.25) {
                unheard(deed, &random)
                show(product, number: number, &random)
                look(needsClearedFields: isReversal, &random)
            } else {
                act(deed, &random)
                if random.chance(0.4) { look(needsClearedFields: true, &random) }
            }
            wait(0.1...1, &random)
        }
        act(.cancel(.init(product: product)), &random)
    }

    /// The notice of a refund, or of its reversal, is lost, and a device shows the transaction.
    private mutating func loseARefundOrItsReversal(_ random: inout SplitMix64) {
        let product = random.chance(0.6) ? "studio_weekly" : "coin_club"
        let newest = AppStoreAct.Which(product: product)
        buy(product, &random)
        wait(0.2...3, &random)
        if random.chance(0.7) {
            act(.refund(newest, share: nil), &random)
            look(&random)
            wait(0.05...1.5, &random)
            unheard(.reverseRefund(newest), &random)
            show(product, &random)
            look(needsClearedFields: true, &random)
            settle(&random)
            look(needsClearedFields: true, &random)
        } else {
            unheard(.refund(newest, share: nil), &random)
            show(product, &random)
            look(&random)
            settle(&random)
            look(&random)
        }
        act(.cancel(newest), &random)
    }

    /// A family share is taken away and given anew, and goes on beside what the member buys.
    private mutating func shareAnew(_ random: inout SplitMix64) {
        let product =
            ["pro_monthly", "studio_weekly", "studio_yearly"].randomElement(using: &random)
            ?? "studio_weekly"
        buy(product, &random)
        show(product, by: member, &random)
        look(at: member, &random)
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            wait(0.1...1.5, &random)
            act(.revokeShare, by: member, &random)
            look(at: member, &random)
            wait(0.05...0.5, &random)
            if random.chance(0.6) {
                unheard(.joinFamily(family), by: member, &random)
                show(product, by: member, &random)
                look(at: member, &random)
                settle(&random)
            } else {
                act(.joinFamily(family), by: member, &random)
                show(product, by: member, &random)
            }
            look(at: member, &random)
        }
        if random.chance(0.4) {
            wait(0.1...2, &random)
            buy(product.hasPrefix("pro") ? "pro_weekly" : "studio_plus_weekly", by: member, &random)
            look(at: member, &random)
            wait(0.1...2, &random)
            act(.cancel(.init()), by: member, &random)
        }
        wait(8...33, &random)
        look(at: member, &random)
        act(.cancel(.init(product: product)), &random)
    }

    /// The last notice before a change of plans is lost, and more are: the last status that was heard
    /// reaches over months.
    private mutating func changePlansCutOff(_ random: inout SplitMix64) {
        buy("studio_yearly", &random)
        look(&random)
        wait(1...20, &random)
        let span = Int64.random(in: 9...16, using: &random) * WorldPlan.day
        plan(buyer, .incident(.cutOff(span)), &random)
        act(.change(to: "studio_weekly"), &random)
        show("studio_weekly", &random)
        look(knowsCoins: false, needsNoAnswer: true, &random)
        wait(0.1...3, &random)
        act(.cancel(.init(product: "studio_weekly")), &random)
        // The week is over, the last word on the year says that it is not.
        wait(7.2...9, &random)
        look(knowsCoins: false, needsNoAnswer: true, &random)
    }

    /// Legacy receipts beside signed transactions.
    private mutating func showReceipts(_ random: inout SplitMix64) {
        let product = random.chance(0.5) ? "studio_yearly" : "coin_club"
        let newest = AppStoreAct.Which(product: product)
        if random.chance(0.5) {
            act(.buy(product: product, quantity: 1, offer: nil), &random)
            act(.postReceipt(mode: "purchased"), &random)
        } else {
            buy(product, &random)
        }
        look(&random)
        wait(0.5...9, &random)
        if random.chance(0.6) {
            let share = [nil, 50_000, 33_333, 66_667].randomElement(using: &random) ?? nil
            act(.refund(newest, share: share), &random)
            if random.chance(0.3) { look(&random) }
            wait(0.01...1, &random)
            act(.postReceipt(mode: "observed"), &random)
            look(&random)
            wait(0.01...2, &random)
            act(.reverseRefund(newest), &random)
            act(.postReceipt(mode: "observed"), &random)
            look(needsClearedFields: true, &random)
        } else if product == "studio_yearly" {
            act(.change(to: "studio_weekly"), &random)
            if random.chance(0.5) { show("studio_weekly", &random) }
            act(.postReceipt(mode: "observed"), &random)
            look(&random)
            wait(0.01...3, &random)
            act(.postReceipt(mode: "observed"), &random)
            look(&random)
        }
        if product == "studio_yearly" {
            // A year would go on through everything that follows.
            act(.change(to: "studio_weekly"), &random)
        }
        act(.cancel(.init()), &random)
    }

    /// A device shows a receipt of iOS 6 while a renewal fails: its answer is 21006, without a word
    /// on the grace period that Apple has signed.
    ///
    /// https://developer.apple.com/documentation/appstorereceipts/status
    private mutating func showReceiptInGrace(_ random: inout SplitMix64) {
        let product = random.chance(0.5) ? "studio_weekly" : "coin_club"
        buy(product, &random)
        act(.failBilling, &random)
        let days = product == "studio_weekly" ? 7.05 : 31.05
        wait(days...(days + 8), &random)
        if random.chance(0.3) { look(&random) }
        act(.postReceipt(of: .init(product: product), mode: "observed"), &random)
        look(&random)
        wait(0.1...9, &random)
        look(&random)
        if random.chance(0.5) {
            act(.recoverBilling, &random)
            act(.postReceipt(of: .init(product: product), mode: "observed"), &random)
            look(&random)
        }
        act(.cancel(.init(product: product)), &random)
    }

    /// Seats are bought, added, refunded and assigned.
    private mutating func buySeats(_ random: inout SplitMix64) {
        let team = "team_monthly"
        buy(team, quantity: Int.random(in: 2...5, using: &random), &random)
        wait(0.2...6, &random)
        if random.chance(0.6) {
            act(.assignSeat(of: "c\(buyer)"), by: member, &random)
            show(team, by: member, &random)
            look(at: member, &random)
        }
        for _ in 0..<Int.random(in: 3...6, using: &random) {
            let which = AppStoreAct.Which(
                product: team,
                number: random.chance(0.3) ? nil : Int.random(in: 1...2, using: &random)
            )
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4: act(.addSeats(Int.random(in: 1...4, using: &random)), &random)
            case 4..<6: act(.refund(which, share: nil), &random)
            case 6..<7: act(.reverseRefund(which), &random)
            case 7..<9: act(.refundSeats(which, seats: 1), &random)
            default: act(.revokeShare, by: member, &random)
            }
            look(needsClearedFields: true, &random)
            if random.chance(0.4) { show(team, &random) }
            wait(0.1...3, &random)
        }
        wait(18...34, &random)
        look(needsClearedFields: true, &random)
        look(at: member, &random)
        act(.cancel(.init(product: team)), &random)
    }

    /// A plan goes on under another original transaction id: as part of a bundle, or migrated.
    private mutating func goOnElsewhere(_ random: inout SplitMix64) {
        // What has coins shows whether any are taken; what is migrated is not sold a second time.
        let isSwitch = random.chance(0.75)
        let product = isSwitch ? "coin_club" : "archive_monthly"
        let which = AppStoreAct.Which(product: product)
        buy(product, &random)
        wait(1...25, &random)
        let deed: AppStoreAct = isSwitch ? .switchToBundle(which) : .migrate(which)
        let isUnheard = random.chance(0.4)
        if isUnheard {
            unheard(deed, &random)
            show(product, &random)
        } else {
            act(deed, &random)
        }
        look(&random)
        if random.chance(0.4) {
            wait(0.1...3, &random)
            act(.refund(which, share: nil), &random)
            look(&random)
        }
        wait(10...40, &random)
        look(&random)
        act(.cancel(which), &random)
    }

    /// The notice of an upgrade is lost, and a device shows the old plan's transaction: it was
    /// upgraded, nobody knows to what.
    private mutating func upgradeUnheard(_ random: inout SplitMix64) {
        buy("studio_yearly", &random)
        wait(0.5...20, &random)
        unheard(.change(to: "studio_weekly"), &random)
        show("studio_yearly", &random)
        settle(&random)
        look(&random)
        wait(0.5...5, &random)
        look(&random)
        act(.cancel(.init()), &random)
    }

    /// Changes to a plan of the same level: at once where it is as long, else with the next period.
    private mutating func crossgrade(_ random: inout SplitMix64) {
        let plans = ["studio_weekly", "studio_plus_weekly", "studio_monthly", "studio_yearly"]
        let first = plans.randomElement(using: &random) ?? "studio_weekly"
        buy(first, &random)
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            wait(0.3...9, &random)
            let next = plans.randomElement(using: &random) ?? "studio_weekly"
            let isUnheard = random.chance(0.2)
            if isUnheard {
                unheard(.change(to: next), &random)
                show(next, &random)
                settle(&random)
            } else {
                act(.change(to: next), &random)
            }
            // Whether an upgrade is a refund of what it replaces, Apple does not document.
            look(knowsCoins: !isUnheard, &random)
        }
        act(.change(to: "studio_weekly"), &random)
        act(.cancel(.init()), &random)
    }
}
