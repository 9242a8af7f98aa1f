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
