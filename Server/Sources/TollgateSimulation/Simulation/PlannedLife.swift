import AppStoreSimulator
import StripeSimulator

/// One thing that happens in a simulated world, decided before the world begins, so that a failure
/// can be shrunk by leaving some of them out.
public struct PlannedAct: Sendable {
    public enum Deed: Hashable, Sendable {
        case appStore(AppStoreAct)
        case stripe(StripeAct)
        case atStripe(StripeDeed)
        case googlePlay(GooglePlayAct)
        /// All is healed, and what is said of the customer is compared with the books.
        case look
        /// The same while nothing is healed.
        case glance
        /// The customer spends coins.
        case spend(Int64)
        /// The server is down for so many milliseconds.
        case outage(Int64)
        /// The server asks the stores what it missed, in whatever trouble it is.
        case reconcile
        case incident(Incident)
    }

    /// Its place in the plan, by which it is named on the command line.
    public var number: Int
    /// UNIX milliseconds.
    public var at: Int64
    /// The customer's place; `nil`: nobody's act.
    public var customer: Int?
    public var deed: Deed
    /// The history of the App Store's that it is a part of; `nil`: none.
    public var history: Int?
}

/// All that happens in a world: who lives in it, and what they do when.
struct WorldPlan: Sendable {
    /// 2025-01-01, so that two years hold a 29th of February only in longer worlds.
    static let beginning: Int64 = 1_735_689_600_000
    static let day: Int64 = 86_400_000

    var people: [Scenario.Person] = []
    var settings = Scenario.AppStoreSettings()
    var stripe = Scenario.StripeSettings()
    var variant = Variant.likely
    var acts: [PlannedAct] = []
    var end: Int64
    /// When the customers of another system moved here, in UNIX milliseconds; `nil`: none did.
    var moved: Int64?
    /// The release, in UNIX milliseconds, of each product that Google Play sells ahead of it.
    var releases: [String: Int64] = [:]

    init(of world: Simulation.Settings) {
        let (seed, years) = (world.seed, world.years)
        var random = SplitMix64(seed: seed)
        end = Self.beginning + Int64(years * 365) * Self.day
        settings.isProduction = random.chance(0.6)
        settings.graceDays = [nil, 3, 16, 28].randomElement(using: &random) ?? 16
        settings.shareable = SimulatedShop.shareable
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
        variant = Variant.ofAppStoreAndStripe.randomElement(using: &random) ?? .likely
        for index in 0..<world.customers {
            var life = Life(index: index, begins: Self.beginning, ends: end, random: &random)
            people.append(life.person)
            life.live(&random)
            acts += life.acts
        }
        planWorld(&random, years: years)
        acts.sort { ($0.at, $0.customer ?? -1) < ($1.at, $1.customer ?? -1) }
        for index in acts.indices { acts[index].number = index }
        addStripeHistories(seed: seed)
        addAppStoreHistories(seed: seed, customers: world.customers, years: years)
        addAndroidPeople(seed: seed, customers: world.customers)
        addAndroidRarities(seed: seed, customers: world.customers)
        reconcileToTheLast()
        addAndroidPreOrders(seed: seed, customers: world.customers)
        addStripePayments(seed: seed, customers: world.customers)
        addMovedCustomers(seed: seed, customers: world.customers)
        addInstants(seed: seed, customers: world.customers)
        addOwnPages(seed: seed, customers: world.customers)
        if let acts = world.acts { keepOnly(acts, of: world.customers) }
        // What concerns everybody goes with those who need it.
        if !hasPayments { stripe.debitDays = nil }
        if !hasMovedCustomers { moved = nil }
    }

    /// What somebody begins near the end is finished after it, by everybody's acts.
    private mutating func reconcileToTheLast() {
        guard let last = acts.last?.at, let number = acts.map(\.number).max(),
            var at = acts.last(where: { $0.deed == .reconcile })?.at
        else { return }
        while at < last {
            at += 20 * Self.day
            acts.append(
                PlannedAct(number: number + 1, at: at, customer: nil, deed: .reconcile)
            )
        }
        acts.sort { ($0.at, $0.number) < ($1.at, $1.number) }
    }

