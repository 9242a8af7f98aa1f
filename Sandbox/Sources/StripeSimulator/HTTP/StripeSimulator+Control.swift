import Foundation
import Hummingbird
import Logging
import SandboxClock

extension StripeSimulator {
    /// The control API under `/sandbox/`: what no Stripe has, in JSON.
    func control(method: String, path: String, body: String) async -> Response {
        let steps = path.split(separator: "/").dropFirst().map(String.init)
        let sent: JSON
        do {
            sent = body.isEmpty ? [:] : try JSON(parsing: Data(body.utf8))
        } catch {
            return Self.refusal(Refusal(message: "The body is no JSON."))
        }
        do {
            var fields = try ControlBody(sent)
            return .json(try await control(method, steps, &fields))
        } catch let refusal as Refusal {
            return Self.refusal(refusal)
        } catch {
            configuration.logger.error("a control failed", metadata: ["error": "\(error)"])
            return Self.refusal(Refusal(status: 500, message: "The control failed."))
        }
    }

    private static func refusal(_ refusal: Refusal) -> Response {
        let kind = refusal.status == 402 ? "card_error" : "invalid_request_error"
        return .json(
            [
                "error": [
                    "type": .string(kind), "code": JSON(refusal.code),
                    "message": .string(refusal.message),
                ]
            ],
            status: refusal.status
        )
    }

    private func control(
        _ method: String,
        _ steps: [String],
        _ body: inout ControlBody
    ) async throws -> JSON {
        switch (method, steps.first, steps.count) {
        case ("GET", "clock", 1): return ["now": .int(Int(await clock.now))]
        case ("POST", "clock", 2) where steps[1] == "advance":
            return try await advance(&body)
        case ("POST", "settle", 1):
            try body.finish()
            await settle()
            return ["waiting": .int(world.deliveries.count)]
        case ("POST", "deliveries", 1), ("PUT", "faults", 1):
            return try await setFaults(&body)
        case ("POST", "trigger", 1):
            let event = try body.string("event") ?? ""
            try body.finish()
            try await trigger(event)
            return ["event": .string(event)]
        case ("POST", "policy", 1): return try await policy(&body)
        case ("POST", "endpoints", 1): return try await addListener(&body)
        case ("POST", "endpoints", 3) where steps[2] == "roll":
            let overlap = try body.int("overlap") ?? 86_400
            try body.finish()
            let secret = try await rollSecret(ofEndpoint: steps[1], overlap: overlap)
            return ["id": .string(steps[1]), "secret": .string(secret)]
        case ("GET", "events", 1): return eventLog(limit: 100)
        case ("POST", "events", 3) where steps[2] == "resend":
            try body.finish()
            try await resend(event: steps[1])
            return ["id": .string(steps[1])]
        default: return try await money(method, steps, &body)
        }
    }

    /// What payers, banks and the team do with money.
    private func money(
        _ method: String,
        _ steps: [String],
        _ body: inout ControlBody
    ) async throws -> JSON {
        switch (method, steps.first, steps.count) {
        case ("POST", "checkout", 3) where steps[2] == "pay":
            return try await payHeadless(steps[1], &body)
        case ("POST", "intents", 3) where steps[2] == "authenticate":
            let passes = try body.bool("passes_challenge") ?? true
            try body.finish()
            try await authenticate(intent: steps[1], passes: passes)
            return ["id": .string(steps[1])]
        case ("POST", "customers", 3) where steps[2] == "default_card":
            let card = try body.string("card") ?? ""
            try body.finish()
            try await setDefaultCard(card, customer: steps[1])
            return ["customer": .string(steps[1])]
        case ("POST", "refunds", 1):
            let charge = try body.string("charge")
            let customer = try body.string("customer")
            let amount = try body.int("amount")
            try body.finish()
            let id = try await refund(charge: charge, customer: customer, amount: amount)
            return ["id": .string(id)]
        case ("POST", "charges", 3) where steps[2] == "dispute":
            try body.finish()
            try await dispute(charge: steps[1])
            return ["charge": .string(steps[1])]
        case ("POST", "disputes", 3) where steps[2] == "close":
            let isWon = try body.bool("won") ?? false
            try body.finish()
            try await close(dispute: steps[1], isWon: isWon)
            return ["id": .string(steps[1])]
        case ("POST", "disputes", 3) where steps[2] == "escalate":
            try body.finish()
            try await escalate(dispute: steps[1])
            return ["id": .string(steps[1])]
        case ("POST", "balance_differences", 1): return try await inject(&body)
        case ("POST", "payouts", 1):
            try body.finish()
            try await payOut()
            return ["payouts": .int(world.all(.payout).count)]
        default: throw Refusal(status: 404, message: "There is no such control.")
        }
    }

    private func setFaults(_ body: inout ControlBody) async throws -> JSON {
        let sent = body.all(of: Faults.CodingKeys.allCases.map(\.rawValue))
        try body.finish()
        let faults: Faults
        do {
            faults = try JSONDecoder().decode(Faults.self, from: Data(sent.rendered.utf8))
        } catch {
            throw Refusal(message: "The faults cannot be read: \(sent.rendered.prefix(200))")
        }
        await setFaults(faults)
        return ["waiting": .int(world.deliveries.count)]
    }

