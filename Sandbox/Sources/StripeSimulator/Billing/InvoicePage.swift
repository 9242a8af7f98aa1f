import Hummingbird

extension StripeSimulator {
    /// The hosted page of an invoice: shown, and paid if it is open.
    func invoicePage(_ method: String, _ id: String, _ form: [String: Form]) async -> Response {
        guard let invoice = world.get(.invoice, id) else {
            return Pages.message(
                title: "Invoice not found",
                text: "There is no such invoice.",
                status: 404
            )
        }
        let isPayable = invoice["status"].string == "open" && invoice["amount_due"].count > 0
        guard isPayable else { return Pages.invoice(invoice) }
        guard method == "POST" else {
            return Pages.invoice(invoice, CheckoutEntry(invoiceOf: invoice, world))
        }
        let entry = CheckoutEntry(form)
        switch entry.validated(now: world.now) {
        case .failure(let decline):
            return Pages.invoice(invoice, entry, decline: decline)
        case .success(let details):
            return await pay(invoice, entry, details)
        }
    }

    private func pay(
        _ invoice: JSON,
        _ entry: CheckoutEntry,
        _ details: CardDetails
    ) async -> Response {
        let id = invoice["id"].text
        if entry.challenge == "fail" {
            return Pages.invoice(invoice, entry, decline: .notAuthenticated)
        }
        let isAuthenticated = entry.challenge == "complete"
        let outcome = Invoices.payOnPage(
            &world,
            invoice: id,
            details,
            isAuthenticated: isAuthenticated
        )
        changed()
        switch outcome {
        case .requiresAction:
            return Pages.challenge(
                invoice,
                entry,
                amount: invoice["amount_due"].count,
                action: "/i/\(id)"
            )
        case .declined(let decline):
            return Pages.invoice(world.get(.invoice, id) ?? invoice, entry, decline: decline)
        case .succeeded, .processing:
            await flush()
            save()
            return Pages.redirect(to: "/i/\(id)")
        }
    }
}

extension CheckoutEntry {
    /// The fields as the page of an invoice first shows them.
    init(invoiceOf invoice: JSON, _ world: World) {
        self.init([:])
        let customer = world.get(.customer, invoice["customer"].reference) ?? .null
        email = customer["email"].string ?? ""
        name = customer["name"].string ?? ""
    }
}

extension Invoices {
    /// The customer pays an open invoice on its page; what paid it pays the subscription from now on.
    static func payOnPage(
        _ world: inout World,
        invoice id: String,
        _ details: CardDetails,
        isAuthenticated: Bool
    ) -> PaymentAttempt {
        guard let invoice = world.get(.invoice, id), invoice["status"].string == "open" else {
            return .succeeded
        }
        let method = PaymentMethods.add(&world, details)
        let intent = intent(&world, for: invoice)
        let outcome = PaymentIntents.attempt(
            &world,
            intent,
            with: method,
            isAuthenticated: isAuthenticated
        )
        if case .declined = outcome { noteFailure(&world, id, isManual: true) }
        guard outcome == .succeeded else { return outcome }
        if let customer = invoice["customer"].string {
            PaymentMethods.attachUnchecked(&world, method["id"].text, to: customer)
            if let subscription = subscription(world, of: invoice) {
                world.change(.subscription, subscription["id"].text) {
                    $0["default_payment_method"] = method["id"]
                }
            }
        }
        markPaid(&world, id, intent: intent)
        return outcome
    }
}
