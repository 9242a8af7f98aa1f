import Foundation
import Hummingbird
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
            return .json(try await control(method, steps, sent))
        } catch let refusal as Refusal {
            return Self.refusal(refusal)
        } catch {
            return Self.refusal(Refusal(status: 500, message: "\(error)"))
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

    private func control(_ method: String, _ steps: [String], _ sent: JSON) async throws -> JSON {
        switch (method, steps.first, steps.count) {
        case ("GET", "clock", 1): return ["now": .int(Int(await clock.now))]
        case ("POST", "clock", 2) where steps[1] == "advance":
            return try await advance(sent)
        case ("POST", "settle", 1):
            await settle()
            return ["waiting": .int(world.deliveries.count)]
        case ("POST", "deliveries", 1), ("PUT", "faults", 1):
            let faults: Faults
            do {
                faults = try JSONDecoder().decode(Faults.self, from: Data(sent.rendered.utf8))
            } catch {
                throw Refusal(message: "The faults cannot be read: \(error)")
            }
            await setFaults(faults)
            return ["waiting": .int(world.deliveries.count)]
        case ("POST", "checkout", 3) where steps[2] == "pay":
            return try await payHeadless(steps[1], sent)
        case ("POST", "intents", 3) where steps[2] == "authenticate":
            try await authenticate(intent: steps[1], passes: sent["passes_challenge"].bool ?? true)
            return ["id": .string(steps[1])]
        case ("POST", "customers", 3) where steps[2] == "default_card":
            try await setDefaultCard(sent["card"].string ?? "", customer: steps[1])
            return ["customer": .string(steps[1])]
        case ("POST", "refunds", 1):
            let id = try await refund(
                charge: sent["charge"].string,
                customer: sent["customer"].string,
                amount: sent["amount"].int
            )
            return ["id": .string(id)]
        case ("POST", "charges", 3) where steps[2] == "dispute":
            try await dispute(charge: steps[1])
            return ["charge": .string(steps[1])]
        case ("POST", "disputes", 3) where steps[2] == "close":
            try await close(dispute: steps[1], isWon: sent["won"].bool ?? false)
            return ["id": .string(steps[1])]
        case ("POST", "balance_differences", 1):
            guard let kind = BalanceDifference.Kind(rawValue: sent["kind"].string ?? "") else {
                let kinds = BalanceDifference.Kind.allCases.map(\.rawValue)
                throw Refusal(message: "kind is one of \(kinds.joined(separator: ", ")).")
            }
            try await inject(
                BalanceDifference(
                    kind,
                    source: sent["source"].string,
                    days: sent["days"].int.map { max(-400, min($0, 400)) },
                    rate: sent["rate"].int.map { max(1, min($0, 1_000_000_000)) },
                    currency: sent["currency"].string,
                    amount: sent["amount"].int.map { max(-99_999_999, min($0, 99_999_999)) }
                )
            )
            return ["kind": .string(kind.rawValue)]
        case ("POST", "payouts", 1):
            try await payOut()
            return ["payouts": .int(world.all(.payout).count)]
        case ("POST", "trigger", 1):
            try await trigger(sent["event"].string ?? "")
            return ["event": sent["event"]]
        case ("POST", "policy", 1): return try await policy(sent)
        case ("POST", "endpoints", 1): return try await addListener(sent)
        case ("POST", "endpoints", 3) where steps[2] == "roll":
            let secret = try await rollSecret(
                ofEndpoint: steps[1],
                overlap: sent["overlap"].int ?? 86_400
            )
            return ["id": .string(steps[1]), "secret": .string(secret)]
        case ("GET", "events", 1): return eventLog(limit: 100)
        case ("POST", "events", 3) where steps[2] == "resend":
            try await resend(event: steps[1])
            return ["id": .string(steps[1])]
        default: throw Refusal(status: 404, message: "There is no such control.")
        }
    }

    private func policy(_ sent: JSON) async throws -> JSON {
        var changed = world.policy
        if let days = sent["retry_days"].array?.map(\.count) {
            guard days.allSatisfy({ (0...3_650).contains($0) }) else {
                throw Refusal(message: "retry_days are from 0 to 3650.")
            }
            changed.retryDays = days
        }
        if let end = sent["dunning_end"].string {
            guard let end = Policy.DunningEnd(rawValue: end) else {
                throw Refusal(message: "dunning_end is canceled, unpaid or past_due.")
            }
            changed.dunningEnd = end
        }
        if let statuses = sent["entitling_statuses"].array {
            changed.entitlingStatuses = Set(statuses.compactMap(\.string))
        }
        if let announces = sent["announces_unchanged_entitlements"].bool {
            changed.announcesUnchangedEntitlements = announces
        }
        if let status = sent["free_trial_payment_status"].string {
            changed.freeTrialPaymentStatus = status
        }
        if let status = sent["dangling_parameter_status"].int {
            changed.danglingParameterStatus = status == 404 ? 404 : 400
        }
        if let days = sent["upcoming_days"].int { changed.upcomingDays = max(0, min(days, 60)) }
        if let payouts = sent["payouts"].string {
            guard let payouts = Policy.Payouts(rawValue: payouts) else {
                throw Refusal(message: "payouts is manual, daily or weekly.")
            }
            changed.payouts = payouts
        }
        try await setPolicy(changed)
        return ["retry_days": .array(changed.retryDays.map(JSON.int))]
    }

    /// An endpoint for `listen`, in place of an earlier one with the same address.
    private func addListener(_ sent: JSON) async throws -> JSON {
        guard let url = sent["url"].string, World.isLink(url), url.hasPrefix("http") else {
            throw Refusal(message: "url must be an http or https address.")
        }
        let types = sent["events"].array?.compactMap(\.string) ?? ["*"]
        return try await act { world in
            for endpoint in world.all(.webhookEndpoint) where endpoint["url"].string == url {
                _ = world.delete(.webhookEndpoint, endpoint["id"].text)
            }
            let endpoint = world.addEndpoint(url: url, events: types)
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

    private func advance(_ sent: JSON) async throws -> JSON {
        let now = await clock.now
        guard
            let target = sent["to"].int.map(Int64.init)
                ?? sent["by"].int.map({ now.addingReportingOverflow(Int64($0)).partialValue })
        else { throw Refusal(message: "Say \"to\" or \"by\", in milliseconds.") }
        // Ten years in one step are more than any story needs, and bound the work.
        guard target >= now, target <= now + 10 * 366 * 86_400_000 else {
            throw Refusal(message: "The clock only goes forward, ten years at most.")
        }
        await clock.advance(to: target)
        await synchronize()
        noteTime()
        return ["now": .int(Int(await clock.now))]
    }

    private func payHeadless(_ id: String, _ sent: JSON) async throws -> JSON {
        let outcome = try await pay(
            checkoutSession: id,
            card: sent["card"].string ?? "4242424242424242",
            email: sent["email"].string,
            name: sent["name"].string,
            passesChallenge: sent["passes_challenge"].bool ?? true
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
