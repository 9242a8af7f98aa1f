internal import ScenarioWriting
internal import AppStoreSimulator
internal import StripeSimulator
internal import TollgateCore

extension Simulation {
    /// What was done in a world that failed, as a scenario with the check that did not hold, and
    /// the catalog beside it.
    ///
    /// What scenarios cannot say (spends, outages, kills, bad lines) is left out.
    public static func scenario(
        of settings: Settings,
        _ outcome: Outcome,
        catalog: String
    ) -> (scenario: String, catalog: String) {
        var text = ScenarioText(WorldPlan(of: settings))
        for act in outcome.performed { text.add(act) }
        if let failure = outcome.failures.first { text.add(failure) }
        return (text.file(seed: settings.seed, catalog: catalog), SimulatedShop.yaml)
    }
}

/// A scenario while it is written.
private struct ScenarioText {
    private let plan: WorldPlan
    private var steps: [String] = []
    private var people: Set<String> = []
    private var left: [String] = []

    init(_ plan: WorldPlan) {
        self.plan = plan
    }

    mutating func add(_ act: PlannedAct) {
        let words: [String]?
        switch act.deed {
        case .incident(.unheard(let deed)):
            guard let customer = act.customer, let words = Self.words(deed) else { break }
            people.insert("c\(customer)")
            step(act.at, ["app_store: silence"])
            step(act.at, words + ["customer: c\(customer)"])
            return step(act.at, ["app_store: speak"])
        case .incident(.look):
            if let customer = act.customer {
                steps.append("  # c\(customer) is compared at \(ScenarioWriter.time(act.at)).")
            }
            return
        default: break
        }
        switch act.deed {
        case .appStore(let deed): words = Self.words(deed)
        case .stripe(let deed): words = Self.words(deed)
        case .atStripe, .googlePlay, .look, .glance, .spend, .outage, .reconcile, .incident:
            words = nil
        }
        guard let words, let customer = act.customer else {
            left.append("\(ScenarioWriter.time(act.at)) \(act.deed)")
            return
        }
        people.insert("c\(customer)")
        if customer >= WorldPlan.firstOfAppStoreHistories { people.insert("c\(customer ^ 1)") }
        step(act.at, words + ["customer: c\(customer)"])
    }

    mutating func add(_ failure: Simulation.Failure) {
        guard let customer = failure.customer, let expectation = failure.expectation else { return }
        people.insert(customer)
        let keys = (expectation.has ?? []).sorted().joined(separator: ", ")
        step(failure.at, ["check: [\(keys)]", "customer: \(customer)"])
        if let coins = expectation.coins, !plan.settings.isProduction {
            step(failure.at, ["coins: \(coins)", "customer: \(customer)"])
        }
    }

    private mutating func step(_ at: Int64, _ words: [String]) {
        steps.append("  - at: \(ScenarioWriter.time(at))")
        steps += words.map { "    \($0)" }
    }

    func file(seed: UInt64, catalog: String) -> String {
        var lines = [
            "scenario: What a simulated world of seed \(seed) came to",
            "catalog: \(catalog)", "customers:",
        ]
        for person in plan.people where people.contains(person.name) {
            let family = person.family.map { ", family: \($0)" } ?? ""
            let region = person.region == "US" ? "" : ", region: \(person.region)"
            let tester = person.isTester ? ", tester: true" : ""
            let words = "name: \(person.name), token: \(person.passesToken)"
            lines.append("  - {\(words)\(family)\(region)\(tester)}")
        }
        let shared = plan.settings.shareable.sorted().joined(separator: ", ")
        lines += [
            "app_store:",
            "  environment: \(plan.settings.isProduction ? "production" : "sandbox")",
            "  grace_days: \(plan.settings.graceDays ?? 0)", "  family_shareable: [\(shared)]",
            "  multiseat: [\(plan.settings.multiseat.sorted().joined(separator: ", "))]",
            "  offers:",
            "    - {product: pro_monthly, kind: introductory, discount: free_trial, "
                + "period: P1W, count: 1, price: 0}",
            "stripe: {dunning_end: \(plan.stripe.dunningEnd.rawValue)}",
        ]
        lines += left.map { "# What a scenario cannot say: \($0)" }
        lines.append("# The stores behaved as with --behaviour \(plan.variant.name).")
        return (lines + ["steps:"] + steps).joined(separator: "\n") + "\n"
    }

    // MARK: - Acts

    private static func words(_ which: AppStoreAct.Which) -> [String] {
        (which.product.map { ["product: \($0)"] } ?? [])
            + (which.number.map { ["purchase: \($0)"] } ?? [])
    }

