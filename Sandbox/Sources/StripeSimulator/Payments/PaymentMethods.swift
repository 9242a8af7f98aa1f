/// What somebody typed into the fields for a card.
struct CardDetails: Hashable, Sendable {
    var card: TestCard
    var expiryMonth = 12
    var expiryYear = 2034
    var name: String?
    var email: String?
    var country: String?
    var postalCode: String?
    /// Whether it came from a wallet rather than from fields.
    var isFromWallet = false
}

/// Payment methods: the cards and bank accounts that customers pay with.
/// https://docs.stripe.com/api/payment_methods
enum PaymentMethods {
    /// Makes a payment method of a card. https://docs.stripe.com/api/payment_methods/object
    static func add(_ world: inout World, _ details: CardDetails) -> JSON {
        let card = details.card
        let address: JSON = .object(
            nulls: "city line1 line2 state country",
            ["country": JSON(details.country), "postal_code": JSON(details.postalCode)]
        )
        var method = world.blank(
            .paymentMethod,
            nulls: "customer customer_account radar_options",
            [
                "type": "card", "allow_redisplay": "unspecified",
                "billing_details": .object(
                    nulls: "phone tax_id",
                    [
                        "address": address, "email": JSON(details.email),
                        "name": JSON(details.name),
                    ]
                ),
                "card": cardFace(
                    card,
                    month: details.expiryMonth,
                    year: details.expiryYear
                ),
                "_card": .string(card.number),
            ]
        )
        if details.isFromWallet {
            method["card"]["wallet"] = [
                "type": "apple_pay", "apple_pay": [:], "dynamic_last4": .string("4242"),
            ]
        }
        if card.isBankDebit {
            method["type"] = "sepa_debit"
            method.remove("card")
            method["sepa_debit"] = .object(
                nulls: "generated_from",
                [
                    "bank_code": "19043", "branch_code": "", "country": "AT",
                    "fingerprint": .string("fp" + card.number.suffix(14)),
                    "last4": .string(String(card.number.suffix(4))),
                ]
            )
        }
        world.put(.paymentMethod, method)
        return method
    }

    static func cardFace(_ card: TestCard, month: Int, year: Int) -> JSON {
        .object(
            nulls: "generated_from regulated_status wallet",
            [
                "brand": .string(card.brand), "country": "US", "display_brand": .string(card.brand),
                "exp_month": .int(month), "exp_year": .int(year),
                "fingerprint": .string("fp" + card.number.suffix(14)),
                "funding": .string(card.funding), "last4": .string(String(card.number.suffix(4))),
                "checks": .object(
                    nulls: "address_line1_check address_postal_code_check",
                    ["cvc_check": "pass"]
                ),
                "networks": .object(nulls: "preferred", ["available": [.string(card.brand)]]),
                "three_d_secure_usage": ["supported": true],
            ]
        )
    }

    /// The payment method that `id` names; a magic id becomes a fresh one.
    static func find(
        _ world: inout World,
        _ id: String,
        param: String = "payment_method"
    ) throws -> JSON {
        if let card = TestCard.named(id) { return add(&world, CardDetails(card: card)) }
        return try world.find(.paymentMethod, id, param: param)
    }

    /// Attaches a payment method to a customer; cards that refuse everything refuse this too.
    @discardableResult
    static func attach(
        _ world: inout World,
        _ id: String,
        to customer: String,
        param: String = "id"
    ) throws -> JSON {
        let method = try find(&world, id, param: param)
        if let owner = method["customer"].string {
            guard owner == customer else {
                throw APIError.invalid(
                    "The payment method you provided has already been attached to a customer.",
                    code: "payment_method_already_attached"
                )
            }
            return method
        }
        if let card = TestCard.numbered(method["_card"].text), card.declinesAttachment,
            let decline = card.decline
        {
            throw APIError.card(decline)
        }
        return attachUnchecked(&world, method["id"].text, to: customer)
    }

    /// Attaches without asking the bank, as the end of a payment does.
    @discardableResult
    static func attachUnchecked(_ world: inout World, _ id: String, to customer: String) -> JSON {
        guard world.get(.paymentMethod, id)?["customer"].string == nil else {
            return world.get(.paymentMethod, id) ?? .null
        }
        let attached = world.change(.paymentMethod, id) { $0["customer"] = .string(customer) }
        world.emit("payment_method.attached", attached)
        return attached
    }

