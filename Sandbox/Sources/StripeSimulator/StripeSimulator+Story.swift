extension StripeSimulator {
    /// What was done to this Stripe so far, so that it can be written down and done again.
    public struct Story: Sendable {
        public var seed: UInt64
        /// Days after the first failure on which a renewal is tried again.
        public var retryDays: [Int]
        public var dunningEnd: Policy.DunningEnd
        /// Everything that was sold or offered, the oldest first.
        public var prices: [SoldPrice]
        /// Stripe's ids of the customers, the oldest first.
        public var customers: [String]
        public var deeds: [Deed]
    }

    /// A price with the name of its product.
    public struct SoldPrice: Hashable, Sendable {
        public var id: String
        public var name: String
        /// Minor units.
        public var unitAmount: Int
        public var currency: String
        /// `day`, `week`, `month` or `year`; `nil`: it is paid once.
        public var interval: String?
        public var intervalCount: Int
    }

    /// One thing that was done, in the words of scenario files (docs/scenarios.md).
    public struct Deed: Hashable, Sendable {
        public struct Detail: Hashable, Sendable {
            public var name: String
            public var value: String

            init(_ name: String, _ value: String) {
                (self.name, self.value) = (name, value)
            }
        }

        /// UNIX milliseconds on the virtual clock.
        public var at: Int64
        /// `nil` where only time went by, or where scenarios have no word for it.
        public var act: String?
        public var customer: String?
        public var details: [Detail] = []
        /// What happened, where scenarios have no word for it.
        public var remark: String?
        /// The prices of the plans that customers have after it, of those about whom the backend was
        /// told everything.
        public var holdings: [String: [String]] = [:]
    }

    /// The story so far.
    var story: Story {
        Story(
            seed: configuration.seed,
            retryDays: world.policy.retryDays,
            dunningEnd: world.policy.dunningEnd,
            prices: world.all(.price).map { StripeSimulator.Story.sold(world, $0) },
            customers: world.all(.customer).map { $0["id"].text },
            deeds: deeds
        )
    }

    /// Notes what somebody did since the world was looked at last.
    ///
    /// - Parameter request: the form that was sent, if it was the API that was asked.
    func noteDeeds(of request: String = "") {
        guard let onDeed = configuration.onDeed, let told else { return }
        var comparison = StoryComparison(before: told, after: world, request: request)
        comparison.run()
        catchUp()
        guard !comparison.deeds.isEmpty else { return }
        deeds += comparison.deeds
        noteHoldings()
        onDeed(story)
    }

    /// What has come by itself is no deed of anybody's.
    func catchUp() {
        if configuration.onDeed != nil { told = world }
    }

    /// Notes that time went by, or that what was said by now has arrived.
    func noteTime() {
        guard let onDeed = configuration.onDeed else { return }
        catchUp()
        deeds.append(Deed(at: Int64(world.now) * 1_000))
        noteHoldings()
        onDeed(story)
    }

    /// Notes one thing that leaves no trace in the objects.
    func note(_ act: String, _ details: [Deed.Detail] = []) {
        guard let onDeed = configuration.onDeed else { return }
        deeds.append(Deed(at: Int64(world.now) * 1_000, act: act, details: details))
        onDeed(story)
    }

    private func noteHoldings() {
        guard let last = deeds.indices.last, !world.faults.isFailing, !world.faults.isPaused,
            !world.deliveries.contains(where: { $0.attempts > 0 })
        else { return }
        for customer in world.all(.customer) where customer["deleted"].bool != true {
            let id = customer["id"].text
            deeds[last].holdings[id] = StripeSimulator.Story.plans(world, of: id)
        }
    }
}

extension StripeSimulator.Story {
    fileprivate static func sold(_ world: World, _ price: JSON) -> StripeSimulator.SoldPrice {
        StripeSimulator.SoldPrice(
            id: price["id"].text,
            name: Products.name(world, of: price),
            unitAmount: Prices.amount(of: price, 1),
            currency: price["currency"].text,
            interval: price["recurring"]["interval"].string,
            intervalCount: price["recurring"]["interval_count"].int ?? 1
        )
    }

    /// The prices of the plans that a customer has; `nil` where that is the backend's to decide, as
    /// while a renewal is unpaid.
    fileprivate static func plans(_ world: World, of customer: String) -> [String]? {
        var prices: Set<String> = []
        for subscription in world.all(.subscription)
        where subscription["customer"].reference == customer {
            switch subscription["status"].text {
            case "active", "trialing":
                prices.formUnion(
                    subscription["items"].elements.compactMap { $0["price"]["id"].string }
                )
            case "past_due": return nil
            default: break
            }
        }
        return prices.sorted()
    }
}

