import TollgateCore
import Yams

// What `catalog.yaml` looks like. What it means is said in `TollgateCore`, and so are the rules
// that connect one value with another.
extension YAMLReading {
    /// Reads the whole catalog; what cannot be read is reported and has its default.
    mutating func catalog(_ place: YAMLPlace) -> Catalog {
        let fields = mapping(
            place,
            "the catalog",
            keys: [
                "apps", "entitlements", "products", "buy_buttons", "offerings", "placements",
                "renewal_leeway", "past_due_grace",
                "refunded_plan", "ownership", "coins_since", "checkout", "gates",
            ]
        )
        var catalog = Catalog()
        catalog.apps = list(fields, "apps").map { app($0) }
        catalog.entitlements = list(fields, "entitlements").map { entitlement($0) }
        catalog.products = list(fields, "products").map { product($0) }
        catalog.buyButtons = list(fields, "buy_buttons").map { buyButton($0) }
        catalog.offerings = list(fields, "offerings").map { offering($0) }
        catalog.placements = list(fields, "placements").map { placement($0) }
        if let place = fields.values["renewal_leeway"] {
            let fields = mapping(
                place,
                "‘renewal_leeway’",
                keys: Store.selling.map(\.rawValue)
            )
            for store in Store.selling {
                guard let span = span(fields, store.rawValue) else { continue }
                catalog.renewalLeeway[store] = span
            }
        }
        catalog.pastDueGrace = span(fields, "past_due_grace") ?? catalog.pastDueGrace
        catalog.refundedPlan = word(fields, "refunded_plan", Catalog.RefundedPlan.self) ?? .keep
        catalog.ownership = word(fields, "ownership", Catalog.Ownership.self) ?? .keep
        catalog.coinsSince = instant(fields, "coins_since")
        if let place = fields.values["checkout"] { catalog.checkout = checkout(place) }
        if let place = fields.values["gates"] { catalog.gates = gates(place) }
        return catalog
    }

    private mutating func app(_ place: YAMLPlace) -> Catalog.App {
        var fields = mapping(
            place,
            "an app",
            keys: ["id", "name", "bundle_id", "app_apple_id", "team_id", "package_name"]
        )
        let id = required(fields, "id")
        if !id.isEmpty { fields.what = "the app ‘\(id)’" }
        return Catalog.App(
            id: id,
            name: required(fields, "name"),
            bundleID: text(fields, "bundle_id"),
            appAppleID: wholeNumber(fields, "app_apple_id"),
            teamID: text(fields, "team_id"),
            packageName: text(fields, "package_name")
        )
    }

    private mutating func entitlement(_ place: YAMLPlace) -> Catalog.Entitlement {
        let fields = mapping(place, "an entitlement", keys: ["lookup_key", "name"])
        return Catalog.Entitlement(
            lookupKey: required(fields, "lookup_key"),
            name: required(fields, "name")
        )
    }

    private mutating func product(_ place: YAMLPlace) -> Catalog.Product {
        var fields = mapping(
            place,
            "a product",
            keys: [
                "id", "name", "kind", "app_store_product_id", "app_store_product_ids",
                "stripe_price_ids", "google_play_product_id", "google_play_product_ids",
                "google_play_base_plans",
                "entitlements", "coins", "duration", "subscription_group",
                "level", "price", "while_active",
                "promotional_offers", "consumption", "retired",
            ]
        )
        let id = required(fields, "id")
        if !id.isEmpty { fields.what = "the product ‘\(id)’" }
        if fields.values["kind"] == nil, fields.isMapping {
            let kinds = Catalog.Product.Kind.allCases.map { "‘\($0.rawValue)’" }
                .joined(separator: ", ")
            report(place, "\(fields.what) has no ‘kind’; add one of \(kinds)")
        }
        return Catalog.Product(
            id: id,
            name: required(fields, "name"),
            kind: word(fields, "kind", Catalog.Product.Kind.self) ?? .consumable,
            appStoreProductID: text(fields, "app_store_product_id"),
            appStoreProductIDs: idsByApp(fields, "app_store_product_ids"),
            stripePriceIDs: texts(fields, "stripe_price_ids"),
            googlePlayProductID: text(fields, "google_play_product_id"),
            googlePlayProductIDs: idsByApp(fields, "google_play_product_ids"),
            googlePlayBasePlans: fields.values["google_play_base_plans"] == nil
                ? nil : texts(fields, "google_play_base_plans"),
            entitlements: texts(fields, "entitlements"),
            coins: wholeNumber(fields, "coins") ?? 0,
            duration: duration(fields, "duration"),
            subscriptionGroup: text(fields, "subscription_group"),
            level: wholeNumber(fields, "level"),
            price: fields.values["price"].map { price($0) },
            whileActive: word(fields, "while_active", Catalog.Product.WhileActive.self) ?? .refuse,
            promotionalOffers: texts(fields, "promotional_offers"),
            consumption: fields.values["consumption"].map { consumption($0) },
            isRetired: truth(fields, "retired") ?? false
        )
    }

