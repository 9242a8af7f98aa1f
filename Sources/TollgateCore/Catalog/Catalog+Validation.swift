extension Catalog {
    /// Everything in this catalog that could not work or would surprise a customer.
    ///
    /// Empty means that a server may adopt it.
    public func validate() -> [CatalogProblem] {
        appProblems + entitlementProblems + productProblems + buyButtonProblems + offeringProblems
            + placementProblems + houseProblems
    }

    private var entitlementProblems: [CatalogProblem] {
        var report = CatalogReport()
        for (index, entitlement) in entitlements.enumerated() {
            let place: [CatalogProblem.Step] = [.key("entitlements"), .index(index)]
            report.identifier(
                entitlement.lookupKey,
                at: place + [.key("lookup_key")],
                limit: 80,
                what: "a lookup key"
            )
            report.once(
                entitlement.lookupKey,
                in: "lookup_key",
                at: place + [.key("lookup_key")],
                "the lookup key ‘\(entitlement.lookupKey)’ is there twice; remove one of them"
            )
            report.name(entitlement.name, at: place + [.key("name")])
        }
        return report.problems
    }

    private var productProblems: [CatalogProblem] {
        var report = CatalogReport()
        let known = Set(entitlements.map(\.lookupKey))
        for (index, product) in products.enumerated() {
            let place: [CatalogProblem.Step] = [.key("products"), .index(index)]
            report.identifier(product.id, at: place + [.key("id")], limit: 80, what: "a product id")
            report.once(
                product.id,
                in: "id",
                at: place + [.key("id")],
                "the product id ‘\(product.id)’ is there twice; give one of them another id"
            )
            report.name(product.name, at: place + [.key("name")])
            product.checkStoreIDs(apps: apps, at: place, into: &report)
            product.checkWhatItGives(known: known, at: place, into: &report)
            product.checkKind(at: place, into: &report)
        }
        return report.problems
    }

    private var buyButtonProblems: [CatalogProblem] {
        var report = CatalogReport()
        for (index, button) in buyButtons.enumerated() {
            let place: [CatalogProblem.Step] = [.key("buy_buttons"), .index(index)]
            report.identifier(
                button.id,
                at: place + [.key("id")],
                limit: 80,
                what: "a buy button's id"
            )
            report.once(
                button.id,
                in: "id",
                at: place + [.key("id")],
                "the buy button ‘\(button.id)’ is there twice; give one of them another id"
            )
            if !(1...100).contains(button.quantity) {
                report.add(at: place + [.key("quantity")], "a quantity is between 1 and 100")
            }
            let productPlace = place + [.key("product")]
            guard let product = product(id: button.product) else {
                report.add(
                    at: productPlace,
                    "there is no product ‘\(button.product)’; name the id of one under ‘products’"
                )
                continue
            }
            if product.isRetired {
                report.add(
                    at: productPlace,
                    "‘\(product.id)’ is retired; point the button to a product that is sold"
                )
            }
            if product.stripePriceIDs.isEmpty {
                report.add(
                    at: productPlace,
                    "‘\(product.id)’ has no Stripe price, and a buy button leads to Stripe "
                        + "Checkout; add ‘stripe_price_ids’ to the product"
                )
            }
        }
        return report.problems
    }

    private var houseProblems: [CatalogProblem] {
        var report = CatalogReport()
        let month: Int64 = 30 * 24 * 3_600_000
        var spans: [([CatalogProblem.Step], Int64)] = Store.selling.map { store in
            ([.key("renewal_leeway"), .key(store.rawValue)], renewalLeeway[store])
        }
        spans.append(([.key("past_due_grace")], pastDueGrace))
        for (place, span) in spans where !(0...month).contains(span) {
            report.add(at: place, "this is access without payment; allow between 0 and 30 days")
        }
        for (key, path) in [
            ("success_path", checkout.successPath), ("cancel_path", checkout.cancelPath),
        ]
        where !path.hasPrefix("/") || path.hasPrefix("//") || path.contains(where: \.isWhitespace) {
            report.add(
                at: [.key("checkout"), .key(key)],
                "this is a path on the server's own domain; write it like /checkout_redirect/done"
            )
        }
        for (index, storefront) in checkout.storefronts.enumerated()
        where storefront.utf8.count != 3 || !storefront.utf8.allSatisfy(isASCIIUpper) {
            report.add(
                at: [.key("checkout"), .key("storefronts"), .index(index)],
                "a storefront is a country in three capital letters, like USA"
            )
        }
        addAges(to: &report)
        if gates.termsVersion == nil, gates.termsURL != nil {
            report.add(
                at: [.key("gates"), .key("terms_url")],
                "terms are accepted by version; add ‘terms_version’"
            )
        }
        if gates.subscriptionTermsVersion == nil, gates.subscriptionTermsURL != nil {
            report.add(
                at: [.key("gates"), .key("subscription_terms_url")],
                "terms are accepted by version; add ‘subscription_terms_version’"
            )
        }
        return report.problems
    }

    private func addAges(to report: inout CatalogReport) {
        var ages: [([CatalogProblem.Step], Int)] = []
        if let age = gates.minimumAge { ages.append(([.key("minimum_age")], age)) }
        if let age = gates.parentalConsentBelow {
            ages.append(([.key("parental_consent_below")], age))
        }
        for (index, age) in (gates.ageTiers ?? []).enumerated() {
            ages.append(([.key("age_tiers"), .index(index)], age))
        }
        for (place, age) in ages where !(1...120).contains(age) {
            report.add(at: [.key("gates")] + place, "an age is between 1 and 120")
        }
        if let minimum = gates.minimumAge, let consent = gates.parentalConsentBelow,
            consent <= minimum
        {
            report.add(
                at: [.key("gates"), .key("parental_consent_below")],
                "this is above ‘minimum_age’: below that nobody buys, with consent or without"
            )
        }
        if let tiers = gates.ageTiers, tiers != Set(tiers).sorted() {
            report.add(
                at: [.key("gates"), .key("age_tiers")],
                "write each age once, the lowest first, like [13, 16, 18]"
            )
        }
        let asked = gates.askedAges
        if asked.count > 3 {
            report.add(
                at: [.key("gates"), .key("age_tiers")],
                "Apple's age question has three ages at most; ‘minimum_age’ and ‘parental_consent_below’ count too"
            )
        }
        if zip(asked, asked.dropFirst()).contains(where: { $1 - $0 < 2 }) {
            report.add(
                at: [.key("gates"), .key("age_tiers")],
                "Apple's age question needs ages at least two years apart"
            )
        }
    }
}

