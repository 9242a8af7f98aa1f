import AppStoreSimulator
import StripeSimulator

// Several things that one customer does one after the other, because chance alone would seldom put
// them together. https://developer.apple.com/documentation/appstoreservernotifications
// https://docs.stripe.com/billing/subscriptions/overview

extension Life {
    // MARK: - In the App Store

    mutating func tellOfAppStore(_ random: inout SplitMix64) {
        switch Int.random(in: 0..<7, using: &random) {
        case 0: refundsSeveral(&random)
        case 1: refundsSeveral(of: "coins_100", &random)
        case 2: changesToAndFro(&random)
        case 3: sharesAgain(&random)
        case 4: sharesSeats(&random)
        case 5: switchesToBundle(&random)
        default: showsWhatWasReplaced(&random)
        }
    }

    /// A plan for a team grows in mid-period, and parts of it are refunded.
    private mutating func sharesSeats(_ random: inout SplitMix64) {
        let team = AppStoreAct.Which(product: "team_monthly")
        buy("team_monthly", quantity: Int.random(in: 2...6, using: &random), &random)
        wait(1...20, &random)
        plan(.addSeats(Int.random(in: 2...4, using: &random)))
        wait(0.1...5, &random)
        if random.chance(0.3) { plan(.refundSeats(team, seats: 1)) }
        let back = Int.random(in: 0...1, using: &random)
        if random.chance(0.6) { plan(.refund(product: "team_monthly", back: back, share: nil)) }
        wait(0.1...3, &random)
        if random.chance(0.3) { plan(.refund(product: "team_monthly", back: 1 - back, share: nil)) }
        if random.chance(0.3) { plan(.reverseRefund(product: "team_monthly", back: back)) }
    }

    /// In the App Store, where the app can give no token.
    private mutating func switchesToBundle(_ random: inout SplitMix64) {
        buy(random.any(["coin_club", "pro_monthly", "archive_monthly"]), &random)
        wait(1...40, &random)
        plan(.switchToBundle(.init()))
        wait(1...60, &random)
        if random.chance(0.3) { plan(.cancel(.init())) }
    }

    /// Two periods are refunded; then one of the refunds, or both, are taken back in any order.
    private mutating func refundsSeveral(_ random: inout SplitMix64) {
        let product = random.any(["pro_monthly", "coin_club", "coin_club", "archive_monthly"])
        buy(product, &random)
        wait(62...70, &random)
        let order = random.chance(0.5) ? [0, 1] : [1, 0]
        for back in order {
            plan(.refund(product: product, back: back, share: random.any([nil, nil, 40_000])))
            wait(0.01...3, &random)
        }
        for back in random.any([[1], [1], [0], [0, 1], [1, 0]]) {
            plan(.reverseRefund(product: product, back: back))
            wait(0.01...3, &random)
        }
        if random.chance(0.3) { plan(.refund(product: product, back: 1, share: nil)) }
    }

    private mutating func refundsSeveral(of pack: String, _ random: inout SplitMix64) {
        for _ in 0..<3 {
            buy(pack, quantity: Int.random(in: 1...3, using: &random), &random)
            wait(0.01...5, &random)
        }
        for back in [0, 2, 1].prefix(Int.random(in: 1...3, using: &random)) {
            plan(.refund(product: pack, back: back, share: random.any([nil, 25_000, 75_000])))
            wait(0.01...5, &random)
        }
        plan(.reverseRefund(product: pack, back: random.any([0, 2])))
    }

    /// Up and down between plans of one group.
    private mutating func changesToAndFro(_ random: inout SplitMix64) {
        let group = random.any([
            ["studio_yearly", "studio_monthly"], ["coin_club", "coin_club_plus"],
            ["pro_monthly", "pro_yearly"],
        ])
        buy(group[0], &random)
        for number in 1...Int.random(in: 2...4, using: &random) {
            wait(0.5...40, &random)
            plan(.change(to: group[number % 2]))
        }
        if random.chance(0.5) {
            wait(0.5...10, &random)
            plan(.cancel(.init()))
        }
    }

    /// A family member loses a share and gets another one.
    private mutating func sharesAgain(_ random: inout SplitMix64) {
        guard isInFamily else { return plan(.openApp) }
        plan(.joinFamily(nil))
        wait(0.1...30, &random)
        plan(.joinFamily("f\(index / 6)"))
        wait(0.01...1, &random)
        plan(.openApp)
    }

    /// An upgrade after which an old device shows only what was replaced.
    private mutating func showsWhatWasReplaced(_ random: inout SplitMix64) {
        buy("coin_club", &random)
        wait(1...25, &random)
        plan(.change(to: "coin_club_plus"))
        wait(0.001...2, &random)
        plan(.postReplaced)
    }

    // MARK: - In the App Store, while nobody hears of it

