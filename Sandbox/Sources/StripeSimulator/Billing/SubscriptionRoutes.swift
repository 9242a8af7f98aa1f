extension Subscriptions {
    static let routes: [Route] = [
        .post("subscriptions") { world, call in
            let order = try SubscriptionOrder.read(&world, &call.parameters)
            try call.parameters.finish()
            return try create(&world, order)
        },
        .get("subscriptions") { world, call in
            let customer = try call.parameters.string("customer")
            let price = try call.parameters.string("price")
            let status = try call.parameters.string("status")
            let clock = try call.parameters.string("test_clock")
            call.parameters.ignore(
                "collection_method",
                "current_period_end",
                "current_period_start"
            )
            return try world.list(.subscription, &call) { subscription in
                (customer.map { subscription["customer"].string == $0 } ?? true)
                    && (clock.map { subscription["test_clock"].string == $0 } ?? true)
                    && isListed(subscription, status: status)
                    && (price.map { price in
                        subscription["items"].elements.contains {
                            $0["price"]["id"].string == price
                        }
                    } ?? true)
            }
        },
        .get("subscriptions/search") { world, call in try world.search(.subscription, &call) },
        .get("subscriptions/:id") { world, call in try world.find(.subscription, call.ids[0]) },
        .post("subscriptions/:id") { world, call in try update(&world, &call) },
        .delete("subscriptions/:id") { world, call in try cancel(&world, &call) },
        .post("subscriptions/:id/resume") { world, call in try resume(&world, &call) },
        .post("subscriptions/:id/migrate") { world, call in
            try migrate(&world, &call)
        },
        .post("subscriptions/:id/pause") { world, call in
            guard try world.find(.subscription, call.ids[0])["status"].string == "active" else {
                throw APIError.invalid("Only active subscriptions can be paused.")
            }
            call.parameters.ignore("type", "bill_for", "invoicing_behavior")
            pause(&world, call.ids[0])
            return try world.find(.subscription, call.ids[0])
        },
    ]

    private static func isListed(_ subscription: JSON, status: String?) -> Bool {
        let own = subscription["status"].text
        switch status {
        case nil: return own != "canceled" && own != "incomplete_expired"
        case "all": return true
        case "ended": return own == "canceled" || own == "incomplete_expired"
        case let status?: return own == status
        }
    }

    private static func update(_ world: inout World, _ call: inout Call) throws -> JSON {
        let id = call.ids[0]
        let before = try world.find(.subscription, id)
        if isOver(before) { return try updateEnded(&world, before, &call) }
        let customer = before["customer"].text
        let behaviors = ["create_prorations", "always_invoice", "none"]
        let behavior =
            try call.parameters.choice("proration_behavior", of: behaviors) ?? "create_prorations"
        let date = try call.parameters.int("proration_date")
        call.parameters.ignore("off_session")
        let payment = try paymentBehavior(&call.parameters)
        let restarts = try updateAnchor(&call.parameters)
        var outcomes = try updateItems(
            &world,
            &call,
            of: id,
            behavior: behavior,
            date: date,
            holds: payment == .pendingIfIncomplete,
            settles: !restarts
        )
        if restarts {
            let outcome = try restartCycle(
                &world,
                of: id,
                before: before,
                behavior: behavior,
                holds: payment == .pendingIfIncomplete
            )
            if let outcome { outcomes.append(outcome) }
        }
        if payment == .errorIfIncomplete {
            for outcome in outcomes { try PendingUpdates.refuse(outcome) }
        }
        if payment == .pendingIfIncomplete, outcomes.contains(where: { $0 != .succeeded }) {
            PendingUpdates.hold(&world, of: id, before: before)
        }
        var after = try world.find(.subscription, id)
        try updateFields(&world, &call.parameters, of: &after)
        let endsTrial = try updateTrial(&call.parameters, &after, now: world.now(for: customer))
        try readSettings(world, &call.parameters, into: &after)
        world.put(.subscription, after)
        scheduleNext(&world, of: id)
        if endsTrial { rollPeriod(&world, of: id) }
        let done = world.get(.subscription, id) ?? after
        if let previous = World.previousAttributes(before, done), !endsTrial {
            world.emit("customer.subscription.updated", done, previous: previous)
        }
        ActiveEntitlements.refresh(&world, of: customer)
        return done
    }

    /// Of a subscription that is over only the metadata may change.
    private static func updateEnded(
        _ world: inout World,
        _ before: JSON,
        _ call: inout Call
    ) throws -> JSON {
        var ended = before
        try call.parameters.metadata(into: &ended)
        call.parameters.ignore("cancellation_details")
        let changed = ended
        return world.change(.subscription, call.ids[0], event: "customer.subscription.updated") {
            $0 = changed
        }
    }

    /// Reads what changes nothing that is to be paid now.
    private static func updateFields(
        _ world: inout World,
        _ parameters: inout Parameters,
        of after: inout JSON
    ) throws {
        try parameters.metadata(into: &after)
        try parameters.patch(&after, "description")
        if let method = try parameters.raw("default_payment_method") {
            after["default_payment_method"] =
                method.isEmpty
                ? .null
                : try world.find(.paymentMethod, method, param: "default_payment_method")["id"]
        }
        if let cancels = try parameters.bool("cancel_at_period_end"),
            cancels != after["cancel_at_period_end"].bool
        {
            setCancelAtPeriodEnd(world, &after, cancels)
        }
        if let cancelAt = try parameters.raw("cancel_at") {
            try setCancelAt(world, &after, cancelAt)
        }
        let (id, customer) = (after["id"].text, after["customer"].text)
        let chosen = try Discounts.read(
            world,
            &parameters,
            customer: customer,
            currency: after["currency"].string
        )
        if let chosen {
            for gone in after["discounts"].elements.compactMap(\.reference) {
                Discounts.drop(&world, gone)
            }
            after["discounts"] = JSON(
                chosen.map { Discounts.redeem(&world, $0, customer: customer, subscription: id) }
            )
        }
        try parameters.object("cancellation_details") { part in
            var details = after["cancellation_details"]
            try part.patch(&details, "comment", "feedback")
            after["cancellation_details"] = details
        }
        if parameters.has("pause_collection") {
            after["pause_collection"] = try pauseCollection(&parameters)
        }
    }

    /// Reads how the invoices to come are paid.
    private static func readSettings(
        _ world: World,
        _ parameters: inout Parameters,
        into subscription: inout JSON
    ) throws {
        let (method, days) = try Invoices.readCollectionMethod(
            &parameters,
            standing: subscription["collection_method"].text
        )
        let until = days ?? subscription["days_until_due"].int
        guard method == "charge_automatically" || until != nil else {
            throw APIError.missing(parameter: "days_until_due")
        }
        subscription["collection_method"] = .string(method)
        subscription["days_until_due"] = method == "send_invoice" ? JSON(until) : .null
        var settings = subscription["payment_settings"]
        try parameters.object("payment_settings") { part in
            try part.patch(&settings, "save_default_payment_method")
            part.ignore("payment_method_options", "payment_method_types")
        }
        subscription["payment_settings"] = settings
        var ending = subscription["trial_settings"]["end_behavior"]
        try parameters.object("trial_settings") { part in
            try part.object("end_behavior") { try $0.patch(&ending, "missing_payment_method") }
        }
        subscription["trial_settings"]["end_behavior"] = ending
        if let rates = try TaxRates.read(world, &parameters, "default_tax_rates") {
            subscription["default_tax_rates"] = .array(rates)
        }
        parameters.ignore("automatic_tax", "invoice_settings", "pending_invoice_item_interval")
    }

    static func paymentBehavior(_ parameters: inout Parameters) throws -> PaymentBehavior {
        let behaviors = [
            "allow_incomplete", "default_incomplete", "error_if_incomplete",
            "pending_if_incomplete",
        ]
        return try parameters.choice("payment_behavior", of: behaviors)
            .flatMap(PaymentBehavior.init) ?? .allowIncomplete
    }

    /// - Returns: how the payments went that followed at once.
    private static func updateItems(
        _ world: inout World,
        _ call: inout Call,
        of id: String,
        behavior: String,
        date: Int?,
        holds: Bool,
        settles: Bool
    ) throws -> [PaymentAttempt] {
        typealias Change = (
            id: String?, price: JSON?, quantity: Int?, isDeleted: Bool, metadata: JSON,
            taxRates: [JSON]?
        )
        let changes = try call.parameters.objects("items") { part -> Change in
            let item = try part.string("id")
            let hasPrice = part.has("price") || part.has("price_data")
            let found = hasPrice ? try Prices.price(&world, in: &part) : nil
            var noted: JSON = ["metadata": [:]]
            try part.metadata(into: &noted)
            part.ignore("clear_usage", "discounts")
            return (
                item, found, try part.int("quantity", in: 0...1_000_000),
                try part.bool("deleted") ?? false, noted["metadata"],
                try TaxRates.read(world, &part, "tax_rates")
            )
        }
        var outcomes: [PaymentAttempt] = []
        for change in changes ?? [] {
            if let item = change.id, change.isDeleted {
                try SubscriptionItems.remove(&world, item, of: id, behavior: behavior)
            } else if let item = change.id {
                SubscriptionItems.setTaxRates(&world, change.taxRates, of: item, in: id)
                let outcome = try SubscriptionItems.change(
                    &world,
                    item,
                    of: id,
                    price: change.price,
                    quantity: change.quantity,
                    behavior: behavior,
                    prorationDate: date,
                    holds: holds,
                    settles: settles
                )
                if let outcome { outcomes.append(outcome) }
            } else if let price = change.price {
                let added = try SubscriptionItems.add(
                    &world,
                    SubscriptionOrder.Item(
                        price: price,
                        quantity: change.quantity ?? 1,
                        metadata: change.metadata,
                        taxRates: change.taxRates ?? []
                    ),
                    to: id,
                    behavior: behavior,
                    holds: holds
                )
                if let outcome = added.outcome { outcomes.append(outcome) }
            }
        }
        return outcomes
    }

    private static func setCancelAt(_ world: World, _ subscription: inout JSON, _ sent: String)
        throws
    {
        let ends = subscription["items"].elements.compactMap { $0["current_period_end"].int }
        let instant = world.now(for: subscription["customer"].string)
        switch sent {
        case "":
            subscription["cancel_at"] = .null
            subscription["canceled_at"] = .null
            subscription["cancel_at_period_end"] = false
            return
        case "min_period_end": subscription["cancel_at"] = JSON(ends.min())
        case "max_period_end": subscription["cancel_at"] = JSON(ends.max())
        default:
            guard let at = Int(sent), at > instant, at <= Parameters.latest else {
                throw APIError.invalid(
                    "Invalid timestamp: must be in the future",
                    param: "cancel_at"
                )
            }
            subscription["cancel_at"] = .int(at)
        }
        subscription["canceled_at"] = .int(instant)
        subscription["cancellation_details"]["reason"] = "cancellation_requested"
    }

    private static func pauseCollection(_ parameters: inout Parameters) throws -> JSON {
        let pause = try parameters.object("pause_collection") { part in
            let behaviors = ["keep_as_draft", "mark_uncollectible", "void"]
            return JSON.object([
                "behavior": JSON(try part.choice("behavior", of: behaviors)),
                "resumes_at": JSON(try part.int("resumes_at")),
            ])
        }
        return pause ?? .null
    }

    /// - Returns: whether the trial ends now, so that the first paid period begins.
    private static func updateTrial(
        _ parameters: inout Parameters,
        _ subscription: inout JSON,
        now instant: Int
    ) throws -> Bool {
        guard let end = try parameters.instant("trial_end", now: instant) else { return false }
        let isTrialing = subscription["status"].string == "trialing"
        guard end >= instant else {
            throw APIError.invalid("Invalid timestamp: must be in the future", param: "trial_end")
        }
        guard isTrialing || end > instant else { return false }
        subscription["trial_end"] = .int(end)
        subscription["billing_cycle_anchor"] = .int(end)
        if end > instant {
            subscription["status"] = "trialing"
            if subscription["trial_start"].isNull { subscription["trial_start"] = .int(instant) }
        }
        subscription["items"]["data"] = .array(
            subscription["items"].elements.map { item in
                var item = item
                item["current_period_end"] = .int(end)
                return item
            }
        )
        return end <= instant
    }

    /// Both forms of `billing_cycle_anchor` are accepted: text, and `{type}` since endive.
    ///
    /// - Returns: whether the periods begin anew.
    private static func updateAnchor(_ parameters: inout Parameters) throws -> Bool {
        guard let anchor = parameters.verbatim("billing_cycle_anchor") else { return false }
        let type = anchor.string ?? anchor["type"].string
        guard type == "unchanged" || type == "now" else {
            throw APIError.invalid("Invalid billing_cycle_anchor", param: "billing_cycle_anchor")
        }
        return type == "now"
    }

    private static func cancel(_ world: inout World, _ call: inout Call) throws -> JSON {
        let id = call.ids[0]
        guard !isOver(try world.find(.subscription, id)) else {
            throw APIError.noSuch("subscription", id)
        }
        let prorates = try call.parameters.bool("prorate") ?? false
        let invoices = try call.parameters.bool("invoice_now") ?? false
        try call.parameters.object("cancellation_details") { part in
            let before = try world.find(.subscription, id)
            var details = before["cancellation_details"]
            try part.patch(&details, "comment", "feedback")
            let changed = details
            world.change(.subscription, id) { $0["cancellation_details"] = changed }
        }
        let before = try world.find(.subscription, id)
        let customer = before["customer"].text
        cancelNow(&world, id, reason: "cancellation_requested")
        if prorates {
            let lines = before["items"].elements.compactMap { item in
                Proration.lines(
                    world,
                    from: item,
                    to: item,
                    subscription: before,
                    at: world.now(for: customer),
                    startsAnew: false
                ).first
            }
            try SubscriptionItems.settle(&world, lines, of: id, customer: customer, now: invoices)
        }
        return try world.find(.subscription, id)
    }

    /// From classic billing to flexible; there is no way back.
    private static func migrate(_ world: inout World, _ call: inout Call) throws -> JSON {
        let id = call.ids[0]
        let before = try world.find(.subscription, id)
        let type = try call.parameters.object("billing_mode") { part in
            part.ignore("flexible")
            return try part.required("type")
        }
        guard let type else { throw APIError.missing(parameter: "billing_mode") }
        guard type == "flexible" else {
            throw APIError.invalid("Invalid billing_mode", param: "billing_mode[type]")
        }
        guard isClassic(before), !isOver(before) else {
            throw APIError.invalid("This subscription cannot be migrated to flexible billing mode.")
        }
        let instant = world.now(for: before["customer"].string)
        return world.change(.subscription, id, event: "customer.subscription.updated") {
            $0["billing_mode"] = [
                "type": "flexible", "flexible": ["proration_discounts": "included"],
                "updated_at": .int(instant),
            ]
        }
    }

    private static func resume(_ world: inout World, _ call: inout Call) throws -> JSON {
        let id = call.ids[0]
        let before = try world.find(.subscription, id)
        guard before["status"].string == "paused" else {
            throw APIError.invalid("Only paused subscriptions can be resumed.")
        }
        _ = try updateAnchor(&call.parameters)
        call.parameters.ignore("proration_behavior", "proration_date")
        // Nothing is left of the periods before. It is no longer paused once the invoice of the new
        // one is paid, or could not be.
        let outcome = try restartCycle(&world, of: id, before: [:], behavior: "none", holds: true)
        let isPaid = outcome == nil || outcome == .succeeded || outcome == .processing
        let resumed = world.change(.subscription, id) {
            $0["status"] = isPaid ? "active" : "past_due"
        }
        scheduleNext(&world, of: id)
        if let previous = World.previousAttributes(before, resumed) {
            world.emit("customer.subscription.updated", resumed, previous: previous)
        }
        world.emit("customer.subscription.resumed", resumed)
        ActiveEntitlements.refresh(&world, of: resumed["customer"].text)
        return resumed
    }
}