    /// What concerns everybody.
    private mutating func planWorld(_ random: inout SplitMix64, years: Double) {
        func anyTime() -> Int64 { Int64.random(in: Self.beginning..<end, using: &random) }
        func plan(_ at: Int64, _ deed: PlannedAct.Deed) {
            acts.append(PlannedAct(number: 0, at: at, customer: nil, deed: deed))
        }
        for _ in 0..<Int((years * 3).rounded()) {
            plan(anyTime(), .outage(Int64.random(in: 1...72, using: &random) * 3_600_000))
        }
        // The stores remember what they could not deliver for 30 days.
        var at = Self.beginning + 12 * Self.day
        while at < end {
            plan(at, .reconcile)
            at += Int64.random(in: 18...27, using: &random) * Self.day
        }
        for index in acts.indices.prefix(1) {
            acts.append(
                PlannedAct(
                    number: 0,
                    at: anyTime(),
                    customer: acts[index].customer ?? 0,
                    deed: .appStore(
                        .raisePrice(
                            product: "pro_monthly",
                            price: 10_990,
                            asksConsent: random.chance(0.5)
                        )
                    )
                )
            )
            acts.append(
                PlannedAct(
                    number: 0,
                    at: anyTime(),
                    customer: acts[index].customer ?? 0,
                    deed: .appStore(
                        .extendAll(
                            product: "pro_monthly",
                            days: Int.random(in: 1...20, using: &random)
                        )
                    )
                )
            )
        }
    }
}

extension SplitMix64 {
    mutating func chance(_ share: Double) -> Bool {
        Double(next() >> 11) / Double(1 << 53) < share
    }
}

/// One customer's life.
private struct Life {
    var person: Scenario.Person
    var acts: [PlannedAct] = []
    private let index: Int
    private let ends: Int64
    private var at: Int64
    private let usesAppStore: Bool
    private let usesStripe: Bool
    private let isInFamily: Bool

    init(index: Int, begins: Int64, ends: Int64, random: inout SplitMix64) {
        self.index = index
        self.ends = ends
        at = Int64.random(in: begins..<(begins + (ends - begins) * 6 / 10), using: &random)
        let home = Int.random(in: 0..<100, using: &random)
        usesAppStore = home < 65
        usesStripe = home >= 45
        isInFamily = usesAppStore && random.chance(0.3)
        person = Scenario.Person(name: "c\(index)")
        person.passesToken = random.chance(0.85)
        if isInFamily { person.family = "f\(index / 6)" }
    }

    private mutating func plan(_ deed: PlannedAct.Deed) {
        acts.append(PlannedAct(number: 0, at: at, customer: index, deed: deed))
    }

    private mutating func plan(_ act: AppStoreAct) { plan(.appStore(act)) }
    private mutating func plan(_ act: StripeAct) { plan(.stripe(act)) }

    /// Lets so many days pass, to the millisecond.
    private mutating func wait(_ days: ClosedRange<Double>, _ random: inout SplitMix64) {
        let span = Double.random(in: days, using: &random) * Double(WorldPlan.day)
        at += Int64(span)
    }

    mutating func live(_ random: inout SplitMix64) {
        while at < ends {
            if usesAppStore, !usesStripe || random.chance(0.5) {
                actInAppStore(&random)
            } else {
                actAtStripe(&random)
            }
            if random.chance(0.3) {
                plan(.spend(Int64.random(in: 1...120, using: &random)))
            }
            wait(10...160, &random)
        }
    }

    // MARK: - In the App Store

