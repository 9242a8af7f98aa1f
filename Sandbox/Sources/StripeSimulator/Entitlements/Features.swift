/// Features: what products give access to. https://docs.stripe.com/api/entitlements/feature
enum Features {
    static let routes: [Route] = [
        .post("entitlements/features") { world, call in
            let key = try call.parameters.required("lookup_key", maximum: 80)
            let name = try call.parameters.required("name", maximum: 80)
            let isTaken = world.all(.feature).contains {
                $0["lookup_key"].string == key && $0["active"].bool == true
            }
            guard !isTaken else {
                throw APIError.invalid(
                    "A feature with the lookup key \(key) already exists.",
                    code: "resource_already_exists",
                    param: "lookup_key"
                )
            }
            var feature = add(&world, lookupKey: key, name: name)
            try call.parameters.metadata(into: &feature)
            world.put(.feature, feature)
            return feature
        },
        .get("entitlements/features") { world, call in
            let key = try call.parameters.string("lookup_key")
            let isArchived = try call.parameters.bool("archived")
            return try world.list(.feature, &call) { feature in
                (key.map { feature["lookup_key"].string == $0 } ?? true)
                    && feature["active"].bool == !(isArchived ?? false)
            }
        },
        .get("entitlements/features/:id") { world, call in try world.find(.feature, call.ids[0]) },
        .post("entitlements/features/:id") { world, call in
            var feature = try world.find(.feature, call.ids[0])
            if let name = try call.parameters.string("name") { feature["name"] = .string(name) }
            if let isActive = try call.parameters.bool("active") {
                guard feature["active"].bool == true || !isActive else {
                    throw APIError.invalid("An archived feature cannot be made active again.")
                }
                feature["active"] = .bool(isActive)
            }
            try call.parameters.metadata(into: &feature)
            world.put(.feature, feature)
            return feature
        },
        .post("products/:id/features") { world, call in
            let product = try world.find(.product, call.ids[0])
            let id = try call.parameters.required("entitlement_feature")
            let feature = try world.find(.feature, id, param: "entitlement_feature")
            guard feature["active"].bool == true else {
                throw APIError.invalid("This feature is archived.", param: "entitlement_feature")
            }
            return attach(&world, feature, to: product["id"].text)
        },
        .get("products/:id/features") { world, call in
            let product = call.ids[0]
            _ = try world.find(.product, product)
            return try world.list(.productFeature, &call, url: "/v1/products/\(product)/features") {
                $0["_product"].string == product
            }
        },
        .get("products/:id/features/:id") { world, call in
            try world.find(.productFeature, call.ids[1])
        },
        .delete("products/:id/features/:id") { world, call in
            _ = try world.find(.productFeature, call.ids[1])
            return world.delete(.productFeature, call.ids[1])
        },
    ]

    /// Makes a feature. https://docs.stripe.com/api/entitlements/feature
    static func add(
        _ world: inout World,
        id: String? = nil,
        lookupKey: String,
        name: String
    ) -> JSON {
        var feature = world.blank(
            .feature,
            id: id,
            ["active": true, "lookup_key": .string(lookupKey), "name": .string(name)]
        )
        feature.remove("created")
        world.put(.feature, feature)
        return feature
    }

    static func attach(_ world: inout World, _ feature: JSON, to product: String) -> JSON {
        var attachment = world.blank(
            .productFeature,
            ["entitlement_feature": feature, "_product": .string(product)]
        )
        attachment.remove("created")
        attachment.remove("metadata")
        world.put(.productFeature, attachment)
        return attachment
    }

    /// The features that come with a price's product now.
    ///
    /// Running subscriptions keep those of the beginning of their period.
    static func ids(_ world: World, of price: JSON) -> [String] {
        let product = price["product"].reference
        return world.all(.productFeature).filter { $0["_product"].string == product }
            .compactMap { $0["entitlement_feature"]["id"].string }
    }
}
