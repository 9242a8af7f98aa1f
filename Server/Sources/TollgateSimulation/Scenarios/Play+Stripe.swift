import Foundation
import StripeConnector
import StripeSimulator
import TollgateCore

extension Play {
    mutating func perform(_ act: StripeAct, _ step: Scenario.Step) async throws {
        let stripe = world.stripe
        guard let person = people[step.customer] else { return }
        let customer = try await stripeCustomer(person, isOrdering: act.isOrder)
        switch act {
        case .checkout(let order, let card, let passes, let outcome):
            try await open(order, by: person, customer: customer)
            try await pay(step, card, passes, outcome)
        case .openCheckout(let order): try await open(order, by: person, customer: customer)
        case .payCheckout(let card, let passes, let outcome):
            try await pay(step, card, passes, outcome)
        case .subscribe(let order, let card, let behavior, let outcome):
            try await subscribe(order, card, behavior, customer, person, expecting: outcome, step)
        case .payInvoice(let card, let outcome, let outOfBand):
            try await payInvoice(card, outOfBand, customer, expecting: outcome, step)
        case .confirmPayment(let card, let passes, let outcome):
            try await confirmPayment(card, passes, customer, expecting: outcome, step)
        case .voidInvoice: try await closeInvoice(customer, "void")
        case .markUncollectible: try await closeInvoice(customer, "mark_uncollectible")
        case .card(let card): try await stripe.setDefaultCard(card, customer: customer)
        case .removeCard: try await removeCards(of: customer)
        case .cancel(let when): try await cancel(when, customer)
        case .resume:
            try await update(customer, [("cancel_at_period_end", "false"), ("cancel_at", "")])
        case .change, .quantity, .addItem, .pauseCollection, .collectionMethod, .removeDiscount:
            try await changePlan(act, customer)
        case .pause: try await post(customer, "pause", [("type", "subscription")])
        case .unpause: try await post(customer, "resume", [])
        case .schedule(let phases, let end): try await schedule(phases, end, customer)
        case .endTrial: try await update(customer, [("trial_end", "now")])
        case .capture: try await settleHold("capture", of: customer)
        case .release: try await settleHold("cancel", of: customer)
        case .invoice(let order): try await sell(order, toCustomer: customer)
        case .payPart(let amount, let card):
            try await pay(amount, with: card, ofInvoiceOf: customer)
        case .refund(let amount, let charge):
            try await refund(amount, ofCharge: charge, of: customer)
        case .dispute:
            let charge = try await newest("/v1/charges", "customer=\(customer)&limit=1")
            try await stripe.dispute(charge: charge)
        case .closeDispute(let isWon):
            let dispute = try await newest("/v1/disputes", "limit=1")
            try await stripe.close(dispute: dispute, isWon: isWon)
        case .escalateDispute:
            try await stripe.escalate(dispute: newest("/v1/disputes", "limit=1"))
        case .deleteCustomer:
            _ = try await call("DELETE", "/v1/customers/\(customer)")
            deletedAtStripe.insert(person)
        case .resend(let type):
            try await stripe.resend(event: try await newest("/v1/events", "type=\(type)&limit=1"))
        case .silence:
            var faults = StripeSimulator.Faults()
            faults.isFailing = true
            await stripe.setFaults(faults, retryNow: false)
        case .speak: await stripe.setFaults(StripeSimulator.Faults(), retryNow: false)
        }
    }

    /// Acts that change a subscription's items or its payment.
    private mutating func changePlan(_ act: StripeAct, _ customer: String) async throws {
        switch act {
        case .change(let product, let proration):
            let (item, _) = try await item(of: customer)
            try await update(
                customer,
                [
                    ("items[0][id]", item), ("items[0][price]", try price(product)),
                    ("proration_behavior", proration),
                ]
            )
        case .quantity(let quantity, let proration):
            let (item, _) = try await item(of: customer)
            try await update(
                customer,
                [
                    ("items[0][id]", item), ("items[0][quantity]", "\(quantity)"),
                    ("proration_behavior", proration),
                ]
            )
        case .addItem(let product, let proration):
            let id = try await subscription(of: customer)["id"] as? String ?? ""
            let form = [
                ("subscription", id), ("price", try price(product)),
                ("proration_behavior", proration),
            ]
            _ = try await call("POST", "/v1/subscription_items", form)
        case .pauseCollection(let isPaused, let behavior):
            try await update(
                customer,
                isPaused ? [("pause_collection[behavior]", behavior)] : [("pause_collection", "")]
            )
        case .collectionMethod(let days):
            let method = days == nil ? "charge_automatically" : "send_invoice"
            try await update(
                customer,
                [("collection_method", method)] + (days.map { [("days_until_due", "\($0)")] } ?? [])
            )
        case .removeDiscount:
            let id = try await subscription(of: customer)["id"] as? String ?? ""
            _ = try await call("DELETE", "/v1/subscriptions/\(id)/discount")
        default: break
        }
    }

