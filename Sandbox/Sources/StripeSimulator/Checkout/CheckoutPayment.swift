/// How the payment of a Checkout session went.
enum CheckoutOutcome: Hashable, Sendable {
    /// Where the payer goes next; `nil` if the session names no page.
    case completed(successURL: String?)
    case declined(Decline)
    /// The payer must pass the challenge of their bank first.
    case requiresAuthentication
}

/// What the payer filled in.
struct CheckoutForm: Hashable, Sendable {
    var details: CardDetails
    var savesCard = false
    /// What the payer likes to give, in minor units, where the price leaves it to them.
    var amount: Int?
    /// The prices of products that the payer adds to the order.
    var added: [String] = []
    /// The answer to the bank's challenge, once it was asked.
    var isAuthenticated = false
}

extension CheckoutSessions {
    /// The payer presses "Pay".
    static func pay(
        _ world: inout World,
        session id: String,
        _ form: CheckoutForm
    ) throws -> CheckoutOutcome {
        var session = try world.find(.checkoutSession, id)
        guard session["status"].string == "open" else {
            throw APIError.invalid(
                "This Checkout Session is \(session["status"].text) and can no longer be paid.",
                code: "checkout_session_not_open"
            )
        }
        session = try choose(&world, form.amount, for: session)
        session = try add(&world, form.added, to: session)
        let method = PaymentMethods.add(&world, form.details)
        switch session["mode"].text {
        case "subscription": return try startSubscription(&world, session, form, method: method)
        case "setup": return saveCard(&world, session, form, method: method)
        default: return takePayment(&world, session, form, method: method)
        }
    }

    /// Puts what the payer chose on a session whose price leaves it to them.
    /// https://docs.stripe.com/payments/checkout/pay-what-you-want
    private static func choose(
        _ world: inout World,
        _ amount: Int?,
        for session: JSON
    ) throws -> JSON {
        var lines = session["_line_items"].elements
        let custom = lines.firstIndex { !$0["price"]["custom_unit_amount"].isNull }
        guard let custom else {
            guard amount == nil else {
                throw APIError.invalid("This price does not let the payer choose.", param: "amount")
            }
            return session
        }
        let bounds = lines[custom]["price"]["custom_unit_amount"]
        let currency = session["currency"].text
        let lowest = max(bounds["minimum"].int ?? 0, PaymentIntents.minimumCharge(currency))
        let highest = max(lowest, bounds["maximum"].int ?? 99_999_999)
        guard let chosen = amount ?? bounds["preset"].int, (lowest...highest).contains(chosen)
        else {
            throw APIError.invalid(
                "Choose an amount from \(Money.words(lowest, currency)) to "
                    + "\(Money.words(highest, currency)).",
                param: "amount"
            )
        }
        lines[custom]["amount_subtotal"] = .int(chosen)
        tax(&lines[custom])
        let priced = lines
        return world.change(.checkoutSession, session["id"].text) { sum(&$0, priced) }
    }

    /// The challenge was not passed.
    static func failChallenge(_ world: inout World, session id: String) -> Decline {
        if let intent = world.get(.checkoutSession, id)?["_payment_intent"].string {
            PaymentIntents.failChallenge(&world, intent: intent)
        }
        return .notAuthenticated
    }

    // MARK: - The three modes

