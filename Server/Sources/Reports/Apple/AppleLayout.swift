public import TollgateCore

extension Reports {
    /// Reports that are also written in the columns of Apple's own.
    ///
    /// See https://developer.apple.com/help/app-store-connect/reference/reporting.
    public enum AppleLayout: String, CaseIterable, Sendable {
        /// SALES.
        case sales
        /// SUBSCRIPTION.
        case subscriptions
        /// SUBSCRIPTION_EVENT.
        case events
        /// SUBSCRIBER.
        case subscribers

        private static let plan = [
            "App Name", "App Apple ID", "Subscription Name", "Subscription Apple ID",
            "Subscription Group ID", "Standard Subscription Duration",
        ]
        private static let subscriptionColumns: [String] = {
            var columns = plan
            columns += [
                "Subscription Offer Name", "Promotional Offer ID", "Customer Price",
                "Customer Currency", "Developer Proceeds", "Proceeds Currency",
                "Preserved Pricing", "Proceeds Reason", "Client", "Device", "State", "Country",
                "Active Standard Price Subscriptions",
            ]
            let ways = ["Free Trial", "Pay Up Front", "Pay As You Go"]
            for offer in ["Introductory Offer", "Promotional Offer", "Offer Code"] {
                columns += ways.map { way in "Active \(way) \(offer) Subscriptions" }
            }
            columns += ["Marketing Opt-Ins", "Billing Retry", "Grace Period", "Subscribers"]
            columns += ways.map { way in "\(way) Win-Back Offers" }
            return columns
        }()

        /// The names of the columns, in Apple's order.
        public var columns: [String] {
            switch self {
            case .sales:
                [
                    "Provider", "Provider Country", "SKU", "Developer", "Title", "Version",
                    "Product Type Identifier", "Units", "Developer Proceeds", "Begin Date",
                    "End Date", "Customer Currency", "Country Code", "Currency of Proceeds",
                    "Apple Identifier", "Customer Price", "Promo Code", "Parent Identifier",
                    "Subscription", "Period", "Category", "CMB", "Device",
                    "Supported Platforms", "Proceeds Reason", "Preserved Pricing", "Client",
                    "Order Type",
                ]
            case .subscriptions:
                Self.subscriptionColumns
            case .events:
                ["Event Date", "Event"] + Self.plan + [
                    "Subscription Offer Type", "Subscription Offer Duration",
                    "Marketing Opt-In", "Marketing Opt-In Duration", "Preserved Pricing",
                    "Proceeds Reason", "Subscription Offer Name", "Promotional Offer ID",
                    "Consecutive Paid Periods", "Original Start Date", "Device", "Client",
                    "State", "Country", "Previous Subscription Name",
                    "Previous Subscription Apple ID", "Days Before Canceling",
                    "Cancellation Reason", "Days Canceled", "Quantity",
                    "Paid Service Days Recovered",
                ]
            case .subscribers:
                ["Event Date"] + Self.plan + [
                    "Subscription Offer Name", "Promotional Offer ID",
                    "Subscription Offer Type", "Subscription Offer Duration",
                    "Marketing Opt-In Duration", "Customer Price", "Customer Currency",
                    "Developer Proceeds", "Proceeds Currency", "Preserved Pricing",
                    "Proceeds Reason", "Client", "Device", "Country", "Subscriber ID",
                    "Subscriber ID Reset", "Refund", "Purchase Date", "Units",
                ]
            }
        }

        /// Lines under these columns.
        func text(_ lines: [[String: String]]) -> String {
            let columns = columns
            return ([columns] + lines.map { line in columns.map { line[$0] ?? "" } })
                .map { cells in
                    cells.map { cell in
                        String(cell.map { $0 == "\t" || $0.isNewline ? " " : $0 })
                    }.joined(separator: "\t")
                }.joined(separator: "\n") + "\n"
        }

