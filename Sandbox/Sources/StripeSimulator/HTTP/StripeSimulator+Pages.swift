import HTTPTypes
import Hummingbird
import NIOCore

extension StripeSimulator {
    /// Answers a browser.
    func page(method: String, path: String, query: String, body: String) async -> Response {
        let steps = path.split(separator: "/").map(String.init)
        let form = Form.decode(body) ?? [:]
        await synchronize()
        switch (method, steps.first, steps.count) {
        case ("GET", nil, 0): return Pages.index(baseURL: world.baseURL)
        case ("GET", "assets", 2): return Pages.asset(steps[1])
        case (_, "c", 3) where steps[1] == "pay":
            return await checkoutPage(method, steps[2], form)
        case (_, "p", 3) where steps[1] == "session":
            return await portalPage(method, token: steps[2], form, query: query)
        case ("GET", "b", 2): return visit(paymentLink: steps[1], Form.decode(query) ?? [:])
        case (_, "i", 2...3): return await invoicePage(method, steps[1], form)
        case (_, "redirect", 3) where steps[1] == "authenticate":
            return authenticationPage(method, steps[2], form)
        case ("GET", "receipts", 2): return receiptPage(steps[1])
        default:
            return Pages.message(
                title: "Page not found",
                text: "There is no page at this address.",
                status: 404
            )
        }
    }

    private func visit(paymentLink id: String, _ query: [String: Form]) -> Response {
        guard let session = try? PaymentLinks.visit(&world, paymentLink: id, query) else {
            return Pages.message(
                title: "This link is no longer active",
                text: "Contact the merchant if you think that this is a mistake.",
                status: 404
            )
        }
        changed()
        return Pages.redirect(to: "/c/pay/\(session["id"].text)")
    }

    private func receiptPage(_ id: String) -> Response {
        guard let charge = world.get(.charge, id) else {
            return Pages.message(
                title: "Receipt not found",
                text: "There is no such receipt.",
                status: 404
            )
        }
        let amount = Money.words(charge["amount"].count, charge["currency"].text)
        return Pages.message(title: "Receipt", text: "\(amount) paid. Reference \(id).")
    }
}
