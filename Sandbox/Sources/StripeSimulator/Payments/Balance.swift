/// The balance: what came in becomes available after some days and goes to the bank.
/// https://docs.stripe.com/payouts
enum Balance {
    /// Makes what is due available.
    static func settle(_ world: inout World) {
        for transaction in world.all(.balanceTransaction)
        where transaction["status"].string == "pending"
            && transaction["available_on"].count <= world.now
        {
            world.change(.balanceTransaction, transaction["id"].text) { $0["status"] = "available" }
        }
    }

    /// What is in the balance, by status and currency, before it goes to the bank.
    static func sums(_ world: World, _ status: String) -> [String: Int] {
        var sums: [String: Int] = [:]
        for transaction in world.all(.balanceTransaction)
        where transaction["status"].string == status {
            sums[transaction["currency"].text, default: 0] += transaction["net"].count
        }
        return sums
    }

    /// Sends everything that is available to the bank, a payout for each currency.
    static func payOut(_ world: inout World) {
        settle(&world)
        for currency in sums(world, "available").keys.sorted() {
            let waiting = world.all(.balanceTransaction).filter {
                $0["status"].string == "available" && $0["currency"].string == currency
                    && $0["_payout"].isNull && $0["type"].string != "payout"
            }
            let amount = waiting.reduce(0) { $0 + $1["net"].count }
            guard amount > 0 else { continue }
            let payout = addPayout(&world, amount: amount, currency: currency, isAutomatic: true)
            for transaction in waiting {
                world.change(.balanceTransaction, transaction["id"].text) {
                    $0["_payout"] = payout["id"]
                }
            }
        }
    }

    /// A payout with its balance transaction. https://docs.stripe.com/api/payouts/object
    static func addPayout(
        _ world: inout World,
        amount: Int,
        currency: String,
        isAutomatic: Bool
    ) -> JSON {
        let arrival = (world.now / 86_400 + 1) * 86_400
        var payout = world.blank(
            .payout,
            nulls: """
                application_fee application_fee_amount failure_balance_transaction failure_code \
                failure_message original_payout payout_method reversed_by statement_descriptor
                """,
            [
                "amount": .int(amount), "arrival_date": .int(arrival),
                "automatic": .bool(isAutomatic), "currency": .string(currency),
                "description": isAutomatic ? "STRIPE PAYOUT" : .null,
                "destination": .string("ba_" + world.random.token(24)), "method": "standard",
                "reconciliation_status": isAutomatic ? "completed" : "not_applicable",
                "source_type": "card", "status": "in_transit",
                "trace_id": ["status": "pending", "value": .null], "type": "bank_account",
            ]
        )
        let transaction = addTransaction(
            &world,
            amount: -amount,
            fee: 0,
            type: "payout",
            source: payout
        )
        let id = transaction["id"].text
        world.change(.balanceTransaction, id) { transaction in
            transaction["status"] = "available"
            transaction["available_on"] = .int(arrival)
        }
        payout["balance_transaction"] = .string(id)
        world.add(.payout, payout, event: "payout.created")
        world.schedule(.completePayout(payout["id"].text), at: arrival, for: nil)
        return payout
    }

    /// The bank has it.
    static func completePayout(_ world: inout World, _ id: String) {
        guard world.get(.payout, id)?["status"].string == "in_transit" else { return }
        let paid = world.change(.payout, id) { $0["status"] = "paid" }
        world.emit("payout.paid", paid)
    }

    /// The next automatic payout, unless one is to come already.
    static func schedulePayout(_ world: inout World) {
        guard world.policy.payouts != .manual, (world.nextPayout ?? 0) <= world.now else { return }
        let midnight = (world.now / 86_400 + 1) * 86_400
        // 1970-01-01 was a Thursday; weekly payouts leave on Mondays.
        let weekday = (midnight / 86_400 + 3) % 7
        let due = world.policy.payouts == .weekly ? midnight + (7 - weekday) % 7 * 86_400 : midnight
        world.nextPayout = due
        world.schedule(.payOut, at: due, for: nil)
    }

