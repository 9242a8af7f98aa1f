extension World {
    /// Adds what the configuration wants to exist and a saved state does not have yet.
    mutating func preload(_ configuration: StripeSimulator.Configuration) {
        policy = configuration.policy
        schedulePayout()
        for product in configuration.products { preload(product) }
        // Endpoints that an earlier configuration named and this one does not are gone.
        let urls = configuration.webhookEndpoints.map(\.url)
        for endpoint in all(.webhookEndpoint)
        where endpoint["_configured"].bool == true && !urls.contains(endpoint["url"].text) {
            _ = delete(.webhookEndpoint, endpoint["id"].text)
        }
        for endpoint in configuration.webhookEndpoints { preload(endpoint) }
        if configuration.hasPortalConfiguration, all(.portalConfiguration).isEmpty {
            put(.portalConfiguration, standardPortalConfiguration())
        }
    }

    private mutating func preload(_ product: StripeSimulator.Product) {
        if get(.product, product.id) == nil {
            var made = addProduct(id: product.id, name: product.name)
            made["description"] = JSON(product.description)
            put(.product, made)
        }
        let attached = all(.productFeature).filter { $0["_product"].string == product.id }
        for key in product.features
        where !attached.contains(where: { $0["entitlement_feature"]["lookup_key"].string == key }) {
            let feature =
                all(.feature).first { $0["lookup_key"].string == key }
                ?? addFeature(lookupKey: key, name: key)
            _ = attachFeature(feature, to: product.id)
        }
        for price in product.prices where get(.price, price.id) == nil {
            var recurring: JSON = .null
            if let interval = price.interval {
                recurring = .object(
                    nulls: "meter trial_period_days",
                    [
                        "interval": .string(interval), "interval_count": .int(price.intervalCount),
                        "usage_type": "licensed",
                    ]
                )
            }
            put(
                .price,
                addPrice(
                    id: price.id,
                    product: product.id,
                    currency: price.currency,
                    unitAmount: price.unitAmount,
                    recurring: recurring,
                    lookupKey: price.lookupKey
                )
            )
        }
    }

    private mutating func preload(_ endpoint: StripeSimulator.WebhookEndpoint) {
        let known = all(.webhookEndpoint).first { $0["url"].string == endpoint.url }
        let id =
            known?["id"].string
            ?? addEndpoint(
                url: endpoint.url,
                events: endpoint.enabledEvents,
                apiVersion: endpoint.apiVersion
            )["id"].text
        change(.webhookEndpoint, id) { stored in
            stored["_configured"] = true
            stored["_secrets"] = [.string(endpoint.secret)]
            stored["enabled_events"] = JSON(endpoint.enabledEvents)
        }
    }

    /// Settings under which customers may switch between the recurring prices of each product.
    private mutating func standardPortalConfiguration() -> JSON {
        var configuration = portalConfiguration(isDefault: true)
        let recurring = all(.price).filter { !$0["recurring"].isNull }
        let products = Dictionary(grouping: recurring) { $0["product"].text }
            .sorted { $0.key < $1.key }.map { product, prices in
                JSON.object([
                    "product": .string(product), "prices": .array(prices.map { $0["id"] }),
                    "adjustable_quantity": ["enabled": false, "maximum": .null, "minimum": 1],
                ])
            }
        var update = configuration["features"]["subscription_update"]
        update["enabled"] = true
        update["default_allowed_updates"] = ["price"]
        update["proration_behavior"] = "create_prorations"
        update["products"] = .array(products)
        configuration["features"]["subscription_update"] = update
        return configuration
    }
}
