import StripeSimulator
import TollgateCore

extension WorldPlan {
    /// The first number of the acts of `addStripeHistories`, which leaves those of the others alone.
    private static let firstStripeNumber = 70_000
    private static let mostLooks = 50

    /// Adds people who live at Stripe alone, in histories that nobody else's life contains: payments
    /// that fail in mid-period, plans switched to and fro, invoices that are sent, ends at a date,
    /// disputes that take months, several items, things bought once beside a plan, coupons, bank
    /// debits that take days, pages left alone, deleted customers.
    ///
    /// They are drawn by a generator of their own, so that nobody else in a world of the same seed
    /// lives differently.
    mutating func addStripeHistories(seed: UInt64) {
        var random = SplitMix64(seed: seed ^ 0x57_21BE_11FE)
        let count = 2 + people.count / 16
        var added: [PlannedAct] = []
        for _ in 0..<count {
            let index = people.count
            people.append(Scenario.Person(name: "c\(index)"))
            var history = StripeHistory(index: index, ends: end, random: &random)
            history.live(&random)
            added += history.diary.acts.filter { $0.at < end }
        }
        added.sort { ($0.at, $0.customer ?? -1) < ($1.at, $1.customer ?? -1) }
        for index in added.indices { added[index].number = Self.firstStripeNumber + index }
        // A look heals the whole world and waits for it, so large worlds have their share of them.
        let looks = added.filter { $0.deed == .look }.map(\.number).shuffled(using: &random)
        let left = Set(looks.dropFirst(Self.mostLooks))
        acts += added.filter { !left.contains($0.number) }
        acts.sort { ($0.at, $0.customer ?? -1, $0.number) < ($1.at, $1.customer ?? -1, $1.number) }
    }
}

/// An act at Stripe that scenarios have no word for.
public enum StripeDeed: Hashable, Sendable {
    /// A Checkout page is paid by a bank debit whose money, or its refusal, comes after so many days.
    case checkoutByDebit(StripeAct.Order, card: String, days: Int)
    /// The customer's newest open dispute is decided.
    case closeDispute(isWon: Bool)
    /// The customer's newest open dispute, an inquiry, becomes a chargeback.
    case escalateDispute
    /// A product is taken out of the customer's newest subscription.
    case removeItem(product: String)
    /// Something is put on the next invoice of the customer's newest subscription.
    case invoiceItem(product: String)
}

/// One person's life at Stripe: one story after the other.
private struct StripeHistory: StripeStories {
    var diary: LifeDiary

    private static let (monthly, yearly, club) = ("pro_monthly", "pro_yearly", "coin_club")
    /// The bank asks about each of its payments.
    private static let inquiry = "pm_card_createDisputeInquiry"

    init(index: Int, ends: Int64, random: inout SplitMix64) {
        let at = Int64.random(
            in: WorldPlan.beginning..<(WorldPlan.beginning + (ends - WorldPlan.beginning) / 4),
            using: &random
        )
        diary = LifeDiary(index: index, ends: ends, at: at)
    }

    private enum Story: CaseIterable {
        case raise, secondItem, sent, switching, farEnd, nearEnd, endInGrace, dispute, once, coupon
        case free, debit, leftAlone, deleted, collection
    }

    mutating func live(_ random: inout SplitMix64) {
        var left: [Story] = []
        while at < diary.ends {
            if left.isEmpty { left = Story.allCases.shuffled(using: &random) }
            tell(left.removeLast(), &random)
            if random.chance(0.7) { plan(.cancel(random.chance(0.6) ? .now : .periodEnd)) }
            wait(3...60, &random)
        }
    }

    private mutating func tell(_ story: Story, _ random: inout SplitMix64) {
        switch story {
        case .raise: raise(&random)
        case .secondItem: secondItem(&random)
        case .sent: sent(&random)
        case .switching: switching(&random)
        case .farEnd: farEnd(&random)
        case .nearEnd: nearEnd(&random)
        case .endInGrace: endInGrace(&random)
        case .dispute: dispute(&random)
        case .once: once(&random)
        case .coupon: coupon(&random)
        case .free: free(&random)
        case .debit: debit(&random)
        case .leftAlone: leftAlone(&random)
        case .deleted: deleted(&random)
        case .collection: collection(&random)
        }
    }