    private static func takePayment(
        _ world: inout World,
        _ session: JSON,
        _ form: CheckoutForm,
        method: JSON
    ) -> CheckoutOutcome {
        let data = session["_payment_intent_data"]
        let amount = session["amount_total"].count
        var intentID: String?
        var status = amount > 0 ? "paid" : "no_payment_required"
        if amount > 0 {
            let id = intent(&world, of: session, amount: amount, data: data)
            switch PaymentIntents.attempt(
                &world,
                id,
                with: method,
                isAuthenticated: form.isAuthenticated
            ) {
            case .succeeded:
                intentID = id
                // Money that is only held comes with its capture.
                let isHeld = world.get(.paymentIntent, id)?["status"].string == "requires_capture"
                if isHeld { status = "unpaid" }
            case .processing:
                intentID = id
                status = "unpaid"
            case .declined(let decline): return .declined(decline)
            case .requiresAction: return .requiresAuthentication
            }
        }
        let saves = form.savesCard || !data["setup_future_usage"].isNull
        let customer = customer(
            &world,
            of: session,
            form,
            isNeeded: saves || session["customer_creation"].string == "always"
        )
        if let customer, let intentID, session["customer"].isNull {
            world.change(.paymentIntent, intentID) { $0["customer"] = .string(customer) }
            if let charge = world.get(.paymentIntent, intentID)?["latest_charge"].string {
                world.change(.charge, charge) { $0["customer"] = .string(customer) }
            }
        }
        if let customer, saves {
            PaymentMethods.attachUnchecked(&world, method["id"].text, to: customer)
        }
        return complete(
            &world,
            session,
            form,
            customer: customer,
            paymentStatus: status
        ) { $0["payment_intent"] = JSON(intentID) }
    }

    private static func saveCard(
        _ world: inout World,
        _ session: JSON,
        _ form: CheckoutForm,
        method: JSON
    ) -> CheckoutOutcome {
        let card = form.details.card
        if card.challenge != .never, !form.isAuthenticated { return .requiresAuthentication }
        if card.declinesAttachment, let decline = card.decline { return .declined(decline) }
        if form.isAuthenticated {
            world.change(.paymentMethod, method["id"].text) { $0["_set_up"] = true }
        }
        let customer = customer(&world, of: session, form, isNeeded: true)
        if let customer { PaymentMethods.attachUnchecked(&world, method["id"].text, to: customer) }
        let data = session["_setup_intent_data"]
        let made = SetupIntents.add(
            &world,
            customer: customer,
            metadata: data["metadata"].members == nil ? [:] : data["metadata"]
        )
        let setup = world.change(.setupIntent, made["id"].text) { setup in
            setup["status"] = "succeeded"
            setup["description"] = data["description"]
            setup["payment_method"] = method["id"]
        }
        world.emit("setup_intent.succeeded", setup)
        return complete(
            &world,
            session,
            form,
            customer: customer,
            paymentStatus: "no_payment_required"
        ) {
            $0["setup_intent"] = setup["id"]
        }
    }

    private static func startSubscription(
        _ world: inout World,
        _ session: JSON,
        _ form: CheckoutForm,
        method: JSON
    ) throws -> CheckoutOutcome {
        let data = session["_subscription_data"]
        var order = subscriptionOrder(world, session, customer: session["customer"].reference ?? "")
        let due = dueNow(world, order)
        let card = form.details.card
        guard !card.isBankDebit else { return .declined(.generic) }
        if due > 0 {
            let id = intent(
                &world,
                of: session,
                amount: due,
                data: ["setup_future_usage": "off_session"]
            )
            switch PaymentIntents.attempt(
                &world,
                id,
                with: method,
                isAuthenticated: form.isAuthenticated
            ) {
            case .succeeded, .processing: order.paidBy = id
            case .declined(let decline): return .declined(decline)
            case .requiresAction: return .requiresAuthentication
            }
        } else if card.challenge != .never, !form.isAuthenticated {
            return .requiresAuthentication
        } else if card.declinesAttachment, let decline = card.decline {
            return .declined(decline)
        }
        guard let customer = customer(&world, of: session, form, isNeeded: true) else {
            throw APIError.invalid("The session has no customer.")
        }
        order.customer = customer
        if let id = order.paidBy {
            world.change(.paymentIntent, id) { $0["customer"] = .string(customer) }
            if let charge = world.get(.paymentIntent, id)?["latest_charge"].string {
                world.change(.charge, charge) { $0["customer"] = .string(customer) }
            }
        }
        PaymentMethods.attachUnchecked(&world, method["id"].text, to: customer)
        order.paymentMethod = method["id"].string
        order.description = data["description"].string
        let subscription = try Subscriptions.create(&world, order)
        let invoice = subscription["latest_invoice"]
        return complete(
            &world,
            session,
            form,
            customer: customer,
            paymentStatus: due > 0 ? "paid" : world.policy.freeTrialPaymentStatus
        ) { session in
            session["subscription"] = subscription["id"]
            session["invoice"] = invoice
        }
    }

