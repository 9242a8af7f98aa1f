public import AppStoreSimulator
public import StripeSimulator

extension Scenario {
    /// How the simulated App Store is set up for a story.
    public struct AppStoreSettings: Sendable {
        public var isProduction = false
        /// `nil`: the app has not opted in to billing grace.
        public var graceDays: Int? = 16
        public var isCompressed = false
        /// Automatic renewals before a subscription ends; `nil`: no limit.
        public var renewalLimit: Int?
        /// Products of the catalog that a family shares.
        public var shareable: Set<String> = []
        /// Products of the catalog that are sold by the seat.
        public var multiseat: Set<String> = []
        /// Monthly plans of the catalog with a commitment of twelve payments.
        public var commitments: Set<String> = []
        public var offers: [Offer] = []
        /// What faults are drawn from; `nil`: from the story's name.
        public var seed: UInt64?
    }

    /// A reduced price in the App Store.
    public struct Offer: Sendable {
        public var product: String
        public var offer: SimulatedAppStore.Offer
    }

    /// How the simulated Stripe is set up for a story.
    public struct StripeSettings: Sendable {
        /// Days after the first failure on which a renewal is tried again.
        public var retryDays = [3, 5, 7]
        public var dunningEnd = StripeSimulator.Policy.DunningEnd.canceled
        /// How long a bank debit takes; `nil`: as long as the test account's.
        public var debitDays: Int?
    }
}

extension ScenarioReading {
    mutating func appStoreSettings(_ place: ScenarioPlace) -> Scenario.AppStoreSettings {
        var settings = Scenario.AppStoreSettings()
        guard var fields = mapping(place, "‘app_store’") else { return settings }
        settings.isProduction =
            word(&fields, "environment", of: ["sandbox", "production"]) == "production"
        if let days = number(&fields, "grace_days", in: 0...28) {
            settings.graceDays = days == 0 ? nil : days
        }
        settings.isCompressed =
            word(&fields, "durations", of: ["real", "compressed"]) == "compressed"
        settings.renewalLimit = number(&fields, "renewals", in: 0...1000)
        settings.shareable = Set(texts(&fields, "family_shareable") ?? [])
        settings.multiseat = Set(texts(&fields, "multiseat") ?? [])
        settings.commitments = Set(texts(&fields, "commitments") ?? [])
        settings.seed = number(&fields, "seed", in: 0...Int(Int32.max)).map { UInt64($0) }
        for place in elements(&fields, "offers") {
            if let offer = offer(place) { settings.offers.append(offer) }
        }
        finish(fields)
        return settings
    }

    private mutating func offer(_ place: ScenarioPlace) -> Scenario.Offer? {
        guard var fields = mapping(place, "an offer") else { return nil }
        let product = requiredText(&fields, "product")
        let kinds: [String: SimulatedAppStore.Offer.Kind] = [
            "introductory": .introductory, "promotional": .promotional, "code": .offerCode,
            "win_back": .winBack,
        ]
        let discounts: [String: SimulatedAppStore.Offer.Discount] = [
            "free_trial": .freeTrial, "pay_as_you_go": .payAsYouGo, "pay_up_front": .payUpFront,
        ]
        let kind = word(&fields, "kind", of: kinds.keys.sorted()).flatMap { kinds[$0] }
        let discount = word(&fields, "discount", of: discounts.keys.sorted())
            .flatMap { discounts[$0] }
        let id = text(&fields, "id")
        let length = requiredText(&fields, "period")
        let count = number(&fields, "count", in: 1...12) ?? 1
        let price = decimal(&fields, "price") ?? 0
        finish(fields)
        guard let period = SimulatedAppStore.Period(length) else {
            report(place, "a period is written like P1W, P1M or P1Y, not ‘\(length)’")
            return nil
        }
        return Scenario.Offer(
            product: product,
            offer: .init(
                kind: kind ?? .introductory,
                id: id,
                discount: discount ?? .freeTrial,
                period: period,
                count: count,
                price: Int64((price * 1000).rounded())
            )
        )
    }

    mutating func stripeSettings(_ place: ScenarioPlace) -> Scenario.StripeSettings {
        var settings = Scenario.StripeSettings()
        guard var fields = mapping(place, "‘stripe’") else { return settings }
        if let days = texts(&fields, "retry_days") {
            settings.retryDays = days.compactMap { Int($0) }.filter { (0...60).contains($0) }
            if settings.retryDays.count != days.count {
                report(place, "‘retry_days’ is a list of days from 0 to 60, like [3, 5, 7]")
            }
        }
        let ends = ["canceled", "unpaid", "past_due"]
        settings.dunningEnd =
            word(&fields, "dunning_end", of: ends)
            .flatMap(StripeSimulator.Policy.DunningEnd.init) ?? settings.dunningEnd
        settings.debitDays = number(&fields, "debit_days", in: 1...14)
        finish(fields)
        return settings
    }
}
