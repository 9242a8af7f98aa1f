import TollgateCore

extension Purchase.Key {
    /// A purchase token of Google Play.
    static func play(_ token: String, _ environment: StoreEnvironment = .production) -> Self {
        Self(
            store: .googlePlay,
            environment: environment,
            application: "com.example.app",
            id: token
        )
    }
}

extension [Purchase.Key: Purchase] {
    /// Lets purchases that continue one another know of it, as storage does after each fact.
    mutating func link(_ key: Purchase.Key) {
        func other(_ id: String) -> Purchase.Key {
            var other = key
            other.id = id
            return other
        }
        for predecessor in self[key]?.predecessors ?? [] {
            let successor = Successor(id: key.id, continuing: predecessor)
            let previous = other(predecessor.id)
            self[previous, default: Purchase(key: previous)].isContinued(by: successor)
        }
        var queue = [key]
        while let next = queue.popLast() {
            guard var record = self[next] else { continue }
            for predecessor in record.predecessors ?? [] {
                if let previous = self[other(predecessor.id)] { record.follow(previous) }
            }
            guard next == key || record != self[next] else { continue }
            self[next] = record
            queue += (record.successors ?? []).map { other($0.id) }
        }
    }
}

extension GooglePlaySubscription.Item {
    /// An item of the monthly plan, or of another one.
    static func item(
        to expiry: Double?,
        order: String? = "GPA.1",
        _ product: String = "premium",
        _ plan: String? = "monthly",
        renews: Bool = true,
        isPrepaid: Bool = false,
        phase: String? = nil,
        then replacement: String? = nil,
        isRemoved: Bool = false,
        awaitsConsent: Bool = false
    ) -> Self {
        Self(
            product: product,
            basePlan: plan,
            expiry: expiry.map { .day($0) },
            order: order,
            renews: renews,
            isPrepaid: isPrepaid,
            phase: phase,
            replacement: replacement,
            isRemoved: isRemoved,
            awaitsConsent: awaitsConsent
        )
    }
}

extension Fact {
    /// A read of a subscription.
    static func play(
        _ state: String,
        _ day: Double,
        from: Double? = 0,
        _ items: GooglePlaySubscription.Item...,
        token: String = "A",
        linked: String? = nil,
        account: String? = nil,
        again: GooglePlaySubscription.Resubscription? = nil,
        in environment: StoreEnvironment = .production
    ) -> Fact {
        .said(
            .googlePlaySubscription(
                GooglePlaySubscription(
                    state: state,
                    start: from.map { .day($0) },
                    items: items,
                    linkedToken: linked,
                    account: account,
                    resubscription: again
                )
            ),
            on: day,
            read: true,
            about: .play(token, environment),
            source: "read:\(token) of day \(day)"
        )
    }

    /// A read of what was bought once.
    static func bought(
        _ state: String,
        _ day: Double,
        at completed: Double? = 0,
        _ lines: GooglePlayPurchase.Line...,
        token: String = "P",
        account: String? = nil
    ) -> Fact {
        .said(
            .googlePlayPurchase(
                GooglePlayPurchase(
                    state: state,
                    completed: completed.map { .day($0) },
                    lines: lines,
                    order: "GPA.\(token)",
                    account: account
                )
            ),
            on: day,
            read: true,
            about: .play(token),
            source: "read:\(token) of day \(day)"
        )
    }

    /// A read of an order of the monthly plan.
    static func order(
        _ id: String,
        _ day: Double,
        from: Double,
        to: Double,
        state: String = "PROCESSED",
        refunded: Double? = nil,
        token: String = "A"
    ) -> Fact {
        let price = GooglePlayMoney(micros: 9_990_000, currency: "USD")
        return .said(
            .googlePlayOrder(
                GooglePlayOrder(
                    id: id,
                    state: state,
                    created: .day(from),
                    processed: .day(from),
                    total: price,
                    lines: [
                        .init(
                            product: "premium",
                            plan: "monthly",
                            total: price,
                            start: .day(from),
                            end: .day(to)
                        )
                    ],
                    refunds: refunded.map {
                        [.init(at: .day($0), isPartial: false, total: price)]
                    } ?? []
                )
            ),
            on: day,
            read: true,
            about: .play(token)
        )
    }

    /// An entry of the list of voided purchases, as a read of `day` has it.
    static func void(
        _ order: String,
        _ at: Double,
        quantity: Int64? = nil,
        said day: Double? = nil,
        token: String = "A"
    ) -> Fact {
        .said(
            .googlePlayVoid(GooglePlayVoid(order: order, at: .day(at), quantity: quantity)),
            on: day ?? at,
            read: true,
            about: .play(token)
        )
    }

    static func unreadable(_ day: Double, token: String = "A") -> Fact {
        .said(
            .googlePlayUnreadable(GooglePlayUnreadable(reason: "purchaseTokenNoLongerValid")),
            on: day,
            read: true,
            about: .play(token)
        )
    }
}
