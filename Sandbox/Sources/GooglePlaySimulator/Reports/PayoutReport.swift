/// Payouts: what went to the developer's bank.
///
/// Google's columns are not known: these are the sandbox's own.
enum PayoutReport {
    struct Payout: Hashable, Sendable {
        var id: String
        var date: String
        /// `2026-05`: the month whose earnings it pays.
        var month: String
        var amount: Money
    }

    static func table(_ payouts: [Payout]) -> CSVTable {
        CSVTable(
            columns: [
                "Payout ID", "Payout Date", "Earnings Month", "Payout Currency", "Payout Amount",
            ],
            rows: payouts.map {
                [$0.id, $0.date, $0.month, $0.amount.currency, $0.amount.decimal]
            }
        )
    }
}
