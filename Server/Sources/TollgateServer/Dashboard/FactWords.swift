internal import Reports
internal import Storage
internal import Stores
internal import TollgateCore
internal import TollgateService

extension DashboardPages {
    /// What a fact states, as a sentence in this language.
    func said(_ fact: Fact) -> String {
        let purchase = fact.purchase
        switch fact.statement {
        case .period(let period): return said(period, purchase)
        case .renewal(let terms): return said(terms, purchase)
        case .status(let status): return words.of("said_status", "\(status.value)")
        case .refundReversed: return words["said_refund_reversed"]
        case .subscription(let subscription): return said(subscription)
        case .payment(let payment): return said(payment)
        case .invoice(let invoice): return said(invoice)
        case .refund(let refund): return words.of("said_refund", refund.status)
        case .dispute(let dispute):
            return words(
                dispute.takesBack ? "said_dispute" : "said_dispute_over",
                ["state": dispute.status]
            )
        case .buyer(let buyer): return words("said_buyer", ["name": buyer.reference])
        case .googlePlaySubscription, .googlePlayPurchase, .googlePlayOrder, .googlePlayVoid,
            .googlePlayUnreadable:
            return saidByGooglePlay(fact.statement, purchase)
        case .claim(let claim): return words.of("said_claim", claim.mode.rawValue)
        case .assignment: return words["said_assignment"]
        case .grant(let grant): return said(grant)
        case .freeSubscription(let free):
            return words(
                free.isOn ? "said_free_on" : "said_free_off",
                ["product": name(of: free.product, under: "product")]
            )
        case .coins(let coins):
            return words(
                coins.amount < 0 ? "said_coins_taken" : "said_coins_given",
                ["amount": formats.number(Int64(clamping: coins.amount.magnitude))]
            )
        }
    }

    private func productName(_ product: StoreProduct, _ purchase: Purchase.Key) -> String {
        tollgate.store.history.current.product(product, in: purchase.application)?.name
            ?? product.id
    }

    // MARK: - App Store

    private func said(_ period: Period, _ purchase: Purchase.Key) -> String {
        let product = productName(StoreProduct(purchase.store, period.product), purchase)
        if let day = period.revoked {
            return words(
                period.isFamilyShared ? "said_no_longer_shared" : "said_refunded",
                ["product": product, "date": formats.day(day)]
            )
        }
        var price = ""
        if let milliunits = period.price, let currency = period.currency {
            price = formats.money(
                formats.minor(Reports.Fraction(milliunits), currency),
                currency
            )
        }
        if period.isFamilyShared {
            return words("said_shared", ["product": product, "date": formats.day(period.start)])
        }
        guard let end = period.end else {
            return words("said_bought", ["product": product, "price": price])
        }
        return words(
            period.price == 0 ? "said_period_free" : "said_period",
            [
                "product": product, "price": price, "start": formats.day(period.start),
                "end": formats.day(end),
            ]
        )
    }

    private func said(_ terms: RenewalTerms, _ purchase: Purchase.Key) -> String {
        if terms.isInBillingRetry {
            return terms.graceEnd.map {
                words("said_retry_grace", ["date": formats.day($0)])
            } ?? words["said_retry"]
        }
        guard terms.willRenew else { return words["said_renewal_off"] }
        if let next = terms.nextProduct {
            return words(
                "said_renews_as",
                ["product": productName(StoreProduct(purchase.store, next), purchase)]
            )
        }
        return words["said_renewal_on"]
    }

    // MARK: - Stripe

    private func said(_ subscription: StripeSubscription) -> String {
        let state = words.of("stripe_status", subscription.status)
        if let end = subscription.cancelAt ?? subscription.endedAt {
            return words(
                "said_subscription_ends",
                ["state": state, "date": formats.day(end)]
            )
        }
        return words(
            subscription.cancelsAtPeriodEnd ? "said_subscription_stops" : "said_subscription",
            ["state": state]
        )
    }

    private func said(_ payment: StripePayment) -> String {
        let amount = formats.money(payment.amount, payment.currency)
        if payment.isPaid { return words("said_paid", ["amount": amount]) }
        return words(
            payment.hasFailed == true ? "said_payment_failed" : "said_payment_open",
            ["amount": amount]
        )
    }

    private func said(_ invoice: StripeInvoice) -> String {
        let amount = formats.money(invoice.total ?? invoice.amount, invoice.currency)
        if invoice.voided != nil { return words("said_invoice_void", ["amount": amount]) }
        return words(
            invoice.isPaid ? "said_invoice_paid" : "said_invoice_open",
            ["amount": amount]
        )
    }

    // MARK: - Google Play

    private func saidByGooglePlay(_ statement: Statement, _ purchase: Purchase.Key) -> String {
        switch statement {
        case .googlePlaySubscription(let subscription):
            return words(
                "said_play_subscription",
                [
                    "product": subscription.items.map { productName($0.sold, purchase) }
                        .joined(separator: ", "),
                    "state": playState(subscription.state, "SUBSCRIPTION_STATE_"),
                ]
            )
        case .googlePlayPurchase(let bought):
            return words(
                "said_play_subscription",
                [
                    "product": bought.lines.map { productName($0.sold, purchase) }
                        .joined(separator: ", "),
                    "state": playState(bought.state, "PURCHASE_STATE_"),
                ]
            )
        case .googlePlayOrder(let order):
            let amount = order.total.map { money($0) } ?? ""
            if !order.refunds.isEmpty { return words("said_order_back", ["amount": amount]) }
            return words(order.isPaid ? "said_paid" : "said_payment_open", ["amount": amount])
        case .googlePlayVoid(let void):
            return words("said_void", ["date": formats.day(void.at)])
        case .googlePlayUnreadable(let answer):
            return words[answer.isOutage == true ? "said_outage" : "said_unreadable"]
        default: return ""
        }
    }

    private func playState(_ state: String, _ prefix: String) -> String {
        let word = state.hasPrefix(prefix) ? String(state.dropFirst(prefix.count)) : state
        return words.of("play_state", word.lowercased())
    }

    private func money(_ amount: GooglePlayMoney) -> String {
        var divisor: Int64 = 1_000_000
        for _ in 0..<formats.decimals(of: amount.currency) { divisor /= 10 }
        return formats.money(amount.micros / divisor, amount.currency)
    }

    // MARK: - Ours

    private func said(_ grant: StaffGrant) -> String {
        let name = names(of: [grant.lookupKey])
        return grant.until.map {
            words("said_grant_until", ["name": name, "date": formats.day($0)])
        } ?? words("said_grant", ["name": name])
    }
}
