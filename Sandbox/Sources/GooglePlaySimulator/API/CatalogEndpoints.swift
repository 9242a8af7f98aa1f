/// The methods of `monetization` that read the catalog; writing methods are not served.
enum CatalogEndpoints {
    private static let plans = "subscriptions/{productId}/basePlans/{basePlanId}/offers"
    private static let options =
        "oneTimeProducts/{productId}/purchaseOptions/{purchaseOptionId}/offers"

    static let all = [
        read("monetization.subscriptions.list", "subscriptions", listSubscriptions),
        read("monetization.subscriptions.batchGet", "subscriptions:batchGet", batchSubscriptions),
        read("monetization.subscriptions.get", "subscriptions/{productId}", getSubscription),
        read("monetization.subscriptions.basePlans.offers.list", plans, listOffers),
        read("monetization.subscriptions.basePlans.offers.get", "\(plans)/{offerId}", getOffer),
        read(
            "monetization.subscriptions.basePlans.offers.batchGet",
            by: "POST",
            "\(plans):batchGet",
            batchOffers
        ),
        read("monetization.onetimeproducts.list", "oneTimeProducts", listProducts),
        read("monetization.onetimeproducts.batchGet", "oneTimeProducts:batchGet", batchProducts),
        read("monetization.onetimeproducts.get", "oneTimeProducts/{productId}", getProduct),
        read(
            "monetization.onetimeproducts.purchaseOptions.offers.list",
            options,
            listProductOffers
        ),
        read(
            "monetization.onetimeproducts.purchaseOptions.offers.batchGet",
            by: "POST",
            "\(options):batchGet",
            batchProductOffers
        ),
    ]

    private static func read(
        _ id: String,
        by method: String = "GET",
        _ pattern: String,
        _ answer: @escaping Endpoint.Answer
    ) -> Endpoint {
        Endpoint(id: id, method: method, pattern: pattern, bucket: .monetization, answer: answer)
    }

    /// The offers that a call names in its body, each once.
    ///
    /// Its path names what they have in common, or `-` where they differ:
    /// https://developers.google.com/android-publisher/api-ref/rest/v3/monetization.subscriptions.basePlans.offers/batchGet
    ///
    /// - Parameter names: The fields that name an offer, the offer's own id last.
    private static func requested(
        _ call: Call,
        _ store: PlayStore,
        by names: [String]
    ) throws -> [[String]] {
        let requests = try call.object["requests"]?.list ?? []
        guard (1...100).contains(requests.count) else {
            throw APIError.invalid("Between 1 and 100 requests are needed.")
        }
        let wanted = try requests.map { request in
            guard request["packageName"]?.text == store.packageName else {
                throw APIError.invalid("The package name does not match that of the path.")
            }
            return try names.map { name in
                guard let value = request[name]?.text, !value.isEmpty else {
                    throw APIError.invalid("\(name) is required.")
                }
                let common = call.parameters[name] ?? "-"
                guard common == "-" || common == value else {
                    throw APIError.invalid("\(name) does not match that of the path.")
                }
                return value
            }
        }
        guard Set(wanted).count == wanted.count else {
            throw APIError.invalid("Each offer may be requested once.")
        }
        return wanted
    }

