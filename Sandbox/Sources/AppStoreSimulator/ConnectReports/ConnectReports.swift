import Foundation
internal import SandboxClock

/// The sales and finance reports of App Store Connect about a world
/// (<https://developer.apple.com/documentation/appstoreconnectapi/sales-and-finance>).
struct ConnectReports {
    let world: World

    /// A report on `from..<to`; nil where there is nothing to report.
    func report(_ kind: ReportQuery.Kind, from: Int64, to: Int64) -> Data? {
        switch kind {
        case .sales: sales(from: from, to: to)
        case .subscription: subscription(day: from)
        case .subscriptionEvent: subscriptionEvent(day: from)
        case .subscriber: subscriber(day: from)
        }
    }

    /// What was charged and given back in [from, to), as it is booked.
    private func bookings(from: Int64, to: Int64) -> [Booking] {
        let paid = world.transactions.values.filter { $0.ownership == .purchased }
            .sorted { ($0.purchaseDate, $0.id) < ($1.purchaseDate, $1.id) }
        return paid.flatMap { transaction in
            var bookings = [Booking(transaction, isRefund: false, at: transaction.purchaseDate)]
            if let date = transaction.revocation?.date {
                bookings.append(Booking(transaction, isRefund: true, at: date))
            }
            for difference in world.reportDifferences ?? []
            where difference.transactionID.map({ $0 == transaction.id }) ?? true {
                bookings = bookings.flatMap { $0.booked(under: difference) }
            }
            return bookings.filter { (from..<to).contains($0.instant) }
        }
    }

    // MARK: - SALES

    /// Equal sales are one line.
    private func sales(from: Int64, to: Int64) -> Data? {
        var units: [[String: String]: Int] = [:]
        for sale in bookings(from: from, to: to) {
            let transaction = sale.transaction
            let price = sale.price
            let line: [String: String] = [
                "Provider": "APPLE", "Provider Country": "US", "SKU": transaction.productID,
                "Developer": "Example", "Title": transaction.productID,
                "Product Type Identifier": productType(transaction.kind),
                "Developer Proceeds": money(sale.proceeds),
                "Begin Date": slashed(from), "End Date": slashed(to - 1),
                "Customer Currency": transaction.currency ?? "USD",
                "Country Code": country(transaction),
                "Currency of Proceeds": sale.proceedsCurrency,
                "Apple Identifier": number(of: transaction.productID),
                "Customer Price": money(sale.isRefund ? -price : price),
                "Parent Identifier": world.bundleID,
                "Subscription": transaction.kind != .autoRenewable
                    ? "" : transaction.reason == .renewal ? "Renewal" : "New",
                "Period": period(transaction.productID), "Device": "iPhone",
                "Supported Platforms": "iOS", "Proceeds Reason": sale.proceedsReason,
                "Order Type": transaction.offer == nil ? "" : "Introductory Offer",
                // Refunds are lines of their own.
                "CMB": sale.isRefund ? "-" : "",
            ]
            units[line, default: 0] += transaction.quantity
        }
        var table = ReportTable(ReportTable.sales)
        let lines = units.map { line, count in
            line.merging([
                "Units": "\(line["CMB"] == "-" ? -count : count)", "CMB": "",
            ]) { $1 }
        }
        for line in lines.sorted(by: { order($0) < order($1) }) { table.add(line) }
        return table.file()
    }

    private func order(_ line: [String: String]) -> String {
        line.sorted { $0.key < $1.key }.map(\.value).joined(separator: "\u{1}")
    }

    // MARK: - Subscriptions

    private func subscription(day from: Int64) -> Data? {
        let end = from + CivilDate.millisecondsPerDay
        var table = ReportTable(ReportTable.subscription)
        for subscription in world.subscriptions.values.filter({ $0.sharedFrom == nil })
            .sorted(by: { $0.originalTransactionID < $1.originalTransactionID })
        {
            let periods = world.transactionsOf(subscription.customer).filter {
                $0.originalID == subscription.originalTransactionID && $0.purchaseDate < end
            }
            guard let latest = periods.max(by: { $0.purchaseDate < $1.purchaseDate }) else {
                continue
            }
            let isActive =
                latest.expiresDate.map { $0 >= end } ?? false
                && latest.revocation.map { $0.date >= end } ?? true
            let isInGrace = subscription.state == .billingGrace && !isActive
            let isInRetry = subscription.state == .billingRetry && !isActive
            guard isActive || isInGrace || isInRetry else { continue }
            var line = plan(latest)
            line["Customer Price"] = money(latest.price ?? 0)
            line["Customer Currency"] = latest.currency ?? "USD"
            line["Developer Proceeds"] = money(proceeds(latest.price ?? 0, latest))
            line["Proceeds Currency"] = latest.currency ?? "USD"
            line["Proceeds Reason"] = proceedsReason(latest)
            line["Device"] = "iPhone"
            line["Country"] = country(latest)
            line["Promotional Offer ID"] = latest.offer?.id ?? ""
            if isActive { line[activeColumn(latest.offer)] = "1" }
            line["Billing Retry"] = isInRetry ? "1" : "0"
            line["Grace Period"] = isInGrace ? "1" : "0"
            line["Subscribers"] = "1"
            table.add(line)
        }
        return table.file()
    }

