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
            "  seed: \(story.seed % 2_147_483_647)",
        ]
        let plans = story.products.compactMap(\.plan)
        if !plans.isEmpty { lines += ["  plans:"] + plans }
        let offers = story.products.flatMap(\.offerLines)
        if !offers.isEmpty { lines += ["  offers:"] + offers }
        lines.append("steps:")
        for deed in story.deeds { lines += step(deed, story.products) }
        return (lines.joined(separator: "\n") + "\n", self.catalog(story))
    }

    // MARK: - Acts

    private static func step(
        _ deed: SimulatedGooglePlay.Deed,
        _ products: [SimulatedGooglePlay.SoldProduct]
    ) -> [String] {
        // Accounts stand at the beginning.
        guard deed.act != "account" else { return [] }
        let act = String(deed.act.map { $0 == "-" ? "_" : $0 })
        var lines = ["  - at: \(time(deed.at))", "    google_play: \(act)"]
        if let account = deed.account { lines.append("    customer: \(account)") }
        if let purchase = deed.purchase, deed.act != "buy" {
            lines.append("    purchase: \(purchase)")
        }
        let product = sold(deed, products)
        for detail in deed.details {
            var value: String? = detail.value
            switch detail.name {
            case "product_id": value = product?.id ?? word(detail.value)
            case "release_time": value = Int64(detail.value).map(time) ?? detail.value
            case "offer_id": if let product { value = product.name(ofOffer: detail.value) }
            default: break
            }
            let name = detail.name == "product_id" ? "product" : detail.name
            if let value { lines.append("    \(name): \(value)") }
        }
        return lines
    }

    /// The plan or purchase option that an act is about; `nil`: it names no product.
    private static func sold(
        _ deed: SimulatedGooglePlay.Deed,
        _ products: [SimulatedGooglePlay.SoldProduct]
    ) -> SimulatedGooglePlay.SoldProduct? {
        func detail(_ name: String) -> String? { deed.details.first { $0.name == name }?.value }
        let own = products.filter { $0.productID == detail("product_id") }
        guard let plan = detail("base_plan_id") ?? detail("purchase_option_id") else {
            return own.first(where: \.isFirst)
        }
        return own.first { $0.planID == plan }
    }

    private static func catalog(_ story: SimulatedGooglePlay.Story) -> String {
        let subscriptions = story.products.filter { $0.isSubscription && $0.isFirst }
        var lines = ["# What the sandbox sold; an entitlement for each subscription."]
        lines.append(subscriptions.isEmpty ? "entitlements: []" : "entitlements:")
        for product in subscriptions {
            lines.append(
                "  - {lookup_key: \(word(product.productID)), name: \"\(product.productID)\"}"
            )
        }
        lines.append(story.products.isEmpty ? "products: []" : "products:")
        for product in story.products { lines += product.catalogLines }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension SimulatedGooglePlay.SoldProduct {
    /// The id in the written catalog.
    fileprivate var id: String {
        ScenarioWriter.word(isFirst ? productID : "\(productID)_\(planID)")
    }

    /// The scenario's name of an offer: its pre-orders have one name, and it has no discounts of what is
    /// bought once.
    fileprivate func name(ofOffer id: String) -> String? {
        if isSubscription { return id }
        return preOrder?.offerID == id ? "preorder" : nil
    }

    /// The line with its further settings; `nil`: there are none.
    fileprivate var plan: String? {
        var settings = settings
        settings["release"] = preOrder.map { ScenarioWriter.time($0.release) }
        guard !settings.isEmpty else { return nil }
        let words = settings.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        return "    - {product: \(id), \(words.joined(separator: ", "))}"
    }

    fileprivate var offerLines: [String] {
        offers.map { offer in
            let phases = offer.phases.map { phase in
                let price = phase.priceMicros.map { ", price: \(Self.decimal($0))" } ?? ""
                return "{duration: \(phase.duration), count: \(phase.count)\(price)}"
            }
            return "    - {product: \(id), id: \(offer.id), "
                + "phases: [\(phases.joined(separator: ", "))]}"
        }
    }

    /// An amount in the currency's unit.
    private static func decimal(_ micros: Int64) -> String {
        let rest = String(micros % 1_000_000)
        return "\(micros / 1_000_000)." + String(repeating: "0", count: 6 - rest.count) + rest
    }

    fileprivate var catalogLines: [String] {
        let kind =
            isSubscription ? "auto_renewable" : period == nil ? "consumable" : "non_renewing"
        let key = ScenarioWriter.word(productID)
        var lines = [
            "  - id: \(id)", "    name: \"\(productID)\"", "    kind: \(kind)",
            "    google_play_product_id: \(productID)", "    google_play_base_plans: [\(planID)]",
            "    price: {amount: \(priceMicros / 10_000), currency: \(currency.lowercased())}",
        ]
        if let period { lines.append("    duration: \(period)") }
        guard isSubscription else { return lines + ["    coins: 1"] }
        return lines + [
            "    entitlements: [\(key)]", "    subscription_group: \(key)", "    level: 1",
        ]
    }
}
