// The calls that Tollgate makes. A call that is not here is one line with `get`, `list` or `post`.

extension Stripe.Client {
    // MARK: - Customers

    /// Creates a customer.
    ///
    /// - Parameters:
    ///   - email: Where Stripe sends receipts, if at all.
    ///   - testClock: The clock it lives by, in a sandbox.
    public func createCustomer(
        email: String? = nil,
        name: String? = nil,
        metadata: [String: String] = [:],
        testClock: String? = nil,
        idempotencyKey: String
    ) async throws(Stripe.RequestError) -> Stripe.Answer<Stripe.Customer> {
        var parameters: Stripe.Parameters = [:]
        parameters.add("email", email)
        parameters.add("name", name)
        parameters.add("metadata", Stripe.Parameters(metadata))
        parameters.add("test_clock", testClock)
        return try await post(["customers"], parameters, idempotencyKey: idempotencyKey)
    }

    /// Reads a customer; a deleted one says so.
    public func customer(
        _ id: String
    ) async throws(Stripe.RequestError) -> Stripe.Answer<Stripe.Customer> {
        try await get(["customers", id])
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

    /// Reads a Checkout session with the first page of its line items.
    public func checkoutSession(
        _ id: String
    ) async throws(Stripe.RequestError) -> Stripe.Answer<Stripe.CheckoutSession> {
        try await get(["checkout", "sessions", id], ["expand": .list([.string("line_items")])])
    }

    /// All line items of a Checkout session.
    public func lineItems(ofCheckoutSession id: String) -> Stripe.AutoPaging<Stripe.LineItem> {
        all(["checkout", "sessions", id, "line_items"])
    }

    // MARK: - Subscriptions and invoices

    /// Reads a subscription.
    public func subscription(
        _ id: String
    ) async throws(Stripe.RequestError) -> Stripe.Answer<Stripe.Subscription> {
        try await get(["subscriptions", id])
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

    // MARK: - Payments

    /// Reads a payment intent.
    public func paymentIntent(
        _ id: String
    ) async throws(Stripe.RequestError) -> Stripe.Answer<Stripe.PaymentIntent> {
        try await get(["payment_intents", id])
    }

    /// Reads a charge.
    public func charge(
        _ id: String
    ) async throws(Stripe.RequestError) -> Stripe.Answer<Stripe.Charge> {
        try await get(["charges", id])
    }

    /// Reads a refund.
    public func refund(
        _ id: String
    ) async throws(Stripe.RequestError) -> Stripe.Answer<Stripe.Refund> {
        try await get(["refunds", id])
    }

    /// Reads a dispute.
    public func dispute(
        _ id: String
    ) async throws(Stripe.RequestError) -> Stripe.Answer<Stripe.Dispute> {
        try await get(["disputes", id])
    }

    /// All refunds of a payment intent.
    public func refunds(ofPaymentIntent id: String) -> Stripe.AutoPaging<Stripe.Refund> {
        all(["refunds"], ["payment_intent": .string(id)])
    }

    /// All disputes of a payment intent.
    public func disputes(ofPaymentIntent id: String) -> Stripe.AutoPaging<Stripe.Dispute> {
        all(["disputes"], ["payment_intent": .string(id)])
    }

    // MARK: - The customer portal

    /// Creates a visit to the customer portal.
    public func createPortalSession(
        customer: String,
        returnURL: String?,
        idempotencyKey: String
    ) async throws(Stripe.RequestError) -> Stripe.Answer<Stripe.PortalSession> {
        var parameters: Stripe.Parameters = ["customer": .string(customer)]
        parameters.add("return_url", returnURL)
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
        since: Int64? = nil
    ) -> Stripe.AutoPaging<Stripe.Event> {
        var parameters: Stripe.Parameters = [:]
        if !types.isEmpty {
            parameters.add("types", .list(types.map { .string($0.rawValue) }))
        }
        if let since { parameters.add("created", .hash(["gte": .integer(since)])) }
        return all(["events"], parameters)
    }

    /// All elements of a list, fetched in pages of 100.
    public func all<Element: Stripe.IdentifiedObject>(
        _ path: [String],
        _ parameters: Stripe.Parameters = [:],
        pageSize: Int64 = 100
    ) -> Stripe.AutoPaging<Element> {
        Stripe.AutoPaging(client: self, path: path, parameters: parameters, pageSize: pageSize)
    }
}
