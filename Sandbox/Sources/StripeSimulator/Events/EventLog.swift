extension World {
    /// Records that something happened and queues it for every endpoint that wants to know.
    /// https://docs.stripe.com/api/events/object
    mutating func emit(_ type: String, _ object: JSON, previous: JSON? = nil) {
        let instant = now(for: object["customer"].reference ?? customerID(of: object))
        let endpoints = all(.webhookEndpoint).filter { WebhookEndpoints.wants($0, type) }
        var data: JSON = ["object": object.stripped]
        if let previous { data["previous_attributes"] = previous }
        var event = blank(
            .event,
            created: instant,
            nulls: "account context",
            [
                "type": .string(type), "data": data, "api_version": .string(apiVersion),
                "pending_webhooks": .int(endpoints.count),
                "request": [
                    "id": JSON(cause.requestID), "idempotency_key": JSON(cause.idempotencyKey),
                ],
            ]
        )
        event.remove("metadata")
        put(.event, event)
        for endpoint in endpoints {
            Deliveries.enqueue(&self, event: event["id"].text, endpoint: endpoint["id"].text)
        }
    }

    private func customerID(of object: JSON) -> String? {
        object["object"].string == "customer" ? object["id"].string : nil
    }
}

/// Events: what happened, as the API lists it. https://docs.stripe.com/api/events
enum Events {
    static let routes: [Route] = [
        .get("events") { world, call in
            let type = try call.parameters.string("type")
            let types = try call.parameters.strings("types")
            let isDelivered = try call.parameters.bool("delivery_success")
            return try world.list(.event, &call) { event in
                (type.map { matches($0, event["type"].text) } ?? true)
                    && (types.map { $0.contains(event["type"].text) } ?? true)
                    && (isDelivered.map { $0 == (event["pending_webhooks"].count == 0) } ?? true)
            }
        },
        .get("events/:id") { world, call in try world.find(.event, call.ids[0]) },
    ]

    /// `invoice.*` stands for every type that starts so.
    private static func matches(_ pattern: String, _ type: String) -> Bool {
        pattern.hasSuffix("*") ? type.hasPrefix(pattern.dropLast()) : type == pattern
    }
}