        /// Adds up the counts of lines that are otherwise equal.
        func merged(_ lines: [[String: String]], counts: [String]) -> [[String: String]] {
            var sums: [[String: String]: [Int64]] = [:]
            for line in lines {
                var key = line
                for count in counts { key[count] = nil }
                let values = counts.map { Int64(line[$0] ?? "") ?? 0 }
                let known = sums[key] ?? counts.map { _ in 0 }
                sums[key] = zip(known, values).map { $0 + $1 }
            }
            let columns = columns
            return sums.map { key, values in
                var line = key
                for (count, value) in zip(counts, values) { line[count] = String(value) }
                return line
            }.sorted { left, right in
                columns.map { left[$0] ?? "" }.lexicographicallyPrecedes(
                    columns.map { right[$0] ?? "" }
                )
            }
        }
    }
}

extension Reports {
    /// Rows in the layout of Apple's own reports.
    public enum AppleFiles {
        /// SALES: units of one product sold in one country at one price.
        ///
        /// A unit's proceeds leave out the fixed fee that a store takes for each charge.
        public static func sales(
            _ sales: [Sale],
            from first: Day,
            to last: Day,
            catalog: Catalog,
            terms: Finance.Terms
        ) -> String {
            let lines = sales.filter { !$0.isFamilyShared && $0.isWhole }.map {
                sale -> [String: String] in
                let isBack = sale.kind != .charge
                let isPlan = sale.productKind == .autoRenewable
                let renewal = !isPlan ? "" : sale.isRenewal ? "Renewal" : "New"
                let units = isBack ? -sale.quantity : sale.quantity
                let price = Fraction(Int128(sale.amount), Int128(max(1, sale.quantity)))
                let name = catalog.product(id: sale.product)?.name ?? sale.product
                return [
                    "Provider": "TOLLGATE", "SKU": sale.storeProduct, "Title": name,
                    "Product Type Identifier": sale.productType,
                    "Units": "\(units)",
                    "Developer Proceeds": decimal(
                        sale.expectedProceeds(terms) * Fraction(1, Int128(max(1, sale.quantity)))
                    ),
                    "Begin Date": slashed(first), "End Date": slashed(last),
                    "Customer Currency": sale.currency, "Country Code": sale.country,
                    "Currency of Proceeds": sale.currency,
                    "Apple Identifier": sale.storeProduct,
                    "Customer Price": decimal(isBack ? -price : price),
                    "Subscription": renewal,
                    "Period": duration(sale.product, catalog),
                    "Proceeds Reason": sale.isAfterOneYear ? "Rate After One Year" : "",
                    "Order Type": sale.offer.orderType,
                ]
            }
            return AppleLayout.sales.text(AppleLayout.sales.merged(lines, counts: ["Units"]))
        }

        /// SUBSCRIBER: one payment or refund of one subscriber.
        public static func subscribers(
            _ sales: [Sale],
            catalog: Catalog,
            terms: Finance.Terms
        ) -> String {
            let lines = sales.filter {
                $0.productKind == .autoRenewable && !$0.isFamilyShared && $0.isWhole
            }.map { sale -> [String: String] in
                var line = plan(sale.product, sale.storeProduct, catalog)
                line["Event Date"] = sale.day.description
                line["Subscription Offer Type"] = sale.offer.orderType
                line["Customer Price"] = decimal(Fraction(sale.amount))
                line["Customer Currency"] = sale.currency
                line["Developer Proceeds"] = decimal(sale.expectedProceeds(terms))
                line["Proceeds Currency"] = sale.currency
                line["Proceeds Reason"] = sale.isAfterOneYear ? "Rate After One Year" : ""
                line["Country"] = sale.country
                line["Subscriber ID"] = number(of: sale.customer)
                line["Refund"] = sale.kind == .charge ? "" : "Yes"
                line["Purchase Date"] = Day(sale.purchased).description
                line["Units"] = sale.kind == .charge ? "1" : "-1"
                return line
            }
            return AppleLayout.subscribers.text(lines)
        }

