import TollgateCore

extension WorldPlan {
    /// From where on people with such payments, and their acts, are numbered.
    private static let firstOfPayments = 93_000
    private static let mostLooksAtPayments = 30

    /// `true` if anybody has such payments.
    var hasPayments: Bool {
        acts.contains { (Self.firstOfPayments..<95_000).contains($0.number) }
    }

    /// Adds people at Stripe whose money comes in other ways than at once and as a whole: buyers who add
    /// products on the page, money that is held, bank debits for plans, invoices that are paid in parts.
    ///
    /// They are drawn from chance of their own and come after all others were numbered, and none of
    /// their acts is after the world's end: so everybody else's acts stay what they were. Where they live
    /// a bank debit takes days, whoever pays by it.
    mutating func addStripePayments(seed: UInt64, customers: Int) {
        var random = SplitMix64(seed: seed ^ 0x9A1D_5E11_0DE5)
        stripe.debitDays = Int.random(in: 4...12, using: &random)
        var added: [PlannedAct] = []
        for number in 0..<max(1, customers / 16) {
            let index = Self.firstOfPayments + number
            people.append(Scenario.Person(name: "c\(index)"))
            var payer = Payer(index: index, ends: end, random: &random)
            payer.live(&random)
            added += payer.diary.acts
        }
        // A look heals the whole world and waits for it.
        let looks = added.indices.filter { added[$0].deed == .look }.shuffled(using: &random)
        for index in looks.dropFirst(Self.mostLooksAtPayments).sorted().reversed() {
            added.remove(at: index)
        }
        add(added, from: Self.firstOfPayments)
    }
}

/// One person's payments at Stripe: one story after the other.
private struct Payer: StripeStories {
    var diary: LifeDiary

    private static let club = "coin_club"
    /// In minor units.
    private static let prices = ["coins_100": 1000, "pass_30_days": 1299, "lifetime": 19_900]
    private static let debit = "pm_card_sepaDebit"
    private static let refusedDebit = "pm_card_sepaDebitFails"

    /// What is bought once: who has everything for ever shows nothing more, so that comes late.
    private var things: [String] {
        let isLate = at > diary.ends - 120 * WorldPlan.day
        return ["coins_100", "pass_30_days"] + (isLate ? ["lifetime"] : [])
    }

    private enum Story: CaseIterable {
        case crossSell, hold, planByDebit, planInParts, invoiceInParts
    }

    init(index: Int, ends: Int64, random: inout SplitMix64) {
        let at = WorldPlan.beginning + Int64.random(in: 1...20, using: &random) * WorldPlan.day
        diary = LifeDiary(index: index, ends: ends, at: at)
    }

    mutating func live(_ random: inout SplitMix64) {
        var left: [Story] = []
        while at < diary.ends {
            if left.isEmpty { left = Story.allCases.shuffled(using: &random) }
            switch left.removeLast() {
            case .crossSell: crossSell(&random)
            case .hold: hold(&random)
            case .planByDebit: planByDebit(&random)
            case .planInParts: planInParts(&random)
            case .invoiceInParts: invoiceInParts(&random)
            }
            wait(3...20, &random)
        }
    }

    /// The buyer adds products on the page, to something bought once or to a plan.
    ///
    /// https://docs.stripe.com/payments/checkout/cross-sells
    private mutating func crossSell(_ random: inout SplitMix64) {
        let once = things.shuffled(using: &random)
        var order = StripeAct.Order(product: once[0])
        let isPlan = random.chance(0.4)
        if isPlan {
            order.product = one("pro_monthly", Self.club, of: &random)
            order.adds = [once[0]]
            // Beside a plan Checkout offers another one of the same interval.
            if random.chance(0.5) { order.adds.append("archive_monthly") }
        } else {
            order.quantity = Int.random(in: 1...2, using: &random)
            order.adds = Array(once.dropFirst().prefix(Int.random(in: 1...2, using: &random)))
        }
        checkout(order)
        wait(0.05...2, &random)
        look()
        if random.chance(0.5) {
            plan(
                .refund(amount: random.chance(0.4) ? nil : Int.random(in: 1...900, using: &random))
            )
            look()
        }
        wait(5...20, &random)
        if isPlan { plan(.cancel(.now)) }
        look()
    }