    // MARK: - Payments that fail

    /// More of a plan is asked for in mid-period, and the card declines.
    private mutating func raise(_ random: inout SplitMix64) {
        checkout(.init(product: one(Self.monthly, Self.club, Self.yearly, of: &random)))
        wait(2...22, &random)
        plan(.card(Self.bad))
        plan(.quantity(Int.random(in: 2...3, using: &random), proration: "always_invoice"))
        wait(3.2...8, &random)
        look()
        wait(0...20, &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            plan(.card(Self.good))
            plan(.payInvoice(card: nil, outcome: "completed"))
        case 1: plan(.voidInvoice)
        case 2: plan(.markUncollectible)
        default: wait(5...20, &random)
        }
        look()
        wait(0...12, &random)
        plan(.card(Self.good))
    }

    /// A product on another interval beside a plan, which fails when it renews.
    private mutating func secondItem(_ random: inout SplitMix64) {
        checkout(.init(product: Self.yearly))
        wait(0.5...20, &random)
        let second = one(Self.club, "archive_monthly", of: &random)
        plan(.addItem(second, proration: one("create_prorations", "always_invoice", of: &random)))
        wait(5...40, &random)
        plan(.card(Self.bad))
        wait(33...42, &random)
        look()
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            plan(.card(Self.good))
            plan(.payInvoice(card: nil, outcome: "completed"))
        case 1: plan(.removeItem(product: second))
        default: break
        }
        wait(4...30, &random)
        look()
        plan(.card(Self.good))
    }

    /// Invoices are sent, to be paid by a due date, or a plan that was charged goes over to that.
    private mutating func sent(_ random: inout SplitMix64) {
        let days = Int.random(in: 4...45, using: &random)
        let product = one(Self.monthly, Self.club, "archive_monthly", of: &random)
        if random.chance(0.7) {
            var order = StripeAct.Order(product: product, daysUntilDue: days)
            if random.chance(0.3) { order.with = ["pass_30_days"] }
            plan(.subscribe(order, card: Self.good, paymentBehavior: nil, outcome: "completed"))
        } else {
            checkout(.init(product: product))
            wait(1...20, &random)
            plan(.collectionMethod(daysUntilDue: days))
        }
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            wait(3...40, &random)
            if random.chance(0.7) {
                let isOutOfBand = random.chance(0.4)
                plan(.payInvoice(card: nil, outcome: "completed", outOfBand: isOutOfBand))
            }
            wait(0...12, &random)
            look()
        }
        wait(20...60, &random)
        look()
    }

    /// Nothing is collected for a while, and then the card declines.
    private mutating func collection(_ random: inout SplitMix64) {
        checkout(.init(product: one(Self.monthly, Self.club, of: &random)))
        wait(1...28, &random)
        plan(.pauseCollection(true, behavior: one("void", "mark_uncollectible", of: &random)))
        wait(10...50, &random)
        plan(.pauseCollection(false))
        plan(.card(Self.bad))
        wait(4...45, &random)
        look()
        plan(.card(Self.good))
    }

    // MARK: - Plans that change and end

    private mutating func switching(_ random: inout SplitMix64) {
        checkout(.init(product: one(Self.monthly, Self.club, Self.yearly, of: &random)))
        let proration = one("create_prorations", "always_invoice", of: &random)
        for _ in 0..<Int.random(in: 2...5, using: &random) {
            if random.chance(0.5) { wait(0.001...0.1, &random) } else { wait(0.5...9, &random) }
            if random.chance(0.2) {
                plan(.quantity(Int.random(in: 1...3, using: &random), proration: proration))
            } else {
                let to = one(Self.yearly, Self.club, Self.monthly, of: &random)
                plan(.change(to: to, proration: proration))
            }
        }
        look()
        if random.chance(0.4) {
            wait(0...10, &random)
            plan(
                .refund(amount: random.chance(0.5) ? nil : Int.random(in: 1...400, using: &random))
            )
            look()
        }
        if random.chance(0.4) {
            plan(.card(Self.bad))
            wait(20...40, &random)
            look()
            plan(.card(Self.good))
        }
    }

    /// It is to end on a day some periods ahead; meanwhile the message of a renewal is late.
    private mutating func farEnd(_ random: inout SplitMix64) {
        let start = at
        checkout(.init(product: one(Self.monthly, Self.club, "archive_monthly", of: &random)))
        wait(1...20, &random)
        let end = start + Int64(Double.random(in: 40...120, using: &random) * Double(WorldPlan.day))
        plan(.cancel(.at(end)))
        beSilent(around: Self.month(after: start), hours: 0.2...20, &random)
        wait(1...6, &random)
        look()
        if random.chance(0.2) { plan(.resume) }
        beSilent(around: max(end, at + WorldPlan.day), hours: 0.1...2, &random)
        wait(0.01...2, &random)
        look()
    }

    /// Stripe's messages are late from an hour before an instant on, and what is said by then must
    /// hold until so many hours after it.
    private mutating func beSilent(
        around instant: Int64,
        hours: ClosedRange<Double>,
        _ random: inout SplitMix64
    ) {
        at = max(at, instant - 7_200_000)
        look()
        at = max(at, instant - 3_600_000)
        plan(.silence)
        at = max(at, instant)
        wait(hours.lowerBound / 24...hours.upperBound / 24, &random)
        plan(deed: .glance)
        plan(.speak)
    }

    /// When a month that began at an instant is over.
    ///
    /// https://docs.stripe.com/billing/subscriptions/billing-cycle: on the same day, or the last.
    private static func month(after start: Int64) -> Int64 {
        CalendarDuration(months: 1)?.adding(to: start / 1000 * 1000) ?? start + 30 * WorldPlan.day
    }

    /// It is to end within the period that runs.
    private mutating func nearEnd(_ random: inout SplitMix64) {
        checkout(.init(product: one(Self.monthly, Self.club, Self.yearly, of: &random)))
        wait(1...12, &random)
        let end = at + Int64(Double.random(in: 0.5...9, using: &random) * Double(WorldPlan.day))
        plan(.cancel(.at(end)))
        wait(0...0.4, &random)
        if random.chance(0.3) { plan(.resume) }
        look()
        at = max(at, end)
        wait(0.01...2, &random)
        look()
    }

    /// It is to end within the days of grace of a payment that failed.
    private mutating func endInGrace(_ random: inout SplitMix64) {
        let start = at
        checkout(.init(product: one(Self.monthly, "archive_monthly", of: &random)))
        wait(1...20, &random)
        plan(.card(Self.bad))
        let end =
            start + Int64(Double.random(in: 31.2...34, using: &random) * Double(WorldPlan.day))
        plan(.cancel(.at(end)))
        at = max(at, start + 31 * WorldPlan.day)
        wait(0.1...1.5, &random)
        look()
        if random.chance(0.6) {
            beSilent(around: max(end, at + WorldPlan.day / 6), hours: 0.1...2, &random)
        }
        at = max(at, end)
        wait(0.01...1, &random)
        look()
        plan(.card(Self.good))
    }

    // MARK: - Money that goes back

    private mutating func dispute(_ random: inout SplitMix64) {
        let what = one(
            "pass_30_days",
            "coins_100",
            "lifetime",
            Self.club,
            "pass_30_days",
            of: &random
        )
        let isInquiry = random.chance(0.3)
        checkout(.init(product: what), card: isInquiry ? Self.inquiry : Self.good)
        wait(0.5...24, &random)
        if random.chance(0.3) { plan(.refund(amount: Int.random(in: 1...300, using: &random))) }
        if isInquiry { plan(StripeDeed.escalateDispute) } else { plan(.dispute) }
        wait(0.5...9, &random)
        checkout(.init(product: "pass_30_days"))
        let second = at
        wait(1...20, &random)
        look()
        at = second + 25 * WorldPlan.day
        wait(0...4.9, &random)
        look()
        wait(5...70, &random)
        plan(StripeDeed.closeDispute(isWon: random.chance(0.5)))
        look()
    }

    /// Bought once beside a plan, in its Checkout or on an invoice of it.
    private mutating func once(_ random: inout SplitMix64) {
        let beside = one("lifetime", "pass_30_days", "coins_100", of: &random)
        var order = StripeAct.Order(product: one(Self.monthly, "archive_monthly", of: &random))
        order.with = [beside]
        if random.chance(0.6) {
            checkout(order)
        } else {
            plan(
                .subscribe(order, card: Self.good, paymentBehavior: nil, outcome: "completed")
            )
        }
        wait(1...20, &random)
        if random.chance(0.4) {
            plan(.invoiceItem(product: one("pass_30_days", "coins_100", of: &random)))
        }
        if random.chance(0.5) {
            plan(.cancel(.now))
        } else {
            wait(12...20, &random)
        }
        look()
        if random.chance(0.5) {
            plan(
                .refund(amount: random.chance(0.5) ? nil : Int.random(in: 1...900, using: &random))
            )
            look()
        }
    }

    // MARK: - What pages do

    private mutating func coupon(_ random: inout SplitMix64) {
        var order = StripeAct.Order(product: one(Self.club, Self.yearly, Self.monthly, of: &random))
        order.quantity = Int.random(in: 1...2, using: &random)
        order.percentOff = Int.random(in: 5...60, using: &random)
        order.isOffForever = random.chance(0.5)
        if random.chance(0.4) { order.with = ["coins_100"] }
        checkout(order)
        wait(1...20, &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: plan(.change(to: Self.yearly, proration: "always_invoice"))
        case 1: plan(.refund(amount: Int.random(in: 1...900, using: &random)))
        case 2: plan(.removeDiscount)
        default: break
        }
        wait(1...35, &random)
        look()
    }

    /// A coupon pays all of it, and an invoice says so.
    private mutating func free(_ random: inout SplitMix64) {
        var order = StripeAct.Order(
            product: one("coins_100", "pass_30_days", "lifetime", "coins_100", of: &random)
        )
        order.quantity = Int.random(in: 1...2, using: &random)
        order.percentOff = 100
        order.makesInvoice = random.chance(0.8)
        checkout(order)
        wait(0.1...20, &random)
        look()
        order.percentOff = Int.random(in: 5...90, using: &random)
        order.makesInvoice = true
        checkout(order)
        wait(0.1...20, &random)
        look()
    }

    /// The money takes days, or is refused after days.
    private mutating func debit(_ random: inout SplitMix64) {
        let product = one("pass_30_days", "pass_30_days", "coins_100", "lifetime", of: &random)
        let days = Int.random(in: 2...9, using: &random)
        let card = one(
            "pm_card_sepaDebit",
            "pm_card_sepaDebit",
            "pm_card_sepaDebitFails",
            of: &random
        )
        let start = at
        plan(.checkoutByDebit(.init(product: product), card: card, days: days))
        wait(0.2...1.5, &random)
        look()
        if random.chance(0.3) { checkout(.init(product: "pass_30_days")) }
        at = max(at, start + Int64(days) * WorldPlan.day)
        wait(0.1...2, &random)
        look()
        // The time that a pass would lack if it ran from the page.
        at = max(at, start + 30 * WorldPlan.day)
        wait(0.1...(Double(days) - 0.2), &random)
        look()
        wait(0...30, &random)
    }

    /// A page that is paid late, or never.
    private mutating func leftAlone(_ random: inout SplitMix64) {
        let order = StripeAct.Order(
            product: one("pass_30_days", Self.monthly, "lifetime", of: &random)
        )
        let start = at
        if random.chance(0.5) {
            plan(.openCheckout(order))
        } else {
            plan(
                .checkout(
                    order,
                    card: "pm_card_visa_chargeDeclined",
                    passesChallenge: true,
                    outcome: "declined"
                )
            )
        }
        wait(0.05...1.3, &random)
        look()
        plan(.payCheckout(card: Self.good, passesChallenge: true, outcome: "completed"))
        at = max(at, start + 30 * WorldPlan.day)
        wait(0.01...1, &random)
        look()
    }

    private mutating func deleted(_ random: inout SplitMix64) {
        checkout(.init(product: one(Self.monthly, Self.club, "lifetime", "coins_100", of: &random)))
        wait(1...40, &random)
        plan(.deleteCustomer)
        wait(0.1...20, &random)
        look()
        checkout(.init(product: one(Self.monthly, Self.club, "pass_30_days", of: &random)))
        wait(0.1...35, &random)
        look()
    }
}
