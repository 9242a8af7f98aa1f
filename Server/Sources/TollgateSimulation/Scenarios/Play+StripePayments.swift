import Foundation
import StripeSimulator
import TollgateCore

// Money that is held, invoices that are no plan's, and payments of a part of one.
extension Play {
    /// Takes the money that the customer's newest held payment holds (`capture`), or lets go of it
    /// (`cancel`).
    ///
    /// https://docs.stripe.com/payments/place-a-hold-on-a-payment-method
    func settleHold(_ verb: String, of customer: String) async throws {
        let held = try await list("/v1/payment_intents", of: customer).first {
            $0["status"] as? String == "requires_capture"
        }
        guard let id = held?["id"] as? String else {
            throw StripeCallRefused(status: 404, message: "no money is held")
        }
        _ = try await call("POST", "/v1/payment_intents/\(id)/\(verb)")
    }

    /// Sends an invoice that is no plan's.
    ///
    /// https://docs.stripe.com/invoicing/integration
    func sell(_ order: StripeAct.Order, toCustomer customer: String) async throws {
        let made = try await call(
            "POST",
            "/v1/invoices",
            [
                ("customer", customer), ("collection_method", "send_invoice"),
                ("days_until_due", "\(order.daysUntilDue ?? 30)"),
            ]
        )
        let invoice = made["id"] as? String ?? ""
        let form = [
            ("customer", customer), ("invoice", invoice), ("quantity", "\(order.quantity)"),
            ("pricing[price]", try price(order.product)),
        ]
        _ = try await call("POST", "/v1/invoiceitems", form)
        _ = try await call("POST", "/v1/invoices/\(invoice)/finalize")
    }

    /// Pays a part of the customer's newest open invoice by a payment of its own.
    ///
    /// https://docs.stripe.com/invoicing/partial-payments
    func pay(_ amount: Int, with card: String, ofInvoiceOf customer: String) async throws {
        let open = try await list("/v1/invoices", of: customer, "status=open&").first
        guard let invoice = open?["id"] as? String else {
            throw StripeCallRefused(status: 404, message: "no invoice is open")
        }
        let form = [
            ("amount", "\(amount)"), ("currency", open?["currency"] as? String ?? "usd"),
            ("customer", customer), ("payment_method", card), ("confirm", "true"),
            ("return_url", "https://app.example.com/invoices"),
        ]
        let payment = try await call("POST", "/v1/payment_intents", form)["id"] as? String ?? ""
        _ = try await call(
            "POST",
            "/v1/invoices/\(invoice)/attach_payment",
            [("payment_intent", payment)]
        )
    }

    /// Gives back a charge of the customer's, or a part of it.
    ///
    /// - Parameter number: which of the charges that were paid, from 1; `nil`: the latest.
    func refund(_ amount: Int?, ofCharge number: Int?, of customer: String) async throws {
        guard let number else {
            try await world.stripe.refund(customer: customer, amount: amount)
            return
        }
        let paid = try await list("/v1/charges", of: customer).filter {
            $0["paid"] as? Bool == true
        }
        guard let charge = paid.dropLast(number - 1).last?["id"] as? String else {
            throw StripeCallRefused(status: 404, message: "no charge \(number) was paid")
        }
        try await world.stripe.refund(charge: charge, amount: amount)
    }

    /// A customer's objects, the newest first.
    private func list(
        _ path: String,
        of customer: String,
        _ query: String = ""
    ) async throws -> [[String: Any]] {
        let page = try await call("GET", path, query: "\(query)customer=\(customer)&limit=100")
        return page["data"] as? [[String: Any]] ?? []
    }
}
