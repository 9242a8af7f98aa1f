import Foundation
import StripeSimulator

extension Play {
    /// Does what happens at Stripe in simulated worlds only.
    mutating func perform(_ deed: StripeDeed, _ step: Scenario.Step) async throws {
        guard let person = people[step.customer] else { return }
        switch deed {
        case .checkoutByDebit(let order, let card, let days):
            var policy = stripePolicy
            policy.debitDays = days
            try await world.stripe.setPolicy(policy)
            do {
                try await perform(
                    .checkout(order, card: card, passesChallenge: true, outcome: "completed"),
                    step
                )
            } catch {
                try await world.stripe.setPolicy(stripePolicy)
                throw error
            }
            try await world.stripe.setPolicy(stripePolicy)
        case .closeDispute(let isWon):
            try await world.stripe.close(dispute: openDispute(of: person), isWon: isWon)
        case .escalateDispute:
            try await world.stripe.escalate(dispute: openDispute(of: person))
        case .removeItem(let product):
            let customer = try await stripeCustomer(person, isOrdering: false)
            let items = try await subscription(of: customer)["items"] as? [String: Any]
            let wanted = try price(product)
            let item = (items?["data"] as? [[String: Any]])?.first { item in
                (item["price"] as? [String: Any])?["id"] as? String == wanted
            }
            let id = item?["id"] as? String ?? ""
            _ = try await call("DELETE", "/v1/subscription_items/\(id)")
        case .invoiceItem(let product):
            let customer = try await stripeCustomer(person, isOrdering: false)
            let id = try await subscription(of: customer)["id"] as? String ?? ""
            let form = [
                ("customer", customer), ("subscription", id),
                ("pricing[price]", try price(product)),
            ]
            _ = try await call("POST", "/v1/invoiceitems", form)
        }
    }

    /// As `ScenarioWorld` sets it up.
    private var stripePolicy: StripeSimulator.Policy {
        var policy = telling.variant.policy
        policy.retryDays = loaded.scenario.stripe.retryDays
        policy.dunningEnd = loaded.scenario.stripe.dunningEnd
        policy.debitDays = loaded.scenario.stripe.debitDays
        return policy
    }

    private mutating func openDispute(of person: ScenarioCustomer) async throws -> String {
        let customer = try await stripeCustomer(person, isOrdering: false)
        let charges = try await call("GET", "/v1/charges", query: "customer=\(customer)&limit=100")
        let own = Set(
            ((charges["data"] as? [[String: Any]]) ?? []).compactMap { $0["id"] as? String }
        )
        let disputes = try await call("GET", "/v1/disputes", query: "limit=100")
        let open = ["needs_response", "under_review", "warning_needs_response"]
        let found = ((disputes["data"] as? [[String: Any]]) ?? []).first { dispute in
            own.contains(dispute["charge"] as? String ?? "")
                && open.contains(dispute["status"] as? String ?? "")
        }
        guard let id = found?["id"] as? String else {
            throw StripeCallRefused(status: 404, message: "no dispute is open")
        }
        return id
    }
}

extension SimulatedWorld {
    mutating func perform(_ act: StripeAct, _ step: Scenario.Step) async throws {
        if case .closeDispute = act, try await !isNewestDisputeOpen() { throw Impossible() }
        try await atStripe { try await $0.perform(act, step) }
        switch act {
        case .checkout(_, _, _, outcome: "completed"), .payCheckout(_, _, outcome: "completed"):
            await endCheckout(of: step.customer)
        default: await play.world.stripe.settle()
        }
    }

    mutating func perform(_ deed: StripeDeed, _ step: Scenario.Step) async throws {
        try await atStripe { try await $0.perform(deed, step) }
        guard case .checkoutByDebit = deed else { return await play.world.stripe.settle() }
        await endCheckout(of: step.customer)
    }

    private mutating func atStripe(_ body: (inout Play) async throws -> Void) async throws {
        do { try await body(&play) } catch {
            await play.world.stripe.settle()
            throw error
        }
    }

    /// Leads some buyers back to the app before the events about their purchase, some after them, and
    /// the others not at all.
    private func endCheckout(of name: String) async {
        let isBack = server.drawsReturn()
        if isBack == .before { await comeBack(name) }
        await play.world.stripe.settle()
        if isBack == .after { await comeBack(name) }
    }

    private func comeBack(_ name: String) async {
        guard let customer = play.people[name], let session = play.sessions[name] else { return }
        await server.tellOutcome(of: session, to: customer)
    }

    private struct Impossible: Error {}

    private func isNewestDisputeOpen() async throws -> Bool {
        let answer = await play.world.stripe.exchange(
            method: "GET",
            path: "/v1/disputes",
            query: "limit=1",
            headers: ["authorization": "Bearer \(ScenarioWorld.stripeKey)"]
        )
        let body = try JSONSerialization.jsonObject(with: Data(answer.body.utf8))
        let newest = ((body as? [String: Any])?["data"] as? [[String: Any]])?.first
        let status = newest?["status"] as? String ?? ""
        return ["needs_response", "under_review"].contains(status)
    }
}
