extension PlayStore {
    /// Lets `body` change the subscription of `token`, and does what follows.
    /// - Returns: the answer of the control API.
    mutating func change(
        _ token: String,
        at now: Int64,
        _ body: (inout Subscription, Circumstances) throws -> [SubscriptionEffect]
    ) throws -> JSON {
        var subscription = try self.subscription(token)
        let circumstances = try self.circumstances(of: subscription.account, at: now)
        let effects = try body(&subscription, circumstances)
        put(subscription, effects, at: now)
        return Summary.of(subscription, self)
    }
}

/// The subscriber cancels in Play, and may say why.
struct CancelSubscription: Act {
    static let path = "purchases/*/cancel"

    /// `NOT_ENOUGH_USAGE`, `TECHNICAL_ISSUES`, `COST_RELATED`, `FOUND_BETTER_APP`, `OTHERS`.
    var reason: String?
    var words: String?

    func perform(on store: inout PlayStore, subject: String, at now: Int64) throws -> JSON {
        let known = [
            "NOT_ENOUGH_USAGE", "TECHNICAL_ISSUES", "COST_RELATED", "FOUND_BETTER_APP", "OTHERS",
        ]
        guard reason.map(known.contains) ?? true else {
            throw Refusal.invalid("reason is one of \(known.joined(separator: ", ")).")
        }
        return try store.change(subject, at: now) { subscription, _ in
            try subscription.cancel(.user(at: now, reason: reason, words: words), at: now)
        }
    }
}

/// The subscriber takes a cancellation back in Play.
struct RestoreSubscription: Act {
    static let path = "purchases/*/restore"

    func perform(on store: inout PlayStore, subject: String, at now: Int64) throws -> JSON {
        try store.change(subject, at: now) { subscription, _ in
            try subscription.restore(at: now)
        }
    }
}

/// The subscriber pauses from the period's end on.
struct PauseSubscription: Act {
    static let path = "purchases/*/pause"

    var length: BillingPeriod

    func perform(on store: inout PlayStore, subject: String, at now: Int64) throws -> JSON {
        try store.change(subject, at: now) { subscription, _ in
            try subscription.schedulePause(length)
        }
    }
}

/// The subscriber takes a scheduled pause back.
struct UnpauseSubscription: Act {
    static let path = "purchases/*/unpause"

    func perform(on store: inout PlayStore, subject: String, at now: Int64) throws -> JSON {
        try store.change(subject, at: now) { subscription, _ in
            try subscription.schedulePause(nil)
        }
    }
}

/// The subscriber ends a pause early.
struct ResumeSubscription: Act {
    static let path = "purchases/*/resume"

    func perform(on store: inout PlayStore, subject: String, at now: Int64) throws -> JSON {
        try store.change(subject, at: now) { subscription, circumstances in
            guard case .paused = subscription.phase else {
                throw Refusal.notPossible("The subscription is not paused.")
            }
            return subscription.resume(circumstances)
        }
    }
}

/// The subscriber accepts a new price, or a step up.
struct Consent: Act {
    static let path = "purchases/*/consent"

    func perform(on store: inout PlayStore, subject: String, at now: Int64) throws -> JSON {
        try store.change(subject, at: now) { subscription, circumstances in
            try subscription.consent(circumstances)
        }
    }
}

/// The period begins in which a subscriber in South Korea consents to a higher price.
struct StepUpAct: Act {
    static let path = "purchases/*/step_up"

    func perform(on store: inout PlayStore, subject: String, at now: Int64) throws -> JSON {
        try store.change(subject, at: now) { subscription, _ in
            try subscription.askForStepUp(by: subscription.expiry ?? now)
        }
    }
}

/// The developer changes a base plan's price, for those who subscribe already too.
struct ChangePrice: Act {
    static let path = "products/*/price"

    var basePlanID: String
    var priceMicros: Int64
    /// Only there, in its currency; `nil` means wherever the plan has no price of its own.
    var region: String?
    /// `PRICE_INCREASE` (opt-in) if left out and dearer.
    var mode: PriceChange.Mode?
    /// Days of notice for an opt-out increase: 30 or 60.
    var noticeDays: Int64?
    /// Those who subscribe already keep their price.
    var newSubscribersOnly: Bool?

    func perform(on store: inout PlayStore, subject: String, at now: Int64) throws -> JSON {
        guard (0...Catalog.highestPrice).contains(priceMicros),
            (0...365).contains(noticeDays ?? 30)
        else { throw Refusal.invalid("The price, or the days of notice, make no sense.") }
        let before = try store.catalog.subscription(subject).plan(basePlanID)
        try store.catalog.setPrice(
            priceMicros,
            product: subject,
            plan: basePlanID,
            region: region
        )
        var changed: [JSON] = []
        for token in store.subscriptions.keys.sorted() where newSubscribersOnly != true {
            guard var subscription = store.subscriptions[token],
                isMeant(subscription.region, before),
                let item = subscription.items.first(where: {
                    $0.productID == subject && $0.plan.basePlanID == basePlanID && $0.isOwned
                })
            else { continue }
            let isDearer = priceMicros > item.price.micros
            let mode: PriceChange.Mode = isDearer ? mode ?? .optIn : .decrease
            let days = PriceChange.noticeDays(mode, optOutDays: noticeDays ?? 30)
            let effects = subscription.changePrice(
                of: subject,
                to: Money(currency: item.price.currency, micros: priceMicros),
                mode: mode,
                effective: now + (subscription.isTest ? 0 : days * Timestamp.day),
                try store.circumstances(of: subscription.account, at: now)
            )
            guard !effects.isEmpty else { continue }
            store.put(subscription, effects, at: now)
            changed.append(.string(token))
        }
        return [
            "product_id": .string(subject), "base_plan_id": .string(basePlanID),
            "old_price_micros": .integer(
                region.map { before.price(in: $0).micros } ?? before.priceMicros
            ),
            "price_micros": .integer(priceMicros), "purchases": .array(changed),
        ]
    }

    private func isMeant(_ other: String, _ plan: BasePlan) -> Bool {
        region.map { $0 == other } ?? (plan.regions?[other] == nil)
    }
}
