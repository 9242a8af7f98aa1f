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
        /// Day of the month on which the earnings of the month before are paid; 15 if left out.
        var payoutDay: Int64?
        /// The names of the columns of payout reports; `payout` if left out.
        var payoutColumns: PayoutReport.Columns?
        /// Tables in UTF-16 within their zip files.
        var utf16: Bool?
        /// The columns of each table from the last to the first.
        var reversedColumns: Bool?
        /// Columns that no table has.
        var omittedColumns: [String]?
        /// Names of files that end in their middle.
        var truncatedFiles: [String]?
        /// Texts by file name, beside the reports or in place of them.
        var files: [String: String]?

        fileprivate var fee: Int64 { min(1000, max(0, feePerMille ?? 150)) }
    }

    struct File: Hashable, Sendable {
        var name: String
        var bytes: Data
        var type: String
        var updated: Int64

        /// Microseconds, as at Google; another one for another content.
        var generation: Int64 { updated * 1000 + Int64(ZipFile.crc32(bytes) % 1000) }
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
            if let paid = payout(month, entries, at: now) { files.append(paid) }
        }
        files += SubscriptionStatistics.files(store, until: end)
        for (name, text) in rules.files ?? [:] {
            files.removeAll { $0.name == name }
            files.append(File(name: name, bytes: Data(text.utf8), type: "text/csv", updated: end))
        }
        for index in files.indices where rules.truncatedFiles?.contains(files[index].name) == true {
            files[index].bytes = files[index].bytes.prefix(files[index].bytes.count / 2)
        }
        return files.sorted { $0.name < $1.name }
    }

    private func sales(
        _ month: String,
        _ entries: [ReportEntry],
        _ store: PlayStore,
        at end: Int64
    ) -> File {
        file(
            "sales/salesreport_\(month).zip",
            of: SalesReport.table(entries, store),
            named: "salesreport_\(month).csv",
            at: end
        )
    }

    /// A month's earnings are there some days after its end.
    private func earnings(
        _ month: String,
        _ entries: [ReportEntry],
        _ store: PlayStore,
        at now: Int64
    ) -> File? {
        let there =
            Self.startOfNext(month) + (min(366, max(1, rules.earningsDay ?? 5)) - 1) * Timestamp.day
        guard now >= there else { return nil }
        return file(
            "earnings/earnings_\(month)_\(name.suffix(16))-1.zip",
            of: EarningsReport.table(entries, store, feePerMille: rules.fee),
            named: "PlayApps_\(month).csv",
            at: there
        )
    }

    /// A month's earnings are paid in the next one, with a report under that month's name.
    private func payout(_ month: String, _ entries: [ReportEntry], at now: Int64) -> File? {
        let paid =
            Self.startOfNext(month) + (min(28, max(1, rules.payoutDay ?? 15)) - 1) * Timestamp.day
        guard now >= paid else { return nil }
        let amounts = EarningsReport.lines(entries, feePerMille: rules.fee).map(\.merchant)
        let sum = amounts.reduce(0) { $0 + $1.micros }
        // What is owed to Google is no payout.
        guard sum > 0 else { return nil }
        let date = CivilDate(containing: paid)
        let payout = PayoutReport.Payout(
            id: "PO.\(name.suffix(8))-\(month)",
            date: "\(date.year)-\(Timestamp.padded(date.month))-\(Timestamp.padded(date.day))",
            month: "\(month.prefix(4))-\(month.suffix(2))",
            amount: Money(currency: EarningsReport.merchantCurrency, micros: sum)
        )
        return file(
            "payouts/payout_\(date.monthName).zip",
            of: PayoutReport.table([payout], rules.payoutColumns ?? .payout),
            named: "payout_\(date.monthName).csv",
            at: paid
        )
    }

    /// The first instant of the month after `202605`.
    private static func startOfNext(_ month: String) -> Int64 {
        let first = CivilDate(
            year: Int64(month.prefix(4)) ?? 0,
            month: Int64(month.suffix(2)) ?? 1,
            day: 1
        )
        return CivilDate.adding(months: 1, to: first.start)
    }

    private func file(
        _ name: String,
        of table: CSVTable,
        named inner: String,
        at instant: Int64
    ) -> File {
        var table = table.without(Set(rules.omittedColumns ?? []))
        if rules.reversedColumns == true { table = table.reversed }
        return File(
            name: name,
            bytes: ZipFile.containing(
                rules.utf16 == true ? table.utf16 : Data(table.text.utf8),
                named: inner,
                at: instant
            ),
            type: "application/zip",
            updated: instant
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

    /// Oldest first; what licence testers buy moves no money.
    static func all(_ store: PlayStore, _ rules: Bucket.Rules) -> [ReportEntry] {
        let missing = Set(rules.missingOrders ?? [])
        let entries = store.orders.all.filter { order in
            let isTest =
                store.subscriptions[order.token]?.isTest ?? store.products[order.token]?.isTest
            return !missing.contains(order.id) && isTest != true
        }.flatMap(of)
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
