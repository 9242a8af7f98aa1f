/// Subscription schedules: changes that are planned ahead, phase by phase.
/// https://docs.stripe.com/api/subscription_schedules
enum SubscriptionSchedules {
    static let routes: [Route] = [
        .post("subscription_schedules") { world, call in try create(&world, &call) },
        .get("subscription_schedules") { world, call in
            let customer = try call.parameters.string("customer")
            let isScheduled = try call.parameters.bool("scheduled")
            call.parameters.ignore("canceled_at", "completed_at", "released_at")
            return try world.list(.subscriptionSchedule, &call) { schedule in
                (customer.map { schedule["customer"].string == $0 } ?? true)
                    && (isScheduled != true || schedule["status"].string == "not_started")
            }
        },
        .get("subscription_schedules/:id") { world, call in
            try world.find(.subscriptionSchedule, call.ids[0])
        },
        .post("subscription_schedules/:id") { world, call in try update(&world, &call) },
        .post("subscription_schedules/:id/cancel") { world, call in
            let schedule = try findRunning(world, call.ids[0])
            call.parameters.ignore("invoice_now", "prorate")
            // With its subscription it ends by itself.
            if let subscription = schedule["subscription"].string {
                Subscriptions.cancelNow(&world, subscription, reason: "cancellation_requested")
            }
            return end(&world, call.ids[0], as: "canceled")
        },
        .post("subscription_schedules/:id/release") { world, call in
            _ = try findRunning(world, call.ids[0])
            call.parameters.ignore("preserve_cancel_date")
            return end(&world, call.ids[0], as: "released")
        },
    ]

    private static func findRunning(_ world: World, _ id: String) throws -> JSON {
        let schedule = try world.find(.subscriptionSchedule, id)
        guard ["not_started", "active"].contains(schedule["status"].text) else {
            throw APIError.invalid(
                "You cannot change a subscription schedule that is \(schedule["status"].text)."
            )
        }
        return schedule
    }

    // MARK: - Making one. https://docs.stripe.com/api/subscription_schedules/create

    private static func create(_ world: inout World, _ call: inout Call) throws -> JSON {
        if let id = try call.parameters.string("from_subscription") {
            guard !call.parameters.has("phases"), !call.parameters.has("customer") else {
                throw APIError.invalid(
                    "You cannot set other parameters if `from_subscription` is set.",
                    param: "from_subscription"
                )
            }
            return try create(&world, from: id)
        }
        let customer = try call.parameters.required("customer")
        _ = try world.find(.customer, customer, param: "customer")
        let instant = world.now(for: customer)
        guard let start = try call.parameters.instant("start_date", now: instant) else {
            throw APIError.missing(parameter: "start_date")
        }
        guard start >= instant else {
            throw APIError.invalid("start_date must not lie in the past.", param: "start_date")
        }
        let phases = try readPhases(&world, &call.parameters, from: start)
        guard !phases.isEmpty else { throw APIError.missing(parameter: "phases") }
        var schedule = blankSchedule(&world, customer: customer, created: instant, phases: phases)
        try readSettings(&call.parameters, into: &schedule)
        let id = schedule["id"].text
        world.add(.subscriptionSchedule, schedule, event: "subscription_schedule.created")
        planNext(&world, id)
        advanceIfDue(&world, id)
        return try world.find(.subscriptionSchedule, id)
    }

    /// Takes over a running subscription: its present period is the first phase.
    private static func create(_ world: inout World, from id: String) throws -> JSON {
        let subscription = try world.find(.subscription, id, param: "from_subscription")
        guard subscription["schedule"].isNull, !Subscriptions.isOver(subscription) else {
            throw APIError.invalid(
                "You cannot migrate a subscription that is already attached to a schedule.",
                param: "from_subscription"
            )
        }
        let items = subscription["items"].elements
        let start = items.map { $0["current_period_start"].count }.min() ?? world.now
        let end = items.map { $0["current_period_end"].count }.min() ?? world.now
        let phase = Self.phase(
            start: start,
            end: end,
            items: items.map { phaseItem($0["price"], quantity: $0["quantity"].count) },
            currency: subscription["currency"],
            behavior: "create_prorations",
            trialEnd: subscription["trial_end"],
            metadata: [:]
        )
        var schedule = blankSchedule(
            &world,
            customer: subscription["customer"].text,
            created: world.now(for: subscription["customer"].string),
            phases: [phase]
        )
        schedule["status"] = "active"
        schedule["subscription"] = .string(id)
        schedule["current_phase"] = ["start_date": .int(start), "end_date": .int(end)]
        let scheduleID = schedule["id"].text
        world.add(.subscriptionSchedule, schedule, event: "subscription_schedule.created")
        world.change(.subscription, id, event: "customer.subscription.updated") {
            $0["schedule"] = .string(scheduleID)
        }
        planNext(&world, scheduleID)
        return try world.find(.subscriptionSchedule, scheduleID)
    }