        /// SUBSCRIPTION: how many subscriptions stood how at the end of a day.
        public static func subscriptions(
            _ periods: [PaidPeriod],
            at day: Day,
            catalog: Catalog
        ) -> String {
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
                guard !period.isFamilyShared, let column = period.column(at: day) else {
                    return nil
                }
                var line = plan(period.product, period.storeProduct, catalog)
                line["Customer Price"] = decimal(Fraction(period.amount))
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
        public static func events(
            _ periods: [PaidPeriod],
            from first: Day,
            to last: Day,
            catalog: Catalog
        ) -> String {
            var lines: [[String: String]] = []
            let purchases = Dictionary(grouping: periods, by: \.purchase)
            let returns = returns(periods)
            for (purchase, periods) in purchases {
                let ordered = periods.sorted { ($0.start, $0.id) < ($1.start, $1.id) }
                let events = SubscriptionEvent.all(
                    of: ordered,
                    isReturn: returns.contains(purchase)
                )
                for event in events {
                    let day = Day(event.at)
                    guard (first...last).contains(day) else { continue }
                    let period = event.period
                    var line = plan(period.product, period.storeProduct, catalog)
                    line["Event Date"] = day.description
                    line["Event"] = event.event.name
                    line["Subscription Offer Type"] = period.offer.orderType
                    line["Country"] = period.country
                    line["Quantity"] = "1"
                    if let last = event.last, last.product != period.product {
                        line["Previous Subscription Name"] =
                            catalog.product(id: last.product)?.name ?? last.product
                        line["Previous Subscription Apple ID"] = last.storeProduct
                    }
                    if let start = ordered.first?.start {
                        line["Original Start Date"] = Day(start).description
                    }
                    lines.append(line)
                }
            }
            return AppleLayout.events.text(AppleLayout.events.merged(lines, counts: ["Quantity"]))
        }

        // MARK: - Values

        private static func plan(
            _ product: String,
            _ storeProduct: String,
            _ catalog: Catalog
        ) -> [String: String] {
            let known = catalog.product(id: product)
            return [
                "App Name": "Tollgate", "App Apple ID": "0",
                "Subscription Name": known?.name ?? product,
                "Subscription Apple ID": storeProduct,
                "Subscription Group ID": known?.subscriptionGroup ?? "",
                "Standard Subscription Duration": duration(product, catalog),
            ]
        }

        /// `1 Month`, `7 Days`, as Apple writes durations.
        private static func duration(_ product: String, _ catalog: Catalog) -> String {
            guard let duration = catalog.product(id: product)?.duration else { return "" }
            func text(_ count: Int, _ unit: String) -> String {
                "\(count) \(unit)\(count == 1 ? "" : "s")"
            }
            let days = duration.weeks * 7 + duration.days
            let parts = [(duration.years, "Year"), (duration.months, "Month"), (days, "Day")]
            return parts.filter { $0.0 > 0 }.map { text($0.0, $0.1) }.joined(separator: " ")
        }

        private static func decimal(_ milliunits: Fraction) -> String {
            (milliunits * Fraction(1, 1000)).text(decimals: 3)
        }

        private static func slashed(_ day: Day) -> String {
            let (year, month, number) = day.civil
            func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
            return "\(two(month))/\(two(number))/\(year)"
        }

        /// A number for a customer that says nothing of them.
        private static func number(of customer: String) -> String {
            String(UInt64(customer.prefix(12), radix: 16) ?? 0)
        }
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
    /// What Apple's layouts have lines for: a charge, or the first refund of one.
    fileprivate var isWhole: Bool { kind == .charge || isFirstRefund }

    fileprivate var productType: String {
        switch productKind {
        case .autoRenewable?: "IAY"
        case .nonRenewing?: "IA9"
        case .freeSubscription?: "IAC"
        case .consumable?, .nonConsumable?, nil: "IA1"
        }
    }

    /// What probably arrives of it, without a fixed fee.
    fileprivate func expectedProceeds(_ terms: Finance.Terms) -> Reports.Fraction {
        if let proceeds { return Reports.Fraction(proceeds) }
        let fee = terms.fee(of: store, isAfterOneYear: isAfterOneYear, in: currency)
        return Reports.Fraction(amount) * Reports.Fraction(Int128(fee.left), 10_000)
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