/// What people did between two looks at the world.
struct StoryComparison {
    typealias Deed = StripeSimulator.Deed

    let before: World
    let after: World
    let request: String
    private(set) var deeds: [Deed] = []

    init(before: World, after: World, request: String) {
        (self.before, self.after, self.request) = (before, after, request)
    }

    mutating func run() {
        for session in after.all(.checkoutSession) { compare(session: session) }
        for subscription in after.all(.subscription) { compare(subscription: subscription) }
        for invoice in after.all(.invoice) { compare(invoice: invoice) }
        for customer in after.all(.customer) { compare(customer: customer) }
        for refund in after.all(.refund) where before.get(.refund, refund["id"].text) == nil {
            compare(refund: refund)
        }
        for dispute in after.all(.dispute) { compare(dispute: dispute) }
    }

    private mutating func add(
        _ act: String,
        _ customer: String?,
        _ details: [Deed.Detail] = []
    ) {
        let at = Int64(after.now) * 1_000
        guard let customer else {
            deeds.append(Deed(at: at, remark: "\(act), by somebody without a customer"))
            return
        }
        deeds.append(Deed(at: at, act: act, customer: customer, details: details))
    }

    private mutating func remark(_ words: String) {
        deeds.append(Deed(at: Int64(after.now) * 1_000, remark: words))
    }

    // MARK: - Checkout

    private mutating func compare(session: JSON) {
        let old = before.get(.checkoutSession, session["id"].text)
        let status = session["status"].text
        guard old?["status"].string != status else { return }
        let customer = session["customer"].reference
        if let old, old["customer"].isNull {
            return remark("a Checkout Session of a visitor, which becomes a customer's")
        }
        if old == nil {
            let lines = session["_line_items"].elements
            guard lines.count == 1, let line = lines.first, session["mode"].string != "setup" else {
                return remark("a Checkout Session of several lines, or of none")
            }
            var details: [Deed.Detail] = [.init("product", line["price"]["id"].text)]
            if let quantity = line["quantity"].int, quantity > 1 {
                details.append(.init("quantity", "\(quantity)"))
            }
            if let days = session["_subscription_data"]["trial_period_days"].int {
                details.append(.init("trial_days", "\(days)"))
            }
            add("open_checkout", customer, details)
        }
        if status == "complete" {
            let sold = session["_line_items"].elements.count
            if let old, sold > old["_line_items"].elements.count {
                return remark("a Checkout Session to which the payer adds a product is paid")
            }
            let isLatest =
                after.all(.checkoutSession).last {
                    $0["customer"].reference == customer
                }?["id"] == session["id"]
            guard isLatest else { return remark("an earlier Checkout Session is paid") }
            let intent = after.get(.paymentIntent, session["payment_intent"].reference)
            let subscription = after.get(.subscription, session["subscription"].reference)
            let method =
                intent?["payment_method"].reference
                ?? subscription?["default_payment_method"].reference
            add("pay_checkout", customer, card(method))
        }
    }

    private func card(_ method: String?) -> [Deed.Detail] {
        guard let number = after.get(.paymentMethod, method)?["_card"].string,
            let name = TestCard.numbered(number)?.names.first
        else { return [] }
        return [.init("card", "pm_card_\(name)")]
    }

    // MARK: - Plans

    private mutating func compare(subscription: JSON) {
        let id = subscription["id"].text
        let customer = subscription["customer"].reference
        guard let old = before.get(.subscription, id) else {
            return begin(subscription, customer)
        }
        guard old != subscription else { return }
        let isLatest =
            after.all(.subscription).last { $0["customer"].reference == customer }?["id"]
            == subscription["id"]
        let deedsBefore = deeds.count
        compareEnd(old, subscription, customer)
        compareItems(old, subscription, customer)
        let wasCollected = old["pause_collection"].isNull
        if wasCollected != subscription["pause_collection"].isNull {
            add(wasCollected ? "pause_collection" : "resume_collection", customer)
        }
        switch (old["status"].text, subscription["status"].text) {
        case (let from, "paused") where from != "paused": add("pause", customer)
        case ("paused", "active"), ("paused", "past_due"): add("unpause", customer)
        case ("trialing", "active"): add("end_trial", customer)
        default: break
        }
        if !isLatest, deeds.count > deedsBefore {
            deeds.removeSubrange(deedsBefore...)
            remark("a change of a customer's earlier subscription")
        }
    }