    // MARK: - Checkout

    private mutating func open(
        _ order: StripeAct.Order,
        by person: ScenarioCustomer,
        customer: String
    ) async throws {
        let product = loaded.catalog.product(id: order.product)
        let isPlan = product?.kind == .autoRenewable
        var form = [
            ("mode", isPlan ? "subscription" : "payment"), ("customer", customer),
            ("client_reference_id", person.id), ("metadata[app_user_id]", person.id),
            ("line_items[0][price]", try price(order.product)),
            ("line_items[0][quantity]", "\(order.quantity)"),
            ("success_url", "https://app.example.com/checkout_redirect/success"),
            ("cancel_url", "https://app.example.com/checkout_redirect/cancel"),
        ]
        if isPlan { form.append(("subscription_data[metadata][app_user_id]", person.id)) }
        if let days = order.trialDays {
            form.append(("subscription_data[trial_period_days]", "\(days)"))
        }
        for (index, product) in order.with.enumerated() {
            form.append(("line_items[\(index + 1)][price]", try price(product)))
            form.append(("line_items[\(index + 1)][quantity]", "1"))
        }
        if let percent = order.percentOff {
            let coupon = try await call(
                "POST",
                "/v1/coupons",
                [
                    ("percent_off", "\(percent)"),
                    ("duration", order.isOffForever ? "forever" : "once"),
                ]
            )
            form.append(("discounts[0][coupon]", coupon["id"] as? String ?? ""))
        }
        if order.makesInvoice { form.append(("invoice_creation[enabled]", "true")) }
        if order.holds { form.append(("payment_intent_data[capture_method]", "manual")) }
        if order.namesLines || !order.adds.isEmpty {
            // As this server opens a page: its words do not name what a buyer adds there.
            let words = "\(try price(order.product)):\(order.quantity)"
            form.append(("metadata[\(StripeTranslator.linesKey)]", words))
        }
        additions[person.name] = try order.adds.map { try price($0) }
        let session = try await call("POST", "/v1/checkout/sessions", form)
        sessions[person.name] = session["id"] as? String
    }

    private func pay(
        _ step: Scenario.Step,
        _ card: String,
        _ passesChallenge: Bool,
        _ expected: String
    ) async throws {
        guard let session = sessions[step.customer] else {
            throw failure(step, "no checkout is open; open one with ‘stripe: open_checkout’")
        }
        let outcome = try await world.stripe.pay(
            checkoutSession: session,
            card: card,
            adding: additions[step.customer] ?? [],
            passesChallenge: passesChallenge
        )
        let word: String
        switch outcome {
        case .completed: word = "completed"
        case .declined: word = "declined"
        case .requiresAuthentication: word = "challenged"
        }
        try require(word, expected, step)
    }

    private func require(_ outcome: String, _ expected: String, _ step: Scenario.Step) throws {
        guard outcome != expected else { return }
        throw failure(step, "the outcome is ‘\(outcome)’, not ‘\(expected)’")
    }

    // MARK: - Subscriptions

    private func subscribe(
        _ order: StripeAct.Order,
        _ card: String?,
        _ behavior: String?,
        _ customer: String,
        _ person: ScenarioCustomer,
        expecting outcome: String,
        _ step: Scenario.Step
    ) async throws {
        if let card {
            let method = try await call(
                "POST",
                "/v1/payment_methods/\(card)/attach",
                [("customer", customer)]
            )
            _ = try await call(
                "POST",
                "/v1/customers/\(customer)",
                [("invoice_settings[default_payment_method]", method["id"] as? String ?? "")]
            )
        }
        var form = [
            ("customer", customer), ("items[0][price]", try price(order.product)),
            ("items[0][quantity]", "\(order.quantity)"), ("metadata[app_user_id]", person.id),
        ]
        if let behavior { form.append(("payment_behavior", behavior)) }
        if let days = order.trialDays { form.append(("trial_period_days", "\(days)")) }
        if let ending = order.missingPaymentMethod {
            form.append(("trial_settings[end_behavior][missing_payment_method]", ending))
        }
        for (index, product) in order.with.enumerated() {
            form.append(("add_invoice_items[\(index)][price]", try price(product)))
        }
        if let days = order.daysUntilDue {
            form.append(("collection_method", "send_invoice"))
            form.append(("days_until_due", "\(days)"))
        }
        if let end = order.cancelAt {
            form.append(("cancel_at", "\((end + telling.shift) / 1000)"))
        }
        do {
            let made = try await call("POST", "/v1/subscriptions", form)
            let isStarted = ["active", "trialing"].contains(made["status"] as? String)
            try require(isStarted ? "completed" : "incomplete", outcome, step)
        } catch let refusal as StripeCallRefused where refusal.status == 402 {
            try require("declined", outcome, step)
        }
    }

