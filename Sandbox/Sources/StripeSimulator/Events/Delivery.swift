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

extension World {
    mutating func enqueue(event: String, endpoint: String) {
        for copy in 0...faults.repeats {
            var delivery = Delivery(event: event, endpoint: endpoint, due: now)
            if copy > 0 { delivery.copy = "\(copy)" }
            let delay = delivery.chance(of: "delay")
            if delay.happens(in: faults.delay) {
                delivery.due += delay.amount(upTo: Int(faults.longestDelay / 1_000))
            }
            deliveries.append(delivery)
        }
    }

    /// Takes the next delivery that is to be tried now.
    mutating func takeDelivery() -> Delivery? {
        guard !faults.isPaused else { return nil }
        let due = deliveries.indices.filter { deliveries[$0].due <= now }
        var index = faults.isReversed ? due.last : due.first
        if faults.reorder > 0 {
            index = due.first { !letsOthersGoFirst(deliveries[$0]) } ?? index
        }
        guard let index else { return nil }
        return deliveries.remove(at: index)
    }

    private func letsOthersGoFirst(_ delivery: Delivery) -> Bool {
        delivery.attempts == 0 && delivery.chance(of: "reorder").happens(in: faults.reorder)
    }

    /// Notes how an attempt went: a 2xx ends it, anything else puts it off or gives it up.
    mutating func conclude(_ delivery: Delivery, delivered: Bool) {
        if delivered {
            change(.event, delivery.event) { event in
                event["pending_webhooks"] = .int(max(0, event["pending_webhooks"].count - 1))
            }
            return
        }
        guard delivery.attempts < Delivery.waits.count,
            get(.webhookEndpoint, delivery.endpoint)?["status"].string == "enabled"
        else { return }
        var next = delivery
        next.due = now + Delivery.waits[delivery.attempts]
        next.attempts += 1
        deliveries.append(next)
    }

    /// What is sent, and the secrets it is signed with; `nil` if the endpoint is gone.
    ///
    /// - Parameter wall: real time in UNIX seconds.
    func message(
        for delivery: Delivery,
        wall: Int
    ) -> (url: String, body: String, secrets: [String])? {
        guard let endpoint = get(.webhookEndpoint, delivery.endpoint),
            endpoint["status"].string == "enabled", var event = get(.event, delivery.event)
        else { return nil }
        // The bytes are those of the first attempt, whoever has answered since.
        event["pending_webhooks"] = .int(
            all(.webhookEndpoint).filter { Self.wants($0, event["type"].text) }.count
        )
        if let version = endpoint["api_version"].string { event["api_version"] = .string(version) }
        let shown = APIVersion(event["api_version"].text)?.shape(event) ?? event
        return (endpoint["url"].text, shown.rendered, Self.secrets(of: endpoint, wall: wall))
    }

    /// Sends an event again, as the Dashboard's button does; the id stays.
    mutating func resend(event: String) throws {
        let type = try find(.event, event)["type"].text
        for endpoint in all(.webhookEndpoint) where Self.wants(endpoint, type) {
            var delivery = Delivery(event: event, endpoint: endpoint["id"].text, due: now)
            delivery.copy = random.token(8)
            deliveries.append(delivery)
        }
    }
}
