import Hummingbird

extension StripeSimulator {
    /// The bank's page that `redirect_to_url` leads to, and from there back to the app.
    func authenticationPage(_ method: String, _ id: String, _ form: [String: Form]) -> Response {
        let kind = id.hasPrefix("seti_") ? Kind.setupIntent : .paymentIntent
        guard let intent = world.get(kind, id),
            let back = intent["next_action"]["redirect_to_url"]["return_url"].string,
            intent["status"].string == "requires_action"
        else {
            return Pages.message(
                title: "Nothing to confirm",
                text: "This payment does not wait for you.",
                status: 404
            )
        }
        guard method == "POST", case .text(let answer)? = form["challenge"] else {
            let paid = world.get(.paymentMethod, intent["payment_method"].reference) ?? .null
            return Pages.challenge(
                amount: intent["amount"].int.map { Money.words($0, intent["currency"].text) },
                last4: paid["card"]["last4"].text,
                action: "/redirect/authenticate/\(id)"
            )
        }
        _ = try? PaymentIntents.authenticate(&world, id, passes: answer == "complete")
        changed()
        let status = world.get(kind, id)?["status"].string
        let hasFailed = status == "requires_payment_method"
        let name = kind == .setupIntent ? "setup_intent" : "payment_intent"
        let query =
            "\(name)=\(id)&\(name)_client_secret=\(intent["client_secret"].text)"
            + "&redirect_status=\(hasFailed ? "failed" : "succeeded")"
        return Pages.redirect(to: back + (back.contains("?") ? "&" : "?") + query)
    }
}