    private mutating func actInAppStore(_ random: inout SplitMix64) {
        let plans = ["pro_monthly", "pro_monthly", "pro_yearly", "archive_monthly", "coin_club"]
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<30:
            let product = random.chance(0.05) ? "pro_weekly" : plans.randomElement(using: &random)
            plan(.buy(product: product ?? "pro_monthly", quantity: 1, offer: nil))
            post(&random)
        case 30..<42:
            let quantity = Int.random(in: 1...3, using: &random)
            plan(.buy(product: "coins_100", quantity: quantity, offer: nil))
            post(&random)
        case 42..<48:
            plan(.buy(product: "pass_30_days", quantity: 1, offer: nil))
            post(&random)
        case 48..<50:
            plan(.buy(product: "lifetime", quantity: 1, offer: nil))
            post(&random)
        case 50..<60:
            plan(.cancel(.init()))
            guard random.chance(0.3) else { return }
            wait(0.1...10, &random)
            plan(.resume(.init()))
        case 60..<66:
            let to = ["pro_monthly", "pro_yearly", "pro_weekly"].randomElement(using: &random)
            plan(.change(to: to ?? "pro_yearly"))
        case 66..<74:
            plan(.failBilling)
            wait(1...50, &random)
            plan(.recoverBilling)
        case 74..<86: refund(&random)
        case 86..<88: plan(.requestRefund(.init(), reason: "UNINTENDED_PURCHASE"))
        case 88..<91: plan(.extend(days: Int.random(in: 1...30, using: &random)))
        case 91..<93: plan(.consent(.init()))
        case 93..<95: plan(.restore(of: nil))
        case 95..<97:
            guard isInFamily else {
                // Apple tells nobody of a token that was set; the app shows what it has come to.
                plan(.setToken)
                at += 1
                return plan(.post(.init(), mode: "observed"))
            }
            plan(.joinFamily(random.chance(0.5) ? nil : "f\(index / 6)"))
            wait(0.1...2, &random)
            plan(.post(.init(), mode: "observed"))
        default: plan(.post(.init(), mode: "observed"))
        }
    }

    /// The device shows the server what was bought; one that passes no token must.
    private mutating func post(_ random: inout SplitMix64) {
        guard !person.passesToken || random.chance(0.6) else { return }
        at += Int64.random(in: 50...90_000, using: &random)
        plan(.post(.init(), mode: random.chance(0.7) ? "purchased" : "observed"))
    }

    private mutating func refund(_ random: inout SplitMix64) {
        let share = [nil, nil, 50_000, 33_333].randomElement(using: &random) ?? nil
        let isOld = random.chance(0.4)
        let number = isOld ? Int.random(in: 1...3, using: &random) : nil
        let product = random.chance(0.3) ? "coins_100" : nil
        plan(.refund(.init(product: product, number: number), share: share))
        guard random.chance(0.4) else { return }
        wait(0.1...20, &random)
        plan(.reverseRefund(.init(product: product, number: number)))
    }

    // MARK: - At Stripe

    private static let cards = [
        "pm_card_visa", "pm_card_visa", "pm_card_visa", "pm_card_visa",
        "pm_card_chargeCustomerFail",
        "pm_card_visa_chargeDeclined", "pm_card_threeDSecure2Required", "pm_card_createDispute",
        "pm_card_pendingRefund", "pm_card_refundFail", "pm_card_sepaDebit",
        "pm_card_sepaDebitDelayed", "pm_card_sepaDebitFails", "pm_card_createDisputeInquiry",
    ]

    private mutating func actAtStripe(_ random: inout SplitMix64) {
        let card = Self.cards.randomElement(using: &random) ?? "pm_card_visa"
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<28:
            let product =
                ["pro_monthly", "pro_monthly", "pro_yearly", "archive_monthly", "coin_club"]
                .randomElement(using: &random) ?? "pro_monthly"
            checkout(
                .init(product: product, trialDays: random.chance(0.15) ? 7 : nil),
                card: card
            )
        case 28..<42:
            checkout(
                .init(product: "coins_100", quantity: Int.random(in: 1...3, using: &random)),
                card: card
            )
        case 42..<47: checkout(.init(product: "pass_30_days"), card: card)
        case 47..<49: checkout(.init(product: "lifetime"), card: card)
        case 49..<52: plan(.openCheckout(.init(product: "coins_100")))
        case 52..<60:
            plan(.cancel(random.chance(0.4) ? .now : .periodEnd))
            guard random.chance(0.3) else { return }
            wait(0.1...10, &random)
            plan(.resume)
        case 60..<66:
            let to = ["pro_monthly", "pro_yearly"].randomElement(using: &random) ?? "pro_yearly"
            let proration = ["create_prorations", "always_invoice", "none"]
            plan(.change(to: to, proration: proration.randomElement(using: &random) ?? "none"))
        case 66..<69:
            plan(.quantity(Int.random(in: 1...3, using: &random), proration: "create_prorations"))
        case 69..<78:
            plan(.card("pm_card_chargeCustomerFail"))
            wait(1...60, &random)
            plan(.card("pm_card_visa"))
            if random.chance(0.6) { plan(.payInvoice(card: nil, outcome: "completed")) }
        case 78..<88:
            plan(
                .refund(amount: random.chance(0.5) ? nil : Int.random(in: 1...999, using: &random))
            )
            guard random.chance(0.4) else { return }
            wait(0.1...10, &random)
            plan(.refund(amount: Int.random(in: 1...500, using: &random)))
        case 88..<93:
            plan(.dispute)
            wait(1...30, &random)
            plan(.closeDispute(isWon: random.chance(0.5)))
        case 93..<95:
            plan(.pauseCollection(true))
            wait(1...30, &random)
            plan(.pauseCollection(false))
        case 95..<97: plan(.endTrial)
        case 97..<98: plan(.deleteCustomer)
        default: plan(.resend(type: "customer.subscription.updated"))
        }
    }

    private mutating func checkout(_ order: StripeAct.Order, card: String) {
        plan(.checkout(order, card: card, passesChallenge: true, outcome: "completed"))
    }
}