    /// What the store tells is answered 200 by something in between, and never reaches the server.
    mutating func isUnheard(from instant: Int64, _ random: inout SplitMix64) {
        at = instant
        let span = Int64.random(in: 2...12, using: &random) * WorldPlan.day
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
            let product = random.any(["pro_yearly", "pro_monthly", "lifetime"])
            buy(product, &random)
            wait(0.5...10, &random)
            plan(.refund(product: product, back: 0, share: nil))
            wait(0.5...5, &random)
            plan(.swallow(span))
            wait(0.01...1, &random)
            plan(.reverseRefund(product: product, back: 0))
        case 1:
            buy("studio_yearly", &random)
            wait(5...60, &random)
            plan(.swallow(span))
            wait(0.01...1, &random)
            plan(.change(to: "studio_monthly"))
            wait(0.01...0.5, &random)
            plan(.cancel(.init()))
        case 2:
            buy("coin_club", &random)
            wait(1...25, &random)
            plan(.swallow(span))
            wait(0.01...0.2, &random)
            plan(.change(to: "coin_club_plus"))
            wait(0.001...0.2, &random)
            plan(.postReplaced)
            return
        case 3 where isInFamily:
            plan(.joinFamily(nil))
            wait(1...5, &random)
            plan(.swallow(span))
            wait(0.01...1, &random)
            plan(.joinFamily("f\(index / 6)"))
        default:
            plan(.swallow(span))
            wait(0.01...1, &random)
            buy(random.any(["pro_monthly", "pro_yearly", "coins_100", "lifetime"]), &random)
        }
        wait(0.01...1, &random)
        plan(.openApp)
    }

    /// The server has lost its key for the App Store Server API, and an app of an old version posts
    /// receipts.
    mutating func livesOnReceipts(from instant: Int64, _ random: inout SplitMix64) {
        at = instant
        let product = random.any(["coins_100", "coins_100", "coin_club", "pro_monthly"])
        buy(product, quantity: product == "coins_100" ? 2 : 1, &random)
        wait(0.1...20, &random)
        if product == "coin_club", random.chance(0.6) {
            plan(.change(to: "coin_club_plus"))
        } else {
            plan(.refund(product: product, back: 0, share: random.any([40_000, 25_000, nil])))
        }
        wait(0.01...2, &random)
        plan(.withoutKey(Int64.random(in: 1...5, using: &random) * WorldPlan.day))
        for _ in 0..<2 {
            wait(0.01...0.4, &random)
            plan(.postReceipt(mode: "observed"))
        }
    }

    // MARK: - At Stripe

    mutating func tellOfStripe(_ random: inout SplitMix64) {
        switch Int.random(in: 0..<12, using: &random) {
        case 0: raisesQuantityInVain(&random)
        case 1: addsItemInVain(&random)
        case 2: paysBySentInvoice(&random)
        case 3: switchesToAndFro(&random)
        case 4: endsFarAway(&random)
        case 5: disputesForMonths(&random)
        case 6: paysLate(&random)
        case 7: ordersSeveral(&random)
        case 8: isDeletedAndReturns(&random)
        case 9: usesCoupons(&random)
        case 10: addsAndRemovesItems(&random)
        default: confirmsLater(&random)
        }
    }

    /// The card fails in the middle of a period that is paid for.
    private mutating func raisesQuantityInVain(_ random: inout SplitMix64) {
        checkout(.init(product: random.any(["pro_monthly", "pro_yearly", "coin_club"])))
        wait(4...20, &random)
        plan(.card("pm_card_chargeCustomerFail"))
        wait(0.01...1, &random)
        plan(.quantity(Int.random(in: 2...4, using: &random), proration: "always_invoice"))
        wait(0.5...40, &random)
        recovers(&random)
    }

    private mutating func addsItemInVain(_ random: inout SplitMix64) {
        checkout(.init(product: random.any(["pro_yearly", "pro_monthly"])))
        wait(4...40, &random)
        plan(.card("pm_card_chargeCustomerFail"))
        wait(0.01...1, &random)
        plan(.addItem(product: "archive_monthly", proration: "always_invoice"))
        wait(0.5...40, &random)
        recovers(&random)
    }

    private mutating func recovers(_ random: inout SplitMix64) {
        plan(.card("pm_card_visa"))
        guard random.chance(0.6) else { return }
        wait(0.01...1, &random)
        plan(.payInvoice(card: nil, outcome: "completed"))
    }

    private mutating func paysBySentInvoice(_ random: inout SplitMix64) {
        var order = WorldAct.StripeOrder(
            products: [random.any(["pro_monthly", "pro_yearly", "coin_club"])]
        )
        order.daysUntilDue = random.any([1, 7, 30])
        plan(.subscribe(order))
        wait(0.1...50, &random)
        if random.chance(0.6) { plan(.payInvoice(card: "pm_card_visa", outcome: "completed")) }
        wait(10...40, &random)
    }

    /// Between plans, so that what was paid for is credited and paid anew, and then the card fails.
    private mutating func switchesToAndFro(_ random: inout SplitMix64) {
        let group = random.any([
            ["pro_monthly", "pro_yearly"], ["pro_yearly", "pro_monthly"],
            ["coin_club", "coin_club_plus"],
        ])
        checkout(.init(product: group[0]))
        let behaviour = random.any(["always_invoice", "always_invoice", "create_prorations"])
        for number in 1...Int.random(in: 2...5, using: &random) {
            wait(0.2...6, &random)
            plan(.change(to: group[number % 2], proration: behaviour))
        }
        guard random.chance(0.5) else { return }
        plan(.card("pm_card_chargeCustomerFail"))
        wait(20...45, &random)
        recovers(&random)
    }

    private mutating func endsFarAway(_ random: inout SplitMix64) {
        checkout(.init(product: random.any(["pro_monthly", "archive_monthly"])))
        wait(1...10, &random)
        let days = random.chance(0.6) ? Int64.random(in: 70...200, using: &random) : 5
        plan(.cancel(.at((at + days * WorldPlan.day) / 1000 * 1000)))
        guard random.chance(0.3) else { return }
        wait(1...60, &random)
        plan(.resume)
    }

    private mutating func disputesForMonths(_ random: inout SplitMix64) {
        checkout(.init(product: "pass_30_days"))
        wait(0.5...20, &random)
        if random.chance(0.7) { checkout(.init(product: "pass_30_days")) }
        wait(0.1...3, &random)
        let back = Int.random(in: 0...1, using: &random)
        if random.chance(0.6) {
            plan(.dispute(back: back))
        } else {
            plan(.refundCharge(back: back, amount: nil))
        }
        wait(5...30, &random)
        if random.chance(0.5) { checkout(.init(product: "pass_30_days")) }
        wait(1...90, &random)
        plan(.endDispute(isWon: random.chance(0.3)))
    }

    /// A page that is paid hours after it was opened, or by a bank that takes days.
    private mutating func paysLate(_ random: inout SplitMix64) {
        let order = StripeAct.Order(product: "pass_30_days")
        if random.chance(0.5) {
            plan(.openCheckout(order))
            wait(0.2...0.95, &random)
            plan(.payCheckout(card: "pm_card_visa", passesChallenge: true, outcome: "completed"))
        } else {
            checkout(order, card: random.any(["pm_card_sepaDebit", "pm_card_sepaDebitDelayed"]))
        }
    }

    private mutating func ordersSeveral(_ random: inout SplitMix64) {
        let plan = random.any(["pro_monthly", "archive_monthly", "coin_club"])
        let other = random.any(["coins_100", "lifetime", "pass_30_days", "archive_monthly"])
        var order = WorldAct.StripeOrder(products: [plan, other])
        if random.chance(0.3) { order.products.append("pro_yearly") }
        order.quantity = Int.random(in: 1...2, using: &random)
        self.plan(random.chance(0.6) ? .checkout(order, card: "pm_card_visa") : .subscribe(order))
        wait(1...40, &random)
        guard random.chance(0.3) else { return }
        let amount = random.chance(0.5) ? nil : Int.random(in: 1...900, using: &random)
        self.plan(.refundCharge(back: 0, amount: amount))
    }

    private mutating func isDeletedAndReturns(_ random: inout SplitMix64) {
        checkout(.init(product: random.any(["pro_monthly", "coins_100", "lifetime"])))
        wait(1...40, &random)
        plan(.deleteCustomer)
        wait(0.1...20, &random)
        checkout(.init(product: random.any(["pro_monthly", "coins_100", "pass_30_days"])))
    }

    private mutating func usesCoupons(_ random: inout SplitMix64) {
        var order = WorldAct.StripeOrder(
            products: [random.any(["coins_100", "pro_monthly", "coin_club", "pass_30_days"])]
        )
        order.coupon = random.any(SimulatedShop.coupons.map(\.id))
        order.createsInvoice = order.products == ["coins_100"] && random.chance(0.7)
        plan(.checkout(order, card: "pm_card_visa"))
        wait(1...40, &random)
        guard random.chance(0.3) else { return }
        plan(.refundCharge(back: 0, amount: nil))
    }

    private mutating func addsAndRemovesItems(_ random: inout SplitMix64) {
        checkout(.init(product: "pro_monthly"))
        wait(1...40, &random)
        plan(
            .addItem(
                product: random.any(["archive_monthly", "coin_club"]),
                proration: random.any(Self.prorations)
            )
        )
        wait(1...50, &random)
        guard random.chance(0.7) else { return }
        plan(.removeItem)
    }

    private mutating func confirmsLater(_ random: inout SplitMix64) {
        var order = WorldAct.StripeOrder(
            products: [random.any(["pro_monthly", "coin_club", "pro_yearly"])]
        )
        order.isConfirmedLater = true
        plan(.subscribe(order))
        wait(0.01...1.2, &random)
        plan(.payInvoice(card: "pm_card_visa", outcome: "completed"))
    }
}
