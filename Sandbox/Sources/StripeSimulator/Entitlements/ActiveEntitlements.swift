/// Active entitlements: the features that a customer has access to.
/// https://docs.stripe.com/api/entitlements/active-entitlement
enum ActiveEntitlements {
    /// Makes a customer's active entitlements those that the subscriptions give, one per feature,
    /// and announces the set if it changed.
    static func refresh(_ world: inout World, of customer: String, always: Bool = false) {
        let before = all(world, of: customer)
        var wanted: [String] = []
        for subscription in world.all(.subscription)
        where subscription["customer"].string == customer
            && world.policy.entitlingStatuses.contains(subscription["status"].text)
        {
            for item in subscription["items"].elements {
                for feature in item["_features"].elements.compactMap(\.string)
                where !wanted.contains(feature) {
                    wanted.append(feature)
                }
            }
        }
        let held = before.compactMap { $0["feature"].string }
        guard Set(held) != Set(wanted) || always else { return }
        for entitlement in before where !wanted.contains(entitlement["feature"].text) {
            _ = world.delete(.activeEntitlement, entitlement["id"].text)
        }
        for id in wanted where !held.contains(id) {
            guard let feature = world.get(.feature, id) else { continue }
            var entitlement = world.blank(
                .activeEntitlement,
                [
                    "feature": .string(id), "lookup_key": feature["lookup_key"],
                    "_customer": .string(customer),
                ]
            )
            entitlement.remove("created")
            entitlement.remove("metadata")
            world.put(.activeEntitlement, entitlement)
        }
        world.emit(
            "entitlements.active_entitlement_summary.updated",
            summary(all(world, of: customer), of: customer),
            previous: ["entitlements": ["data": .array(before)]]
        )
    }

    static func all(_ world: World, of customer: String) -> [JSON] {
        world.all(.activeEntitlement).filter { $0["_customer"].string == customer }
    }

    /// The summary has no id and shows at most ten entitlements.
    private static func summary(_ entitlements: [JSON], of customer: String) -> JSON {
        [
            "object": "entitlements.active_entitlement_summary", "customer": .string(customer),
            "livemode": false,
            "entitlements": JSON.list(
                Array(entitlements.prefix(10)),
                url: "/v1/customer/\(customer)/entitlements",
                hasMore: entitlements.count > 10
            ),
        ]
    }

    static let routes: [Route] = [
        .get("entitlements/active_entitlements") { world, call in
            let customer = try call.parameters.required("customer")
            _ = try world.find(.customer, customer, param: "customer")
            return try world.list(.activeEntitlement, &call) {
                $0["_customer"].string == customer
            }
        },
        .get("entitlements/active_entitlements/:id") { world, call in
            try world.find(.activeEntitlement, call.ids[0])
        },
        .get("customer/:id/entitlements") { world, call in
            let customer = call.ids[0]
            return try world.list(
                .activeEntitlement,
                &call,
                url: "/v1/customer/\(customer)/entitlements"
            ) { $0["_customer"].string == customer }
        },
    ]
}
