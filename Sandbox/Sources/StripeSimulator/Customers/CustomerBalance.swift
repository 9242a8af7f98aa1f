/// Credit and debt of a customer, which their invoices use up.
/// https://docs.stripe.com/billing/customer/balance
enum CustomerBalance {
    /// Moves a customer's balance and notes why.
    ///
    /// - Parameter amount: minor units; less than zero is credit.
    @discardableResult
    static func move(
        _ world: inout World,
        of customer: String,
        by amount: Int,
        type: String,
        currency: String,
        invoice: String? = nil,
        creditNote: String? = nil,
        description: String? = nil
    ) -> JSON {
        guard let before = world.get(.customer, customer), before["deleted"].bool != true else {
            return .null
        }
        world.change(.customer, customer, event: "customer.updated") { customer in
            customer["balance"] = .int(before["balance"].count + amount)
            if customer["currency"].isNull { customer["currency"] = .string(currency) }
        }
        return note(
            &world,
            of: customer,
            movedBy: amount,
            type: type,
            currency: currency,
            invoice: invoice,
            creditNote: creditNote,
            description: description
        )
    }

    /// Notes why a balance is what it is now.
    /// https://docs.stripe.com/api/customer_balance_transactions/object
    @discardableResult
    static func note(
        _ world: inout World,
        of customer: String,
        movedBy amount: Int,
        type: String,
        currency: String? = nil,
        invoice: String? = nil,
        creditNote: String? = nil,
        description: String? = nil
    ) -> JSON {
        let holder = world.get(.customer, customer) ?? .null
        let transaction = world.blank(
            .customerBalanceTransaction,
            created: world.now(for: customer),
            nulls: "checkout_session customer_account",
            [
                "amount": .int(amount), "credit_note": JSON(creditNote),
                "currency": .string(currency ?? holder["currency"].string ?? "usd"),
                "customer": .string(customer), "description": JSON(description),
                "ending_balance": holder["balance"], "invoice": JSON(invoice),
                "type": .string(type),
            ]
        )
        world.put(.customerBalanceTransaction, transaction)
        return transaction
    }

    private static func findMovement(
        _ world: World,
        _ id: String,
        of customer: String
    ) throws -> JSON {
        let movement = try world.find(.customerBalanceTransaction, id)
        guard movement["customer"].string == customer else {
            throw APIError.noSuch(Kind.customerBalanceTransaction.noun, id)
        }
        return movement
    }

    static let routes: [Route] = [
        .post("customers/:id/balance_transactions") { world, call in
            let customer = try world.find(.customer, call.ids[0])
            guard let amount = try call.parameters.int("amount", in: -99_999_999...99_999_999)
            else { throw APIError.missing(parameter: "amount") }
            let currency = try call.parameters.required("currency").lowercased()
            guard customer["currency"].isNull || customer["currency"].string == currency else {
                throw APIError.invalid(
                    "The customer's balance is in another currency: "
                        + "\(customer["currency"].text).",
                    param: "currency"
                )
            }
            var noted: JSON = ["metadata": [:]]
            try call.parameters.metadata(into: &noted)
            let description = try call.parameters.string("description", maximum: 350)
            try call.parameters.finish()
            var made = move(
                &world,
                of: call.ids[0],
                by: amount,
                type: "adjustment",
                currency: currency,
                description: description
            )
            made["metadata"] = noted["metadata"]
            world.put(.customerBalanceTransaction, made)
            return made
        },
        .get("customers/:id/balance_transactions") { world, call in
            let customer = call.ids[0]
            _ = try world.find(.customer, customer)
            let invoice = try call.parameters.string("invoice")
            return try world.list(
                .customerBalanceTransaction,
                &call,
                url: "/v1/customers/\(customer)/balance_transactions"
            ) { movement in
                movement["customer"].string == customer
                    && (invoice.map { movement["invoice"].string == $0 } ?? true)
            }
        },
        .get("customers/:id/balance_transactions/:id") { world, call in
            try findMovement(world, call.ids[1], of: call.ids[0])
        },
        .post("customers/:id/balance_transactions/:id") { world, call in
            var movement = try findMovement(world, call.ids[1], of: call.ids[0])
            try call.parameters.patch(&movement, "description")
            try call.parameters.metadata(into: &movement)
            world.put(.customerBalanceTransaction, movement)
            return movement
        },
    ]
}
