import Hummingbird

extension Pages {
    static func checkout(
        _ session: JSON,
        _ world: World,
        _ entry: CheckoutEntry,
        decline: Decline? = nil,
        promotion: (typed: String, error: String?)? = nil
    ) -> Response {
        let currency = session["currency"].string ?? "usd"
        let lines = session["_line_items"].elements
        let mode = session["mode"].text
        let recurring = lines.first { !$0["price"]["recurring"].isNull }?["price"]["recurring"]
        let isTrial = session["_subscription_data"]["trial_end"].int != nil
        let total = session["amount_total"].count
        let recurringTotal = lines.filter { !$0["price"]["recurring"].isNull }
            .map { $0["amount_total"].count }.reduce(0, +)
        let due = isTrial ? total - recurringTotal : total
        var values: [String: Any] = [
            "title": "Checkout", "id": session["id"].text,
            "lead": lines.count == 1 ? lines[0]["description"].text : heading(mode),
            "amount": Money.words(mode == "subscription" ? recurringTotal : total, currency),
            "due": Money.words(due, currency), "heading": heading(mode),
            "button": button(mode, isTrial, due, currency),
            "lines": lines.map { line -> [String: Any] in
                var values: [String: Any] = [
                    "name": line["description"].text,
                    "amount": Money.words(line["amount_total"].count, currency),
                ]
                if line["quantity"].count > 1 { values["quantity"] = line["quantity"].count }
                return values
            },
            "email": entry.email, "card": entry.card, "expiry": entry.expiry, "name": entry.name,
            "postalCode": entry.postalCode, "countries": countries(selected: entry.country),
            "offersSaving": mode == "payment", "saves": entry.savesCard,
        ]
        if session["allow_promotion_codes"].bool == true {
            values.merge(self.promotion(session, world, promotion)) { $1 }
        }
        if let url = session["cancel_url"].string { values["cancelURL"] = url }
        if lines.contains(where: { !$0["price"]["custom_unit_amount"].isNull }) {
            values["custom"] = [
                "value": entry.amount.isEmpty ? Money.figure(total, currency) : entry.amount,
                "currency": currency.uppercased(),
            ]
        }
        if let recurring { values["per"] = period(recurring) }
        if isTrial, let end = session["_subscription_data"]["trial_end"].int {
            values["note"] = "Free until \(CalendarDate(end).words)"
        }
        if mode == "subscription" {
            values["terms"] =
                "By confirming your subscription, you allow this merchant to charge you for future "
                + "payments in accordance with their terms. You can always cancel."
        }
        if let decline {
            values["error"] = decline.message
            values["focusError"] = true
            values["cardError"] = ["number", nil].contains(decline.parameter)
            values["expiryError"] = ["expiry", "exp_month"].contains(decline.parameter)
            values["cvcError"] = decline.parameter == "cvc"
        }
        return render("checkout", values, status: decline == nil ? 200 : 402)
    }

    private static func promotion(
        _ session: JSON,
        _ world: World,
        _ promotion: (typed: String, error: String?)?
    ) -> [String: Any] {
        var values: [String: Any] = ["offersPromotion": true]
        let applied = session["_promotion_code"].string
            .flatMap { world.get(.promotionCode, $0)?["code"].string }
        if let applied {
            values["promotionApplied"] = applied
            let off = session["total_details"]["amount_discount"].count
            values["discount"] =
                "−" + Money.words(off, session["currency"].string ?? "usd")
        }
        if let error = promotion?.error {
            values["promotionError"] = error
            values["promotionTyped"] = promotion?.typed ?? ""
        }
        return values
    }

    /// The bank's question about a card whose fields were filled in.
    ///
    /// - Parameters:
    ///   - session: what is being paid.
    ///   - amount: of it; the session's total by default.
    ///   - action: where the answer goes; the session's page by default.
    static func challenge(
        _ session: JSON,
        _ entry: CheckoutEntry,
        amount: Int? = nil,
        action: String? = nil
    ) -> Response {
        challenge(
            amount: Money.words(
                amount ?? session["amount_total"].count,
                session["currency"].string ?? "usd"
            ),
            last4: String(entry.card.filter(\.isNumber).suffix(4)),
            action: action ?? "/c/pay/\(session["id"].text)",
            fields: [
                ("email", entry.email), ("card", entry.card), ("expiry", entry.expiry),
                ("name", entry.name), ("country", entry.country),
                ("postal_code", entry.postalCode), ("save", entry.savesCard ? "true" : "false"),
                ("amount", entry.amount),
            ]
        )
    }

    /// The bank's question.
    ///
    /// - Parameters:
    ///   - amount: What is to be paid; `nil`: a card is only saved.
    ///   - action: where the answer goes.
    ///   - fields: what goes there with it.
    static func challenge(
        amount: String?,
        last4: String,
        action: String,
        fields: [(String, String)] = []
    ) -> Response {
        var values: [String: Any] = [
            "title": "3-D Secure", "action": action, "last4": last4,
            "fields": fields.map { ["name": $0.0, "value": $0.1] },
        ]
        if let amount { values["amount"] = amount }
        return render("challenge", values)
    }

    private static func heading(_ mode: String) -> String {
        switch mode {
        case "subscription": "Subscribe with card"
        case "setup": "Save your card"
        default: "Pay with card"
        }
    }

    private static func button(
        _ mode: String,
        _ isTrial: Bool,
        _ due: Int,
        _ currency: String
    ) -> String {
        switch mode {
        case "subscription": isTrial ? "Start trial" : "Subscribe"
        case "setup": "Save card"
        default: "Pay \(Money.words(due, currency))"
        }
    }

    /// "per month", "every 3 months".
    static func period(_ recurring: JSON) -> String {
        let interval = recurring["interval"].text
        let count = recurring["interval_count"].count
        return count > 1 ? "every \(count) \(interval)s" : "per \(interval)"
    }

    private static func countries(selected: String) -> [[String: Any]] {
        let all = [
            ("AU", "Australia"), ("AT", "Austria"), ("BE", "Belgium"), ("BR", "Brazil"),
            ("CA", "Canada"), ("DK", "Denmark"), ("FI", "Finland"), ("FR", "France"),
            ("DE", "Germany"), ("IN", "India"), ("IE", "Ireland"), ("IT", "Italy"),
            ("JP", "Japan"), ("MX", "Mexico"), ("NL", "Netherlands"), ("NO", "Norway"),
            ("PL", "Poland"), ("PT", "Portugal"), ("SG", "Singapore"), ("ES", "Spain"),
            ("SE", "Sweden"), ("CH", "Switzerland"), ("GB", "United Kingdom"),
            ("US", "United States"),
        ]
        return all.map { ["code": $0.0, "label": $0.1, "selected": $0.0 == selected] }
    }
}
