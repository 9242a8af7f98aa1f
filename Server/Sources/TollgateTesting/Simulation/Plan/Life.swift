import AppStoreSimulator
import StripeSimulator

/// One customer's life.
struct Life {
    var person: Scenario.Person
    var acts: [PlannedAct] = []
    let index: Int
    let usesAppStore: Bool
    let usesStripe: Bool
    let isInFamily: Bool
    private let ends: Int64
    var at: Int64

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

    mutating func plan(_ deed: PlannedAct.Deed) {
        acts.append(PlannedAct(number: 0, at: at, customer: index, deed: deed))
    }

    mutating func plan(_ act: AppStoreAct) { plan(.appStore(act)) }
    mutating func plan(_ act: StripeAct) { plan(.stripe(act)) }
    mutating func plan(_ act: WorldAct) { plan(.world(act)) }

    /// Lets so many days pass, to the millisecond.
    mutating func wait(_ days: ClosedRange<Double>, _ random: inout SplitMix64) {
        let span = Double.random(in: days, using: &random) * Double(WorldPlan.day)
        at += Int64(span)
    }


    mutating func live(_ random: inout SplitMix64) {
        while at < ends {
            let isTale = random.chance(0.3)
            switch (usesAppStore && (!usesStripe || random.chance(0.5)), isTale) {
            case (true, false): actInAppStore(&random)
            case (true, true): tellOfAppStore(&random)
            case (false, false): actAtStripe(&random)
            case (false, true): tellOfStripe(&random)
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
        case 0..<30: buy(random.chance(0.05) ? "pro_weekly" : random.any(plans), &random)
        case 30..<42: buy("coins_100", quantity: Int.random(in: 1...3, using: &random), &random)
        case 42..<48: buy("pass_30_days", &random)
        case 48..<50: buy("lifetime", &random)
        case 50..<60:
            plan(.cancel(.init()))
            guard random.chance(0.3) else { return }
            wait(0.1...10, &random)
            plan(.resume(.init()))
        case 60..<66:
            plan(.change(to: random.any(["pro_monthly", "pro_yearly", "pro_weekly"])))
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
        default: plan(.openApp)
        }
    }

    mutating func buy(
        _ product: String,
        quantity: Int = 1,
        _ random: inout SplitMix64
    ) {
        plan(.buy(product: product, quantity: quantity, offer: nil))
        post(&random)
    }

    /// The device shows the server what was bought; one that passes no token must.
    private mutating func post(_ random: inout SplitMix64) {
        guard !person.passesToken || random.chance(0.6) else { return }
        at += Int64.random(in: 50...90_000, using: &random)
        plan(.post(.init(), mode: random.chance(0.7) ? "purchased" : "observed"))
    }

    private mutating func refund(_ random: inout SplitMix64) {
        let share = random.any([nil, nil, 50_000, 33_333])
        let back = random.chance(0.4) ? Int.random(in: 1...3, using: &random) : 0
        let product = random.chance(0.3) ? "coins_100" : nil
        plan(.refund(product: product, back: back, share: share))
        guard random.chance(0.4) else { return }
        wait(0.1...20, &random)
        plan(.reverseRefund(product: product, back: back))
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
        let card = random.any(Self.cards)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<28:
            let plans = ["pro_monthly", "pro_monthly", "pro_yearly", "archive_monthly", "coin_club"]
            checkout(
                .init(product: random.any(plans), trialDays: random.chance(0.15) ? 7 : nil),
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
            plan(
                .change(
                    to: random.any(["pro_monthly", "pro_yearly"]),
                    proration: random.any(Self.prorations)
                )
            )
        case 66..<69:
            plan(.quantity(Int.random(in: 1...3, using: &random), proration: "create_prorations"))
        case 69..<78:
            plan(.card("pm_card_chargeCustomerFail"))
            wait(1...60, &random)
            plan(.card("pm_card_visa"))
            if random.chance(0.6) { plan(.payInvoice(card: nil, outcome: "completed")) }
        case 78..<88:
            let amount = random.chance(0.5) ? nil : Int.random(in: 1...999, using: &random)
            plan(.refundCharge(back: random.any([0, 0, 0, 1, 2]), amount: amount))
            guard random.chance(0.4) else { return }
            wait(0.1...10, &random)
            plan(.refund(amount: Int.random(in: 1...500, using: &random)))
        case 88..<93:
            plan(.dispute(back: random.any([0, 0, 1])))
            wait(1...120, &random)
            plan(.endDispute(isWon: random.chance(0.5)))
        case 93..<95:
            plan(.pauseCollection(true))
            wait(1...30, &random)
            plan(.pauseCollection(false))
        case 95..<97: plan(.endTrial)
        case 97..<98: plan(.deleteCustomer)
        default: plan(.resend(type: "customer.subscription.updated"))
        }
    }

    static let prorations = ["create_prorations", "always_invoice", "none"]

    mutating func checkout(_ order: StripeAct.Order, card: String = "pm_card_visa") {
        plan(.checkout(order, card: card, passesChallenge: true, outcome: "completed"))
    }
}
