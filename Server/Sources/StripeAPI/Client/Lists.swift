extension Stripe {
    /// The lists that Tollgate reads, whole or from an element on.
    public struct Lists: Sendable {
        let client: Client

        /// All customers, the newest first.
        public func customers(after last: String? = nil) -> AutoPaging<Customer> {
            all(["customers"], after: last)
        }

        /// All that Stripe thinks a customer may use.
        public func activeEntitlements(of customer: String) -> AutoPaging<ActiveEntitlement> {
            all(["entitlements", "active_entitlements"], ["customer": .string(customer)])
        }

        /// All line items of a Checkout session.
        public func lineItems(ofCheckoutSession id: String) -> AutoPaging<LineItem> {
            all(["checkout", "sessions", id, "line_items"])
        }

        /// All Checkout sessions, the newest first.
        public func checkoutSessions(
            customer: String? = nil,
            status: CheckoutSession.Status? = nil,
            after last: String? = nil
        ) -> AutoPaging<CheckoutSession> {
            var parameters: Parameters = [:]
            parameters.add("customer", customer)
            parameters.add("status", status?.rawValue)
            return all(["checkout", "sessions"], parameters, after: last)
        }

        /// All items of a subscription.
        public func items(ofSubscription id: String) -> AutoPaging<SubscriptionItem> {
            all(["subscription_items"], ["subscription": .string(id)])
        }

        /// All subscriptions, ended ones too.
        ///
        /// - Parameter last: Only those after this one, for work that goes on after a break.
        public func subscriptions(after last: String? = nil) -> AutoPaging<Subscription> {
            all(["subscriptions"], ["status": .string("all")], after: last)
        }

        /// All invoices, the newest first.
        public func invoices(after last: String? = nil) -> AutoPaging<Invoice> {
            all(["invoices"], after: last)
        }

        /// All lines of an invoice.
        public func lines(ofInvoice id: String) -> AutoPaging<InvoiceLine> {
            all(["invoices", id, "lines"])
        }

        /// The payments that settled invoices by this payment intent: the way from a refund to what
        /// it pays back.
        public func invoicePayments(byPaymentIntent id: String) -> AutoPaging<InvoicePayment> {
            let payment: Parameters = [
                "type": .string("payment_intent"), "payment_intent": .string(id),
            ]
            return all(["invoice_payments"], ["payment": .hash(payment)])
        }

        /// The payments that settled an invoice.
        public func invoicePayments(ofInvoice id: String) -> AutoPaging<InvoicePayment> {
            all(["invoice_payments"], ["invoice": .string(id), "status": .string("paid")])
        }

        /// All payment intents with their charges, the newest first.
        public func paymentIntents(after last: String? = nil) -> AutoPaging<PaymentIntent> {
            let expanded: Parameters = ["expand": .list([.string("data.latest_charge")])]
            return all(["payment_intents"], expanded, after: last)
        }

        /// All refunds of a payment intent.
        public func refunds(ofPaymentIntent id: String) -> AutoPaging<Refund> {
            all(["refunds"], ["payment_intent": .string(id)])
        }

        /// All refunds, the newest first.
        public func refunds(after last: String? = nil) -> AutoPaging<Refund> {
            all(["refunds"], after: last)
        }

        /// All disputes, the newest first.
        public func disputes(after last: String? = nil) -> AutoPaging<Dispute> {
            all(["disputes"], after: last)
        }

        /// All disputes of a payment intent.
        public func disputes(ofPaymentIntent id: String) -> AutoPaging<Dispute> {
            all(["disputes"], ["payment_intent": .string(id)])
        }

        /// The events of the last 30 days, newest first.
        ///
        /// - Parameters:
        ///   - types: Only these, at most 20; empty for all.
        ///   - since: Only those created at this UNIX second or later.
        public func events(
            types: [Event.Kind] = [],
            since: Int64? = nil,
            after last: String? = nil
        ) -> AutoPaging<Event> {
            var parameters: Parameters = [:]
            if !types.isEmpty {
                parameters.add("types", .list(types.map { .string($0.rawValue) }))
            }
            if let since { parameters.add("created", .hash(["gte": .integer(since)])) }
            return all(["events"], parameters, after: last)
        }

        /// All addresses that events are sent to.
        public func webhookEndpoints() -> AutoPaging<WebhookEndpoint> {
            all(["webhook_endpoints"])
        }

        /// What moved the balance, the newest first, each with what it is about.
        ///
        /// - Parameters:
        ///   - since: only what was booked at this UNIX second or later.
        ///   - until: only what was booked before this one.
        ///   - payout: only what went to the bank with this automatic payout.
        public func balanceTransactions(
            since: Int64? = nil,
            until: Int64? = nil,
            payout: String? = nil
        ) -> AutoPaging<BalanceTransaction> {
            var parameters: Parameters = ["expand": .list([.string("data.source")])]
            parameters.add("payout", payout)
            var created: Parameters = [:]
            created.add("gte", since)
            created.add("lt", until)
            parameters.add("created", created)
            return all(["balance_transactions"], parameters)
        }

        /// All payouts, the newest first.
        ///
        /// - Parameter since: only those made at this UNIX second or later.
        public func payouts(since: Int64? = nil) -> AutoPaging<Payout> {
            var parameters: Parameters = [:]
            if let since { parameters.add("created", .hash(["gte": .integer(since)])) }
            return all(["payouts"], parameters)
        }

        /// All elements of a list, fetched in pages of 100.
        ///
        /// - Parameter last: Begins after this element.
        public func all<Element: IdentifiedObject>(
            _ path: [String],
            _ parameters: Parameters = [:],
            after last: String? = nil
        ) -> AutoPaging<Element> {
            AutoPaging(client: client, path: path, parameters: parameters, first: last)
        }
    }
}

extension Stripe.Client {
    public var lists: Stripe.Lists { Stripe.Lists(client: self) }
}
