extension World {
    /// A page of the objects of a kind, newest first, by the parameters of the call.
    func list(
        _ kind: Kind,
        _ call: inout Call,
        url: String? = nil,
        where isListed: (JSON) throws -> Bool = { _ in true }
    ) throws -> JSON {
        let created = try Self.createdFilter(&call.parameters)
        let rows = try all(kind).reversed().filter {
            // What was deleted is answered for by its id alone.
            try $0["deleted"].bool != true && created($0["created"].count) && isListed($0)
        }
        return try call.page(Array(rows), url: url ?? "/v1/" + Self.path(of: kind))
    }

    private static func createdFilter(
        _ parameters: inout Parameters
    ) throws -> @Sendable (Int) -> Bool {
        if let exact = try? parameters.object(
            "created",
            { part in
                (
                    try part.int("gt") ?? .min, try part.int("gte") ?? .min,
                    try part.int("lt") ?? .max, try part.int("lte") ?? .max
                )
            }
        ) {
            let (above, from, below, to) = exact
            return { ($0 > above || above == .min) && $0 >= from && $0 < below && $0 <= to }
        }
        guard let exact = try parameters.int("created") else { return { _ in true } }
        return { $0 == exact }
    }

    private static func path(of kind: Kind) -> String {
        switch kind {
        case .checkoutSession: "checkout/sessions"
        case .feature: "entitlements/features"
        case .activeEntitlement: "entitlements/active_entitlements"
        case .portalSession: "billing_portal/sessions"
        case .portalConfiguration: "billing_portal/configurations"
        case .testClock: "test_helpers/test_clocks"
        case .invoiceItem: "invoiceitems"
        default: kind.rawValue + "s"
        }
    }
}

extension Call {
    /// Cuts the page that `limit`, `starting_after` and `ending_before` ask for out of `rows`.
    /// https://docs.stripe.com/api/pagination
    mutating func page(_ rows: [JSON], url: String) throws -> JSON {
        let limit = try parameters.int("limit", in: 1...100) ?? 10
        let after = try parameters.string("starting_after")
        let before = try parameters.string("ending_before")
        func index(of id: String, _ param: String) throws -> Int {
            guard let index = rows.firstIndex(where: { $0["id"].string == id }) else {
                throw APIError.noSuch("object", id, param: param)
            }
            return index
        }
        let slice: ArraySlice<JSON>
        let hasMore: Bool
        switch (after, before) {
        case (_?, _?):
            throw APIError.invalid(
                "Received both starting_after and ending_before parameters. Please pass in only one.",
                param: "starting_after"
            )
        case (let after?, nil):
            let rest = rows[(try index(of: after, "starting_after") + 1)...]
            (slice, hasMore) = (rest.prefix(limit), rest.count > limit)
        case (nil, let before?):
            let rest = rows[..<(try index(of: before, "ending_before"))]
            (slice, hasMore) = (rest.suffix(limit), rest.count > limit)
        case (nil, nil):
            (slice, hasMore) = (rows.prefix(limit), rows.count > limit)
        }
        return .list(Array(slice), url: url, hasMore: hasMore)
    }
}

extension JSON {
    /// A list object. https://docs.stripe.com/api/pagination
    static func list(_ data: [JSON], url: String, hasMore: Bool = false) -> JSON {
        [
            "object": "list", "data": .array(data), "has_more": .bool(hasMore), "url": .string(url),
        ]
    }
}