    private static func update(_ world: inout World, _ call: inout Call) throws -> JSON {
        let id = call.ids[0]
        var schedule = try findRunning(world, id)
        call.parameters.ignore("proration_behavior")
        if call.parameters.has("phases") {
            let start = schedule["phases"].elements.first?["start_date"].count ?? world.now
            let phases = try readPhases(&world, &call.parameters, from: start)
            guard !phases.isEmpty else { throw APIError.missing(parameter: "phases") }
            schedule["phases"] = .array(phases)
            if let current = schedule["current_phase"]["start_date"].int,
                let phase = phases.first(where: { $0["start_date"].count == current })
            {
                schedule["current_phase"]["end_date"] = phase["end_date"]
            }
        }
        try readSettings(&call.parameters, into: &schedule)
        let changed = schedule
        world.change(.subscriptionSchedule, id, event: "subscription_schedule.updated") {
            $0 = changed
        }
        planNext(&world, id)
        return try world.find(.subscriptionSchedule, id)
    }

    private static func readSettings(_ parameters: inout Parameters, into schedule: inout JSON)
        throws
    {
        let ends = ["release", "cancel", "none", "renew"]
        if let end = try parameters.choice("end_behavior", of: ends) {
            schedule["end_behavior"] = .string(end)
        }
        try parameters.metadata(into: &schedule)
        parameters.ignore("default_settings", "billing_mode")
    }

    private static func readPhases(
        _ world: inout World,
        _ parameters: inout Parameters,
        from start: Int
    ) throws -> [JSON] {
        var next = start
        let phases = try parameters.objects("phases") { part -> JSON in
            let items = try part.objects("items") { inner -> JSON in
                let found = try Prices.price(&world, in: &inner)
                inner.ignore("metadata", "discounts", "tax_rates", "billing_thresholds")
                let quantity = try inner.int("quantity", in: 0...1_000_000) ?? 1
                return phaseItem(found, quantity: quantity)
            }
            guard let items, let first = items.first else {
                throw APIError.missing(parameter: part.name("items"))
            }
            let begin = try part.instant("start_date", now: next) ?? next
            let price = world.get(.price, first["price"].reference) ?? .null
            let cycle = BillingCycle(anchor: begin, recurring: price["recurring"])
            var end =
                try part.int("end_date")
                ?? cycle.boundary(try part.int("iterations", in: 1...1_000) ?? 1)
            try part.object("duration") { inner in
                let length = JSON.object([
                    "interval": .string(try inner.required("interval")),
                    "interval_count": .int(try inner.int("interval_count", in: 1...1_000) ?? 1),
                ])
                end = BillingCycle(anchor: begin, recurring: length).boundary(1)
            }
            guard end > begin else {
                throw APIError.invalid(
                    "A phase must end after it starts.",
                    param: part.name("end_date")
                )
            }
            let behaviors = ["create_prorations", "always_invoice", "none"]
            var noted: JSON = ["metadata": [:]]
            try part.metadata(into: &noted)
            let phase = Self.phase(
                start: begin,
                end: end,
                items: items,
                currency: price["currency"],
                behavior: try part.choice("proration_behavior", of: behaviors)
                    ?? "create_prorations",
                trialEnd: JSON(try part.int("trial_end")),
                metadata: noted["metadata"]
            )
            part.ignore(
                "billing_cycle_anchor",
                "collection_method",
                "currency",
                "default_payment_method",
                "default_tax_rates",
                "automatic_tax",
                "invoice_settings",
                "description",
                "discounts",
                "add_invoice_items",
                "trial"
            )
            next = end
            return phase
        }
        return phases ?? []
    }

    // MARK: - The object. https://docs.stripe.com/api/subscription_schedules/object

    private static func phaseItem(_ price: JSON, quantity: Int) -> JSON {
        .object(
            nulls: "billing_thresholds",
            [
                "discounts": [], "metadata": [:], "plan": price["id"], "price": price["id"],
                "quantity": .int(quantity), "tax_rates": [],
            ]
        )
    }