    private func activeColumn(_ offer: Offer?) -> String {
        guard let offer else { return "Active Standard Price Subscriptions" }
        let way =
            switch offer.discount {
            case .freeTrial: "Free Trial"
            case .payUpFront: "Pay Up Front"
            case .payAsYouGo: "Pay As You Go"
            }
        return switch offer.kind {
        case .introductory: "Active \(way) Introductory Offer Subscriptions"
        case .promotional: "\(way) Promotional Offer Subscriptions"
        case .offerCode: "\(way) Offer Code Subscriptions"
        case .winBack: "\(way) Win-Back Offers"
        }
    }

    private func subscriptionEvent(day from: Int64) -> Data? {
        let end = from + CivilDate.millisecondsPerDay
        var table = ReportTable(ReportTable.subscriptionEvent)
        func add(_ event: String, _ transaction: Transaction, _ more: [String: String] = [:]) {
            var line = plan(transaction)
            line["Event Date"] = dashed(from)
            line["Event"] = event
            line["Proceeds Reason"] = proceedsReason(transaction)
            line["Promotional Offer ID"] = transaction.offer?.id ?? ""
            line["Consecutive Paid Periods"] = "\(paidPeriods(until: transaction))"
            line["Original Start Date"] = dashed(transaction.originalPurchaseDate)
            line["Device"] = "iPhone"
            line["Country"] = country(transaction)
            line["Quantity"] = "1"
            table.add(line.merging(more) { $1 })
        }
        for sale in bookings(from: from, to: end) where sale.transaction.kind == .autoRenewable {
            add(sale.isRefund ? "Refund" : event(of: sale.transaction), sale.transaction)
        }
        for id in world.notificationOrder {
            guard let notification = world.notifications[id], notification.type == "EXPIRED",
                (from..<end).contains(notification.signedDate),
                let transaction = notification.transactionID.flatMap({ world.transactions[$0] })
            else { continue }
            let reason = notification.subtype == "BILLING_RETRY" ? "Billing issue" : "Canceled"
            add("Cancel", transaction, ["Cancellation Reason": reason])
        }
        return table.file()
    }

    private func event(of transaction: Transaction) -> String {
        if transaction.reason == .renewal { return "Renew" }
        if transaction.id == transaction.originalID {
            return transaction.offer?.kind == .introductory
                ? "Start Introductory Offer" : "Subscribe"
        }
        let replaced = world.transactions.values.contains {
            $0.originalID == transaction.originalID && $0.isUpgraded
                && $0.expiresDate.map { $0 > transaction.purchaseDate } ?? false
        }
        return replaced ? "Upgrade" : "Reactivate"
    }

    private func paidPeriods(until transaction: Transaction) -> Int {
        world.transactions.values.filter {
            $0.originalID == transaction.originalID
                && $0.purchaseDate <= transaction.purchaseDate && ($0.price ?? 0) > 0
        }.count
    }

    private func subscriber(day from: Int64) -> Data? {
        var table = ReportTable(ReportTable.subscriber)
        for sale in bookings(from: from, to: from + CivilDate.millisecondsPerDay)
        where sale.transaction.kind == .autoRenewable {
            let transaction = sale.transaction
            var line = plan(transaction)
            line["Event Date"] = dashed(from)
            line["Promotional Offer ID"] = transaction.offer?.id ?? ""
            line["Customer Price"] = money(transaction.price ?? 0)
            line["Customer Currency"] = transaction.currency ?? "USD"
            line["Developer Proceeds"] = money(proceeds(transaction.price ?? 0, transaction))
            line["Proceeds Currency"] = transaction.currency ?? "USD"
            line["Proceeds Reason"] = proceedsReason(transaction)
            line["Device"] = "iPhone"
            line["Country"] = country(transaction)
            line["Subscriber ID"] = number(of: transaction.customer)
            line["Refund"] = sale.isRefund ? "Yes" : ""
            line["Purchase Date"] = dashed(transaction.purchaseDate)
            line["Units"] = sale.isRefund ? "-1" : "1"
            table.add(line)
        }
        return table.file()
    }