    private mutating func begin(_ subscription: JSON, _ customer: String?) {
        let id = subscription["id"].string
        let isOfCheckout = after.all(.checkoutSession).contains {
            $0["subscription"].reference == id
        }
        guard !isOfCheckout else { return }
        let items = subscription["items"].elements
        guard items.count == 1, let item = items.first else {
            return remark("a subscription of several products begins")
        }
        var details: [Deed.Detail] = [.init("product", item["price"]["id"].text)]
        if let quantity = item["quantity"].int, quantity > 1 {
            details.append(.init("quantity", "\(quantity)"))
        }
        if let end = subscription["trial_end"].int, let start = subscription["trial_start"].int {
            details.append(.init("trial_days", "\(max(1, (end - start) / 86_400))"))
        }
        let method =
            subscription["default_payment_method"].reference
            ?? after.get(.customer, customer)?["invoice_settings"]["default_payment_method"]
            .reference
        details += card(method)
        if subscription["status"].string == "incomplete" {
            details.append(.init("outcome", "incomplete"))
        }
        add("subscribe", customer, details)
    }

    private mutating func compareEnd(_ old: JSON, _ new: JSON, _ customer: String?) {
        let isOver = ["canceled", "incomplete_expired"]
        if isOver.contains(new["status"].text) {
            if !isOver.contains(old["status"].text) { add("cancel", customer) }
            return
        }
        guard old["cancel_at"] != new["cancel_at"] else { return }
        if new["cancel_at_period_end"].bool == true {
            add("cancel", customer, [.init("when", "period_end")])
        } else if let instant = new["cancel_at"].int {
            add("cancel", customer, [.init("when", "\(instant * 1_000)")])
        } else {
            add("resume", customer)
        }
    }

    private mutating func compareItems(_ old: JSON, _ new: JSON, _ customer: String?) {
        let (items, others) = (old["items"].elements, new["items"].elements)
        guard
            items.map({ $0["price"]["id"] }) != others.map({ $0["price"]["id"] })
                || items.map({ $0["quantity"] }) != others.map({ $0["quantity"] })
        else { return }
        guard items.count == 1, others.count == 1, let item = items.first, let other = others.first
        else { return remark("products of a subscription are added or taken away") }
        let behaviors = ["always_invoice", "none"]
        let proration = behaviors.first { request.contains("proration_behavior=\($0)") }
        let details = proration.map { [Deed.Detail("proration", $0)] } ?? []
        if item["price"]["id"] != other["price"]["id"] {
            add("change", customer, [.init("to", other["price"]["id"].text)] + details)
        } else {
            add("quantity", customer, [.init("quantity", "\(other["quantity"].count)")] + details)
        }
    }

    // MARK: - Money

    private mutating func compare(invoice: JSON) {
        let old = before.get(.invoice, invoice["id"].text)?["status"].string
        guard old == "open", !invoice["parent"]["subscription_details"].isNull else { return }
        let customer = invoice["customer"].reference
        switch invoice["status"].text {
        case "paid": add("pay_invoice", customer)
        case "void": add("void_invoice", customer)
        default: break
        }
    }

    private mutating func compare(customer: JSON) {
        let id = customer["id"].text
        guard let old = before.get(.customer, id) else { return }
        if customer["deleted"].bool == true, old["deleted"].bool != true {
            return add("delete_customer", id)
        }
        let method = customer["invoice_settings"]["default_payment_method"]
        if method != old["invoice_settings"]["default_payment_method"], !method.isNull {
            let isOfThis = !deeds.contains { $0.act == "subscribe" || $0.act == "pay_checkout" }
            if isOfThis { add("card", id, card(method.reference)) }
        }
    }

    private mutating func compare(refund: JSON) {
        let charge = after.get(.charge, refund["charge"].reference)
        let customer = charge?["customer"].reference
        let latest = after.all(.charge).last {
            $0["customer"].reference == customer && $0["paid"].bool == true
        }
        guard latest?["id"] == charge?["id"] else { return remark("an earlier charge is refunded") }
        add("refund", customer, [.init("amount", "\(refund["amount"].count)")])
    }

    private mutating func compare(dispute: JSON) {
        let customer = after.get(.charge, dispute["charge"].reference)?["customer"].reference
        guard let old = before.get(.dispute, dispute["id"].text) else {
            // A card that is always disputed brings it by itself.
            let isByCard = deeds.contains { $0.act == "pay_checkout" || $0.act == "subscribe" }
            if !isByCard { add("dispute", customer) }
            return
        }
        guard old["status"] != dispute["status"] else { return }
        if ["won", "lost"].contains(dispute["status"].text) {
            add("close_dispute", customer, [.init("outcome", dispute["status"].text)])
        } else if old["status"].text.hasPrefix("warning"),
            !dispute["status"].text.hasPrefix("warning")
        {
            add("escalate_dispute", customer)
        }
    }
}
