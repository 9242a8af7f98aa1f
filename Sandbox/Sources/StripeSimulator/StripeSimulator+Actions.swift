/// What people do on Stripe's pages and in its Dashboard, as calls. Each returns once every
/// subscriber has answered what it led to.
extension StripeSimulator {
    /// A call that could not be done: the message of the API's error.
    public struct Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        public var status: Int
        public var code: String?
        public var message: String
        public var description: String { message }

        init(_ error: APIError) {
            status = error.status
            code = error.code
            message = error.message
        }

        init(status: Int = 400, code: String? = nil, message: String) {
            self.status = status
            self.code = code
            self.message = message
        }
    }

    /// How a payment went.
    public enum PaymentOutcome: Hashable, Sendable {
        /// Where the payer is sent, `{CHECKOUT_SESSION_ID}` replaced; `nil` if nowhere.
        case completed(successURL: String?)
        /// The decline code and the message shown to the payer.
        case declined(code: String, message: String)
        /// The bank's challenge was not answered.
        case requiresAuthentication
    }

    /// Pays a Checkout session without a browser.
    /// - Parameters:
    ///   - card: a test card's number.
    ///   - amount: what the payer likes to give, where the price leaves it to them.
    ///   - prices: of products that the payer adds to the order, as the team cross-sells them.
    ///   - passesChallenge: whether the bank's challenge is passed, if there is one.
    /// - Throws: `Refusal`, if there is no such session or it is not open.
    public func pay(
        checkoutSession id: String,
        card: String = "4242424242424242",
        email: String? = nil,
        name: String? = nil,
        amount: Int? = nil,
        adding prices: [String] = [],
        passesChallenge: Bool = true
    ) async throws -> PaymentOutcome {
        var details = CardDetails(card: try testCard(card))
        details.email = email
        details.name = name
        details.country = "US"
        details.postalCode = "94103"
        return try await act { world in
            let session = try world.find(.checkoutSession, id)
            if details.email == nil {
                details.email =
                    session["customer_details"]["email"].string
                    ?? session["customer_email"].string ?? "payer@example.com"
            }
            var form = CheckoutForm(details: details)
            form.amount = amount
            form.added = prices
            var outcome = try CheckoutSessions.pay(&world, session: id, form)
            if outcome == .requiresAuthentication, passesChallenge {
                form.isAuthenticated = true
                outcome = try CheckoutSessions.pay(&world, session: id, form)
            }
            return PaymentOutcome(outcome)
        }
    }

    /// Answers the bank's challenge that a payment intent or a setup intent waits for.
    /// - Throws: `Refusal`, if it waits for none, or the card is declined once it was passed.
    public func authenticate(intent id: String, passes: Bool = true) async throws {
        try await act { _ = try PaymentIntents.authenticate(&$0, id, passes: passes) }
    }

    /// Gives a customer's subscriptions a new card to be paid with.
    public func setDefaultCard(_ card: String, customer: String) async throws {
        let details = CardDetails(card: try testCard(card))
        try await act { world in
            _ = try world.find(.customer, customer)
            Customers.setDefaultCard(&world, details, customer: customer)
        }
    }

    /// Gives back a charge, or a part of it.
    ///
    /// Without a charge, the customer's latest.
    /// - Returns: the refund's id.
    @discardableResult
    public func refund(
        charge: String? = nil,
        customer: String? = nil,
        amount: Int? = nil
    ) async throws -> String {
        try await act { world in
            let latest = world.all(.charge).last {
                $0["customer"].string == customer && $0["paid"].bool == true
                    && $0["refunded"].bool == false
            }
            guard let id = charge ?? latest?["id"].string else {
                throw APIError.noSuch("charge", charge ?? customer ?? "")
            }
            return try Refunds.create(&world, charge: id, amount: amount)["id"].text
        }
    }

    /// Cancels a subscription, at once or when its period ends.
    public func cancel(subscription id: String, atPeriodEnd: Bool) async throws {
        try await act { world in
            let before = try world.find(.subscription, id)
            guard atPeriodEnd else {
                Subscriptions.cancelNow(&world, id, reason: "cancellation_requested")
                return
            }
            var after = before
            Subscriptions.setCancelAtPeriodEnd(world, &after, true)
            let changed = after
            world.change(.subscription, id, event: "customer.subscription.updated") { $0 = changed }
        }
    }

    /// The holder of the card disputes a charge.
    public func dispute(charge: String) async throws {
        try await act { world in
            _ = try world.find(.charge, charge)
            Disputes.open(&world, on: charge)
        }
    }

    /// Ends an open dispute.
    public func close(dispute: String, isWon: Bool) async throws {
        try await act { world in
            _ = try world.find(.dispute, dispute)
            Disputes.close(&world, dispute, isWon: isWon)
        }
    }

    /// Makes an open inquiry a chargeback.
    public func escalate(dispute: String) async throws {
        try await act { world in
            _ = try world.find(.dispute, dispute)
            guard Disputes.escalate(&world, dispute) else {
                throw APIError.invalid("This dispute is not an open inquiry.", param: "dispute")
            }
        }
    }

    /// Sends an event again to every endpoint that wants it; its id stays.
    public func resend(event: String) async throws {
        let type = try await act { world in
            try Deliveries.resend(&world, event: event)
            return world.get(.event, event)?["type"].string ?? ""
        }
        note("resend", [.init("type", type)])
    }

    /// Adds a webhook endpoint.
    public func add(_ endpoint: WebhookEndpoint) async throws {
        try await act { world in
            _ = WebhookEndpoints.add(
                &world,
                url: endpoint.url,
                secret: endpoint.secret,
                events: endpoint.enabledEvents,
                apiVersion: endpoint.apiVersion
            )
        }
    }

    /// Plays the small story that ends in an event, with objects of its own.
    public func trigger(_ event: String) async throws {
        try await act { try Trigger.run(&$0, event) }
    }

    /// Changes behaviour where the documentation is silent, from now on.
    public func setPolicy(_ policy: Policy) async throws {
        try await act { world in
            world.policy = policy
            Balance.schedulePayout(&world)
        }
    }

    /// One object as the API shows it, as JSON text; `nil` if there is none with this id.
    public func object(_ id: String) async -> String? {
        await synchronize()
        for kind in Kind.allCases {
            if let object = world.get(kind, id) { return object.rendered }
        }
        return nil
    }

    /// Does something to the world and waits for its messages to be answered.
    func act<Value: Sendable>(_ body: (inout World) throws -> Value) async throws -> Value {
        let value: Value
        await synchronize()
        let before = world
        world.cause = World.Cause()
        do {
            value = try body(&world)
        } catch let error as APIError {
            if !error.keepsChanges { world = before }
            throw Refusal(error)
        }
        noteDeeds()
        world.perform(at: world.now)
        catchUp()
        isDirty = true
        await flush()
        save()
        return value
    }

    private func testCard(_ number: String) throws -> TestCard {
        guard let card = TestCard.numbered(number) ?? TestCard.named(number) else {
            throw Refusal(status: 402, code: "incorrect_number", message: "This is no test card.")
        }
        return card
    }
}

extension StripeSimulator.PaymentOutcome {
    init(_ outcome: CheckoutOutcome) {
        switch outcome {
        case .completed(let url): self = .completed(successURL: url)
        case .declined(let decline):
            self = .declined(code: decline.declineCode, message: decline.message)
        case .requiresAuthentication: self = .requiresAuthentication
        }
    }
}

extension World {
}
