package import Reports
package import Stores
internal import TollgateCore

/// Our figures in the columns of Apple's own reports.
package struct AppleFiles {
    static let layouts: [StoreLayout] = [
        StoreLayout("sales", of: "Apple", .sales { Self($1).sales($0) }),
        StoreLayout("subscriptions", of: "Apple", .periods { Self($1).subscriptions($0) }),
        StoreLayout("events", of: "Apple", .periods { Self($1).events($0) }),
        StoreLayout("subscribers", of: "Apple", .sales { Self($1).subscribers($0) }),
    ]

    private let asked: StoreLayout.Question

    package init(_ asked: StoreLayout.Question) { self.asked = asked }

    /// SALES: units of one product sold in one country at one price.
    ///
    /// A unit's proceeds leave out the fixed fee that a store takes for each charge.
    package func sales(_ sales: [Reports.Sale]) -> String {
        let lines = sales.filter { !$0.isFamilyShared && $0.isWhole }.map {
            sale -> [String: String] in
            let isBack = sale.kind != .charge
            let isPlan = sale.productKind == .autoRenewable
            let renewal = !isPlan ? "" : sale.isRenewal ? "Renewal" : "New"
            let units = isBack ? -sale.quantity : sale.quantity
            let price = Reports.Fraction(Int128(sale.amount), Int128(max(1, sale.quantity)))
            let name = asked.catalog.product(id: sale.product)?.name ?? sale.product
            return [
                "Provider": "TOLLGATE", "SKU": sale.storeProduct, "Title": name,
                "Product Type Identifier": sale.productType,
                "Units": "\(units)",
                "Developer Proceeds": decimal(
                    sale.expectedProceeds(asked.terms)
                        * Reports.Fraction(1, Int128(max(1, sale.quantity)))
                ),
                "Begin Date": slashed(asked.first), "End Date": slashed(asked.last),
                "Customer Currency": sale.currency, "Country Code": sale.country,
                "Currency of Proceeds": sale.currency,
                "Apple Identifier": sale.storeProduct,
                "Customer Price": decimal(isBack ? -price : price),
                "Subscription": renewal,
                "Period": duration(sale.product),
                "Proceeds Reason": sale.isAfterOneYear ? "Rate After One Year" : "",
                "Order Type": sale.offer.orderType,
            ]
        }
        return AppleLayout.sales.text(AppleLayout.sales.merged(lines, counts: ["Units"]))
    }

    /// SUBSCRIBER: one payment or refund of one subscriber.
    package func subscribers(_ sales: [Reports.Sale]) -> String {
        let lines = sales.filter {
            $0.productKind == .autoRenewable && !$0.isFamilyShared && $0.isWhole
        }.map { sale -> [String: String] in
            var line = plan(sale.product, sale.storeProduct)
            line["Event Date"] = sale.day.description
            line["Subscription Offer Type"] = sale.offer.orderType
            line["Customer Price"] = decimal(Reports.Fraction(sale.amount))
            line["Customer Currency"] = sale.currency
            line["Developer Proceeds"] = decimal(sale.expectedProceeds(asked.terms))
            line["Proceeds Currency"] = sale.currency
            line["Proceeds Reason"] = sale.isAfterOneYear ? "Rate After One Year" : ""
            line["Country"] = sale.country
            line["Subscriber ID"] = number(of: sale.customer)
            line["Refund"] = sale.kind == .charge ? "" : "Yes"
            line["Purchase Date"] = Reports.Day(sale.purchased).description
            line["Units"] = sale.kind == .charge ? "1" : "-1"
            return line
        }
        return AppleLayout.subscribers.text(lines)
    }

    /// SUBSCRIPTION: how many subscriptions stood how at the end of a day.
    package func subscriptions(_ periods: [Reports.PaidPeriod]) -> String {
        let counts = [
            "Active Standard Price Subscriptions",
            "Active Free Trial Introductory Offer Subscriptions",
            "Active Pay Up Front Introductory Offer Subscriptions",
            "Active Free Trial Promotional Offer Subscriptions",
            "Active Pay Up Front Promotional Offer Subscriptions",
            "Active Free Trial Offer Code Subscriptions",
            "Active Pay Up Front Offer Code Subscriptions",
            "Free Trial Win-Back Offers", "Pay Up Front Win-Back Offers", "Billing Retry",
            "Grace Period", "Subscribers",
        ]
        let lines = periods.compactMap { period -> [String: String]? in
            guard !period.isFamilyShared, let column = period.column(at: asked.last) else {
                return nil
            }
            var line = plan(period.product, period.storeProduct)
            line["Customer Price"] = decimal(Reports.Fraction(period.amount))
            line["Customer Currency"] = period.currency
            line["Proceeds Currency"] = period.currency
            line["Country"] = period.country
            for count in counts { line[count] = "0" }
            line[column] = "1"
            line["Subscribers"] = "1"
            return line
        }
        return AppleLayout.subscriptions.text(
            AppleLayout.subscriptions.merged(lines, counts: counts)
        )
    }

    /// SUBSCRIPTION_EVENT: how often something happened to a plan on a day.
    ///
    /// - Parameter periods: all up to the last day, of whole purchases.
    package func events(_ periods: [Reports.PaidPeriod]) -> String {
        var lines: [[String: String]] = []
        let purchases = Dictionary(grouping: periods, by: \.purchase)
        let returns = Reports.returns(periods)
        for (purchase, periods) in purchases {
            let ordered = periods.sorted { ($0.start, $0.id) < ($1.start, $1.id) }
            let events = Reports.SubscriptionEvent.all(
                of: ordered,
                isReturn: returns.contains(purchase)
            )
            for event in events {
                let day = Reports.Day(event.at)
                guard (asked.first...asked.last).contains(day) else { continue }
                let period = event.period
                var line = plan(period.product, period.storeProduct)
                line["Event Date"] = day.description
                line["Event"] = event.event.name
                line["Subscription Offer Type"] = period.offer.orderType
                line["Country"] = period.country
                line["Quantity"] = "1"
                if let last = event.last, last.product != period.product {
                    line["Previous Subscription Name"] =
                        asked.catalog.product(id: last.product)?.name ?? last.product
                    line["Previous Subscription Apple ID"] = last.storeProduct
                }
                if let start = ordered.first?.start {
                    line["Original Start Date"] = Reports.Day(start).description
                }
                lines.append(line)
            }
        }
        return AppleLayout.events.text(AppleLayout.events.merged(lines, counts: ["Quantity"]))
    }

    // MARK: - Values

    private func plan(_ product: String, _ storeProduct: String) -> [String: String] {
        let known = asked.catalog.product(id: product)
        return [
            "App Name": "Tollgate", "App Apple ID": "0",
            "Subscription Name": known?.name ?? product,
            "Subscription Apple ID": storeProduct,
            "Subscription Group ID": known?.subscriptionGroup ?? "",
            "Standard Subscription Duration": duration(product),
        ]
    }

    /// `1 Month`, `7 Days`, as Apple writes durations.
    private func duration(_ product: String) -> String {
        guard let duration = asked.catalog.product(id: product)?.duration else { return "" }
        func text(_ count: Int, _ unit: String) -> String {
            "\(count) \(unit)\(count == 1 ? "" : "s")"
        }
        let days = duration.weeks * 7 + duration.days
        let parts = [(duration.years, "Year"), (duration.months, "Month"), (days, "Day")]
        return parts.filter { $0.0 > 0 }.map { text($0.0, $0.1) }.joined(separator: " ")
    }

    private func decimal(_ milliunits: Reports.Fraction) -> String {
        (milliunits * Reports.Fraction(1, 1000)).text(decimals: 3)
    }

    private func slashed(_ day: Reports.Day) -> String {
        let (year, month, number) = day.civil
        func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        return "\(two(month))/\(two(number))/\(year)"
    }

    /// A number for a customer that says nothing of them.
    private func number(of customer: String) -> String {
        String(UInt64(customer.prefix(12), radix: 16) ?? 0)
    }
}