    private func payInvoice(
        _ card: String?,
        _ outOfBand: Bool,
        _ customer: String,
        expecting outcome: String,
        _ step: Scenario.Step
    ) async throws {
        var form = outOfBand ? [("paid_out_of_band", "true")] : []
        if let card {
            let method = try await call(
                "POST",
                "/v1/payment_methods/\(card)/attach",
                [("customer", customer)]
            )
            form.append(("payment_method", method["id"] as? String ?? ""))
        }
        let invoice = try await subscription(of: customer)["latest_invoice"] as? String ?? ""
        do {
            _ = try await call("POST", "/v1/invoices/\(invoice)/pay", form)
            try require("completed", outcome, step)
        } catch let refusal as StripeCallRefused where refusal.status == 402 {
            try require("declined", outcome, step)
        }
    }

    private func closeInvoice(_ customer: String, _ verb: String) async throws {
        let invoice = try await subscription(of: customer)["latest_invoice"] as? String ?? ""
        _ = try await call("POST", "/v1/invoices/\(invoice)/\(verb)")
    }

    /// Has a schedule take the subscription over; its present phase keeps its start.
    private func schedule(
        _ phases: [StripeAct.Phase],
        _ end: String,
        _ customer: String
    ) async throws {
        let id = try await subscription(of: customer)["id"] as? String ?? ""
        let made = try await call("POST", "/v1/subscription_schedules", [("from_subscription", id)])
        var form = [("end_behavior", end), ("proration_behavior", "none")]
        let present = made["phases"] as? [[String: Any]]
        if let start = present?.first?["start_date"] as? Int {
            form.append(("phases[0][start_date]", "\(start)"))
        }
        for (index, phase) in phases.enumerated() {
            form.append(("phases[\(index)][items][0][price]", try price(phase.product)))
            let until = (phase.until + telling.shift) / 1000
            form.append(("phases[\(index)][end_date]", "\(until)"))
        }
        let schedule = made["id"] as? String ?? ""
        _ = try await call("POST", "/v1/subscription_schedules/\(schedule)", form)
    }

    private func confirmPayment(
        _ card: String,
        _ passesChallenge: Bool,
        _ customer: String,
        expecting outcome: String,
        _ step: Scenario.Step
    ) async throws {
        let list = try await call(
            "GET",
            "/v1/subscriptions",
            query: "customer=\(customer)&status=all&limit=1"
                + "&expand[]=data.latest_invoice.confirmation_secret"
        )
        let latest = (list["data"] as? [[String: Any]])?.first?["latest_invoice"] as? [String: Any]
        let secret = latest?["confirmation_secret"] as? [String: Any]
        let words = secret?["client_secret"] as? String ?? ""
        let intent = words.components(separatedBy: "_secret_")[0]
        do {
            let confirmed = try await call(
                "POST",
                "/v1/payment_intents/\(intent)/confirm",
                [("payment_method", card)]
            )
            guard confirmed["status"] as? String == "requires_action" else {
                return try require("completed", outcome, step)
            }
            try await world.stripe.authenticate(intent: intent, passes: passesChallenge)
            try require(passesChallenge ? "completed" : "challenged", outcome, step)
        } catch let refusal as StripeCallRefused where refusal.status == 402 {
            try require("declined", outcome, step)
        }
    }

    private func cancel(_ when: StripeAct.When, _ customer: String) async throws {
        switch when {
        case .now:
            let id = try await subscription(of: customer)["id"] as? String ?? ""
            _ = try await call("DELETE", "/v1/subscriptions/\(id)")
        case .periodEnd: try await update(customer, [("cancel_at_period_end", "true")])
        case .at(let instant):
            try await update(customer, [("cancel_at", "\((instant + telling.shift) / 1000)")])
        }
    }

