// The calls that Tollgate makes. A call that is not here is one line with `get`, `list` or `post`.

extension Stripe.Client {
    // MARK: - Customers

    /// Creates a customer.
    ///
    /// - Parameter email: Where Stripe sends receipts, if at all.
    public func createCustomer(
        email: String? = nil,
        name: String? = nil,
        metadata: [String: String] = [:],
        idempotencyKey: String
    ) async throws(Stripe.RequestError) -> Stripe.Answer<Stripe.Customer> {
        var parameters: Stripe.Parameters = [:]
        parameters.add("email", email)
        parameters.add("name", name)
        parameters.add("metadata", Stripe.Parameters(metadata))
        return try await post(["customers"], parameters, idempotencyKey: idempotencyKey)
    }

    /// Reads a customer; a deleted one says so.
    public func customer(
        _ id: String
    ) async throws(Stripe.RequestError) -> Stripe.Answer<Stripe.Customer> {
        try await get(["customers", id])
    }

    /// All customers, the newest first.
    public func customers(after last: String? = nil) -> Stripe.AutoPaging<Stripe.Customer> {
        all(["customers"], after: last)
    }

    /// All that Stripe thinks a customer may use.
    public func activeEntitlements(
        of customer: String
    ) -> Stripe.AutoPaging<Stripe.ActiveEntitlement> {
        all(["entitlements", "active_entitlements"], ["customer": .string(customer)])
    }

    /// Reads a test clock.
    public func testClock(
        _ id: String
    ) async throws(Stripe.RequestError) -> Stripe.Answer<Stripe.TestClock> {
        try await get(["test_helpers", "test_clocks", id])
    }

    // MARK: - Checkout

    /// Creates a Checkout session.
    public func createCheckoutSession(
        _ session: Stripe.NewCheckoutSession,
        idempotencyKey: String
    ) async throws(Stripe.RequestError) -> Stripe.Answer<Stripe.CheckoutSession> {
        try await post(
            ["checkout", "sessions"],
            session.parameters,
            idempotencyKey: idempotencyKey
        )
    }

    /// Reads a Checkout session with the first page of its line items, and with its charge.
    public func checkoutSession(
        _ id: String
    ) async throws(Stripe.RequestError) -> Stripe.Answer<Stripe.CheckoutSession> {
        let expanded = ["line_items", "payment_intent.latest_charge"]
        return try await get(
            ["checkout", "sessions", id],
            ["expand": .list(expanded.map { .string($0) })]
        )
    }

    /// All line items of a Checkout session.
    public func lineItems(ofCheckoutSession id: String) -> Stripe.AutoPaging<Stripe.LineItem> {
        all(["checkout", "sessions", id, "line_items"])
    }

    /// All Checkout sessions, the newest first.
    public func checkoutSessions(
        customer: String? = nil,
        status: Stripe.CheckoutSession.Status? = nil,
        after last: String? = nil
    ) -> Stripe.AutoPaging<Stripe.CheckoutSession> {
        var parameters: Stripe.Parameters = [:]
        parameters.add("customer", customer)
        parameters.add("status", status?.rawValue)
        return all(["checkout", "sessions"], parameters, after: last)
    }

    // MARK: - Subscriptions and invoices

    /// Reads a subscription.
    public func subscription(
        _ id: String
    ) async throws(Stripe.RequestError) -> Stripe.Answer<Stripe.Subscription> {
        try await get(["subscriptions", id])
    }

    /// All items of a subscription.
    public func items(ofSubscription id: String) -> Stripe.AutoPaging<Stripe.SubscriptionItem> {
        all(["subscription_items"], ["subscription": .string(id)])
    }

    /// All subscriptions, ended ones too.
    ///
    /// - Parameter last: Only those after this one, for work that goes on after a break.
    public func subscriptions(after last: String? = nil) -> Stripe.AutoPaging<Stripe.Subscription> {
        all(["subscriptions"], ["status": .string("all")], after: last)
    }

    /// Changes a subscription.
    public func updateSubscription(
        _ id: String,
        _ parameters: Stripe.Parameters,
        idempotencyKey: String
    ) async throws(Stripe.RequestError) -> Stripe.Answer<Stripe.Subscription> {
        try await post(["subscriptions", id], parameters, idempotencyKey: idempotencyKey)
    }

    /// All invoices, the newest first.
    public func invoices(after last: String? = nil) -> Stripe.AutoPaging<Stripe.Invoice> {
        all(["invoices"], after: last)
    }

    /// Reads an invoice with the first page of its payments.
    public func invoice(
        _ id: String
    ) async throws(Stripe.RequestError) -> Stripe.Answer<Stripe.Invoice> {
        try await get(["invoices", id], ["expand": .list([.string("payments")])])
    }