extension Reports.Offer {
    /// Apple's words for it.
    fileprivate var orderType: String {
        switch self {
        case .none, .discount: ""
        case .trial, .introductory: "Introductory Offer"
        case .promotional: "Promotional Offer"
        case .code: "Offer Code"
        case .winBack: "Win-Back Offer"
        }
    }
}

extension Reports.Sale {
    /// Returns `true` for a charge and for its first refund: Apple's layouts have lines for these only.
    fileprivate var isWhole: Bool { kind == .charge || isFirstRefund }

    fileprivate var productType: String {
        switch productKind {
        case .autoRenewable?: "IAY"
        case .nonRenewing?: "IA9"
        case .freeSubscription?: "IAC"
        case .consumable?, .nonConsumable?, nil: "IA1"
        }
    }

    /// The proceeds that the store reported, else the amount less the store's share.
    ///
    /// A fixed fee is not deducted.
    fileprivate func expectedProceeds(_ terms: Finance.Terms) -> Reports.Fraction {
        if let proceeds { return Reports.Fraction(proceeds) }
        let left = terms.fees[store].map { isAfterOneYear ? $0.leftAfterOneYear : $0.left }
        return Reports.Fraction(amount) * Reports.Fraction(Int128(left ?? 10_000), 10_000)
    }
}

extension Reports.PaidPeriod {
    /// Under which column it counts at the end of a day; `nil`: it does not.
    fileprivate func column(at day: Reports.Day) -> String? {
        let now = day.advanced(by: 1).start.advanced(by: -1)
        if let retriedSince, max(retriedSince, effectiveEnd) <= now { return "Billing Retry" }
        guard start <= now, now < effectiveEnd else { return nil }
        if now >= paidUntil || graces.contains(where: { $0.contains(now) }) {
            return "Grace Period"
        }
        let way = amount == 0 ? "Free Trial" : "Pay Up Front"
        return switch offer {
        case .none, .discount: "Active Standard Price Subscriptions"
        case .trial, .introductory: "Active \(way) Introductory Offer Subscriptions"
        case .promotional: "Active \(way) Promotional Offer Subscriptions"
        case .code: "Active \(way) Offer Code Subscriptions"
        case .winBack: "\(way) Win-Back Offers"
        }
    }
}
