// Stories that are told by calls of the API alone, with a test clock where time has to pass.

extension World {
    /// One call of the API, as a merchant's server makes it.
    ///
    /// - Parameter fields: names as they stand in a form, and values without any character that a
    ///   form escapes.
    /// - Throws: `APIError`, unless the refusal is a bank's: what was tried then stays.
    @discardableResult
    mutating func tell(
        _ path: String,
        _ fields: KeyValuePairs<String, String> = [:]
    ) throws -> JSON {
        cause = Cause(requestID: "req_" + random.token(14))
        let body = fields.map { "\($0.key)=\($0.value)" }.joined(separator: "&")
        do {
            return try result(
                of: APIRequest(method: "POST", path: "/v1/\(path)", body: body)
            )
        } catch let error as APIError {
            guard error.keepsChanges else { throw error }
            return .null
        }
    }

    /// Somebody on a test clock of their own, with a card.
    private mutating func triggerBuyer(
        card: String = "pm_card_visa"
    ) throws -> (customer: String, clock: String) {
        let clock = try tell("test_helpers/test_clocks", ["frozen_time": "\(now)"])["id"].text
        let customer = try tell(
            "customers",
            ["email": "trigger@example.com", "name": "Jenny", "test_clock": clock]
        )["id"].text
        setDefaultCard(CardDetails(card: TestCard.named(card) ?? .success), customer: customer)
        return (customer, clock)
    }

    private mutating func pass(_ seconds: Int, on clock: String) throws {
        let frozen = try find(.testClock, clock)["frozen_time"].count
        try tell(
            "test_helpers/test_clocks/\(clock)/advance",
            ["frozen_time": "\(frozen + seconds)"]
        )
    }

    private static let day = 86_400

    private mutating func triggerPlan(_ customer: String) throws -> JSON {
        try tell(
            "subscriptions",
            ["customer": customer, "items[0][price]": triggerPrice(recurring: true)["id"].text]
        )
    }

    mutating func triggerIntent(_ event: String) throws {
        guard event == "payment_intent.canceled" else {
            try tell(
                "payment_intents",
                [
                    "amount": "2000", "currency": "usd", "confirm": "true",
                    "payment_method": "pm_card_threeDSecure2Required",
                ]
            )
            return
        }
        let intent = try tell("payment_intents", ["amount": "2000", "currency": "usd"])
        try tell("payment_intents/\(intent["id"].text)/cancel")
    }

    /// A payment is given back; a day later the bank has more to say.
    mutating func triggerRefund(_ event: String) throws {
        let card = event == "refund.failed" ? "pm_card_refundFail" : "pm_card_visa"
        let (customer, clock) = try triggerBuyer(card: card)
        let method = get(.customer, customer)?["invoice_settings"]["default_payment_method"]
        let intent = try tell(
            "payment_intents",
            [
                "amount": "2000", "currency": "usd", "customer": customer, "confirm": "true",
                "payment_method": method?.reference ?? "",
            ]
        )
        try tell("refunds", ["payment_intent": intent["id"].text])
        if event != "refund.created" { try pass(Self.day, on: clock) }
    }

    /// A month goes by, and what comes with the next one is announced before.
    mutating func triggerRenewal() throws {
        let (customer, clock) = try triggerBuyer()
        _ = try triggerPlan(customer)
        try pass(31 * Self.day, on: clock)
    }

    /// A dearer plan is wanted, but the card does not pay for it: at once, or ever.
    mutating func triggerPendingUpdate(_ event: String) throws {
        let (customer, clock) = try triggerBuyer()
        let subscription = try triggerPlan(customer)
        let id = subscription["id"].text
        let dearer = try tell(
            "prices",
            [
                "product": subscription["items"].elements.first?["price"]["product"].text ?? "",
                "currency": "usd", "unit_amount": "5000", "recurring[interval]": "month",
            ]
        )
        let failing = TestCard.named("pm_card_chargeCustomerFail") ?? .success
        setDefaultCard(CardDetails(card: failing), customer: customer)
        try tell(
            "subscriptions/\(id)",
            [
                "items[0][id]": subscription["items"].elements.first?["id"].text ?? "",
                "items[0][price]": dearer["id"].text, "payment_behavior": "pending_if_incomplete",
                "proration_behavior": "always_invoice",
            ]
        )
        guard event.hasSuffix("applied") else { return try pass(Self.day, on: clock) }
        let invoice = get(.subscription, id)?["latest_invoice"].reference ?? ""
        try tell("invoices/\(invoice)/pay", ["payment_method": "pm_card_visa"])
    }

    /// Somebody subscribes to a product with a feature.
    mutating func triggerEntitlements() throws {
        let price = triggerPrice(recurring: true)
        let feature = try tell(
            "entitlements/features",
            ["name": "Triggered", "lookup_key": "triggered_" + random.token(8)]
        )
        try tell(
            "products/\(price["product"].text)/features",
            ["entitlement_feature": feature["id"].text]
        )
        let (customer, _) = try triggerBuyer()
        try tell("subscriptions", ["customer": customer, "items[0][price]": price["id"].text])
    }

    mutating func triggerSchedule(_ event: String) throws {
        let (customer, clock) = try triggerBuyer()
        let isAborted = event == "subscription_schedule.aborted"
        let schedule = try tell(
            "subscription_schedules",
            [
                "customer": customer, "start_date": "now", "end_behavior": "cancel",
                "phases[0][items][0][price]": triggerPrice(recurring: true)["id"].text,
                "phases[0][duration][interval]": isAborted ? "year" : "month",
            ]
        )["id"].text
        switch event {
        case "subscription_schedule.updated":
            try tell("subscription_schedules/\(schedule)", ["metadata[triggered]": "true"])
        case "subscription_schedule.released":
            try tell("subscription_schedules/\(schedule)/release")
        case "subscription_schedule.canceled":
            try tell("subscription_schedules/\(schedule)/cancel")
        case "subscription_schedule.expiring", "subscription_schedule.completed":
            try pass(32 * Self.day, on: clock)
        case "subscription_schedule.aborted":
            // From the first renewal on the card fails, until nobody tries any more.
            let failing = TestCard.named("pm_card_chargeCustomerFail") ?? .success
            setDefaultCard(CardDetails(card: failing), customer: customer)
            for _ in 0..<2 { try pass(31 * Self.day, on: clock) }
        default: break
        }
    }
}