    // MARK: - FINANCIAL

    /// A fiscal month of Apple's.
    func finance(from: Int64, to: Int64) -> Data? {
        var table = ReportTable(ReportTable.financial)
        for sale in bookings(from: from, to: to) where sale.price > 0 {
            let transaction = sale.transaction
            let count = sale.quantity
            let share = sale.proceeds
            let sign: Int64 = sale.isRefund ? -1 : 1
            table.add([
                "Start Date": slashed(from), "End Date": slashed(to - 1),
                "Vendor Identifier": transaction.productID,
                "Quantity": "\(Int64(count) * sign)", "Partner Share": money(share),
                "Extended Partner Share": money(share * Int64(count) * sign),
                "Partner Share Currency": sale.proceedsCurrency,
                "Sales or Return": sale.isRefund ? "R" : "S",
                "Apple Identifier": number(of: transaction.productID),
                "Artist/Show/Developer/Author": "Example", "Title": transaction.productID,
                "Product Type Identifier": productType(transaction.kind),
                "Country Of Sale": country(transaction), "Customer Price": money(sale.price),
                "Customer Currency": transaction.currency ?? "USD",
            ])
        }
        return table.file(trailer: ["Total_Rows\t\(table.lines.count)"])
    }

    // MARK: - Values

    private func plan(_ transaction: Transaction) -> [String: String] {
        [
            "App Name": "Example", "App Apple ID": "\(world.appAppleID)",
            "Subscription Name": transaction.productID,
            "Subscription Apple ID": number(of: transaction.productID),
            "Subscription Group ID": transaction.subscriptionGroup ?? "",
            "Standard Subscription Duration": period(transaction.productID),
        ]
    }

    private func productType(_ kind: Product.Kind) -> String {
        switch kind {
        case .autoRenewable: "IAY"
        case .nonRenewing: "IA9"
        case .consumable, .nonConsumable: "IA1"
        }
    }

    /// `1 Month`, `7 Days`, as reports write it.
    private func period(_ productID: String) -> String {
        switch world.products[productID]?.period?.description {
        case "P1W"?: "7 Days"
        case "P1M"?: "1 Month"
        case "P2M"?: "2 Months"
        case "P3M"?: "3 Months"
        case "P6M"?: "6 Months"
        case "P1Y"?: "1 Year"
        case let other: other ?? ""
        }
    }

    private func proceeds(_ price: Int64, _ transaction: Transaction) -> Int64 {
        price * (proceedsReason(transaction).isEmpty ? 70 : 85) / 100
    }

    private func proceedsReason(_ transaction: Transaction) -> String {
        Booking(transaction, isRefund: false, at: transaction.purchaseDate).proceedsReason
    }

    private func country(_ transaction: Transaction) -> String {
        switch world.customers[transaction.customer]?.storefront ?? "USA" {
        case "USA": "US"
        case "DEU": "DE"
        case "GBR": "GB"
        case "FRA": "FR"
        case "JPN": "JP"
        case let other: String(other.prefix(2))
        }
    }

    /// A number that is the same for the same text, as Apple gives products and subscribers.
    private func number(of text: String) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return "\(1_000_000_000 + hash % 9_000_000_000)"
    }

    /// Milliunits as a decimal.
    private func money(_ milliunits: Int64) -> String {
        let (sign, value) = (milliunits < 0 ? "-" : "", milliunits.magnitude)
        let decimals = String(value % 1000 + 1000).dropFirst()
        return "\(sign)\(value / 1000).\(decimals.last == "0" ? decimals.dropLast() : decimals)"
    }

    private func date(_ instant: Int64) -> (String, String, String) {
        let date = CivilDate(daysSince1970: instant / CivilDate.millisecondsPerDay)
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return ("\(date.year)", two(date.month), two(date.day))
    }

    private func slashed(_ instant: Int64) -> String {
        let (year, month, day) = date(instant)
        return "\(month)/\(day)/\(year)"
    }

    private func dashed(_ instant: Int64) -> String {
        let (year, month, day) = date(instant)
        return "\(year)-\(month)-\(day)"
    }
}
