public import Reports
public import Stores
internal import TollgateCore

extension GooglePlayBooks {
    /// By calendar months: as the payout report says, else as far as earnings or sales and the usual fee
    /// let one tell.
    ///
    /// Google pays a month's earnings on the 15th of the next, after a weekend where that is one: so it
    /// wrote to developers in February 2013.
    public func payouts(
        of span: BookSpan,
        sold: (_ first: Finance.Day, _ last: Finance.Day) async throws -> [Finance.Payment]
    ) async throws -> [Finance.Payout] {
        let first = span.first.startOfMonth
        let last = span.last.startOfNextMonth.advanced(by: -1)
        var payouts: [Finance.Payout] = []
        var paid: Set<String> = []
        if Self.isReported(span) {
            // A month is paid in the next one, or later.
            let lines = try await reports.payouts(from: first, to: last.advanced(by: 62))
            for line in lines.map(\.line) {
                let payout = Finance.Payout(line)
                if let month = line.month { paid.insert(month) }
                let isOfSpan = [payout.arrival, payout.first].contains { day in
                    day.map { (first...last).contains($0) } ?? false
                }
                if isOfSpan { payouts.append(payout) }
            }
        }
        var payments: [Finance.Payment]?
        let earned = Self.isReported(span) ? try await reports.earnings(from: first, to: last) : []
        var month = first
        while month <= last {
            if !paid.contains(month.month) {
                var sums = Self.sums(
                    earned.filter { $0.line.day.month == month.month }.map(\.line.earned)
                )
                // All sales of the days are read for it, so only where it is needed.
                if sums.isEmpty, isSelling {
                    if payments == nil { payments = try await sold(first, last) }
                    sums = Self.sums(
                        (payments ?? []).filter {
                            Finance.Day(pacific: $0.at).month == month.month && !$0.net.isZero
                        }.map(\.net)
                    )
                }
                payouts += sums.map { Finance.Payout(estimating: $0, of: month) }
            }
            month = month.startOfNextMonth
        }
        return payouts
    }

    /// The payouts that are not the sum of the earnings of their month.
    ///
    /// Earnings of all apps count: Google pays for them together.
    static func differences(
        of payouts: [GooglePlayReports.Placed<GooglePlayPaidOut>],
        _ earned: [GooglePlayReports.Placed<GooglePlayEarning>],
        over span: BookSpan
    ) -> [Finance.Difference] {
        let months = Dictionary(grouping: payouts) { $0.line.month ?? "" }
        return months.sorted { $0.key < $1.key }.flatMap { month, paid -> [Finance.Difference] in
            guard let begin = Finance.Day("\(month)-01"), span.early <= begin,
                begin.startOfNextMonth <= span.late, let last = paid.last
            else { return [] }
            let expected = sums(earned.filter { $0.line.day.month == month }.map(\.line.earned))
            return sums(paid.map(\.line.amount)).compactMap { amount in
                guard let sum = expected.first(where: { $0.currency == amount.currency }),
                    !sum.isAbout(amount)
                else { return nil }
                return Finance.Difference(
                    .amountDiffers,
                    store: .googlePlay,
                    source: GooglePlayReports.payouts,
                    product: "",
                    line: last.place,
                    reportedDay: last.line.day,
                    units: 1,
                    expected: sum,
                    reported: amount,
                    detail: "the earnings of \(month) sum to \(sum)"
                )
            }
        }
    }

    /// One sum for each currency, sorted by it.
    private static func sums(_ amounts: [Finance.Money]) -> [Finance.Money] {
        var sums: [String: Finance.Money] = [:]
        for amount in amounts {
            sums[amount.currency] = sums[amount.currency].map { $0 + amount } ?? amount
        }
        return sums.sorted { $0.key < $1.key }.map(\.value)
    }
}

extension Finance.Payout {
    fileprivate init(_ line: GooglePlayPaidOut) {
        let first = line.month.flatMap { Finance.Day("\($0)-01") }
        self.init(
            store: .googlePlay,
            id: line.id,
            first: first,
            last: first?.startOfNextMonth.advanced(by: -1),
            arrival: line.day,
            status: "reported",
            amount: line.amount
        )
    }

    fileprivate init(estimating amount: Finance.Money, of month: Finance.Day) {
        self.init(
            store: .googlePlay,
            id: month.month,
            first: month,
            last: month.startOfNextMonth.advanced(by: -1),
            arrival: month.startOfNextMonth.advanced(by: 14),
            status: "estimated",
            amount: amount
        )
    }
}
