public import StripeSimulator

extension ScenarioWriter {
    /// What happened in a simulated Stripe as a scenario, and the catalog that it names: an
    /// entitlement for each plan.
    public static func write(
        _ story: StripeSimulator.Story,
        title: String,
        catalog: String
    ) -> (scenario: String, catalog: String) {
        var lines = ["scenario: \"\(title)\"", "catalog: \(catalog)", "customers:"]
        lines += story.customers.map { "  - {name: \($0)}" }
        if story.customers.isEmpty { lines.append("  - {name: nobody}") }
        let days = story.retryDays.map(String.init).joined(separator: ", ")
        lines += [
            "stripe:", "  retry_days: [\(days)]",
            "  dunning_end: \(story.dunningEnd.rawValue)", "steps:",
        ]
        for deed in story.deeds { lines += steps(of: deed) }
        return (lines.joined(separator: "\n") + "\n", self.catalog(story))
    }

    private static func steps(of deed: StripeSimulator.Deed) -> [String] {
        var lines: [String] = []
        func step(_ parts: [String]) {
            for (index, part) in (["at: \(Self.time(deed.at))"] + parts).enumerated() {
                lines.append((index == 0 ? "  - " : "    ") + part)
            }
        }
        // What has no word is said where it happened, so that nobody takes the story for whole.
        if let remark = deed.remark { lines.append("  # Not told: \(remark).") }
        if let act = deed.act {
            var parts = ["stripe: \(act)"]
            if let customer = deed.customer { parts.append("customer: \(customer)") }
            parts += deed.details.compactMap { detail in
                value(of: detail).map { "\(detail.name): \($0)" }
            }
            step(parts)
        }
        for (customer, prices) in deed.holdings.sorted(by: { $0.key < $1.key }) {
            let keys = prices.map(word).joined(separator: ", ")
            step(["check: [\(keys)]", "customer: \(customer)"])
        }
        return lines
    }

    /// As scenario files write it; `nil`: it goes without saying.
    private static func value(of detail: StripeSimulator.Deed.Detail) -> String? {
        switch detail.name {
        case "product", "to": word(detail.value)
        case "card": cards.filter { $0.value == detail.value }.map(\.key).min()
        case "when": Int64(detail.value).map(Self.time) ?? detail.value
        default: detail.value
        }
    }

    private static func catalog(_ story: StripeSimulator.Story) -> String {
        let plans = story.prices.filter { $0.interval != nil }
        var lines = ["# What the sandbox sold; an entitlement for each plan.", "entitlements:"]
        for plan in plans {
            lines.append("  - {lookup_key: \(word(plan.id)), name: \"\(name(plan))\"}")
        }
        if plans.isEmpty { lines[1] = "entitlements: []" }
        lines.append(story.prices.isEmpty ? "products: []" : "products:")
        for price in story.prices {
            lines += [
                "  - id: \(word(price.id))", "    name: \"\(name(price))\"",
                "    kind: \(price.interval == nil ? "consumable" : "auto_renewable")",
                "    stripe_price_ids: [\(price.id)]",
                "    price: {amount: \(price.unitAmount), currency: \(price.currency)}",
            ]
            if let interval = price.interval {
                let letter = interval.prefix(1).uppercased()
                lines += [
                    "    entitlements: [\(word(price.id))]",
                    "    subscription_group: \(word(price.id))", "    level: 1",
                    "    duration: P\(price.intervalCount)\(letter)",
                ]
            } else {
                lines.append("    coins: 1")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func name(_ price: StripeSimulator.SoldPrice) -> String {
        price.name.filter { $0 != "\"" && $0 != "\\" }
    }

    /// The test cards by short names.
    ///
    /// https://docs.stripe.com/testing
    public static let cards = [
        "visa": "pm_card_visa",
        "declined": "pm_card_visa_chargeDeclined",
        "insufficient_funds": "pm_card_visa_chargeDeclinedInsufficientFunds",
        "lost": "pm_card_visa_chargeDeclinedLostCard",
        "stolen": "pm_card_visa_chargeDeclinedStolenCard",
        "expired": "pm_card_chargeDeclinedExpiredCard",
        "incorrect_cvc": "pm_card_chargeDeclinedIncorrectCvc",
        "processing_error": "pm_card_chargeDeclinedProcessingError",
        "fails_later": "pm_card_chargeCustomerFail",
        "3ds_until_set_up": "pm_card_authenticationRequiredOnSetup",
        "3ds_always": "pm_card_authenticationRequired",
        "3ds_on_session": "pm_card_authenticationRequiredSetupForOffSession",
        "3ds_insufficient_funds":
            "pm_card_authenticationRequiredChargeDeclinedInsufficientFunds",
        "3ds": "pm_card_threeDSecure2Required",
        "disputed": "pm_card_createDispute",
        "disputed_not_received": "pm_card_createDisputeProductNotReceived",
        "inquiry": "pm_card_createDisputeInquiry",
        "refund_pending": "pm_card_pendingRefund",
        "refund_fails": "pm_card_refundFail",
        "blocked": "pm_card_radarBlock",
        "sepa": "pm_card_sepaDebit",
        "sepa_delayed": "pm_card_sepaDebitDelayed",
        "sepa_fails": "pm_card_sepaDebitFails",
    ]
}
