// The calls that Tollgate makes, beside `lists`. Another is one line with `get`, `list` or `post`.

extension Stripe.Client {
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

    /// Reads a test clock.
    public func testClock(
        _ id: String
    ) async throws(Stripe.RequestError) -> Stripe.Answer<Stripe.TestClock> {
        try await get(["test_helpers", "test_clocks", id])
    }

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

    /// Reads a subscription.
    public func subscription(
        _ id: String
    ) async throws(Stripe.RequestError) -> Stripe.Answer<Stripe.Subscription> {
        try await get(["subscriptions", id])
    }

    /// Changes a subscription.
    public func updateSubscription(
        _ id: String,
        _ parameters: Stripe.Parameters,
        idempotencyKey: String
    ) async throws(Stripe.RequestError) -> Stripe.Answer<Stripe.Subscription> {
        try await post(["subscriptions", id], parameters, idempotencyKey: idempotencyKey)
    }

    /// Reads an invoice with the first page of its payments.
    public func invoice(
        _ id: String
    ) async throws(Stripe.RequestError) -> Stripe.Answer<Stripe.Invoice> {
        try await get(["invoices", id], ["expand": .list([.string("payments")])])
    }

    /// Reads a payment intent with its charge.
    public func paymentIntent(
        _ id: String
    ) async throws(Stripe.RequestError) -> Stripe.Answer<Stripe.PaymentIntent> {
        try await get(["payment_intents", id], ["expand": .list([.string("latest_charge")])])
    }

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

    /// Reads a price.
    public func price(
        _ id: String
    ) async throws(Stripe.RequestError) -> Stripe.Answer<Stripe.Price> {
        try await get(["prices", id])
    }

    /// What is in the balance right now.
    public func balance() async throws(Stripe.RequestError) -> Stripe.Answer<Stripe.Balance> {
        try await get(["balance"])
    }
}