    /// What the first invoice will come to, after the customer's balance.
    private static func dueNow(_ world: World, _ order: SubscriptionOrder) -> Int {
        let lines = SubscriptionOrder.firstLines(world, order, subscription: nil, items: [])
        let coupon = order.discounts.first?.coupon ?? .null
        let products = coupon["_applies_to"]["products"].array?.compactMap(\.string)
        let discountable = lines.map { line in
            let product = line.price["product"].reference ?? ""
            let isMeant = products.map { $0.contains(product) } ?? true
            return isMeant && !line.isProration ? line.amount : 0
        }
        let off = Discounts.shares(of: coupon, on: discountable)
        let total = lines.indices.map { index in
            let net = lines[index].amount - off[index]
            let own = lines[index].taxRates
            return net + TaxShare.added(to: net, rates: own.isEmpty ? order.taxRates : own)
        }.reduce(0, +)
        return max(0, total + (world.get(.customer, order.customer)?["balance"].count ?? 0))
    }

    private static func subscriptionOrder(
        _ world: World,
        _ session: JSON,
        customer: String
    ) -> SubscriptionOrder {
        let data = session["_subscription_data"]
        let lines = session["_line_items"].elements.map { line in
            SubscriptionOrder.Item(
                price: line["price"],
                quantity: line["quantity"].int ?? 1,
                taxRates: line["_tax_rates"].elements
            )
        }
        var order = SubscriptionOrder(
            customer: customer,
            items: lines.filter { !$0.price["recurring"].isNull }
        )
        order.extras = lines.filter { $0.price["recurring"].isNull }
        order.taxRates = data["tax_rates"].elements
        order.metadata = data["metadata"].members == nil ? [:] : data["metadata"]
        order.trialEnd = data["trial_end"].int
        order.missingPaymentMethod = data["missing_payment_method"].string ?? "create_invoice"
        order.anchor = data["billing_cycle_anchor"].int
        order.proratesToAnchor = data["proration_behavior"].string != "none"
        order.session = session["id"].string
        if let coupon = world.get(.coupon, session["_coupon"].string) {
            order.discounts = [
                DiscountChoice(coupon: coupon, promotionCode: session["_promotion_code"].string)
            ]
        }
        return order
    }

    // MARK: - What they share

    /// The session's intent, made at the first try and used again after a decline.
    private static func intent(
        _ world: inout World,
        of session: JSON,
        amount: Int,
        data: JSON
    ) -> String {
        if let id = session["_payment_intent"].string, world.get(.paymentIntent, id) != nil {
            // A promotion code may have changed it since.
            world.change(.paymentIntent, id) { $0["amount"] = .int(amount) }
            return id
        }
        var intent = PaymentIntents.add(
            &world,
            amount: amount,
            currency: session["currency"].text,
            customer: session["customer"].reference,
            description: data["description"].string,
            metadata: data["metadata"].members == nil ? [:] : data["metadata"],
            setupFutureUsage: data["setup_future_usage"].string,
            captureMethod: data["capture_method"].string ?? "automatic_async"
        )
        for name in ["receipt_email", "statement_descriptor", "statement_descriptor_suffix"] {
            intent[name] = data[name]
        }
        world.put(.paymentIntent, intent)
        world.change(.checkoutSession, session["id"].text) { $0["_payment_intent"] = intent["id"] }
        return intent["id"].text
    }

