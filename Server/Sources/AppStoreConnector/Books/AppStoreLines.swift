public import AppStoreAPI
internal import Foundation
public import Reports
public import Storage
internal import TollgateAPI

/// What App Store Connect's sales and finance reports say, as far as they are here.
public struct AppStoreLines: Sendable {
    private let store: RecordStore

    public init(_ store: RecordStore) {
        self.store = store
    }

    public static let sales = AppStore.ConnectReport.Kind.sales.rawValue
    public static let financial = AppStore.ConnectReport.Kind.financial.rawValue

    /// The in-app purchases of sales reports about days from `first` to `last`, and the days that
    /// the reports cover.
    public func sales(
        from first: Finance.Day,
        to last: Finance.Day
    ) async throws -> (lines: [Finance.AppStoreLine], covered: Set<Finance.Day>) {
        let (rows, periods) = try await salesRows(from: first, to: last)
        var covered: Set<Finance.Day> = []
        for period in periods { covered.formUnion(Self.days(of: period)) }
        return (rows.compactMap { Finance.AppStoreLine($0.row, $0.kept) }, covered)
    }

    /// Every line of sales reports about days from `first` to `last`, and the periods of the reports
    /// that they are of.
    ///
    /// Where there are daily reports, a monthly one would tell the same again: of reports that tell
    /// of the same days, only some are used.
    public func salesRows(from first: Finance.Day, to last: Finance.Day) async throws -> (
        rows: [(row: AppStore.SalesRow, kept: StoredReportLine)], periods: Set<String>
    ) {
        let periods = Self.apart(try await store.reports.periods(Self.sales), from: first, to: last)
        let kept = try await store.reports.lines(Self.sales, from: "\(first)", to: "\(last)")
        return (
            try kept.filter { periods.contains($0.period) }.map { line in
                (try APIJSON.decode(AppStore.SalesRow.self, from: Data(line.body)), line)
            }, periods
        )
    }

    /// Those of some reports which tell of each day once.
    ///
    /// Of a month that has a report of every day it is the days, else the month. Reports that reach
    /// beyond the days that are asked for are left out.
    private static func apart(
        _ periods: Set<String>,
        from first: Finance.Day,
        to last: Finance.Day
    ) -> Set<String> {
        let reports = periods.map { (period: $0, days: days(of: $0)) }.filter { _, days in
            days.allSatisfy { first <= $0 && $0 <= last }
        }.sorted { ($0.days.count, $0.period) > ($1.days.count, $1.period) }
        var chosen: Set<String> = []
        var told: Set<Finance.Day> = []
        for (period, days) in reports where told.isDisjoint(with: days) {
            var rest = Set(days)
            if days.count > 1 {
                for shorter in reports where shorter.days.count < days.count {
                    rest.subtract(shorter.days)
                }
            }
            guard !rest.isEmpty else { continue }
            chosen.insert(period)
            told.formUnion(days)
        }
        return chosen
    }

    /// The days of `DAILY 2026-06-01`, `WEEKLY …` (by its last day), `MONTHLY 2026-06`,
    /// `YEARLY 2026`; none of another period.
    private static func days(of period: String) -> [Finance.Day] {
        let words = period.split(separator: " ")
        guard words.count == 2 else { return [] }
        let (frequency, date) = (words[0], words[1])
        switch frequency {
        case "DAILY": return days(from: Reports.Day(date), 1)
        case "WEEKLY": return days(from: Reports.Day(date)?.advanced(by: -6), 7)
        case "MONTHLY":
            let first = Reports.Day("\(date)-01")
            return days(from: first, first.map { $0.startOfNextMonth.number - $0.number } ?? 0)
        case "YEARLY":
            let (first, last) = (Reports.Day("\(date)-01-01"), Reports.Day("\(date)-12-31"))
            return days(from: first, (last?.number ?? 0) - (first?.number ?? 0) + 1)
        default: return []
        }
    }

    private static func days(from first: Reports.Day?, _ count: Int64) -> [Finance.Day] {
        guard let first, count > 0 else { return [] }
        return (0..<count).map { first.advanced(by: $0) }
    }

