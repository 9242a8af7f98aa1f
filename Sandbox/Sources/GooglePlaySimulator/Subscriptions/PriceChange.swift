/// A new price for those who subscribed at the old one.
///
/// https://developer.android.com/google/play/billing/price-changes
struct PriceChange: Hashable, Sendable, Codable {
    enum Mode: String, Hashable, Sendable, Codable {
        case decrease = "PRICE_DECREASE"
        case optIn = "PRICE_INCREASE"
        case optOut = "OPT_OUT_PRICE_INCREASE"
    }

    enum State: String, Hashable, Sendable, Codable {
        case outstanding = "OUTSTANDING"
        case confirmed = "CONFIRMED"
        case applied = "APPLIED"
        case canceled = "CANCELED"
    }

    var price: Money
    var mode: Mode
    var state: State
    /// The first renewal from here on is charged at the new price.
    var effective: Int64

    /// The notice that subscribers get: 37 days to accept, 30 or 60 to object.
    static func noticeDays(_ mode: Mode, optOutDays: Int64) -> Int64 {
        switch mode {
        case .decrease: 0
        case .optIn: 37
        case .optOut: optOutDays
        }
    }
}

/// South Korea: subscribers consent before a trial's end makes it dearer.
struct StepUp: Hashable, Sendable, Codable {
    enum State: String, Hashable, Sendable, Codable {
        case pending = "PENDING"
        case confirmed = "CONFIRMED"
        case completed = "COMPLETED"
    }

    var price: Money
    var state: State
    var deadline: Int64
}

extension Subscription {
    /// Registers a new price for the item of `product`.
    mutating func changePrice(
        of product: String,
        to price: Money,
        mode: PriceChange.Mode,
        effective: Int64,
        _ circumstances: Circumstances
    ) -> [SubscriptionEffect] {
        guard let index = items.firstIndex(where: { $0.productID == product && $0.isOwned }),
            isRenewing
        else { return [] }
        var effects: [SubscriptionEffect] = []
        if let running = items[index].priceChange,
            running.state == .outstanding || running.state == .confirmed
        {
            // The old change is canceled before the new one shows.
            effects.append(.hint(.priceChangeUpdated))
        }
        items[index].priceChange = PriceChange(
            price: price,
            mode: mode,
            state: mode == .optIn ? .outstanding : .confirmed,
            effective: effective
        )
        touch()
        return effects + priceHints(confirmed: mode != .optIn, circumstances)
    }

    /// The subscriber accepts what waits for it: a price, or a step up.
    mutating func consent(_ circumstances: Circumstances) throws(Refusal)
        -> [SubscriptionEffect]
    {
        var effects: [SubscriptionEffect] = []
        for index in items.indices {
            if items[index].priceChange?.state == .outstanding {
                items[index].priceChange?.state = .confirmed
                effects += priceHints(confirmed: true, circumstances)
            }
            if items[index].stepUp?.state == .pending {
                items[index].stepUp?.state = .confirmed
                effects.append(.hint(.priceStepUpConsentUpdated))
            }
        }
        guard !effects.isEmpty else {
            throw .notPossible("Nothing waits for the subscriber's consent.")
        }
        touch()
        return effects
    }

    /// The period in which a subscriber in South Korea may consent begins.
    mutating func askForStepUp(by deadline: Int64) throws(Refusal) -> [SubscriptionEffect] {
        guard region == "KR", isRenewing,
            let index = items.firstIndex(where: { $0.isOwned && $0.period?.kind != .base })
        else {
            throw .notPossible("Only a running trial or introductory price in KR steps up.")
        }
        items[index].stepUp = StepUp(
            price: items[index].price,
            state: .pending,
            deadline: deadline
        )
        touch()
        return [.hint(.priceStepUpConsentUpdated)]
    }

    private func priceHints(
        confirmed: Bool,
        _ circumstances: Circumstances
    ) -> [SubscriptionEffect] {
        let isTold = confirmed && circumstances.behaviour.sendsPriceChangeConfirmed
        // Purchases with add-ons get the new notification only.
        return isTold && items.filter(\.isOwned).count == 1
            ? [.hint(.priceChangeUpdated), .hint(.priceChangeConfirmed)]
            : [.hint(.priceChangeUpdated)]
    }
}

extension SubscriptionItem {
    /// Returns `true` if a missing consent to a new price prevents the renewal.
    func lacksConsent(at now: Int64) -> Bool {
        if let change = priceChange, change.state == .outstanding, change.effective <= now {
            return true
        }
        return stepUp?.state == .pending && next.kind == .base
    }

    /// Takes the new price where it is due.
    mutating func applyPriceChange(at now: Int64) {
        if let change = priceChange, change.state == .confirmed, change.effective <= now,
            upcoming.isEmpty
        {
            price = change.price
            priceChange?.state = .applied
        }
        if stepUp?.state == .confirmed, next.kind == .base { stepUp?.state = .completed }
    }
}