    private static func finding<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let refusal as Refusal {
            throw APIError.notFound(refusal.description)
        }
    }

    /// One page of a list.
    private static func page(_ name: String, _ items: [JSON], _ call: Call) throws -> JSON {
        let size = Int(min(1000, max(1, try call.number("pageSize") ?? 50)))
        let offset = Int(max(0, try call.number("pageToken") ?? 0))
        let page = Array(items.dropFirst(offset).prefix(size))
        let next = offset + page.count
        guard case .object(var members) = JSON.object([:]) else { return .null }
        members[name] = page.isEmpty ? nil : .array(page)
        members["nextPageToken"] = next < items.count ? .string("\(next)") : nil
        return .object(members)
    }

    // MARK: - Subscriptions

    private static func listSubscriptions(_ call: Call, _ store: inout PlayStore) throws -> JSON? {
        let package = store.packageName
        let all = (store.catalog.subscriptions ?? []).map { $0.wire(package) }
        return try page("subscriptions", all, call)
    }

    private static func batchSubscriptions(_ call: Call, _ store: inout PlayStore) throws -> JSON? {
        let found = try finding {
            try call.all("productIds").map { id in
                try store.catalog.subscription(id).wire(store.packageName)
            }
        }
        return ["subscriptions": .items(found)]
    }

    private static func getSubscription(_ call: Call, _ store: inout PlayStore) throws -> JSON? {
        try finding { try store.catalog.subscription(call.parameter("productId")) }
            .wire(store.packageName)
    }

    private static func offers(
        _ call: Call,
        _ store: PlayStore
    ) throws -> (String, BasePlan, [SubscriptionOffer]) {
        let product = try store.catalog.subscription(call.parameter("productId"))
        let plan = try product.plan(call.parameter("basePlanId"))
        return (product.productID, plan, plan.offers ?? [])
    }

    private static func listOffers(_ call: Call, _ store: inout PlayStore) throws -> JSON? {
        let (product, plan, offers) = try finding { try Self.offers(call, store) }
        let all = offers.map { $0.wire(store.packageName, product: product, plan) }
        return try page("subscriptionOffers", all, call)
    }

    private static func getOffer(_ call: Call, _ store: inout PlayStore) throws -> JSON? {
        let (product, plan, offers) = try finding { try Self.offers(call, store) }
        guard let offer = offers.first(where: { $0.offerID == call.parameter("offerId") }) else {
            throw APIError.notFound("The offer was not found.")
        }
        return offer.wire(store.packageName, product: product, plan)
    }

    private static func batchOffers(_ call: Call, _ store: inout PlayStore) throws -> JSON? {
        let names = ["productId", "basePlanId", "offerId"]
        let found = try requested(call, store, by: names).map { wanted in
            try finding {
                let plan = try store.catalog.subscription(wanted[0]).plan(wanted[1])
                guard let offer = try plan.offer(wanted[2]) else {
                    throw Refusal.notFound("offer \(wanted[2])")
                }
                return offer.wire(store.packageName, product: wanted[0], plan)
            }
        }
        return ["subscriptionOffers": .items(found)]
    }

    // MARK: - One-time products

    private static func listProducts(_ call: Call, _ store: inout PlayStore) throws -> JSON? {
        let package = store.packageName
        let all = (store.catalog.oneTimeProducts ?? []).map { $0.wire(package) }
        return try page("oneTimeProducts", all, call)
    }

    private static func batchProducts(_ call: Call, _ store: inout PlayStore) throws -> JSON? {
        let found = try finding {
            try call.all("productIds").map { id in
                try store.catalog.oneTimeProduct(id).wire(store.packageName)
            }
        }
        return ["oneTimeProducts": .items(found)]
    }

    private static func getProduct(_ call: Call, _ store: inout PlayStore) throws -> JSON? {
        try finding { try store.catalog.oneTimeProduct(call.parameter("productId")) }
            .wire(store.packageName)
    }

    private static func listProductOffers(_ call: Call, _ store: inout PlayStore) throws -> JSON? {
        let all = try finding {
            let product = try store.catalog.oneTimeProduct(call.parameter("productId"))
            let option = try product.option(call.parameter("purchaseOptionId"))
            return (option.offers ?? []).map {
                $0.wire(store.packageName, product: product.productID, option)
            }
        }
        return try page("oneTimeProductOffers", all, call)
    }

    private static func batchProductOffers(_ call: Call, _ store: inout PlayStore) throws -> JSON? {
        let names = ["productId", "purchaseOptionId", "offerId"]
        let found = try requested(call, store, by: names).map { wanted in
            try finding {
                let option = try store.catalog.oneTimeProduct(wanted[0]).option(wanted[1])
                guard let offer = try option.offer(wanted[2]) else {
                    throw Refusal.notFound("offer \(wanted[2])")
                }
                return offer.wire(store.packageName, product: wanted[0], option)
            }
        }
        return ["oneTimeProductOffers": .items(found)]
    }
}
