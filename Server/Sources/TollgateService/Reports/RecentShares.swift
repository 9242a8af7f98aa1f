// SPDX-License-Identifier: Apache-2.0
internal import Reports
package import Storage
package import TollgateCore

/// A part of a whole, such as refunds of payments.
package struct FigureShare: Hashable, Sendable {
    package var part: Int64
    package var whole: Int64

    package init(part: Int64, whole: Int64) {
        (self.part, self.whole) = (part, whole)
    }

    /// In hundredths; of nothing it is 0.
    package var percent: Double { whole > 0 ? Double(part) / Double(whole) * 100 : 0 }
}

/// Shares of the days before today, for alarms; as new as the figures of reports are.
package struct RecentShares: Sendable {
    private let records: RecordStore
    private let environment: StoreEnvironment
    private let today: Reports.Day

    package init(_ records: RecordStore, in environment: StoreEnvironment, at now: Instant) {
        (self.records, self.environment) = (records, environment)
        today = Reports.Day(now)
    }

    /// The refunds of seven days, beside the payments of these days.
    package func refunds() async throws -> FigureShare {
        let table = try await table(.refunds, days: 7)
        return FigureShare(
            part: table.counts("refunded_by_date").reduce(0, +),
            whole: table.counts("paid").reduce(0, +)
        )
    }

    /// The subscriptions that ended within thirty days, less those that came back, beside those that were
    /// active before.
    package func churn() async throws -> FigureShare {
        let table = try await table(.churn, days: 30)
        let ended = table.counts("expired").reduce(0, +)
        return FigureShare(
            part: ended - table.counts("resubscribed").reduce(0, +),
            whole: table.counts("active_at_start").first ?? 0
        )
    }

    private func table(_ report: Reports.Report, days: Int64) async throws -> Reports.Table {
        let request = Reports.Request(
            report,
            from: today.advanced(by: -days),
            to: today.advanced(by: -1),
            by: .day,
            group: [],
            environment: environment,
            today: today,
            terms: Finance.Terms()
        )
        return try Reports.table(request, from: try await records.material(of: request))
    }
}

extension Reports.Table {
    /// The counts of a column, by row.
    fileprivate func counts(_ key: String) -> [Int64] {
        guard let column = columns.firstIndex(where: { $0.key == key }) else { return [] }
        return rows.map { row in
            if case .count(let count) = row[column] { count } else { 0 }
        }
    }
}