    private func update(_ customer: String, _ form: [(String, String)]) async throws {
        let id = try await subscription(of: customer)["id"] as? String ?? ""
        _ = try await call("POST", "/v1/subscriptions/\(id)", form)
    }

    private func post(_ customer: String, _ verb: String, _ form: [(String, String)]) async throws {
        let id = try await subscription(of: customer)["id"] as? String ?? ""
        _ = try await call("POST", "/v1/subscriptions/\(id)/\(verb)", form)
    }

    func subscription(of customer: String) async throws -> [String: Any] {
        let list = try await call(
            "GET",
            "/v1/subscriptions",
            query: "customer=\(customer)&status=all&limit=1"
        )
        guard let first = (list["data"] as? [[String: Any]])?.first else {
            throw StripeCallRefused(status: 404, message: "the customer has no subscription")
        }
        return first
    }

    private func item(of customer: String) async throws -> (id: String, price: String) {
        let items = try await subscription(of: customer)["items"] as? [String: Any]
        let item = (items?["data"] as? [[String: Any]])?.first
        let price = item?["price"] as? [String: Any]
        return (item?["id"] as? String ?? "", price?["id"] as? String ?? "")
    }

    private func removeCards(of customer: String) async throws {
        let list = try await call("GET", "/v1/customers/\(customer)/payment_methods")
        for method in list["data"] as? [[String: Any]] ?? [] {
            _ = try await call(
                "POST",
                "/v1/payment_methods/\(method["id"] as? String ?? "")/detach"
            )
        }
    }

    // MARK: - Calls

    func price(_ product: String) throws -> String {
        guard let price = loaded.catalog.product(id: product)?.stripePriceIDs.first else {
            throw StripeCallRefused(status: 404, message: "‘\(product)’ has no price at Stripe")
        }
        return price
    }

    /// The customer's id at Stripe, made when it is first needed: by the backend, or for it.
    ///
    /// - Parameter isOrdering: whether the customer buys; one who was deleted then gets another id.
    mutating func stripeCustomer(
        _ person: ScenarioCustomer,
        isOrdering: Bool
    ) async throws -> String {
        if let known = stripeCustomers[person] {
            guard isOrdering, deletedAtStripe.remove(person) != nil else { return known.id }
            formerStripeCustomers[person, default: []].append(known.object)
        }
        var id = try await backend.stripeCustomer(of: person, at: world.stripe)
        if id == nil {
            id =
                try await call(
                    "POST",
                    "/v1/customers",
                    [("metadata[app_user_id]", person.id), ("email", "\(person.name)@example.com")]
                )["id"] as? String
        }
        let known = id ?? ""
        stripeCustomers[person] = (known, await world.stripe.object(known) ?? "{}")
        return known
    }

    private func newest(_ path: String, _ query: String) async throws -> String {
        let list = try await call("GET", path, query: query)
        guard let id = (list["data"] as? [[String: Any]])?.first?["id"] as? String else {
            throw StripeCallRefused(status: 404, message: "\(path) is empty")
        }
        return id
    }

    func call(
        _ method: String,
        _ path: String,
        _ form: [(String, String)] = [],
        query: String = ""
    ) async throws -> [String: Any] {
        let allowed = CharacterSet.alphanumerics.union(.init(charactersIn: "-._~"))
        let body = form.map { name, value in
            let name = name.addingPercentEncoding(withAllowedCharacters: allowed) ?? name
            return name + "=" + (value.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")
        }
        let answer = await world.stripe.exchange(
            method: method,
            path: path,
            query: query,
            body: body.joined(separator: "&"),
            headers: ["authorization": "Bearer \(ScenarioWorld.stripeKey)"]
        )
        let object =
            (try? JSONSerialization.jsonObject(with: Data(answer.body.utf8))) as? [String: Any]
            ?? [:]
        guard (200..<300).contains(answer.status) else {
            let error = object["error"] as? [String: Any]
            throw StripeCallRefused(
                status: answer.status,
                message: error?["message"] as? String ?? answer.body
            )
        }
        return object
    }
}

/// What Stripe answered to a call that it did not do.
struct StripeCallRefused: Error, CustomStringConvertible {
    var status: Int
    var message: String

    var description: String { "Stripe answers \(status): \(message)" }
}