extension Catalog.Product {
    /// What an id in a store looks like, and that no two products share one.
    fileprivate func checkStoreIDs(
        apps: [Catalog.App],
        at place: [CatalogProblem.Step],
        into report: inout CatalogReport
    ) {
        checkAppStoreIDs(apps: apps, at: place, into: &report)
        for (index, id) in stripePriceIDs.enumerated() {
            let here = place + [.key("stripe_price_ids"), .index(index)]
            if id.hasPrefix("prod_") {
                report.add(
                    at: here,
                    "‘\(id)’ is a product of Stripe's; list its prices, which begin with price_"
                )
            }
            report.identifier(id, at: here, limit: 255, what: "a Stripe price id")
            report.once(
                id,
                in: "stripe_price_ids",
                at: here,
                "the Stripe price ‘\(id)’ is listed already; a price belongs to one product, once"
            )
        }
        checkGooglePlayIDs(apps: apps, at: place, into: &report)
        let isSold = isInAppStore || !stripePriceIDs.isEmpty || isInGooglePlay
        if !isSold, kind != .freeSubscription, !isRetired {
            report.add(
                at: place,
                "nobody can buy ‘\(id)’; add ‘app_store_product_id’, ‘stripe_price_ids’ or "
                    + "‘google_play_product_id’, or ‘retired: true’"
            )
        }
    }