    private static func words(_ act: AppStoreAct) -> [String]? {
        switch act {
        case .buy(let product, let quantity, _):
            ["app_store: buy", "product: \(product)"]
                + (quantity > 1 ? ["quantity: \(quantity)"] : [])
        case .cancel(let which): ["app_store: cancel"] + words(which)
        case .resume(let which): ["app_store: resume"] + words(which)
        case .consent(let which): ["app_store: consent"] + words(which)
        case .change(let to): ["app_store: change", "to: \(to)"]
        case .failBilling: ["app_store: fail_billing"]
        case .recoverBilling: ["app_store: recover_billing"]
        case .refund(let which, let share):
            ["app_store: refund"] + words(which)
                + (share.map { ["percent: \(Double($0) / 1000)"] } ?? [])
        case .reverseRefund(let which): ["app_store: reverse_refund"] + words(which)
        case .requestRefund(let which, let reason):
            ["app_store: request_refund", "reason: \(reason)"] + words(which)
        case .extend(let days): ["app_store: extend", "days: \(days)"]
        case .extendAll(let product, let days):
            ["app_store: extend_all", "product: \(product)", "days: \(days)"]
        case .raisePrice(let product, let price, let asks):
            [
                "app_store: raise_price", "product: \(product)", "price: \(Double(price) / 1000)",
                "asks_consent: \(asks)",
            ]
        case .joinFamily(let family):
            family.map { ["app_store: join_family", "family: \($0)"] }
                ?? ["app_store: leave_family"]
        case .setToken: ["app_store: set_token"]
        case .post(let which, let mode): ["app_store: post", "mode: \(mode)"] + words(which)
        case .restore: ["app_store: restore"]
        case .refundSeats(let which, let seats):
            ["app_store: refund", "seats: \(seats)"] + words(which)
        case .addSeats(let seats): ["app_store: add_seats", "seats: \(seats)"]
        case .assignSeat(let owner): ["app_store: assign_seat", "of: \(owner)"]
        case .switchToBundle(let which): ["app_store: switch_to_bundle"] + words(which)
        case .migrate(let which): ["app_store: migrate"] + words(which)
        case .revokeShare: ["app_store: revoke_share"]
        case .postReceipt(nil, let mode): ["app_store: post_receipt", "mode: \(mode)"]
        case .postReceipt(let which?, let mode):
            ["app_store: post_receipt", "of_transaction: true", "mode: \(mode)"] + words(which)
        default: nil
        }
    }

    private static func card(_ id: String) -> String {
        ScenarioWriter.cards.filter { $0.value == id }.keys.min() ?? "visa"
    }

    private static func words(_ order: StripeAct.Order) -> [String] {
        var words = ["product: \(order.product)"]
        if order.quantity > 1 { words.append("quantity: \(order.quantity)") }
        if let days = order.trialDays { words.append("trial_days: \(days)") }
        if !order.adds.isEmpty { words.append("adds: [\(order.adds.joined(separator: ", "))]") }
        if order.namesLines { words.append("names_lines: true") }
        if order.holds { words.append("hold: true") }
        return words
    }

    private static func words(_ act: StripeAct) -> [String]? {
        switch act {
        case .checkout(let order, let card, _, let outcome):
            ["stripe: checkout"] + words(order) + [
                "card: \(Self.card(card))", "outcome: \(outcome)",
            ]
        case .openCheckout(let order): ["stripe: open_checkout"] + words(order)
        case .cancel(let when): ["stripe: cancel", "when: \(when == .now ? "now" : "period_end")"]
        case .resume: ["stripe: resume"]
        case .change(let to, let proration):
            ["stripe: change", "to: \(to)", "proration: \(proration)"]
        case .quantity(let quantity, let proration):
            ["stripe: quantity", "quantity: \(quantity)", "proration: \(proration)"]
        case .card(let card): ["stripe: card", "card: \(Self.card(card))"]
        case .payInvoice(_, let outcome, _): ["stripe: pay_invoice", "outcome: \(outcome)"]
        case .capture: ["stripe: capture"]
        case .release: ["stripe: release"]
        case .invoice(let order): ["stripe: invoice"] + words(order)
        case .payPart(let amount, let card):
            ["stripe: pay_part", "amount: \(amount)", "card: \(Self.card(card))"]
        case .refund(let amount, let charge):
            ["stripe: refund"] + (amount.map { ["amount: \($0)"] } ?? [])
                + (charge.map { ["charge: \($0)"] } ?? [])
        case .dispute: ["stripe: dispute"]
        case .closeDispute(let isWon):
            ["stripe: close_dispute", "outcome: \(isWon ? "won" : "lost")"]
        case .escalateDispute: ["stripe: escalate_dispute"]
        case .pauseCollection(let isPaused, _):
            ["stripe: \(isPaused ? "pause_collection" : "resume_collection")"]
        case .endTrial: ["stripe: end_trial"]
        case .deleteCustomer: ["stripe: delete_customer"]
        case .resend(let type): ["stripe: resend", "type: \(type)"]
        default: nil
        }
    }
}
