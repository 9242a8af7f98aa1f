/// `orders` and `purchases.voidedpurchases`.
enum OrderEndpoints {
    static let all = [
        Endpoint(
            id: "orders.get",
            method: "GET",
            pattern: "orders/{orderId}",
            bucket: .orders,
            permission: .viewFinancialData,
            answer: get
        ),
        Endpoint(
            id: "orders.batchget",
            method: "GET",
            pattern: "orders:batchGet",
            bucket: .orders,
            permission: .viewFinancialData,
            answer: batchGet
        ),
        Endpoint(
            id: "orders.refund",
            method: "POST",
            pattern: "orders/{orderId}:refund",
            bucket: .orders,
            permission: .manageOrders,
            answer: refund
        ),
        Endpoint(
            id: "orders.reviewrefund",
            method: "POST",
            pattern: "orders/{orderId}:reviewrefund",
            bucket: .orders,
            permission: .manageOrders,
            answer: reviewRefund
        ),
        Endpoint(
            id: "purchases.voidedpurchases.list",
            method: "GET",
            pattern: "purchases/voidedpurchases",
            bucket: .voided,
            permission: .viewFinancialData,
            answer: listVoided
        ),
    ]

    private static func find(_ id: String, _ call: Call, _ store: PlayStore) throws -> Order {
        let days = min(store.behaviour.orderDays, 36_500)
        guard let order = store.orders[id],
            days <= 0 || call.now < order.createdAt + days * Timestamp.day
        else {
            throw APIError.notFound("The order was not found.")
        }
        let isOld =
            store.subscriptions[order.token].map { $0.latestOrderID != id && id.contains("..") }
            ?? false
        guard !isOld || store.behaviour.oldOrdersAnswer else {
            throw APIError.notFound("The order was not found.")
        }
        return order
    }

    private static func get(_ call: Call, _ store: inout PlayStore) throws -> JSON? {
        wire(try find(call.parameter("orderId"), call, store), store)
    }

    /// An order as it is read.
    private static func wire(_ order: Order, _ store: PlayStore) -> JSON {
        let wire = order.wire(store.catalog)
        guard store.behaviour.keptOrdersMove, case .object(var members) = wire else { return wire }
        let holders = store.subscriptions.values.filter { subscription in
            subscription.items.contains { $0.latestOrder == order.id }
        }
        let newest = holders.max { ($0.boughtAt, $0.token) < ($1.boughtAt, $1.token) }
        members["purchaseToken"] = .string(newest?.token ?? order.token)
        return .object(members)
    }

    private static func batchGet(_ call: Call, _ store: inout PlayStore) throws -> JSON? {
        let ids = call.all("orderIds")
        guard (1...1000).contains(ids.count), Set(ids).count == ids.count else {
            throw APIError.invalid("There must be between 1 and 1000 distinct order IDs.")
        }
        let orders = try ids.map { wire(try find($0, call, store), store) }
        return ["orders": .array(orders)]
    }

    private static func refund(_ call: Call, _ store: inout PlayStore) throws -> JSON? {
        let order = try find(call.parameter("orderId"), call, store)
        guard order.isRefundable, call.now <= order.createdAt + 3 * 366 * Timestamp.day else {
            throw APIError.failedPrecondition("The order cannot be refunded.")
        }
        if call.first("revoke") == "true" {
            // Only the latest order of a subscription takes access with it.
            let isLatest = store.subscriptions[order.token]?.latestOrderID == order.id
            if isLatest || store.products[order.token] != nil {
                try SubscriptionEndpoints.refusing {
                    try OrderRefund.revoke(
                        order,
                        source: .developer,
                        reason: .other,
                        in: &store,
                        at: call.now
                    )
                }
                return nil
            }
        }
        store.orders.change(order.id) { $0.refundAll(at: call.now) }
        return nil
    }

    private static func reviewRefund(_ call: Call, _ store: inout PlayStore) throws -> JSON? {
        let order = try find(call.parameter("orderId"), call, store)
        let body = try call.object
        guard let token = body["pendingRefundToken"]?.text, var review = store.reviews[token],
            review.orderID == order.id
        else { throw APIError.invalid("The pending refund token does not belong to the order.") }
        guard !review.isDecided else {
            throw APIError.failedPrecondition("The refund was decided already.")
        }
        guard body["sampleContentProvided"]?.flag != nil else {
            throw APIError.required("sampleContentProvided")
        }
        guard let text = body["refundPreference"]?.text,
            let preference = RefundReview.Preference(rawValue: text)
        else { throw APIError.required("refundPreference") }
        if let share = body["consumptionPercentageMilliunits"]?.whole {
            guard (0...100_000).contains(share) else {
                throw APIError.invalid("consumptionPercentageMilliunits is 0 to 100000.")
            }
        }
        let events = body["consumptionUsageEvents"]?.list ?? []
        guard events.count <= 1000 else {
            throw APIError.invalid("There are at most 1000 consumption usage events.")
        }
        for event in events {
            guard event["consumptionItemDescription"]?.text?.count ?? 0 <= 5000,
                event["location"] == nil || event["location"]?["regionCode"]?.text != nil
            else { throw APIError.invalid("A consumption usage event is not valid.") }
        }
        review.answer = body
        store.reviews[token] = review
        if preference == .approve || preference == .decline { store.decide(token, at: call.now) }
        return nil
    }

    // MARK: - Voided purchases

    private static func listVoided(_ call: Call, _ store: inout PlayStore) throws -> JSON? {
        let query = try query(call)
        let oldest = call.now - VoidedPurchase.window
        let from = query.start ?? oldest
        let to = query.end ?? call.now
        // Google looks at neither where a page is named.
        let isFirst = call.first("token") == nil
        guard !isFirst || from >= oldest else {
            throw APIError.invalid("The start time cannot be older than 30 days.")
        }
        guard !isFirst || to <= call.now else {
            throw APIError.invalid("The end time cannot be greater than the current time.")
        }
        guard from <= to else {
            throw APIError.invalid("The start time must be before the end time.")
        }
        let found = store.voided.filter { one in
            (from...to).contains(one.voidedAt)
                && (query.withSubscriptions || !one.isSubscription)
                && (query.withParts || one.quantity == nil)
        }
        let page = found.dropFirst(query.offset).prefix(query.limit)
        let next = query.offset + page.count
        let token = Base64URL.text(JSON.object(["offset": .integer(Int64(next))]).bytes)
        return [
            "pageInfo": [
                "totalResults": .whole(found.count), "resultPerPage": .whole(page.count),
                "startIndex": .whole(query.offset),
            ],
            "tokenPagination": next < found.count ? ["nextPageToken": .string(token)] : nil,
            "voidedPurchases": .items(page.map { $0.wire(store.behaviour) }),
        ]
    }

    private static func query(_ call: Call) throws(APIError) -> VoidedPurchase.Query {
        var query = VoidedPurchase.Query()
        query.start = try call.number("startTime")
        query.end = try call.number("endTime")
        query.withSubscriptions = try call.number("type") == 1
        query.withParts = call.first("includeQuantityBasedPartialRefund") == "true"
        let limit = try call.number("maxResults") ?? 1000
        query.limit = Int(min(1000, max(1, limit)))
        query.offset = Int(max(0, try call.number("startIndex") ?? 0))
        if let token = call.first("token") {
            guard
                let offset = Base64URL.bytes(token).flatMap(JSON.init(bytes:))?["offset"]?.whole,
                offset >= 0
            else { throw .invalid("The page token is not valid.") }
            query.offset = Int(offset)
        }
        return query
    }
}
