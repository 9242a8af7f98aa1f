extension Stripe {
    /// What a Checkout session is made from.
    public struct NewCheckoutSession: Hashable, Sendable {
        /// A price and how often it is bought.
        public struct Line: Hashable, Sendable {
            public var price: String
            public var quantity: Int64

            public init(price: String, quantity: Int64 = 1) {
                (self.price, self.quantity) = (price, quantity)
            }
        }

        /// Payment, or subscription as soon as one price is recurring.
        public var mode: CheckoutSession.Mode
        public var lines: [Line]
        /// Where the page leads after a payment.
        ///
        /// The text `{CHECKOUT_SESSION_ID}` in it becomes the session's id.
        public var successURL: String
        /// Where the page's way back leads.
        public var cancelURL: String?
        /// The customer; nil makes a guest, or lets Checkout create one.
        public var customer: String?
        /// At most 200 characters that come back with the session.
        public var clientReferenceID: String?
        /// Kept on the session, and copied to the subscription or payment that it makes.
        public var metadata: [String: String]
        /// When it ends unpaid, in UNIX seconds: between 30 minutes and 24 hours ahead.
        public var expiresAt: Int64?
        /// Whether a payment without a customer makes one; a subscription always does.
        public var createsCustomer = false
        /// `mobile_app` if the page is opened from an app.
        public var originContext: String?

        public init(
            mode: CheckoutSession.Mode,
            lines: [Line],
            successURL: String,
            cancelURL: String? = nil,
            customer: String? = nil,
            clientReferenceID: String? = nil,
            metadata: [String: String] = [:],
            expiresAt: Int64? = nil,
            originContext: String? = nil
        ) {
            self.mode = mode
            self.lines = lines
            self.successURL = successURL
            self.cancelURL = cancelURL
            self.customer = customer
            self.clientReferenceID = clientReferenceID
            self.metadata = metadata
            self.expiresAt = expiresAt
            self.originContext = originContext
        }

        var parameters: Parameters {
            var parameters: Parameters = [
                "mode": .string(mode.rawValue),
                "line_items": .list(
                    lines.map {
                        .hash(["price": .string($0.price), "quantity": .integer($0.quantity)])
                    }
                ),
                "success_url": .string(successURL),
            ]
            parameters.add("cancel_url", cancelURL)
            parameters.add("customer", customer)
            if createsCustomer { parameters.add("customer_creation", "always") }
            parameters.add("client_reference_id", clientReferenceID)
            parameters.add("expires_at", expiresAt)
            parameters.add("origin_context", originContext)
            let copy = Parameters(metadata)
            parameters.add("metadata", copy)
            // Children get only metadata of their own.
            if !copy.isEmpty, mode == .payment {
                parameters.add("payment_intent_data", ["metadata": .hash(copy)])
            } else if !copy.isEmpty, mode == .subscription {
                parameters.add("subscription_data", ["metadata": .hash(copy)])
            }
            parameters.add("expand", .list([.string("line_items")]))
            return parameters
        }
    }
}