    /// Every report that was issued again.
    public func reissues() async throws -> [Finance.Reissue] {
        try await store.reports.editions([Self.sales, Self.financial]).map {
            Finance.Reissue(
                source: $0.kind,
                period: $0.period,
                fetched: Finance.Day(utc: $0.fetched),
                replaced: Finance.Day(utc: $0.replaced)
            )
        }
    }

    /// The lines of finance reports whose fiscal months end from `first` to `last`, and the days
    /// that these months cover.
    public func financial(
        from first: Finance.Day,
        to last: Finance.Day
    ) async throws -> (lines: [Finance.AppStoreLine], covered: Set<Finance.Day>) {
        var lines: [Finance.AppStoreLine] = []
        var covered: Set<Finance.Day> = []
        // One of all regions has what those of single ones have.
        let whole = Set(
            try await store.reports.periods(Self.financial).filter { $0.hasSuffix(Self.allRegions) }
                .map { Self.month(of: $0) }
        )
        for line in try await store.reports.lines(Self.financial, from: "\(first)", to: "\(last)")
        where line.period.hasSuffix(Self.allRegions) || !whole.contains(Self.month(of: line.period))
        {
            let row = try APIJSON.decode(AppStore.FinancialRow.self, from: Data(line.body))
            guard let converted = Finance.AppStoreLine(row, line) else { continue }
            lines.append(converted)
            covered.formUnion(converted.days)
        }
        return (lines, covered)
    }

    private static let allRegions = " ZZ"

    /// `FISCAL 2026-09` of `FISCAL 2026-09 ZZ`.
    private static func month(of period: String) -> Substring {
        period[..<(period.lastIndex(of: " ") ?? period.endIndex)]
    }
}

extension Finance.AppStoreLine {
    /// Every day that it covers; of a span that no report has, none.
    fileprivate var days: [Finance.Day] {
        guard last.number - first.number <= 400 else { return [] }
        return (first.number...last.number).map { Finance.Day(number: $0) }
    }

    /// A line about an in-app purchase; nil for apps, their updates, and what was only restored.
    fileprivate init?(_ row: AppStore.SalesRow, _ kept: StoredReportLine) {
        let isPurchase =
            row.productType.hasPrefix("IA") || row.productType.hasPrefix("FI")
        guard isPurchase, !row.productType.hasPrefix("IA3"), row.units != 0,
            let first = Finance.Day(row.beginDate.description),
            let last = Finance.Day(row.endDate.description)
        else { return nil }
        let paidOut = row.proceedsCurrency ?? row.customerCurrency ?? ""
        self.init(
            source: AppStoreLines.sales,
            place: "SALES \(kept.period), line \(kept.line)",
            isRefund: row.units < 0,
            product: row.sku,
            first: first,
            last: last,
            units: Int64(clamping: row.units.magnitude),
            price: Finance.Money(row.customerPrice, row.customerCurrency ?? paidOut),
            proceeds: Finance.Money(row.developerProceeds, paidOut),
            country: row.country
        )
    }

    fileprivate init?(_ row: AppStore.FinancialRow, _ kept: StoredReportLine) {
        guard row.quantity != 0, let first = Finance.Day(row.startDate.description),
            let last = Finance.Day(row.endDate.description)
        else { return nil }
        self.init(
            source: AppStoreLines.financial,
            place: "FINANCIAL \(kept.period), line \(kept.line)",
            isRefund: row.isReturn || row.quantity < 0,
            product: row.vendorIdentifier,
            first: first,
            last: last,
            units: Int64(clamping: row.quantity.magnitude),
            price: Finance.Money(
                row.customerPrice,
                row.customerCurrency ?? row.partnerShareCurrency
            ),
            proceeds: Finance.Money(row.partnerShare, row.partnerShareCurrency),
            country: row.countryOfSale
        )
    }
}

extension Finance.Money {
    /// What a report says without a sign: the line itself says which way the money went.
    fileprivate init(_ amount: AppStore.ReportAmount, _ currency: String) {
        self.init(millionths: Int64(clamping: amount.millionths.magnitude), currency: currency)
    }
}
