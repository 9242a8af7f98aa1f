/// `purchases.subscriptionsv2`, and what is left of `purchases.subscriptions`.
enum SubscriptionEndpoints {
    private static let v2 = "purchases/subscriptionsv2/tokens/{token}"
    private static let v1 = "purchases/subscriptions/{subscriptionId}/tokens/{token}"

    static let all = [
        Endpoint(
            id: "purchases.subscriptionsv2.get",
            method: "GET",
            pattern: v2,
            bucket: .subscriptions,
            answer: get
        ),
        Endpoint(
            id: "purchases.subscriptionsv2.cancel",
            method: "POST",
            pattern: "\(v2):cancel",
            bucket: .subscriptionUpdates,
            permission: .manageOrders,
            answer: cancel
        ),
        Endpoint(
            id: "purchases.subscriptionsv2.revoke",
            method: "POST",
            pattern: "\(v2):revoke",
            bucket: .subscriptionUpdates,
            permission: .manageOrders,
            answer: revoke
        ),
        Endpoint(
            id: "purchases.subscriptionsv2.defer",
            method: "POST",
            pattern: "\(v2):defer",
            bucket: .subscriptionUpdates,
            permission: .manageOrders,
            answer: `defer`
        ),
        Endpoint(
            id: "purchases.subscriptions.acknowledge",
            method: "POST",
            pattern: "\(v1):acknowledge",
            bucket: .subscriptions,
            answer: acknowledge
        ),
        Endpoint(
            id: "purchases.subscriptions.cancel",
            method: "POST",
            pattern: "\(v1):cancel",
            bucket: .subscriptionUpdates,
            permission: .manageOrders,
            answer: cancelV1
        ),
        Endpoint(
            id: "purchases.subscriptions.defer",
            method: "POST",
            pattern: "\(v1):defer",
            bucket: .subscriptionUpdates,
            permission: .manageOrders,
            answer: deferV1
        ),
    ]

    /// The subscription that a call names.
    static func find(_ call: Call, _ store: PlayStore) throws -> Subscription {
        let token = call.parameter("token")
        guard let found = store.subscriptions[token] else {
            throw TokenCheck.unknown(token, store)
        }
        let days = min(100_000, max(0, store.behaviour.tokenDays)) * Timestamp.day
        if !found.isLive, let ended = found.expiry ?? found.endedAt, call.now > ended + days {
            throw APIError.subscriptionGone
        }
        return found
    }

    private static func get(_ call: Call, _ store: inout PlayStore) throws -> JSON? {
        let found = try find(call, store)
        if let stale = store.readStale(found.token, at: call.now) {
            guard let answer = stale else { throw APIError.tokenNotFound }
            return answer
        }
        return found.wire(at: call.now, store.behaviour)
    }

    private static func cancel(_ call: Call, _ store: inout PlayStore) throws -> JSON? {
        var found = try find(call, store)
        let type = try call.object["cancellationContext"]?["cancellationType"]?.text
        let effects: [SubscriptionEffect]
        switch type {
        case "USER_REQUESTED_STOP_RENEWALS":
            effects = try refusing {
                try found.cancel(.user(at: call.now, reason: nil, words: nil), at: call.now)
            }
        case "DEVELOPER_REQUESTED_STOP_PAYMENTS":
            effects = try refusing {
                try found.cancel(.developer, stopsPayments: true, at: call.now)
            }
        default: throw APIError.required("cancellationContext.cancellationType")
        }
        store.put(found, effects, at: call.now)
        return [:]
    }

    private static func revoke(_ call: Call, _ store: inout PlayStore) throws -> JSON? {
        var found = try find(call, store)
        let context = try call.object["revocationContext"]
        let kind: Subscription.Revocation
        if context?["fullRefund"] != nil {
            kind = .full
        } else if context?["proratedRefund"] != nil {
            kind = .prorated
        } else if let product = context?["itemBasedRefund"]?["productId"]?.text {
            kind = .item(product)
        } else {
            throw APIError.required("revocationContext")
        }
        let effects = try refusing {
            try found.revoke(kind, source: .developer, reason: .other, at: call.now)
        }
        store.put(found, effects, at: call.now)
        return [:]
    }

