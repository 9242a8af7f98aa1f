import Hummingbird

extension StripeSimulator {
    /// The customer portal of a session.
    func portalPage(
        _ method: String,
        token: String,
        _ form: [String: Form],
        query: String
    ) async -> Response {
        guard let session = world.all(.portalSession).last(where: { $0["_token"].string == token })
        else {
            return Pages.message(
                title: "This link has expired",
                text: "Go back to the app and open the portal again.",
                status: 404
            )
        }
        guard method == "POST" else {
            return Pages.portal(session, world, notice: Self.notice(query))
        }
        func text(_ name: String) -> String {
            guard case .text(let value)? = form[name] else { return "" }
            return value
        }
        let action = text("action")
        if ["cancel", "switch"].contains(action), text("confirmed") != "true", action == "cancel" {
            return Pages.confirmCancellation(of: text("subscription"), session, world)
        }
        do {
            let configuration = world.get(.portalConfiguration, session["configuration"].string)
            let features = configuration?["features"] ?? .null
            let customer = session["customer"].text
            if action == "card" {
                var entry = CheckoutEntry(form)
                entry.email = "portal@example.com"
                let details = try entry.validated(now: world.now).get()
                if details.card.declinesAttachment, let decline = details.card.decline {
                    throw decline
                }
                var stored = details
                stored.email = nil
                let chosen = stored
                try await act { Customers.setDefaultCard(&$0, chosen, customer: customer) }
            } else {
                let subscription = text("subscription")
                let price = text("price")
                try await act { world in
                    try PortalSessions.change(
                        &world,
                        action,
                        of: subscription,
                        to: price,
                        customer: customer,
                        features: features
                    )
                }
            }
            return Pages.redirect(to: "/p/session/\(token)?done=\(action)")
        } catch {
            let message =
                (error as? Decline)?.message ?? (error as? Refusal)?.message
                ?? "Something went wrong."
            return Pages.portal(session, world, error: message)
        }
    }

    private static func notice(_ query: String) -> String? {
        switch query {
        case "done=cancel": "Your plan has been canceled."
        case "done=resume": "Your plan goes on."
        case "done=switch": "Your plan has been changed."
        case "done=card": "Your card has been saved."
        default: nil
        }
    }
}

extension PortalSessions {
    /// What a customer does with a subscription of theirs in the portal.
    static func change(
        _ world: inout World,
        _ action: String,
        of id: String,
        to price: String,
        customer: String,
        features: JSON
    ) throws {
        let before = try world.find(.subscription, id)
        guard before["customer"].string == customer, !Subscriptions.isOver(before) else {
            throw APIError.noSuch("subscription", id)
        }
        switch action {
        case "cancel" where features["subscription_cancel"]["enabled"].bool == true:
            if features["subscription_cancel"]["mode"].string == "immediately" {
                Subscriptions.cancelNow(&world, id, reason: "cancellation_requested")
                return
            }
            var after = before
            Subscriptions.setCancelAtPeriodEnd(world, &after, true)
            // For flexible billing the portal sets only the instant.
            if before["billing_mode"]["type"].string == "flexible" {
                after["cancel_at_period_end"] = false
            }
            world.put(.subscription, after)
        case "resume":
            var after = before
            Subscriptions.setCancelAtPeriodEnd(world, &after, false)
            world.put(.subscription, after)
        case "switch" where features["subscription_update"]["enabled"].bool == true:
            let found = try world.find(.price, price, param: "price")
            guard prices(for: before, features).contains(price),
                let item = before["items"].elements.first
            else { throw APIError.invalid("This plan is not offered.") }
            let behavior = features["subscription_update"]["proration_behavior"].string ?? "none"
            try SubscriptionItems.change(
                &world,
                item["id"].text,
                of: id,
                price: found,
                quantity: item["quantity"].int,
                behavior: behavior
            )
        default: throw APIError.invalid("This is not offered here.")
        }
        Subscriptions.announceChange(&world, of: before)
    }

    /// The prices that a subscription may be switched to: all that the configuration lists.
    static func prices(for subscription: JSON, _ features: JSON) -> [String] {
        let current = subscription["items"].elements.first?["price"]["id"].string
        return features["subscription_update"]["products"].elements
            .flatMap { $0["prices"].elements.compactMap(\.string) }
            .filter { $0 != current }
    }
}
