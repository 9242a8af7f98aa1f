/// Payouts: what went to the developer's bank.
///
/// Google's columns are not known: these are the sandbox's own, in several spellings.
enum PayoutReport {
    /// The names of the columns.
    enum Columns: String, Hashable, Sendable, Codable {
        /// `Payout Date`, `Payout Amount`.
        case payout
        /// `Payment Date`, `Amount`.
        case payment
        /// `Payment Date` and the columns of earnings, without the month that is paid.
        case merchant
    }

    struct Payout: Hashable, Sendable {
        var id: String
        var date: String
        /// `2026-05`: the month whose earnings it pays.
        var month: String
        var amount: Money
    }

    static func table(_ payouts: [Payout], _ columns: Columns = .payout) -> CSVTable {
        let names =
            switch columns {
            case .payout:
                ["Payout ID", "Payout Date", "Earnings Month", "Payout Currency", "Payout Amount"]
            case .payment: ["Payment ID", "Payment Date", "Earnings Month", "Currency", "Amount"]
            case .merchant:
                ["Payment ID", "Payment Date", "Merchant Currency", "Amount (Merchant Currency)"]
            }
        return CSVTable(
            columns: names,
            rows: payouts.map { payout in
                let month: [String]
                switch columns {
                case .payout, .payment: month = [payout.month]
                case .merchant: month = []
                }
                return [payout.id, payout.date] + month
                    + [payout.amount.currency, payout.amount.decimal]
            }
        )
    }
}