    /// A product's ids, by the id of the app.
    private mutating func idsByApp(_ fields: Fields, _ key: String) -> [String: String]? {
        guard let place = fields.values[key] else { return nil }
        guard case .mapping(let mapping) = place.node, !mapping.isEmpty else {
            report(
                place,
                "‘\(key)’ has an id for each app, like {reader: com.example.reader.pro}"
            )
            return [:]
        }
        let keys = Array(mapping.keys.compactMap { $0.scalar?.string })
        let fields = self.mapping(place, "‘\(key)’", keys: keys)
        var ids: [String: String] = [:]
        for (app, value) in fields.values { ids[app] = text(value) ?? "" }
        return ids
    }

    private mutating func consumption(_ place: YAMLPlace) -> Catalog.Product.Consumption {
        let fields = mapping(
            place,
            "‘consumption’",
            keys: ["refund_preference", "sample_content_provided"]
        )
        return Catalog.Product.Consumption(
            refundPreference: word(
                fields,
                "refund_preference",
                Catalog.Product.Consumption.RefundPreference.self
            ),
            sampleContentProvided: truth(fields, "sample_content_provided") ?? false
        )
    }

    private mutating func price(_ place: YAMLPlace) -> Catalog.Product.Price {
        let fields = mapping(place, "a price", keys: ["amount", "currency"])
        if fields.values["amount"] == nil, fields.isMapping {
            report(place, "a price has no ‘amount’; add it in minor units (999 is 9.99)")
        }
        return Catalog.Product.Price(
            amount: wholeNumber(fields, "amount") ?? 0,
            currency: required(fields, "currency")
        )
    }

    private mutating func buyButton(_ place: YAMLPlace) -> Catalog.BuyButton {
        let fields = mapping(
            place,
            "a buy button",
            keys: ["id", "product", "call_to_action", "quantity"]
        )
        return Catalog.BuyButton(
            id: required(fields, "id"),
            product: required(fields, "product"),
            callToAction: text(fields, "call_to_action"),
            quantity: wholeNumber(fields, "quantity") ?? 1
        )
    }

    private mutating func checkout(_ place: YAMLPlace) -> Catalog.Checkout {
        let fields = mapping(
            place,
            "‘checkout’",
            keys: ["success_path", "cancel_path", "storefronts"]
        )
        var checkout = Catalog.Checkout()
        checkout.successPath = text(fields, "success_path") ?? checkout.successPath
        checkout.cancelPath = text(fields, "cancel_path") ?? checkout.cancelPath
        if fields.values["storefronts"] != nil {
            checkout.storefronts = texts(fields, "storefronts")
        }
        return checkout
    }

    private mutating func gates(_ place: YAMLPlace) -> Catalog.Gates {
        let fields = mapping(
            place,
            "‘gates’",
            keys: [
                "terms_version", "terms_url", "subscription_terms_version",
                "subscription_terms_url", "minimum_age", "age_tiers", "parental_consent_below",
            ]
        )
        return Catalog.Gates(
            termsVersion: text(fields, "terms_version"),
            termsURL: text(fields, "terms_url"),
            subscriptionTermsVersion: text(fields, "subscription_terms_version"),
            subscriptionTermsURL: text(fields, "subscription_terms_url"),
            minimumAge: wholeNumber(fields, "minimum_age"),
            ageTiers: fields.values["age_tiers"] == nil ? nil : wholeNumbers(fields, "age_tiers"),
            parentalConsentBelow: wholeNumber(fields, "parental_consent_below")
        )
    }
}
