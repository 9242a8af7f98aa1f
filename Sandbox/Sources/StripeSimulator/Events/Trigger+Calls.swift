// Stories that are told by calls of the API alone, with a test clock where time has to pass.

extension Trigger {
    /// One call of the API, as a merchant's server makes it.
    ///
    /// - Parameter fields: names as they stand in a form, and values without any character that a
    ///   form escapes.
    /// - Throws: `APIError`, unless the refusal is a bank's: what was tried then stays.
    @discardableResult
    static func tell(
        _ world: inout World,
        _ path: String,
        _ fields: KeyValuePairs<String, String> = [:]
    ) throws -> JSON {
        world.cause = World.Cause(requestID: "req_" + world.random.token(14))
        let body = fields.map { "\($0.key)=\($0.value)" }.joined(separator: "&")
        do {
            return try API.result(
                &world,
                of: APIRequest(method: "POST", path: "/v1/\(path)", body: body)
            )
        } catch let error as APIError {
            guard error.keepsChanges else { throw error }
            return .null
        }
    }

    /// Somebody on a test clock of their own, with a card.
    private static func makeBuyer(
        _ world: inout World,
        card: String = "pm_card_visa"
    ) throws -> (customer: String, clock: String) {
        let made = try tell(
            &world,
            "test_helpers/test_clocks",
            ["frozen_time": "\(world.now)"]
        )
        let clock = made["id"].text
        let customer = try tell(
            &world,
            "customers",
            ["email": "trigger@example.com", "name": "Jenny", "test_clock": clock]
        )["id"].text
        Customers.setDefaultCard(
            &world,
            CardDetails(card: TestCard.named(card) ?? .success),
            customer: customer
        )
        return (customer, clock)
    }

    private static func pass(_ world: inout World, _ seconds: Int, on clock: String) throws {
        let frozen = try world.find(.testClock, clock)["frozen_time"].count
        try tell(
            &world,
            "test_helpers/test_clocks/\(clock)/advance",
            ["frozen_time": "\(frozen + seconds)"]
        )
    }

    private static let day = 86_400

    private static func makePlan(_ world: inout World, _ customer: String) throws -> JSON {
        try tell(
            &world,
            "subscriptions",
            [
                "customer": customer,
                "items[0][price]": makePrice(&world, recurring: true)["id"].text,
            ]
        )
    }

    static func playIntent(_ world: inout World, _ event: String) throws {
        guard event == "payment_intent.canceled" else {
            try tell(
                &world,
                "payment_intents",
                [
                    "amount": "2000", "currency": "usd", "confirm": "true",
                    "payment_method": "pm_card_threeDSecure2Required",
                ]
            )
            return
        }
        let intent = try tell(&world, "payment_intents", ["amount": "2000", "currency": "usd"])
        try tell(&world, "payment_intents/\(intent["id"].text)/cancel")
    }

    /// A payment is given back; a day later the bank has more to say.
    static func playRefund(_ world: inout World, _ event: String) throws {
        let card = event == "refund.failed" ? "pm_card_refundFail" : "pm_card_visa"
        let (customer, clock) = try makeBuyer(&world, card: card)
        let method = world.get(.customer, customer)?["invoice_settings"]["default_payment_method"]
        let intent = try tell(
            &world,
            "payment_intents",
            [
                "amount": "2000", "currency": "usd", "customer": customer, "confirm": "true",
                "payment_method": method?.reference ?? "",
            ]
        )
        try tell(&world, "refunds", ["payment_intent": intent["id"].text])
        if event != "refund.created" { try pass(&world, day, on: clock) }
    }

    /// A month goes by, and what comes with the next one is announced before.
    static func playRenewal(_ world: inout World) throws {
        let (customer, clock) = try makeBuyer(&world)
        _ = try makePlan(&world, customer)
        try pass(&world, 31 * day, on: clock)
    }

    /// A dearer plan is wanted, but the card does not pay for it: at once, or ever.
    static func playPendingUpdate(_ world: inout World, _ event: String) throws {
        let (customer, clock) = try makeBuyer(&world)
        let subscription = try makePlan(&world, customer)
        let id = subscription["id"].text
        let dearer = try tell(
            &world,
            "prices",
            [
                "product": subscription["items"].elements.first?["price"]["product"].text ?? "",
                "currency": "usd", "unit_amount": "5000", "recurring[interval]": "month",
            ]
        )
        let failing = TestCard.named("pm_card_chargeCustomerFail") ?? .success
        Customers.setDefaultCard(&world, CardDetails(card: failing), customer: customer)
        try tell(
            &world,
            "subscriptions/\(id)",
            [
                "items[0][id]": subscription["items"].elements.first?["id"].text ?? "",
                "items[0][price]": dearer["id"].text, "payment_behavior": "pending_if_incomplete",
                "proration_behavior": "always_invoice",
            ]
        )
        guard event.hasSuffix("applied") else { return try pass(&world, day, on: clock) }
        let invoice = world.get(.subscription, id)?["latest_invoice"].reference ?? ""
        try tell(&world, "invoices/\(invoice)/pay", ["payment_method": "pm_card_visa"])
    }

    /// Somebody subscribes to a product with a feature.
    static func playEntitlements(_ world: inout World) throws {
        let price = makePrice(&world, recurring: true)
        let feature = try tell(
            &world,
            "entitlements/features",
            ["name": "Triggered", "lookup_key": "triggered_" + world.random.token(8)]
        )
        try tell(
            &world,
            "products/\(price["product"].text)/features",
            ["entitlement_feature": feature["id"].text]
        )
        let (customer, _) = try makeBuyer(&world)
        try tell(
            &world,
            "subscriptions",
            ["customer": customer, "items[0][price]": price["id"].text]
        )
    }

    static func playSchedule(_ world: inout World, _ event: String) throws {
        let (customer, clock) = try makeBuyer(&world)
        let isAborted = event == "subscription_schedule.aborted"
        let schedule = try tell(
            &world,
            "subscription_schedules",
            [
                "customer": customer, "start_date": "now", "end_behavior": "cancel",
                "phases[0][items][0][price]": makePrice(&world, recurring: true)["id"].text,
                "phases[0][duration][interval]": isAborted ? "year" : "month",
            ]
        )["id"].text
        switch event {
        case "subscription_schedule.updated":
            try tell(&world, "subscription_schedules/\(schedule)", ["metadata[triggered]": "true"])
        case "subscription_schedule.released":
            try tell(&world, "subscription_schedules/\(schedule)/release")
        case "subscription_schedule.canceled":
            try tell(&world, "subscription_schedules/\(schedule)/cancel")
        case "subscription_schedule.expiring", "subscription_schedule.completed":
            try pass(&world, 32 * day, on: clock)
        case "subscription_schedule.aborted":
            // From the first renewal on the card fails, until nobody tries any more.
            let failing = TestCard.named("pm_card_chargeCustomerFail") ?? .success
            Customers.setDefaultCard(&world, CardDetails(card: failing), customer: customer)
            for _ in 0..<2 { try pass(&world, 31 * day, on: clock) }
        default: break
        }
    }
}