    /// The payment method that pays a subscription's invoices.
    static func defaultMethod(
        _ world: World,
        of customer: String,
        subscription: JSON? = nil
    ) -> JSON? {
        world.get(.paymentMethod, subscription?["default_payment_method"].reference)
            ?? world.get(
                .paymentMethod,
                world.get(.customer, customer)?["invoice_settings"]["default_payment_method"]
                    .reference
            )
    }

    /// The test card behind a payment method.
    static func card(of method: JSON) -> TestCard {
        TestCard.numbered(method["_card"].text) ?? .success
    }

    /// Makes a payment method from the parameters of `/v1/payment_methods` or of
    /// `payment_method_data`.
    static func add(_ world: inout World, from parameters: inout Parameters) throws -> JSON {
        guard let type = try parameters.choice("type", of: ["card", "sepa_debit"]) else {
            throw APIError.missing(parameter: parameters.name("type"))
        }
        let details =
            type == "card"
            ? try parameters.object("card") { try cardDetails(&$0) }
            : try parameters.object("sepa_debit") { part in
                let number = try part.required("iban")
                guard let account = TestCard.numbered(number), account.isBankDebit else {
                    throw APIError.invalid(
                        "The IBAN you provided is invalid.",
                        code: "invalid_bank_account_iban",
                        param: part.name("iban")
                    )
                }
                return CardDetails(card: account)
            }
        guard let details else { throw APIError.missing(parameter: parameters.name(type)) }
        var method = add(&world, details)
        var billing = method["billing_details"]
        try parameters.object("billing_details") { part in
            try part.patch(&billing, "email", "name", "phone")
            if let address = try part.address("address") { billing["address"] = address }
        }
        method["billing_details"] = billing
        try parameters.metadata(into: &method)
        parameters.ignore("allow_redisplay", "radar_options")
        world.put(.paymentMethod, method)
        return method
    }

    private static func cardDetails(_ part: inout Parameters) throws -> CardDetails {
        var details = CardDetails(card: .success)
        if let token = try part.string("token") {
            guard let card = TestCard.named(token) else {
                throw APIError.noSuch("token", token, param: part.name("token"))
            }
            details.card = card
        } else {
            guard let card = TestCard.numbered(try part.required("number")) else {
                throw APIError.card(.incorrectNumber)
            }
            details.card = card
        }
        if let month = try part.int("exp_month", in: 1...12) { details.expiryMonth = month }
        if let year = try part.int("exp_year") { details.expiryYear = year }
        part.ignore("cvc", "networks")
        return details
    }

    static let routes: [Route] = [
        .post("payment_methods") { world, call in
            try add(&world, from: &call.parameters)
        },
        .get("payment_methods") { world, call in
            let customer = try call.parameters.string("customer")
            let type = try call.parameters.string("type")
            return try world.list(.paymentMethod, &call) { method in
                (customer.map { method["customer"].string == $0 } ?? true)
                    && (type.map { method["type"].string == $0 } ?? true)
            }
        },
        .get("payment_methods/:id") { world, call in try world.find(.paymentMethod, call.ids[0]) },
        .post("payment_methods/:id") { world, call in
            var method = try world.find(.paymentMethod, call.ids[0])
            try call.parameters.metadata(into: &method)
            var billing = method["billing_details"]
            try call.parameters.object("billing_details") { part in
                try part.patch(&billing, "email", "name", "phone")
                if let address = try part.address("address") { billing["address"] = address }
            }
            method["billing_details"] = billing
            call.parameters.ignore("allow_redisplay", "card")
            let changed = method
            return world.change(.paymentMethod, call.ids[0], event: "payment_method.updated") {
                $0 = changed
            }
        },
        .post("payment_methods/:id/attach") { world, call in
            let customer = try call.parameters.required("customer")
            _ = try world.find(.customer, customer, param: "customer")
            return try attach(&world, call.ids[0], to: customer)
        },
        .post("payment_methods/:id/detach") { world, call in
            let method = try world.find(.paymentMethod, call.ids[0])
            guard let customer = method["customer"].string else {
                throw APIError.invalid(
                    "The payment method you provided is not attached to a customer so detachment "
                        + "is impossible."
                )
            }
            let detached = world.change(.paymentMethod, call.ids[0]) { $0["customer"] = .null }
            world.emit(
                "payment_method.detached",
                detached,
                previous: ["customer": .string(customer)]
            )
            world.change(.customer, customer) { customer in
                guard
                    customer["invoice_settings"]["default_payment_method"].string == call.ids[0]
                else { return }
                customer["invoice_settings"]["default_payment_method"] = .null
            }
            return detached
        },
    ]
}
