public import GooglePlaySimulator

extension ScenarioWriter {
    /// Writes a run of the simulated Google Play as a scenario, and the catalog that it names: an
    /// entitlement for each subscription.
    public static func write(
        _ story: SimulatedGooglePlay.Story,
        title: String,
        catalog: String
    ) -> (scenario: String, catalog: String) {
        var lines = ["scenario: \"\(title)\"", "catalog: \(catalog)", "customers:"]
        lines += story.accounts.map { account in
            "  - {name: \(account.id), region: \(account.region), tester: \(account.isTester)}"
        }
        if story.accounts.isEmpty { lines.append("  - {name: nobody}") }
        lines += [
            "google_play:", "  package_name: \(story.packageName)",
            "  seed: \(story.seed % 2_147_483_647)", "steps:",
        ]
        for deed in story.deeds { lines += step(deed) }
        return (lines.joined(separator: "\n") + "\n", self.catalog(story))
    }

    private static func step(_ deed: SimulatedGooglePlay.Deed) -> [String] {
        // Accounts stand at the beginning.
        guard deed.act != "account" else { return [] }
        let act = String(deed.act.map { $0 == "-" ? "_" : $0 })
        var lines = ["  - at: \(time(deed.at))", "    google_play: \(act)"]
        if let account = deed.account { lines.append("    customer: \(account)") }
        if let purchase = deed.purchase, deed.act != "buy" {
            lines.append("    purchase: \(purchase)")
        }
        for detail in deed.details {
            let (name, value) =
                switch detail.name {
                case "product_id": ("product", word(detail.value))
                case "release_time": (detail.name, Int64(detail.value).map(time) ?? detail.value)
                default: (detail.name, detail.value)
                }
            lines.append("    \(name): \(value)")
        }
        return lines
    }

    private static func catalog(_ story: SimulatedGooglePlay.Story) -> String {
        let subscriptions = story.products.filter { $0.period != nil }
        var lines = ["# What the sandbox sold; an entitlement for each subscription."]
        lines.append(subscriptions.isEmpty ? "entitlements: []" : "entitlements:")
        for product in subscriptions {
            lines.append(
                "  - {lookup_key: \(word(product.productID)), name: \"\(product.productID)\"}"
            )
        }
        lines.append(story.products.isEmpty ? "products: []" : "products:")
        for product in story.products {
            let amount = "{amount: \(product.priceMicros / 10_000), currency: "
            lines += [
                "  - id: \(word(product.productID))", "    name: \"\(product.productID)\"",
                "    kind: \(product.period == nil ? "consumable" : "auto_renewable")",
                "    google_play_product_id: \(product.productID)",
                "    price: \(amount)\(product.currency.lowercased())}",
            ]
            guard let period = product.period else {
                lines.append("    coins: 1")
                continue
            }
            lines += [
                "    google_play_base_plans: [\(product.basePlanIDs.joined(separator: ", "))]",
                "    entitlements: [\(word(product.productID))]",
                "    subscription_group: \(word(product.productID))", "    level: 1",
                "    duration: \(period)",
            ]
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