    private static func `defer`(_ call: Call, _ store: inout PlayStore) throws -> JSON? {
        var found = try find(call, store)
        let context = try call.object["deferralContext"]
        guard let text = context?["deferDuration"]?.text, text.hasSuffix("s"),
            let seconds = Double(text.dropLast()), (0...1e9).contains(seconds)
        else { throw APIError.required("deferralContext.deferDuration") }
        guard let etag = context?["etag"]?.text else {
            throw APIError.required("deferralContext.etag")
        }
        guard etag == found.etag else { throw APIError.concurrentUpdate }
        let effects = try refusing { try found.defer(by: Int64(seconds * 1000)) }
        if context?["validateOnly"]?.flag != true { store.put(found, effects, at: call.now) }
        return [
            "itemExpiryTimeDetails": .array(
                found.items.filter(\.isOwned).map { item in
                    ["productId": .string(item.productID), "expiryTime": .time(item.expiry)]
                }
            )
        ]
    }

    private static func acknowledge(_ call: Call, _ store: inout PlayStore) throws -> JSON? {
        var found = try find(call, store)
        guard found.isLive else { throw TokenCheck.notOwned }
        let ids = try call.object["externalAccountIds"]
        if let ids {
            let account = ids["obfuscatedAccountId"]?.text
            let profile = ids["obfuscatedProfileId"]?.text
            guard account?.count ?? 0 <= 64, profile?.count ?? 0 <= 64 else {
                throw APIError.invalid("An obfuscated ID has at most 64 characters.")
            }
            let wanted = Identifiers(accountID: account, profileID: profile)
            // The answer to the first call may have been lost: the same ids are accepted again.
            let isRepeated = found.isResubscription == true && found.identifiers == wanted
            guard found.outOfApp != nil || isRepeated else {
                throw APIError.invalid(
                    "External account IDs can be set for resubscriptions only."
                )
            }
            found.identifiers = wanted
        }
        found.acknowledge()
        store.put(found, at: call.now)
        return nil
    }

    private static func cancelV1(_ call: Call, _ store: inout PlayStore) throws -> JSON? {
        var found = try find(call, store)
        let effects = try refusing { try found.cancel(.developer, at: call.now) }
        store.put(found, effects, at: call.now)
        return nil
    }

    private static func deferV1(_ call: Call, _ store: inout PlayStore) throws -> JSON? {
        var found = try find(call, store)
        let info = try call.object["deferralInfo"]
        guard let expected = info?["expectedExpiryTimeMillis"]?.whole,
            let desired = info?["desiredExpiryTimeMillis"]?.whole, desired > 0
        else { throw APIError.required("deferralInfo") }
        guard expected == found.expiry else {
            throw APIError.invalid("The expected expiry time does not match the current one.")
        }
        let effects = try refusing { try found.defer(by: desired - expected) }
        store.put(found, effects, at: call.now)
        return ["newExpiryTimeMillis": .long(found.expiry)]
    }

    /// The API's error for a refusal of the state machine.
    static func refusing<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch Refusal.invalid(let why) {
            throw APIError.invalid(why)
        } catch let refusal as Refusal {
            throw APIError.failedPrecondition(refusal.description)
        }
    }
}

/// Purchase tokens that are no good.
enum TokenCheck {
    static let notOwned = APIError(
        code: 400,
        message: "The purchase is not owned by the user.",
        reason: "productNotOwnedByUser"
    )

    /// Nobody has this token: whether it could be one decides what is said.
    static func unknown(_ token: String, _ store: PlayStore) -> APIError {
        let isLike = token.count >= 100 && token.contains(".")
        return isLike || !store.behaviour.malformedTokenIsInvalid
            ? .tokenNotFound : .invalid("Invalid Value")
    }
}
