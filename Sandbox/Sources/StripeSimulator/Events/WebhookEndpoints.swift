/// Webhook endpoints: the addresses that events are sent to.
/// https://docs.stripe.com/api/webhook_endpoints
enum WebhookEndpoints {
    /// Makes an endpoint that events are delivered to.
    static func add(
        _ world: inout World,
        url: String,
        secret: String? = nil,
        events: [String],
        apiVersion: String? = nil
    ) -> JSON {
        let secret = secret ?? "whsec_" + world.random.token(32)
        return world.add(
            .webhookEndpoint,
            world.blank(
                .webhookEndpoint,
                nulls: "application description",
                [
                    "url": .string(url), "enabled_events": JSON(events), "status": "enabled",
                    "api_version": JSON(apiVersion), "_secrets": [.string(secret)],
                ]
            )
        )
    }

    static let routes: [Route] = [
        .post("webhook_endpoints") { world, call in
            let url = try call.parameters.required("url")
            guard let events = try call.parameters.strings("enabled_events"), !events.isEmpty else {
                throw APIError.missing(parameter: "enabled_events")
            }
            try check(url: url)
            let version = try call.parameters.string("api_version")
            if let version, APIVersion(version) == nil {
                throw APIError.invalid("Invalid API version: \(version)", param: "api_version")
            }
            var endpoint = add(&world, url: url, events: events, apiVersion: version)
            try call.parameters.patch(&endpoint, "description")
            try call.parameters.metadata(into: &endpoint)
            call.parameters.ignore("connect")
            world.put(.webhookEndpoint, endpoint)
            endpoint["secret"] = endpoint["_secrets"].elements.last ?? .null
            return endpoint
        },
        .get("webhook_endpoints") { world, call in try world.list(.webhookEndpoint, &call) },
        .get("webhook_endpoints/:id") { world, call in
            try world.find(.webhookEndpoint, call.ids[0])
        },
        .post("webhook_endpoints/:id") { world, call in
            var endpoint = try world.find(.webhookEndpoint, call.ids[0])
            if let url = try call.parameters.string("url") {
                try check(url: url)
                endpoint["url"] = .string(url)
            }
            if let events = try call.parameters.strings("enabled_events") {
                endpoint["enabled_events"] = JSON(events)
            }
            if let isDisabled = try call.parameters.bool("disabled") {
                endpoint["status"] = isDisabled ? "disabled" : "enabled"
            }
            try call.parameters.patch(&endpoint, "description")
            try call.parameters.metadata(into: &endpoint)
            world.put(.webhookEndpoint, endpoint)
            return endpoint
        },
        .delete("webhook_endpoints/:id") { world, call in
            _ = try world.find(.webhookEndpoint, call.ids[0])
            return world.delete(.webhookEndpoint, call.ids[0])
        },
    ]

    private static func check(url: String) throws {
        guard url.hasPrefix("http://") || url.hasPrefix("https://") else {
            throw APIError.invalid(
                "Invalid URL: An explicit scheme (such as https) must be provided.",
                param: "url"
            )
        }
    }

    static func wants(_ endpoint: JSON, _ type: String) -> Bool {
        guard endpoint["status"].string == "enabled" else { return false }
        return endpoint["enabled_events"].elements.contains {
            $0.string == "*" || $0.string == type
        }
    }
}