    private static func phase(
        start: Int,
        end: Int,
        items: [JSON],
        currency: JSON,
        behavior: String,
        trialEnd: JSON,
        metadata: JSON
    ) -> JSON {
        .object(
            nulls: """
                application_fee_percent billing_cycle_anchor billing_thresholds collection_method \
                default_payment_method description effective_at invoice_settings on_behalf_of \
                transfer_data trial
                """,
            [
                "add_invoice_items": [],
                "automatic_tax": .object(nulls: "disabled_reason liability", ["enabled": false]),
                "currency": currency, "default_tax_rates": [], "discounts": [],
                "end_date": .int(end), "items": .array(items), "metadata": metadata,
                "proration_behavior": .string(behavior), "start_date": .int(start),
                "trial_end": trialEnd,
            ]
        )
    }

    private static func blankSchedule(
        _ world: inout World,
        customer: String,
        created: Int,
        phases: [JSON]
    ) -> JSON {
        world.blank(
            .subscriptionSchedule,
            created: created,
            nulls: """
                application canceled_at completed_at current_phase customer_account \
                last_price_migration_error released_at released_subscription subscription
                """,
            [
                "billing_mode": .object(
                    nulls: "updated_at",
                    ["type": "flexible", "flexible": ["proration_discounts": "included"]]
                ), "billing_schedules": [], "pause_schedules": [], "customer": .string(customer),
                "default_settings": .object(
                    nulls: """
                        application_fee_percent billing_thresholds collection_method \
                        default_payment_method description invoice_settings on_behalf_of \
                        transfer_data
                        """,
                    [
                        "automatic_tax": .object(
                            nulls: "disabled_reason liability",
                            ["enabled": false]
                        ), "billing_cycle_anchor": "automatic",
                        "collection_method": "charge_automatically",
                        "invoice_settings": .object(
                            nulls:
                                "account_tax_ids custom_fields days_until_due description footer",
                            ["issuer": .object(nulls: "account", ["type": "self"])]
                        ),
                    ]
                ), "end_behavior": "release", "phases": .array(phases),
                "status": "not_started", "test_clock": JSON(world.testClock(of: customer)),
            ]
        )
    }

    // MARK: - Time

    /// Puts the next boundary of a schedule on the agenda.
    private static func planNext(_ world: inout World, _ id: String) {
        guard let schedule = world.get(.subscriptionSchedule, id) else { return }
        let at =
            schedule["status"].string == "active"
            ? schedule["current_phase"]["end_date"].int
            : schedule["phases"].elements.first?["start_date"].int
        guard let at else { return }
        let customer = schedule["customer"].string
        world.schedule(.advanceSchedule(id), at: at, for: customer)
        let warning = at - notice
        if isInLastPhase(schedule), warning > world.now(for: customer) {
            world.schedule(.announceScheduleEnd(id), at: warning, for: customer)
        }
    }

    /// Seconds before the end of a schedule at which it is announced.
    private static let notice = 7 * 86_400

    private static func isInLastPhase(_ schedule: JSON) -> Bool {
        schedule["status"].string == "active"
            && schedule["current_phase"]["end_date"]
                == schedule["phases"].elements.last?["end_date"]
    }

    /// A schedule ends in a week.
    static func announceEnd(_ world: inout World, of id: String) {
        guard let schedule = world.get(.subscriptionSchedule, id), isInLastPhase(schedule),
            let end = schedule["current_phase"]["end_date"].int,
            schedule["_announced_end"].int != end,
            end - notice <= world.now(for: schedule["customer"].string)
        else { return }
        world.change(.subscriptionSchedule, id) { $0["_announced_end"] = .int(end) }
        world.emit("subscription_schedule.expiring", schedule)
    }

    /// A phase begins, or the last one is over.
    static func advanceIfDue(_ world: inout World, _ id: String) {
        guard let schedule = world.get(.subscriptionSchedule, id) else { return }
        let instant = world.now(for: schedule["customer"].string)
        switch schedule["status"].text {
        case "not_started":
            guard let first = schedule["phases"].elements.first,
                first["start_date"].count <= instant
            else { return }
            start(&world, schedule, first)
        case "active":
            guard let end = schedule["current_phase"]["end_date"].int, end <= instant else {
                return
            }
            let next = schedule["phases"].elements.first { $0["start_date"].count >= end }
            if let next { enter(&world, next, of: schedule) } else { finish(&world, schedule) }
        default: return
        }
        planNext(&world, id)
    }

