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
            let tax = Tax.on(entry.amount, in: entry.order.region)
            let charged = Tax.charged(entry.amount, in: entry.order.region)
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
                sign + grouped((charged - tax).decimal), sign + tax.decimal,
                sign + grouped(charged.decimal), "", "", "", entry.order.region,
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
