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
        var later = (self[key]?.successors ?? []).map { other($0.id) } + [key]
        while let key = later.popLast() {
            guard let record = self[key] else { continue }
            for predecessor in record.predecessors ?? [] {
                let previous = other(predecessor.id)
                let before = self[previous, default: Purchase(key: previous)]
                var changed = before
                changed.isContinued(by: Successor(id: key.id, continuing: predecessor), record)
                self[previous] = changed
                if changed != before { later.append(previous) }
            }
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

    /// A read of an order of the monthly plan, which costs ten.
    ///
    /// - Parameters:
    ///   - charged: what was paid for the plan, before a tax that comes on top.
    ///   - tax: what of the payment was tax; on top of the listed price, unless that includes it.
    ///   - share: what of that was refunded.
    ///   - club: the price of another product in the same order.
    static func order(
        _ id: String,
        _ day: Double,
        from: Double,
        to: Double,
        state: String = "PROCESSED",
        charged: Int64 = 10,
        tax: Int64? = nil,
        isTaxInclusive: Bool? = nil,
        refunded: Double? = nil,
        share: Int64 = 10,
        club: Int64? = nil,
        token: String = "A"
    ) -> Fact {
        func money(_ amount: Int64) -> GooglePlayMoney {
            GooglePlayMoney(micros: amount * 1_000_000, currency: "USD")
        }
        func line(_ product: String, _ plan: String?, _ amount: Int64) -> GooglePlayOrder.Line {
            .init(
                product: product,
                plan: plan,
                listing: money(product == "premium" ? 10 : amount),
                total: money(amount + (isTaxInclusive == true ? 0 : tax ?? 0)),
                tax: tax.map(money),
                start: .day(from),
                end: .day(to)
            )
        }
        return .said(
            .googlePlayOrder(
                GooglePlayOrder(
                    id: id,
                    state: state,
                    created: .day(from),
                    processed: .day(from),
                    total: money(charged + (club ?? 0)),
                    isTaxInclusive: isTaxInclusive,
                    lines: [line("premium", "monthly", charged)]
                        + (club.map { [line("club", nil, $0)] } ?? []),
                    refunds: refunded.map {
                        [.init(at: .day($0), isPartial: share < 10, total: money(share))]
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

extension Fact {
    static func outage(_ day: Double, token: String = "A") -> Fact {
        .said(
            .googlePlayUnreadable(
                GooglePlayUnreadable(reason: "permissionDenied", isOutage: true)
            ),
            on: day,
            read: true,
            about: .play(token)
        )
    }

    /// A read of one of three tokens, which may be linked, or of what was bought once.
    static func play(_ random: inout Seeded, day: Double, from: Double) -> Fact {
        let token = ["A", "B", "C"].randomElement(using: &random) ?? "A"
        let order = "GPA.\(Int.random(in: 0...3, using: &random))"
        switch Int.random(in: 0...9, using: &random) {
        case 0...4: return .play(token: token, &random, day: day, from: from)
        case 5:
            return .order(
                order,
                day,
                from: from,
                to: from + 30,
                refunded: Bool.random(using: &random) ? day : nil,
                share: Int64.random(in: 0...10, using: &random),
                token: token
            )
        case 6: return .void(order, from, said: day, token: token)
        case 7:
            return Bool.random(using: &random)
                ? .unreadable(day, token: token) : .outage(day, token: token)
        case 8:
            return .void(
                "GPA.P",
                from,
                quantity: [nil, 1, 2].randomElement(using: &random) ?? nil,
                said: day,
                token: "P"
            )
        default:
            let states = ["PURCHASED", "PURCHASED", "PENDING", "CANCELLED"]
            return .bought(
                states.randomElement(using: &random) ?? "PENDING",
                day,
                at: Bool.random(using: &random) ? 0 : nil,
                .init(
                    product: "coins",
                    quantity: 4,
                    refundable: Int64.random(in: 0...4, using: &random)
                ),
                .init(product: "lifetime")
            )
        }
    }
}

extension Fact {
    /// A read of one of three tokens, each of which replaces the one before it.
    static func play(
        token: String,
        _ random: inout Seeded,
        day: Double,
        from: Double = 0
    ) -> Fact {
        let states = [
            "ACTIVE", "ACTIVE", "IN_GRACE_PERIOD", "CANCELED", "ON_HOLD", "PAUSED", "EXPIRED",
        ]
        let order = "GPA.\(Int.random(in: 0...3, using: &random))"
        let end = from + Double(Int.random(in: 0...40, using: &random))
        let plans = ["monthly", "yearly", nil]
        let accounts = [nil, "a", "b"]
        let start: Double = ["A": 0, "B": 20, "C": 50][token] ?? 0
        return .play(
            states.randomElement(using: &random) ?? "ACTIVE",
            day,
            // A token begins once, and not every read says when.
            from: day < start || Bool.random(using: &random) ? start : nil,
            .item(
                to: end,
                order: order,
                "premium",
                plans.randomElement(using: &random) ?? nil,
                renews: day < 60
            ),
            .item(to: Bool.random(using: &random) ? end : nil, order: order, "club", nil),
            token: token,
            linked: ["B": "A", "C": "B"][token],
            account: accounts.randomElement(using: &random) ?? nil
        )
    }
}

/// Statements of Google Play with numbers that nobody would send.
func hostileGooglePlay(
    _ number: Int64,
    _ other: Int64,
    _ said: (Statement, _ token: String) -> Void
) {
    let (instant, day) = (Instant(milliseconds: number), Instant(milliseconds: other))
    let money = GooglePlayMoney(micros: number, currency: "USD")
    for state in ["ACTIVE", "IN_GRACE_PERIOD", "EXPIRED", "ON_HOLD"] {
        let item = GooglePlaySubscription.Item(
            product: "premium",
            basePlan: "monthly",
            expiry: instant,
            order: "GPA.1",
            renews: true
        )
        said(
            .googlePlaySubscription(
                GooglePlaySubscription(state: state, start: day, items: [item], linkedToken: "0")
            ),
            "A\(state)\(other)"
        )
        said(
            .googlePlayOrder(
                GooglePlayOrder(
                    id: "GPA.1",
                    state: "REFUNDED",
                    total: money,
                    lines: [.init(product: "premium", plan: "monthly", start: day, end: instant)],
                    refunds: [1, number, other].map {
                        .init(
                            at: instant,
                            isPartial: true,
                            total: GooglePlayMoney(micros: $0, currency: "USD")
                        )
                    }
                )
            ),
            "A\(state)\(other)"
        )
        said(
            .googlePlayVoid(GooglePlayVoid(order: "GPA.1", at: instant)),
            "A\(state)\(other)"
        )
    }
    for product in ["coins", "pass", "lifetime"] {
        let line = GooglePlayPurchase.Line(product: product, quantity: number, refundable: other)
        said(
            .googlePlayPurchase(
                GooglePlayPurchase(state: "PURCHASED", completed: day, lines: [line])
            ),
            "P\(product)\(other)"
        )
        for quantity in [number, other, 1] {
            said(
                .googlePlayVoid(
                    GooglePlayVoid(order: "\(quantity)", at: instant, quantity: quantity)
                ),
                "P\(product)\(other)"
            )
        }
    }
}
