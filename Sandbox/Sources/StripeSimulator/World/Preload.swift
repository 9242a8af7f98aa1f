/// The objects that a configuration wants to exist from the start.
enum Preload {
    /// Adds what the configuration wants to exist and a saved state does not have yet.
    static func add(_ world: inout World, _ configuration: StripeSimulator.Configuration) {
        world.policy = configuration.policy
        Balance.schedulePayout(&world)
        for product in configuration.products { add(&world, product) }
        // Endpoints that an earlier configuration named and this one does not are gone.
        let urls = configuration.webhookEndpoints.map(\.url)
        for endpoint in world.all(.webhookEndpoint)
        where endpoint["_configured"].bool == true && !urls.contains(endpoint["url"].text) {
            _ = world.delete(.webhookEndpoint, endpoint["id"].text)
        }
        for endpoint in configuration.webhookEndpoints { add(&world, endpoint) }
        if configuration.hasPortalConfiguration, world.all(.portalConfiguration).isEmpty {
            world.put(.portalConfiguration, standardPortalConfiguration(&world))
        }
    }

    private static func add(_ world: inout World, _ product: StripeSimulator.Product) {
        if world.get(.product, product.id) == nil {
            var made = Products.add(&world, id: product.id, name: product.name)
            made["description"] = JSON(product.description)
            world.put(.product, made)
        }
        let attached = world.all(.productFeature).filter { $0["_product"].string == product.id }
        for key in product.features
        where !attached.contains(where: { $0["entitlement_feature"]["lookup_key"].string == key }) {
            let feature =
                world.all(.feature).first { $0["lookup_key"].string == key }
                ?? Features.add(&world, lookupKey: key, name: key)
            _ = Features.attach(&world, feature, to: product.id)
        }
        for price in product.prices where world.get(.price, price.id) == nil {
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
            world.put(
                .price,
                Prices.add(
                    &world,
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

    private static func add(_ world: inout World, _ endpoint: StripeSimulator.WebhookEndpoint) {
        let known = world.all(.webhookEndpoint).first { $0["url"].string == endpoint.url }
        let id =
            known?["id"].string
            ?? WebhookEndpoints.add(
                &world,
                url: endpoint.url,
                events: endpoint.enabledEvents,
                apiVersion: endpoint.apiVersion
            )["id"].text
        world.change(.webhookEndpoint, id) { stored in
            stored["_configured"] = true
            stored["_secrets"] = [.string(endpoint.secret)]
            stored["enabled_events"] = JSON(endpoint.enabledEvents)
        }
    }

    /// Settings under which customers may switch between the recurring prices of each product.
    private static func standardPortalConfiguration(_ world: inout World) -> JSON {
        var configuration = PortalSessions.configuration(&world, isDefault: true)
        let recurring = world.all(.price).filter { !$0["recurring"].isNull }
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
