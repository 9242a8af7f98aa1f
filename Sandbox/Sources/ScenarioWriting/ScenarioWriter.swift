public import AppStoreSimulator

/// Writes down what happened in a simulated App Store as a scenario that replays.
public enum ScenarioWriter {
    /// The scenario, and the catalog that it names: an entitlement for each product.
    public static func write(
        _ story: SimulatedAppStore.Story,
        title: String,
        catalog: String
    ) -> (scenario: String, catalog: String) {
        (scenario(story, title, catalog), self.catalog(story))
    }

    // MARK: - The scenario

    private static func scenario(
        _ story: SimulatedAppStore.Story,
        _ title: String,
        _ catalog: String
    ) -> String {
        var lines = ["scenario: \"\(title)\"", "catalog: \(catalog)", "customers:"]
        for customer in story.customers {
            var person = "name: \(customer.id), token: \(customer.appAccountToken != nil)"
            if let family = customer.family { person += ", family: \(word(family))" }
            lines.append("  - {\(person), storefront: \(customer.storefront)}")
        }
        lines += settings(story)
        lines.append("steps:")
        for deed in story.deeds { lines += steps(of: deed) }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func settings(_ story: SimulatedAppStore.Story) -> [String] {
        var lines = [
            "app_store:",
            "  environment: \(story.environment == .production ? "production" : "sandbox")",
            "  durations: \(story.renewals == .real ? "real" : "compressed")",
            "  grace_days: \(story.graceDays ?? 0)", "  seed: \(story.seed % 2_147_483_647)",
        ]
        if let limit = story.renewalLimit, limit <= 1000 { lines.append("  renewals: \(limit)") }
        let shared = story.products.filter(\.isFamilyShareable).map { word($0.id) }
        if !shared.isEmpty {
            lines.append("  family_shareable: [\(shared.joined(separator: ", "))]")
        }
        let seats = story.products.filter(\.isMultiSeat).map { word($0.id) }
        if !seats.isEmpty { lines.append("  multiseat: [\(seats.joined(separator: ", "))]") }
        let offers = story.products.flatMap { product in
            (product.offers + (product.introductoryOffer.map { [$0] } ?? [])).map {
                offer($0, of: product)
            }
        }
        return offers.isEmpty ? lines : lines + ["  offers:"] + offers
    }

    private static func offer(
        _ offer: SimulatedAppStore.Offer,
        of product: SimulatedAppStore.Product
    ) -> String {
        let kind =
            switch offer.kind {
            case .introductory: "introductory"
            case .promotional: "promotional"
            case .offerCode: "code"
            case .winBack: "win_back"
            }
        var parts = ["product: \(word(product.id))", "kind: \(kind)"]
        if let id = offer.id { parts.append("id: \(id)") }
        parts += [
            "discount: \(offer.discount.rawValue.lowercased())", "period: \(offer.period)",
            "count: \(offer.count)", "price: \(Double(offer.price) / 1000)",
        ]
        return "    - {\(parts.joined(separator: ", "))}"
    }

    private static func steps(of deed: SimulatedAppStore.Deed) -> [String] {
        var time = ["at: \(Self.time(deed.at))"]
        var lines: [String] = []
        func step(_ parts: [String]) {
            for (index, part) in (time + parts).enumerated() {
                lines.append((index == 0 ? "  - " : "    ") + part)
            }
            time = []
        }
        if let act = deed.act {
            var parts = ["app_store: \(act)"]
            if let customer = deed.customer { parts.append("customer: \(customer)") }
            parts += deed.details.map { detail in
                let value =
                    switch detail.name {
                    case "product", "to": word(detail.value)
                    case "outage_start", "outage_end":
                        Int64(detail.value).map(Self.time) ?? detail.value
                    default: detail.value
                    }
                return "\(detail.name): \(value)"
            }
            step(parts)
        }
        for (customer, products) in deed.holdings.sorted(by: { $0.key < $1.key }) {
            let keys = products.map(word).joined(separator: ", ")
            step(["check: [\(keys)]", "customer: \(customer)"])
        }
        return lines
    }

    // MARK: - The catalog

    private static func catalog(_ story: SimulatedAppStore.Story) -> String {
        let granting = story.products.filter {
            $0.kind == .autoRenewable || $0.kind == .nonConsumable
        }
        var lines = ["# What the sandbox sold; an entitlement for each product.", "entitlements:"]
        for product in granting {
            lines.append("  - {lookup_key: \(word(product.id)), name: \"\(product.id)\"}")
        }
        lines.append("products:")
        for product in story.products {
            lines += [
                "  - id: \(word(product.id))", "    name: \"\(product.id)\"",
                "    kind: \(kind(product.kind))", "    app_store_product_id: \(product.id)",
                "    price: {amount: \(product.price / 10), currency: "
                    + "\(product.currency.lowercased())}",
            ]
            switch product.kind {
            case .consumable: lines.append("    coins: 1")
            case .nonRenewing: lines.append("    duration: P30D")
            case .nonConsumable: lines.append("    entitlements: [\(word(product.id))]")
            case .autoRenewable:
                lines += [
                    "    entitlements: [\(word(product.id))]",
                    "    subscription_group: \"\(product.subscriptionGroup ?? "group")\"",
                    "    level: \(product.level ?? 1)",
                    "    duration: \(product.period?.description ?? "P1M")",
                ]
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func kind(_ kind: SimulatedAppStore.Product.Kind) -> String {
        switch kind {
        case .autoRenewable: "auto_renewable"
        case .nonConsumable: "non_consumable"
        case .consumable: "consumable"
        case .nonRenewing: "non_renewing"
        }
    }

    /// An id of ours for one of the store's.
    static func word(_ id: String) -> String {
        String(id.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
    }
}