    private static func start(_ world: inout World, _ schedule: JSON, _ phase: JSON) {
        let id = schedule["id"].text
        var order = SubscriptionOrder(
            customer: schedule["customer"].text,
            items: phase["items"].elements.compactMap { item in
                world.get(.price, item["price"].reference).map {
                    SubscriptionOrder.Item(price: $0, quantity: item["quantity"].count)
                }
            }
        )
        order.trialEnd = phase["trial_end"].int
        order.metadata = phase["metadata"]
        order.offSession = true
        let before = world
        guard let subscription = try? Subscriptions.create(&world, order) else {
            // Nothing to pay with: what was begun is taken back, and the schedule does not try again.
            world = before
            _ = end(&world, id, as: "canceled", event: "subscription_schedule.aborted")
            return
        }
        let subscriptionID = subscription["id"].text
        world.change(.subscription, subscriptionID) {
            $0["schedule"] = .string(id)
            if $0["status"].string == "incomplete" { $0["status"] = "active" }
        }
        world.change(.subscriptionSchedule, id, event: "subscription_schedule.updated") {
            $0["status"] = "active"
            $0["subscription"] = .string(subscriptionID)
            $0["current_phase"] = [
                "start_date": phase["start_date"], "end_date": phase["end_date"],
            ]
        }
        ActiveEntitlements.refresh(&world, of: schedule["customer"].text)
    }

    private static func enter(_ world: inout World, _ phase: JSON, of schedule: JSON) {
        let id = schedule["id"].text
        world.change(.subscriptionSchedule, id, event: "subscription_schedule.updated") {
            $0["current_phase"] = [
                "start_date": phase["start_date"], "end_date": phase["end_date"],
            ]
        }
        guard let subscription = schedule["subscription"].string,
            let before = world.get(.subscription, subscription), !Subscriptions.isOver(before)
        else { return }
        let instant = world.now(for: schedule["customer"].string)
        for (wanted, item) in zip(phase["items"].elements, before["items"].elements) {
            guard let price = world.get(.price, wanted["price"].reference) else { continue }
            let itemID = item["id"].text
            guard item["current_period_end"].count > instant else {
                // The period ends here too: the renewal that follows bills the new price. An anchor
                // that is ‘automatic’ moves where it must.
                let features = JSON(Features.ids(world, of: price))
                let (old, new) = (item["price"]["recurring"], price["recurring"])
                let movesAnchor =
                    old["interval"] != new["interval"]
                    || old["interval_count"] != new["interval_count"]
                world.change(.subscription, subscription) { subscription in
                    if movesAnchor { subscription["billing_cycle_anchor"] = phase["start_date"] }
                    subscription["items"]["data"] = .array(
                        subscription["items"].elements.map { known in
                            guard known["id"].string == itemID else { return known }
                            var known = known
                            known["price"] = price
                            known["plan"] = Prices.plan(of: price)
                            known["quantity"] = wanted["quantity"]
                            known["_features"] = features
                            return known
                        }
                    )
                }
                continue
            }
            _ = try? SubscriptionItems.change(
                &world,
                itemID,
                of: subscription,
                price: price,
                quantity: wanted["quantity"].int,
                behavior: phase["proration_behavior"].text
            )
        }
        Subscriptions.announceChange(&world, of: before)
    }

    private static func finish(_ world: inout World, _ schedule: JSON) {
        let id = schedule["id"].text
        if schedule["end_behavior"].string == "cancel" {
            _ = end(&world, id, as: "completed")
            if let subscription = schedule["subscription"].string {
                Subscriptions.cancelNow(&world, subscription, reason: "cancellation_requested")
            }
        } else {
            _ = end(&world, id, as: "released")
        }
    }

    /// A subscription has ended, and its schedule with it: aborted where it was not paid for.
    static func end(_ world: inout World, of subscription: JSON, isUnpaid: Bool) {
        guard let id = subscription["schedule"].string else { return }
        _ = end(
            &world,
            id,
            as: "canceled",
            event: isUnpaid ? "subscription_schedule.aborted" : nil
        )
    }

    /// Ends a schedule that runs; its subscription, if it still runs, is free of it.
    private static func end(
        _ world: inout World,
        _ id: String,
        as status: String,
        event: String? = nil
    ) -> JSON {
        guard let schedule = world.get(.subscriptionSchedule, id) else { return .null }
        guard ["not_started", "active"].contains(schedule["status"].text) else { return schedule }
        let instant = world.now(for: schedule["customer"].string)
        if let subscription = schedule["subscription"].string {
            world.change(.subscription, subscription) { $0["schedule"] = .null }
        }
        let ended = world.change(.subscriptionSchedule, id) { schedule in
            schedule["status"] = .string(status)
            schedule["current_phase"] = .null
            schedule["\(status)_at"] = .int(instant)
            if status == "released" {
                schedule["released_subscription"] = schedule["subscription"]
                schedule["subscription"] = .null
            }
        }
        world.emit(event ?? "subscription_schedule.\(status)", ended)
        return ended
    }
}