    /// The page only holds the money: it is taken, let go, or forgotten.
    ///
    /// https://docs.stripe.com/payments/place-a-hold-on-a-payment-method
    private mutating func hold(_ random: inout SplitMix64) {
        // A pass would begin with the read that finds the money taken (RULES §5.3).
        let product = things.filter { $0 != "pass_30_days" }.randomElement(using: &random)
        var order = StripeAct.Order(product: product ?? "coins_100")
        order.quantity = order.product == "coins_100" ? Int.random(in: 1...3, using: &random) : 1
        order.holds = true
        checkout(order)
        wait(0.05...5, &random)
        look()
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<6:
            plan(.capture)
            wait(0.01...1, &random)
            look()
            guard random.chance(0.5) else { return }
            plan(
                .refund(amount: random.chance(0.4) ? nil : Int.random(in: 1...900, using: &random))
            )
            look()
        case 6..<8:
            plan(.release)
            look()
        default:
            wait(8...12, &random)
            look()
        }
    }

    /// A plan is paid by bank debit: it begins on trust, and a renewal's money comes after days or never.
    ///
    /// https://docs.stripe.com/billing/subscriptions/sepa-debit
    private mutating func planByDebit(_ random: inout SplitMix64) {
        let start = at
        if random.chance(0.5) {
            plan(
                .subscribe(
                    .init(product: Self.club),
                    card: Self.debit,
                    paymentBehavior: nil,
                    outcome: "completed"
                )
            )
        } else {
            checkout(.init(product: Self.club))
        }
        wait(0.5...3, &random)
        look()
        wait(13...20, &random)
        look()
        plan(.card(one(Self.debit, Self.refusedDebit, of: &random)))
        at = max(at, start + 31 * WorldPlan.day)
        wait(0.2...3.5, &random)
        look()
        wait(13...20, &random)
        look()
        plan(.card(Self.good))
        if random.chance(0.5) { plan(.payInvoice(card: nil, outcome: "completed")) }
        wait(0.2...3, &random)
        look()
        plan(.cancel(.now))
    }

    /// A plan's invoice is sent, and paid by two payments.
    ///
    /// https://docs.stripe.com/invoicing/partial-payments
    private mutating func planInParts(_ random: inout SplitMix64) {
        let order = StripeAct.Order(
            product: Self.club,
            daysUntilDue: Int.random(in: 10...20, using: &random)
        )
        plan(.subscribe(order, card: Self.good, paymentBehavior: nil, outcome: "completed"))
        wait(0.1...3, &random)
        pay(500, &random)
        refundParts(&random)
        wait(10...45, &random)
        look()
        plan(.cancel(.now))
    }

    /// An invoice that is no plan's is paid by two payments, of which the second may fail.
    private mutating func invoiceInParts(_ random: inout SplitMix64) {
        var order = StripeAct.Order(product: things.randomElement(using: &random) ?? "coins_100")
        if order.product == "coins_100" { order.quantity = Int.random(in: 2...4, using: &random) }
        plan(.invoice(order))
        wait(0.01...3, &random)
        pay((Self.prices[order.product] ?? 0) * order.quantity, &random)
        refundParts(&random)
        wait(5...25, &random)
        look()
    }

    /// Pays what is due in two parts, days apart.
    private mutating func pay(_ due: Int, _ random: inout SplitMix64) {
        let first = Int.random(in: 100...(due - 100), using: &random)
        plan(.payPart(amount: first, card: Self.good))
        wait(0.05...4, &random)
        look()
        let card = one(Self.good, Self.good, Self.debit, Self.refusedDebit, of: &random)
        plan(.payPart(amount: due - first, card: card))
        wait(0.05...1, &random)
        look()
        if card != Self.good { wait(13...14, &random) }
    }

    /// Gives back the last payment, and then a part of the one before.
    private mutating func refundParts(_ random: inout SplitMix64) {
        guard random.chance(0.7) else { return }
        plan(.refund(amount: nil))
        wait(0.05...1, &random)
        look()
        guard random.chance(0.5) else { return }
        plan(.refund(amount: Int.random(in: 1...100, using: &random)))
        look()
    }
}
