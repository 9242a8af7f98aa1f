/// Expansion: objects where otherwise only their ids stand.
/// https://docs.stripe.com/api/expanding_objects
enum Expansion {
    /// Puts objects where only their ids stood: `expand[]=data.customer`.
    /// https://docs.stripe.com/api/expanding_objects
    static func expand(_ world: World, _ object: JSON, _ paths: [String]) throws -> JSON {
        var result = object
        for path in paths {
            let steps = path.split(separator: ".").map(String.init)
            guard !steps.isEmpty, steps.count <= 4 + (steps.first == "data" ? 1 : 0) else {
                throw APIError.invalid(
                    "You cannot expand more than 4 levels of a property: \(path)",
                    param: "expand"
                )
            }
            result = try expand(world, result, steps[...], path: path)
        }
        return result
    }

    private static func expand(
        _ world: World,
        _ value: JSON,
        _ steps: ArraySlice<String>,
        path: String
    ) throws -> JSON {
        guard let step = steps.first else { return value }
        if case .array(let elements) = value {
            return .array(try elements.map { try expand(world, $0, steps, path: path) })
        }
        guard value.members != nil else { return value }
        var object = value
        let rest = steps.dropFirst()
        let current = object.members?[step] ?? included(world, step, in: object)
        guard let current else {
            throw APIError.invalid(
                "This property cannot be expanded (\(step)). You may want to try expanding "
                    + "'data.\(path)' if you are requesting a list.",
                param: "expand"
            )
        }
        object[step] = try expand(world, resolved(world, current), rest, path: path)
        return object
    }

    /// The object that an id stands for; ids in a list each.
    private static func resolved(_ world: World, _ value: JSON) -> JSON {
        switch value {
        case .string(let id):
            for kind in Kind.allCases where !kind.prefix.isEmpty && id.hasPrefix(kind.prefix) {
                if let object = world.get(kind, id) { return object }
            }
            // Products, coupons and some prices carry ids that their maker chose.
            for kind in [Kind.product, .price, .coupon] {
                if let object = world.get(kind, id) { return object }
            }
            return value
        case .array(let values): return .array(values.map { resolved(world, $0) })
        default: return value
        }
    }

    /// What is left out unless it is asked for.
    private static func included(_ world: World, _ name: String, in object: JSON) -> JSON? {
        let id = object["id"].text
        switch (object["object"].string, name) {
        case ("checkout.session", "line_items"):
            return JSON.list(
                object["_line_items"].elements,
                url: "/v1/checkout/sessions/\(id)/line_items"
            )
        case ("payment_link", "line_items"):
            return JSON.list(
                object["_line_items"].elements,
                url: "/v1/payment_links/\(id)/line_items"
            )
        case ("invoice", "payments"):
            let payments = world.all(.invoicePayment).filter { $0["invoice"].string == id }
            return JSON.list(payments, url: "/v1/invoice_payments?invoice=\(id)")
        case ("invoice", "confirmation_secret"):
            guard let intent = world.get(.paymentIntent, object["_payment_intent"].string) else {
                return .null
            }
            return ["client_secret": intent["client_secret"], "type": "payment_intent"]
        case ("price", "tiers"), ("plan", "tiers"): return object["_tiers"]
        case ("price", "currency_options"): return .object([:])
        case ("customer", "subscriptions"):
            let subscriptions = world.all(.subscription).filter {
                $0["customer"].string == id && $0["status"].string != "canceled"
            }
            return JSON.list(
                subscriptions.reversed(),
                url: "/v1/customers/\(id)/subscriptions"
            )
        case ("customer", "sources"), ("customer", "tax_ids"):
            return JSON.list([], url: "/v1/customers/\(id)/\(name)")
        case ("customer", "tax"), ("customer", "cash_balance"),
            ("customer", "invoice_credit_balance"):
            return .null
        case ("coupon", "applies_to"): return object["_applies_to"]
        default: return nil
        }
    }
}