    /// All lines of an invoice.
    public func lines(ofInvoice id: String) -> Stripe.AutoPaging<Stripe.InvoiceLine> {
        all(["invoices", id, "lines"])
    }

    /// The payments that settled invoices by this payment intent: the way from a refund to what
    /// it pays back.
    public func invoicePayments(
        byPaymentIntent id: String
    ) -> Stripe.AutoPaging<Stripe.InvoicePayment> {
        all(
            ["invoice_payments"],
            ["payment": .hash(["type": .string("payment_intent"), "payment_intent": .string(id)])]
        )
    }

    /// The payments that settled an invoice.
    public func invoicePayments(ofInvoice id: String) -> Stripe.AutoPaging<Stripe.InvoicePayment> {
        all(["invoice_payments"], ["invoice": .string(id), "status": .string("paid")])
    }

    // MARK: - Payments

    /// All payment intents with their charges, the newest first.
    public func paymentIntents(
        after last: String? = nil
    ) -> Stripe.AutoPaging<Stripe.PaymentIntent> {
        all(["payment_intents"], ["expand": .list([.string("data.latest_charge")])], after: last)
    }

    /// Reads a payment intent with its charge.
    public func paymentIntent(
        _ id: String
    ) async throws(Stripe.RequestError) -> Stripe.Answer<Stripe.PaymentIntent> {
        try await get(["payment_intents", id], ["expand": .list([.string("latest_charge")])])
    }

    /// All refunds of a payment intent.
    public func refunds(ofPaymentIntent id: String) -> Stripe.AutoPaging<Stripe.Refund> {
        all(["refunds"], ["payment_intent": .string(id)])
    }

    /// All refunds, the newest first.
    public func refunds(after last: String? = nil) -> Stripe.AutoPaging<Stripe.Refund> {
        all(["refunds"], after: last)
    }

    /// All disputes, the newest first.
    public func disputes(after last: String? = nil) -> Stripe.AutoPaging<Stripe.Dispute> {
        all(["disputes"], after: last)
    }

    /// All disputes of a payment intent.
    public func disputes(ofPaymentIntent id: String) -> Stripe.AutoPaging<Stripe.Dispute> {
        all(["disputes"], ["payment_intent": .string(id)])
    }

    // MARK: - The customer portal

    /// Creates a visit to the customer portal.
    ///
    /// - Parameter flow: `flow_data`, to begin with one task: `["type": "payment_method_update"]`.
    public func createPortalSession(
        customer: String,
        returnURL: String?,
        flow: Stripe.Parameters = [:],
        idempotencyKey: String
    ) async throws(Stripe.RequestError) -> Stripe.Answer<Stripe.PortalSession> {
        var parameters: Stripe.Parameters = ["customer": .string(customer)]
        parameters.add("return_url", returnURL)
        parameters.add("flow_data", flow)
        return try await post(
            ["billing_portal", "sessions"],
            parameters,
            idempotencyKey: idempotencyKey
        )
    }

    // MARK: - Events

    /// The events of the last 30 days, newest first.
    ///
    /// - Parameters:
    ///   - types: Only these, at most 20; empty for all.
    ///   - since: Only those created at this UNIX second or later.
    public func events(
        types: [Stripe.Event.Kind] = [],
        since: Int64? = nil,
        after last: String? = nil
    ) -> Stripe.AutoPaging<Stripe.Event> {
        var parameters: Stripe.Parameters = [:]
        if !types.isEmpty {
            parameters.add("types", .list(types.map { .string($0.rawValue) }))
        }
        if let since { parameters.add("created", .hash(["gte": .integer(since)])) }
        return all(["events"], parameters, after: last)
    }

    // MARK: - What is set up

    /// All addresses that events are sent to.
    public func webhookEndpoints() -> Stripe.AutoPaging<Stripe.WebhookEndpoint> {
        all(["webhook_endpoints"])
    }

    /// Reads a price.
    public func price(
        _ id: String
    ) async throws(Stripe.RequestError) -> Stripe.Answer<Stripe.Price> {
        try await get(["prices", id])
    }

    /// All elements of a list, fetched in pages of 100.
    ///
    /// - Parameter last: Begins after this element.
    public func all<Element: Stripe.IdentifiedObject>(
        _ path: [String],
        _ parameters: Stripe.Parameters = [:],
        after last: String? = nil
    ) -> Stripe.AutoPaging<Element> {
        Stripe.AutoPaging(client: self, path: path, parameters: parameters, first: last)
    }
}