    private func inject(_ body: inout ControlBody) async throws -> JSON {
        guard let kind = try body.word("kind", as: BalanceDifference.Kind.self) else {
            throw Refusal(message: "kind is missing.")
        }
        let difference = BalanceDifference(
            kind,
            source: try body.string("source"),
            days: try body.int("days").map { max(-400, min($0, 400)) },
            rate: try body.int("rate").map { max(1, min($0, 1_000_000_000)) },
            currency: try body.string("currency"),
            amount: try body.int("amount").map { max(-99_999_999, min($0, 99_999_999)) }
        )
        try body.finish()
        try await inject(difference)
        return ["kind": .string(kind.rawValue)]
    }

    private func policy(_ body: inout ControlBody) async throws -> JSON {
        var changed = world.policy
        if let days = try body.ints("retry_days") {
            guard days.allSatisfy({ (0...3_650).contains($0) }) else {
                throw Refusal(message: "retry_days are from 0 to 3650.")
            }
            changed.retryDays = days
        }
        if let end = try body.word("dunning_end", as: Policy.DunningEnd.self) {
            changed.dunningEnd = end
        }
        if let statuses = try body.strings("entitling_statuses") {
            changed.entitlingStatuses = Set(statuses)
        }
        if let announces = try body.bool("announces_unchanged_entitlements") {
            changed.announcesUnchangedEntitlements = announces
        }
        if let status = try body.string("free_trial_payment_status") {
            changed.freeTrialPaymentStatus = status
        }
        if let status = try body.int("dangling_parameter_status") {
            changed.danglingParameterStatus = status == 404 ? 404 : 400
        }
        if let days = try body.int("upcoming_days") { changed.upcomingDays = max(0, min(days, 60)) }
        if let days = try body.int("debit_days") { changed.debitDays = max(0, min(days, 60)) }
        if let payouts = try body.word("payouts", as: Policy.Payouts.self) {
            changed.payouts = payouts
        }
        try body.finish()
        try await setPolicy(changed)
        return ["retry_days": .array(changed.retryDays.map(JSON.int))]
    }

    /// An endpoint for `listen`, in place of an earlier one with the same address.
    private func addListener(_ body: inout ControlBody) async throws -> JSON {
        guard let url = try body.string("url"), Parameters.isLink(url), url.hasPrefix("http") else {
            throw Refusal(message: "url must be an http or https address.")
        }
        let types = try body.strings("events") ?? ["*"]
        try body.finish()
        return try await act { world in
            for endpoint in world.all(.webhookEndpoint) where endpoint["url"].string == url {
                _ = world.delete(.webhookEndpoint, endpoint["id"].text)
            }
            let endpoint = WebhookEndpoints.add(&world, url: url, events: types)
            return [
                "id": endpoint["id"], "secret": endpoint["_secrets"].elements.last ?? .null,
            ]
        }
    }

    private func eventLog(limit: Int) -> JSON {
        let events = world.all(.event).suffix(limit).map { event in
            JSON.object([
                "id": event["id"], "type": event["type"], "created": event["created"],
                "pending_webhooks": event["pending_webhooks"],
            ])
        }
        return ["data": .array(events)]
    }

    private func advance(_ body: inout ControlBody) async throws -> JSON {
        let now = await clock.now
        let to = try body.int("to").map(Int64.init)
        let by = try body.int("by").map { now.addingReportingOverflow(Int64($0)).partialValue }
        try body.finish()
        guard let target = to ?? by else {
            throw Refusal(message: "Say \"to\" or \"by\", in milliseconds.")
        }
        // Ten years in one step are more than any story needs, and bound the work.
        guard target >= now, target <= now + 10 * 366 * 86_400_000 else {
            throw Refusal(message: "The clock only goes forward, ten years at most.")
        }
        await clock.advance(to: target)
        await synchronize()
        noteTime()
        return ["now": .int(Int(await clock.now))]
    }

    private func payHeadless(_ id: String, _ body: inout ControlBody) async throws -> JSON {
        let card = try body.string("card") ?? "4242424242424242"
        let email = try body.string("email")
        let name = try body.string("name")
        let amount = try body.int("amount")
        let added = try body.strings("add") ?? []
        let passes = try body.bool("passes_challenge") ?? true
        try body.finish()
        let outcome = try await pay(
            checkoutSession: id,
            card: card,
            email: email,
            name: name,
            amount: amount,
            adding: added,
            passesChallenge: passes
        )
        switch outcome {
        case .completed(let url): return ["status": "complete", "redirect": JSON(url)]
        case .declined(let code, let message):
            throw Refusal(status: 402, code: code, message: message)
        case .requiresAuthentication:
            throw Refusal(
                status: 402,
                code: "authentication_required",
                message: "The bank's challenge was not passed."
            )
        }
    }
}
