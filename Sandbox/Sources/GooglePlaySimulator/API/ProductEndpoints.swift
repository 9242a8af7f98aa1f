/// `purchases.productsv2` and `purchases.products`.
enum ProductEndpoints {
    private static let v1 = "purchases/products/{productId}/tokens/{token}"

    static let all = [
        Endpoint(
            id: "purchases.productsv2.getproductpurchasev2",
            method: "GET",
            pattern: "purchases/productsv2/tokens/{token}",
            bucket: .oneTime,
            answer: getV2
        ),
        Endpoint(
            id: "purchases.products.get",
            method: "GET",
            pattern: v1,
            bucket: .oneTime,
            answer: getV1
        ),
        Endpoint(
            id: "purchases.products.acknowledge",
            method: "POST",
            pattern: "\(v1):acknowledge",
            bucket: .oneTime,
            answer: acknowledge
        ),
        Endpoint(
            id: "purchases.products.consume",
            method: "POST",
            pattern: "\(v1):consume",
            bucket: .oneTime,
            answer: consume
        ),
    ]

    private static func find(_ call: Call, _ store: PlayStore) throws -> ProductPurchase {
        let token = call.parameter("token")
        guard let found = store.products[token] else { throw TokenCheck.unknown(token, store) }
        if found.state == .canceled, found.completedAt != nil,
            store.behaviour.refundedProductIsGone
        {
            throw APIError.tokenNoLongerValid
        }
        // A consumed product that was bought again is found by its newest token alone.
        let isRepeated = store.products.values.contains { other in
            other.account == found.account && other.boughtAt > found.boughtAt
                && other.lines.contains { line in
                    found.lines.contains { $0.productID == line.productID }
                }
        }
        if found.isConsumed, isRepeated, store.behaviour.olderConsumedIsGone {
            throw APIError.tokenNotFound
        }
        return found
    }

    private static func line(
        _ call: Call,
        of purchase: ProductPurchase
    ) throws -> ProductPurchase.Line {
        let product = call.parameter("productId")
        guard let line = purchase.lines.first(where: { $0.productID == product }) else {
            throw APIError.invalid("The product ID does not match the purchase token.")
        }
        return line
    }

    private static func getV2(_ call: Call, _ store: inout PlayStore) throws -> JSON? {
        let found = try find(call, store)
        if let stale = store.readStale(found.token, at: call.now) {
            guard let answer = stale else { throw APIError.tokenNotFound }
            return answer
        }
        return found.wire
    }

    private static func getV1(_ call: Call, _ store: inout PlayStore) throws -> JSON? {
        let found = try find(call, store)
        return found.wireV1(try line(call, of: found))
    }

    private static func acknowledge(_ call: Call, _ store: inout PlayStore) throws -> JSON? {
        var found = try find(call, store)
        _ = try line(call, of: found)
        guard found.state == .purchased else { throw TokenCheck.notOwned }
        found.acknowledge()
        store.put(found, at: call.now)
        return nil
    }

    private static func consume(_ call: Call, _ store: inout PlayStore) throws -> JSON? {
        var found = try find(call, store)
        let line = try line(call, of: found)
        guard found.state == .purchased, !line.isConsumed else { throw TokenCheck.notOwned }
        try SubscriptionEndpoints.refusing { try found.consume(line.productID) }
        store.put(found, at: call.now)
        return nil
    }
}