    /// The customer who pays: the session's, with the email they typed, or a new one if needed.
    private static func customer(
        _ world: inout World,
        of session: JSON,
        _ form: CheckoutForm,
        isNeeded: Bool
    ) -> String? {
        let details = form.details
        if let id = session["customer"].reference {
            world.change(.customer, id, event: "customer.updated") { customer in
                if let email = details.email { customer["email"] = .string(email) }
                if customer["name"].isNull { customer["name"] = JSON(details.name) }
            }
            return id
        }
        guard isNeeded else { return nil }
        var customer = Customers.add(&world, email: details.email, name: details.name)
        customer["currency"] = session["currency"]
        return world.add(.customer, customer, event: "customer.created")["id"].string
    }

    private static func complete(
        _ world: inout World,
        _ session: JSON,
        _ form: CheckoutForm,
        customer: String?,
        paymentStatus: String,
        _ body: (inout JSON) -> Void
    ) -> CheckoutOutcome {
        let id = session["id"].text
        let details = form.details
        let address: JSON = .object(
            nulls: "city line1 line2 state",
            ["country": JSON(details.country), "postal_code": JSON(details.postalCode)]
        )
        let done = world.change(.checkoutSession, id) { session in
            session["status"] = "complete"
            session["payment_status"] = .string(paymentStatus)
            session["url"] = .null
            session["customer"] = JSON(customer)
            session["customer_details"] = .object(
                nulls: "business_name individual_name phone",
                [
                    "address": address, "email": JSON(details.email), "name": JSON(details.name),
                    "tax_exempt": "none", "tax_ids": [],
                ]
            )
            body(&session)
        }
        if session["mode"].string == "payment",
            let coupon = world.get(.coupon, session["_coupon"].string)
        {
            let choice = DiscountChoice(
                coupon: coupon,
                promotionCode: session["_promotion_code"].string
            )
            _ = Discounts.redeem(&world, choice, customer: customer, session: id)
        }
        if let link = session["payment_link"].string {
            world.change(.paymentLink, link) { link in
                guard link["restrictions"]["completed_sessions"]["limit"].int != nil else { return }
                let count = link["restrictions"]["completed_sessions"]["count"].count + 1
                link["restrictions"]["completed_sessions"]["count"] = .int(count)
            }
        }
        if session["invoice_creation"]["enabled"].bool == true, let customer {
            invoicePayment(&world, of: done, customer: customer)
        }
        world.emit("checkout.session.completed", world.get(.checkoutSession, id) ?? done)
        let url = session["success_url"].string
            .map { $0.replacing("{CHECKOUT_SESSION_ID}", with: id) }
        return .completed(successURL: url)
    }

    /// `invoice_creation`: a paid invoice for what was bought once, also where nothing was to be paid.
    private static func invoicePayment(_ world: inout World, of session: JSON, customer: String) {
        let instant = world.now(for: customer)
        let lines = session["_line_items"].elements.map { line in
            InvoiceLine(
                amount: line["amount_subtotal"].count - line["amount_discount"].count,
                description: line["description"].text,
                price: line["price"],
                quantity: line["quantity"].int ?? 1,
                start: instant,
                end: instant,
                taxRates: line["_tax_rates"].elements
            )
        }
        let invoice = Invoices.add(
            &world,
            InvoiceOrder(
                customer: customer,
                subscription: nil,
                reason: "manual",
                currency: session["currency"].text,
                lines: lines,
                periodStart: instant,
                periodEnd: instant,
                finalizesByItself: false,
                appliesBalance: false
            )
        )
        let id = invoice["id"].text
        Invoices.finalize(&world, id)
        let intent = session["payment_intent"].string
        if let intent { InvoicePayments.link(&world, intent, to: id) }
        Invoices.markPaid(&world, id, intent: intent)
        world.change(.checkoutSession, session["id"].text) { $0["invoice"] = .string(id) }
    }
}
