import Foundation

/// The bucket with the reports of Play Console, made from the orders whenever somebody looks.
struct Bucket: Hashable, Sendable, Codable {
    /// A deliberate difference between a report and the orders, to test reconciliation.
    struct Rules: Hashable, Sendable, Codable {
        /// Orders that no report has.
        var missingOrders: [String]?
        /// Days after a month's end on which its earnings are there.
        var earningsDay: Int64?
        /// Google's share in thousandths; 150 if left out.
        var feePerMille: Int64?
        /// Texts by file name, beside the reports or in place of them.
        var files: [String: String]?
    }

    struct File: Hashable, Sendable {
        var name: String
        var bytes: Data
        var type: String
        var updated: Int64
    }

    let name: String
    var rules = Rules()

    init(name: String) {
        self.name = name
    }

    /// All files as they are at `now`, by name.
    func files(_ store: PlayStore, at now: Int64) -> [File] {
        // A day is in the reports once it is over.
        let end = PacificTime.dayStart(now)
        let entries = ReportEntry.all(store, rules).filter { $0.at < end }
        let months = Dictionary(grouping: entries) { PacificTime($0.at).date.monthName }
        var files: [File] = []
        for (month, entries) in months {
            files.append(sales(month, entries, store, at: end))
            if let earned = earnings(month, entries, store, at: now) { files.append(earned) }
        }
        files += SubscriptionStatistics.files(store, until: end)
        for (name, text) in rules.files ?? [:] {
            files.removeAll { $0.name == name }
            files.append(File(name: name, bytes: Data(text.utf8), type: "text/csv", updated: end))
        }
        return files.sorted { $0.name < $1.name }
    }

    private func sales(
        _ month: String,
        _ entries: [ReportEntry],
        _ store: PlayStore,
        at end: Int64
    ) -> File {
        let table = SalesReport.table(entries, store)
        return File(
            name: "sales/salesreport_\(month).zip",
            bytes: ZipFile.containing(
                Data(table.text.utf8),
                named: "salesreport_\(month).csv",
                at: end
            ),
            type: "application/zip",
            updated: end
        )
    }

    /// A month's earnings are there some days after its end.
    private func earnings(
        _ month: String,
        _ entries: [ReportEntry],
        _ store: PlayStore,
        at now: Int64
    ) -> File? {
        let first = CivilDate(
            year: Int64(month.prefix(4)) ?? 0,
            month: Int64(month.suffix(2)) ?? 1,
            day: 1
        )
        let there =
            CivilDate.adding(months: 1, to: first.start)
            + (min(366, max(1, rules.earningsDay ?? 5)) - 1) * Timestamp.day
        guard now >= there else { return nil }
        let table = EarningsReport.table(
            entries,
            store,
            feePerMille: min(1000, max(0, rules.feePerMille ?? 150))
        )
        return File(
            name: "earnings/earnings_\(month)_\(name.suffix(16))-1.zip",
            bytes: ZipFile.containing(
                Data(table.text.utf8),
                named: "PlayApps_\(month).csv",
                at: there
            ),
            type: "application/zip",
            updated: there
        )
    }
}

/// One movement of money, as reports list it.
struct ReportEntry: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case charge
        case refund
        case partialRefund
    }

    var at: Int64
    var kind: Kind
    var order: Order
    var line: Order.Line
    var amount: Money

    /// Oldest first.
    static func all(_ store: PlayStore, _ rules: Bucket.Rules) -> [ReportEntry] {
        let missing = Set(rules.missingOrders ?? [])
        let entries = store.orders.all.filter { !missing.contains($0.id) }.flatMap(of)
        return entries.sorted { ($0.at, $0.order.id) < ($1.at, $1.order.id) }
    }

    private static func of(_ order: Order) -> [ReportEntry] {
        guard let processed = order.processedAt, let first = order.lines.first else { return [] }
        var entries = order.lines.map {
            ReportEntry(at: processed, kind: .charge, order: order, line: $0, amount: $0.total)
        }
        for part in order.partialRefunds {
            entries.append(
                ReportEntry(
                    at: part.at,
                    kind: .partialRefund,
                    order: order,
                    line: first,
                    amount: part.amount
                )
            )
        }
        if let refund = order.refund {
            entries.append(
                ReportEntry(
                    at: refund.at,
                    kind: .refund,
                    order: order,
                    line: first,
                    amount: refund.amount
                )
            )
        }
        return entries
    }

    /// Free periods are in no report.
    var isFree: Bool { amount.isNothing }

    var planID: String {
        if case .subscription(let service) = line.kind { service.planID } else { "" }
    }

    var offerID: String {
        switch line.kind {
        case .subscription(let service): service.offerID ?? ""
        case .oneTime(let item): item.offerID ?? ""
        }
    }

    var productType: String {
        if case .subscription = line.kind { "subscription" } else { "inapp" }
    }
}