    /// The ids in Google Play: within an app, each of them and its base plan belongs to one product.
    private func checkGooglePlayIDs(
        apps: [Catalog.App],
        at place: [CatalogProblem.Step],
        into report: inout CatalogReport
    ) {
        let here = place + [.key("google_play_base_plans")]
        if googlePlayBasePlans != nil, !isInGooglePlay {
            report.add(at: here, "base plans belong to a product; add ‘google_play_product_id’")
        }
        if googlePlayBasePlans?.isEmpty == true {
            report.add(at: here, "list at least one base plan, or leave this out: then all count")
        }
        for (index, plan) in (googlePlayBasePlans ?? []).enumerated() {
            report.identifier(plan, at: here + [.index(index)], limit: 63, what: "a base plan id")
        }
        let ids = ids(
            googlePlayProductID,
            googlePlayProductIDs,
            named: "google_play_product_id",
            apps: apps,
            known: ("package_name", \.packageName),
            at: place,
            into: &report
        )
        for (id, apps, here) in ids {
            report.identifier(id, at: here, limit: 150, what: "a Google Play product id")
            for plan in googlePlayBasePlans.map({ $0.map { ":" + $0 } }) ?? [""] {
                report.once(
                    id + plan,
                    inEach: apps.map { "google_play_product_id " + $0 },
                    at: here,
                    "the Google Play product ‘\(id + plan)’ belongs to another product already; "
                        + "name other ‘google_play_base_plans’, or remove one of them"
                )
            }
        }
    }

    /// The ids in App Store Connect: within an app, each belongs to one product.
    private func checkAppStoreIDs(
        apps: [Catalog.App],
        at place: [CatalogProblem.Step],
        into report: inout CatalogReport
    ) {
        let ids = ids(
            appStoreProductID,
            appStoreProductIDs,
            named: "app_store_product_id",
            apps: apps,
            known: ("bundle_id", \.bundleID),
            at: place,
            into: &report
        )
        for (id, apps, here) in ids {
            report.identifier(id, at: here, limit: 100, what: "an App Store product id")
            report.once(
                id,
                inEach: apps.map { "app_store_product_id " + $0 },
                at: here,
                "the App Store product ‘\(id)’ belongs to another product already; "
                    + "a store's product is one product here"
            )
        }
    }

    /// A product's ids in a store, each with the apps in which it is meant.
    ///
    /// - Parameters:
    ///   - everywhere: the id in every app, which takes the place of each app's own.
    ///   - name: the key of that id; the other key has an `s` behind it.
    ///   - known: the name by which the store knows an app, and its key.
    private func ids(
        _ everywhere: String?,
        _ byApp: [String: String]?,
        named name: String,
        apps: [Catalog.App],
        known: (key: String, name: KeyPath<Catalog.App, String?>),
        at place: [CatalogProblem.Step],
        into report: inout CatalogReport
    ) -> [(id: String, apps: [String], here: [CatalogProblem.Step])] {
        var ids: [(id: String, apps: [String], here: [CatalogProblem.Step])] = []
        if let everywhere {
            ids.append((everywhere, apps.isEmpty ? [""] : apps.map(\.id), place + [.key(name)]))
            if byApp != nil {
                report.add(
                    at: place + [.key(name + "s")],
                    "‘\(name)’ is the id in every app; remove it, or these"
                )
            }
        }
        for (app, id) in (byApp ?? [:]).sorted(by: { $0.key < $1.key }) {
            let here = place + [.key(name + "s"), .key(app)]
            guard let listed = apps.first(where: { $0.id == app }) else {
                let known = apps.map(\.id).joined(separator: ", ")
                report.add(
                    at: here,
                    apps.isEmpty
                        ? "there is no app ‘\(app)’, since the catalog has no ‘apps’; list them, "
                            + "or write ‘\(name)’"
                        : "there is no app ‘\(app)’; name the id of one under ‘apps’: \(known)"
                )
                continue
            }
            if listed[keyPath: known.name] == nil {
                report.add(
                    at: here,
                    "the app ‘\(app)’ has no ‘\(known.key)’, so it sells nothing there; add that to "
                        + "the app, or remove this id"
                )
            }
            ids.append((id, [app], here))
        }
        return ids
    }

