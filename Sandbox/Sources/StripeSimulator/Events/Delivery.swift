/// One event on its way to one endpoint.
struct Delivery: Hashable, Codable, Sendable {
    var event: String
    var endpoint: String
    /// How often it was tried in vain.
    var attempts = 0
    /// When it is to be tried next, in UNIX seconds of the shared clock.
    var due: Int
    /// Tells deliveries of one event to one endpoint apart: copies, and those sent again by hand.
    var copy: String?

    /// The waits after each failure; then it is given up, three days after the event.
    ///
    /// Stripe publishes no exact gaps. https://docs.stripe.com/webhooks#retries
    static let waits = [3_600, 6 * 3_600, 24 * 3_600, 41 * 3_600]

    /// Its chance to meet with `fault` at this attempt.
    func chance(of fault: String) -> Chance {
        Chance(fault, of: "\(event)/\(endpoint)/\(attempts)/\(copy ?? "")")
    }
}

/// Deliveries: events on their way to webhook endpoints. https://docs.stripe.com/webhooks
enum Deliveries {
    static func enqueue(_ world: inout World, event: String, endpoint: String) {
        for copy in 0...world.faults.repeats {
            var delivery = Delivery(event: event, endpoint: endpoint, due: world.now)
            if copy > 0 { delivery.copy = "\(copy)" }
            let delay = delivery.chance(of: "delay")
            if delay.happens(in: world.faults.delay) {
                delivery.due += delay.amount(upTo: Int(world.faults.longestDelay / 1_000))
            }
            world.deliveries.append(delivery)
        }
    }

    /// Takes the next delivery that is to be tried now.
    static func takeNext(_ world: inout World) -> Delivery? {
        guard !world.faults.isPaused else { return nil }
        let due = world.deliveries.indices.filter { world.deliveries[$0].due <= world.now }
        var index = world.faults.isReversed ? due.last : due.first
        if world.faults.reorder > 0 {
            index = due.first { !letsOthersGoFirst(world, world.deliveries[$0]) } ?? index
        }
        guard let index else { return nil }
        return world.deliveries.remove(at: index)
    }

    private static func letsOthersGoFirst(_ world: World, _ delivery: Delivery) -> Bool {
        delivery.attempts == 0 && delivery.chance(of: "reorder").happens(in: world.faults.reorder)
    }

    /// Notes how an attempt went: a 2xx ends it, anything else puts it off or gives it up.
    static func conclude(_ world: inout World, _ delivery: Delivery, delivered: Bool) {
        if delivered {
            world.change(.event, delivery.event) { event in
                event["pending_webhooks"] = .int(max(0, event["pending_webhooks"].count - 1))
            }
            return
        }
        guard delivery.attempts < Delivery.waits.count,
            world.get(.webhookEndpoint, delivery.endpoint)?["status"].string == "enabled"
        else { return }
        var next = delivery
        next.due = world.now + Delivery.waits[delivery.attempts]
        next.attempts += 1
        world.deliveries.append(next)
    }

    /// What is sent, and the secrets it is signed with; `nil` if the endpoint is gone.
    ///
    /// - Parameter wall: real time in UNIX seconds.
    static func message(
        _ world: World,
        for delivery: Delivery,
        wall: Int
    ) -> (url: String, body: String, secrets: [String])? {
        guard let endpoint = world.get(.webhookEndpoint, delivery.endpoint),
            endpoint["status"].string == "enabled", var event = world.get(.event, delivery.event)
        else { return nil }
        // The bytes are those of the first attempt, whoever has answered since.
        event["pending_webhooks"] = .int(
            world.all(.webhookEndpoint).filter { WebhookEndpoints.wants($0, event["type"].text) }
                .count
        )
        if let version = endpoint["api_version"].string { event["api_version"] = .string(version) }
        let shown = APIVersion(event["api_version"].text)?.shape(event) ?? event
        return (
            endpoint["url"].text, shown.rendered, WebhookEndpoints.secrets(of: endpoint, wall: wall)
        )
    }

    /// Sends an event again, as the Dashboard's button does; the id stays.
    static func resend(_ world: inout World, event: String) throws {
        let type = try world.find(.event, event)["type"].text
        for endpoint in world.all(.webhookEndpoint) where WebhookEndpoints.wants(endpoint, type) {
            var delivery = Delivery(event: event, endpoint: endpoint["id"].text, due: world.now)
            delivery.copy = world.random.token(8)
            world.deliveries.append(delivery)
        }
    }
}