    /// Pays out what is due, and looks forward to the next time.
    static func payOutIfDue(_ world: inout World) {
        guard world.policy.payouts != .manual else { return }
        payOut(&world)
        schedulePayout(&world)
    }

    static let routes: [Route] = [
        .get("balance") { world, _ in
            settle(&world)
            func amounts(_ status: String) -> JSON {
                .array(
                    sums(world, status).sorted { $0.key < $1.key }.map { currency, amount in
                        [
                            "amount": .int(amount), "currency": .string(currency),
                            "source_types": ["card": .int(amount)],
                        ]
                    }
                )
            }
            return [
                "object": "balance", "available": amounts("available"),
                "pending": amounts("pending"), "livemode": false,
                "refund_and_dispute_prefunding": ["available": [], "pending": []],
            ]
        },
        .get("balance_transactions") { world, call in
            settle(&world)
            let source = try call.parameters.string("source")
            let type = try call.parameters.string("type")
            let payout = try call.parameters.string("payout")
            let currency = try call.parameters.string("currency")
            return try world.list(.balanceTransaction, &call) { transaction in
                (source.map { transaction["source"].string == $0 } ?? true)
                    && (type.map { transaction["type"].string == $0 } ?? true)
                    && (currency.map { transaction["currency"].string == $0 } ?? true)
                    && (payout.map {
                        transaction["_payout"].string == $0 || transaction["source"].string == $0
                    } ?? true)
            }
        },
        .get("balance_transactions/:id") { world, call in
            settle(&world)
            return try world.find(.balanceTransaction, call.ids[0])
        },
        .post("payouts") { world, call in
            guard let amount = try call.parameters.int("amount", in: 1...99_999_999) else {
                throw APIError.missing(parameter: "amount")
            }
            guard let currency = try call.parameters.string("currency") else {
                throw APIError.missing(parameter: "currency")
            }
            call.parameters.ignore(
                "description",
                "destination",
                "metadata",
                "method",
                "source_type",
                "statement_descriptor"
            )
            settle(&world)
            guard amount <= sums(world, "available")[currency] ?? 0 else {
                throw APIError.invalid(
                    "You have insufficient funds in your Stripe account for this transfer.",
                    code: "balance_insufficient"
                )
            }
            return addPayout(&world, amount: amount, currency: currency, isAutomatic: false)
        },
        .get("payouts") { world, call in
            let status = try call.parameters.string("status")
            return try world.list(.payout, &call) { payout in
                status.map { payout["status"].string == $0 } ?? true
            }
        },
        .get("payouts/:id") { world, call in try world.find(.payout, call.ids[0]) },
    ]

    /// - Parameter category: the reporting category, where it is not the type.
    static func addTransaction(
        _ world: inout World,
        amount: Int,
        fee: Int,
        type: String,
        source: JSON,
        category: String? = nil
    ) -> JSON {
        let instant = world.now(for: source["customer"].reference)
        var transaction = world.blank(
            .balanceTransaction,
            created: instant,
            nulls: "description exchange_rate",
            [
                "amount": .int(amount), "available_on": .int(instant + 2 * 86_400),
                "balance_type": "payments", "currency": source["currency"], "fee": .int(fee),
                "fee_details": fee == 0
                    ? []
                    : [
                        .object(
                            nulls: "application",
                            [
                                "amount": .int(fee), "currency": source["currency"],
                                "description": "Stripe processing fees", "type": "stripe_fee",
                            ]
                        )
                    ],
                "net": .int(amount - fee), "reporting_category": .string(category ?? type),
                "source": source["id"], "status": "pending", "type": .string(type),
            ]
        )
        transaction.remove("livemode")
        transaction.remove("metadata")
        world.put(.balanceTransaction, transaction)
        return transaction
    }
}