    /// That a purchase is worth something, and that what it grants exists.
    fileprivate func checkWhatItGives(
        known: Set<String>,
        at place: [CatalogProblem.Step],
        into report: inout CatalogReport
    ) {
        var seen: Set<String> = []
        for (index, key) in entitlements.enumerated() {
            let here = place + [.key("entitlements"), .index(index)]
            if !known.contains(key) {
                report.add(
                    at: here,
                    "there is no entitlement ‘\(key)’; "
                        + "name the lookup key of one under ‘entitlements’"
                )
            }
            if !seen.insert(key).inserted {
                report.add(at: here, "‘\(key)’ is listed twice; remove one of them")
            }
        }
        if !(0...1_000_000_000).contains(coins) {
            report.add(
                at: place + [.key("coins")],
                "coins are a whole number from 0 to 1000000000"
            )
        } else if coins == 0, entitlements.isEmpty {
            report.add(
                at: place,
                kind == .consumable
                    ? "‘\(id)’ is a consumable that gives nothing; add ‘coins’"
                    : "‘\(id)’ gives nothing; add ‘entitlements’ or ‘coins’"
            )
        }
        if let price {
            if !(0...99_999_999).contains(price.amount) {
                report.add(
                    at: place + [.key("price"), .key("amount")],
                    "an amount is in minor units (999 is 9.99), from 0 to 99999999"
                )
            }
            if price.currency.utf8.count != 3 || !price.currency.utf8.allSatisfy(isASCIILower) {
                report.add(
                    at: place + [.key("price"), .key("currency")],
                    "a currency is three small letters, like usd"
                )
            }
        }
    }

    /// What each kind needs, and what makes no sense for it.
    fileprivate func checkKind(at place: [CatalogProblem.Step], into report: inout CatalogReport) {
        switch kind {
        case .autoRenewable:
            if subscriptionGroup == nil {
                report.add(
                    at: place,
                    "‘\(id)’ is auto-renewable; name its ‘subscription_group’, "
                        + "so that nobody pays for two plans of one group at once"
                )
            }
            if whileActive == .extend {
                report.add(
                    at: place + [.key("while_active")],
                    "an auto-renewable plan extends itself; leave this out or write refuse"
                )
            }
        case .nonRenewing where duration == nil:
            report.add(
                at: place,
                "‘\(id)’ is non-renewing, and the store does not say how long it lasts; "
                    + "add ‘duration’, like P30D"
            )
        case .consumable
        where !entitlements.isEmpty && (isInAppStore || isInGooglePlay):
            report.add(
                at: place + [.key("entitlements")],
                "a consumable of \(isInAppStore ? "the App Store" : "Google Play") gives coins only, and ‘\(id)’ opens something; "
                    + "make it non_renewing or non_consumable, or remove ‘entitlements’"
            )
        case .consumable where !entitlements.isEmpty && duration == nil:
            report.add(
                at: place + [.key("entitlements")],
                "‘\(id)’ is a consumable, and what it opens would never close; "
                    + "add ‘duration’, like P1D, or make it non_consumable"
            )
        case .consumable where duration != nil && entitlements.isEmpty,
            .nonConsumable where duration != nil:
            report.add(
                at: place + [.key("duration")],
                "‘\(id)’ is \(kind.rawValue) and does not end; "
                    + "remove ‘duration’ or make it non_renewing"
            )
        default: break
        }
        checkAppStoreDetails(at: place, into: &report)
        checkGroup(at: place, into: &report)
    }

    /// Offers and answers about consumption, which only the App Store has.
    private func checkAppStoreDetails(
        at place: [CatalogProblem.Step],
        into report: inout CatalogReport
    ) {
        for (index, offer) in promotionalOffers.enumerated() {
            let here = place + [.key("promotional_offers"), .index(index)]
            report.identifier(offer, at: here, limit: 100, what: "an offer's identifier")
            if kind != .autoRenewable || !isInAppStore {
                report.add(
                    at: here,
                    "only auto-renewable products of the App Store have promotional offers; "
                        + "remove it"
                )
            }
            if promotionalOffers[..<index].contains(offer) {
                report.add(at: here, "‘\(offer)’ is listed twice; remove one of them")
            }
        }
        if consumption != nil, !isInAppStore {
            report.add(
                at: place + [.key("consumption")],
                "only the App Store asks what was consumed; add ‘app_store_product_id’"
            )
        }
    }

    private func checkGroup(at place: [CatalogProblem.Step], into report: inout CatalogReport) {
        if let group = subscriptionGroup {
            let here = place + [.key("subscription_group")]
            report.identifier(group, at: here, limit: 80, what: "a subscription group")
            if kind != .autoRenewable, kind != .freeSubscription {
                report.add(at: here, "only plans have a group; remove it or change ‘kind’")
            }
        }
        if let level {
            let here = place + [.key("level")]
            if subscriptionGroup == nil {
                report.add(at: here, "a level ranks within a group; add ‘subscription_group’")
            }
            if !(1...1000).contains(level) {
                report.add(at: here, "a level is between 1, the highest, and 1000")
            }
        }
    }
}
