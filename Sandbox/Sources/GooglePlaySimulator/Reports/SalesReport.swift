/// Estimated sales: a line for each charge and refund.
///
/// https://support.google.com/googleplay/android-developer/answer/6135870
enum SalesReport {
    static let columns = [
        "Order Number", "Order Charged Date", "Order Charged Timestamp", "Financial Status",
        "Device Model", "Product Title", "Product ID", "Product Type", "SKU ID",
        "Currency of Sale", "Item Price", "Taxes Collected", "Charged Amount", "City of Buyer",
        "State of Buyer", "Postal Code of Buyer", "Country of Buyer", "Base Plan ID", "Offer ID",
        "Group ID", "First USD 1M Eligible", "Promotion ID", "Coupon Value", "Discount Rate",
    ]

    static func table(_ entries: [ReportEntry], _ store: PlayStore) -> CSVTable {
        var table = CSVTable(columns: columns)
        for entry in entries where !entry.isFree {
            let tax = Tax.within(entry.amount, in: entry.order.region)
            let sign = entry.kind == .charge ? "" : "-"
            let status =
                switch entry.kind {
                case .charge: "Charged"
                case .refund: "Refund"
                case .partialRefund: "Partial refund"
                }
            table.rows.append([
                entry.order.id, PacificTime(entry.at).dashed, "\(entry.at / 1000)", status,
                "sandbox", store.catalog.title(of: entry.line.productID), store.packageName,
                entry.productType, entry.line.productID, entry.amount.currency,
                sign + grouped((entry.amount - tax).decimal), sign + tax.decimal,
                sign + grouped(entry.amount.decimal), "", "", "", entry.order.region,
                entry.planID, entry.offerID, "", "Yes", "", "", "",
            ])
        }
        return table
    }

    /// `12,345.60`: thousands are separated.
    static func grouped(_ decimal: String) -> String {
        let parts = decimal.split(separator: ".")
        var whole = ""
        for (index, digit) in parts[0].reversed().enumerated() {
            if index > 0, index % 3 == 0, digit.isNumber { whole.append(",") }
            whole.append(digit)
        }
        return String(whole.reversed()) + "." + (parts.count > 1 ? parts[1] : "00")
    }
}

/// Earnings: what Google pays, each charge with its fee.
enum EarningsReport {
    static let columns = [
        "Description", "Transaction Date", "Transaction Time", "Tax Type", "Transaction Type",
        "Refund Type", "Product Title", "Product id", "Product Type", "Sku Id", "Hardware",
        "Buyer Country", "Buyer State", "Buyer Postal Code", "Buyer Currency",
        "Amount (Buyer Currency)", "Currency Conversion Rate", "Merchant Currency",
        "Amount (Merchant Currency)", "Base Plan ID", "Offer ID",
    ]

    /// The value of one unit of a currency in US dollars.
    private static let rates = [
        "USD": 1.0, "EUR": 1.1, "GBP": 1.25, "JPY": 0.0067, "BRL": 0.18, "KRW": 0.00072,
        "INR": 0.012,
    ]

    static func table(
        _ entries: [ReportEntry],
        _ store: PlayStore,
        feePerMille: Int64
    ) -> CSVTable {
        var table = CSVTable(columns: columns)
        for entry in entries where !entry.isFree {
            let tax = Tax.within(entry.amount, in: entry.order.region)
            let net = entry.amount - tax
            let fee = net.times(feePerMille, over: 1000)
            let isCharge = entry.kind == .charge
            let sign: Int64 = isCharge ? 1 : -1
            let charge = isCharge ? "Charge" : "Charge refund"
            let feeName = isCharge ? "Google fee" : "Google fee refund"
            table.rows.append(row(entry, charge, sign * net.micros, store))
            table.rows.append(row(entry, feeName, -sign * fee.micros, store))
        }
        return table
    }

    private static func row(
        _ entry: ReportEntry,
        _ type: String,
        _ micros: Int64,
        _ store: PlayStore
    ) -> [String] {
        let time = PacificTime(entry.at)
        let rate = rates[entry.amount.currency] ?? 1
        let amount = Money(currency: entry.amount.currency, micros: micros)
        let merchant = Money(currency: "USD", micros: Int64((Double(micros) * rate).rounded()))
        let refund =
            switch entry.kind {
            case .charge: ""
            case .refund: "Full"
            case .partialRefund: "Partial"
            }
        return [
            entry.order.id, time.words, time.clockWords, "", type, refund,
            store.catalog.title(of: entry.line.productID), store.packageName, entry.productType,
            entry.line.productID, "sandbox", entry.order.region, "", "", amount.currency,
            amount.decimal, "\(rate)", "USD", merchant.decimal, entry.planID, entry.offerID,
        ]
    }
}

/// Subscriptions by day, in UTF-16.
enum SubscriptionStatistics {
    static let columns = [
        "Date", "Package Name", "Product ID", "Country", "New subscriptions",
        "Cancelled subscriptions", "Active subscriptions",
    ]

    static func files(_ store: PlayStore, until end: Int64) -> [Bucket.File] {
        let products = Set(store.subscriptions.values.flatMap { $0.items.map(\.productID) })
        return products.sorted().flatMap { files(of: $0, store, until: end) }
    }

    private static func files(
        of product: String,
        _ store: PlayStore,
        until end: Int64
    ) -> [Bucket.File] {
        let all = store.subscriptions.values.filter { subscription in
            subscription.startTime != nil
                && subscription.items.contains { $0.productID == product }
        }
        guard let first = all.compactMap(\.startTime).min() else { return [] }
        var months: [String: CSVTable] = [:]
        var day = PacificTime.dayStart(first)
        while day < end {
            let next = PacificTime.dayStart(day + 26 * Timestamp.hour)
            for region in Set(all.map(\.region)).sorted() {
                let here = all.filter { $0.region == region }
                let new = here.filter { (day..<next).contains($0.startTime ?? 0) }.count
                let ended = here.filter { (day..<next).contains($0.endedAt ?? -1) }.count
                let active = here.filter {
                    ($0.startTime ?? 0) < next && ($0.endedAt ?? .max) >= next
                }
                let time = PacificTime(day)
                months[time.date.monthName, default: CSVTable(columns: columns)].rows.append([
                    time.dashed, store.packageName, product, region, "\(new)", "\(ended)",
                    "\(active.count)",
                ])
            }
            day = next
        }
        return months.map { month, table in
            Bucket.File(
                name: "financial-stats/subscriptions/subscriptions_\(store.packageName)_\(product)_"
                    + "\(month)_country.csv",
                bytes: table.utf16,
                type: "text/csv; charset=UTF-16LE",
                updated: end
            )
        }
    }
}
