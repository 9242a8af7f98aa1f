internal import Reports
internal import TollgateCore

/// A statement as the page shows it.
struct StatementPage {
    struct Total {
        var store: String
        var currency: String
        var charges: Int
        var gross: String
        var refunds: Int
        var refunded: String
        var disputes: Int
        var disputed: String
        var tax: String
        var commission: String
        var net: String
        /// `3 of 10 rest on estimates so far`; nil where none does.
        var note: String?
    }

    struct Payout {
        var store: String
        var name: String
        var period: String
        var arrival: String
        var status: String
        var amount: String
    }

    struct Balance {
        var currency: String
        var lines: [Line]
        /// Where the opening balance comes from, if not from the store.
        var note: String?

        struct Line {
            var item: String
            var amount: String
            var isSum: Bool
        }
    }

    var month: String
    var isSandbox: Bool
    var totals: [Total]
    var hasTotals: Bool
    var payouts: [Payout]
    var hasPayouts: Bool
    var balances: [Balance]
    var csvURL: String

    /// - Parameter name: what people call a store.
    init(_ statement: Finance.Statement, _ name: (Store) -> String) {
        month = statement.month
        isSandbox = statement.environment == .sandbox
        totals = statement.totals.map { Total($0, name($0.store)) }
        hasTotals = !totals.isEmpty
        payouts = statement.stores.flatMap(\.payouts).map { Payout($0, name($0.store)) }
        hasPayouts = !payouts.isEmpty
        balances = statement.stores.flatMap { part in
            (part.balances ?? []).map { Balance($0, name(part.store)) }
        }
        csvURL =
            "?month=\(statement.month)&environment=\(statement.environment.rawValue)&format=csv"
    }
}

extension StatementPage.Total {
    init(_ total: Finance.Statement.Total, _ store: String) {
        let count = total.charges + total.refunds + total.disputes
        self.init(
            store: store,
            currency: total.currency,
            charges: total.charges,
            gross: total.gross.description,
            refunds: total.refunds,
            refunded: total.refunded.description,
            disputes: total.disputes,
            disputed: total.disputed.description,
            tax: total.tax?.description ?? "not stated",
            commission: total.commission?.description ?? "not stated",
            net: total.net.description,
            note: total.estimated == 0
                ? nil : "\(total.estimated) of \(count) rest on estimates so far"
        )
    }
}

extension StatementPage.Payout {
    init(_ payout: Finance.Payout, _ store: String) {
        let period = [payout.first, payout.last].compactMap { $0.map { "\($0)" } }
        self.init(
            store: store,
            // What pays for a time is named after it.
            name: payout.first == nil ? payout.id : "Fiscal month \(payout.id)",
            period: period.joined(separator: " to "),
            arrival: "\(payout.arrival)",
            status: payout.status.replacing("_", with: " "),
            amount: payout.amount.description
        )
    }
}

extension StatementPage.Balance {
    init(_ balance: Finance.Statement.Balance, _ store: String) {
        currency = balance.currency
        note =
            balance.basis == .reported
            ? nil
            : "\(store) has not told its balance: the opening one is the sum of the transactions that are here"
        lines = [
            .init(item: "Opening balance", amount: "\(balance.opening)", isSum: true),
            .init(item: "Charges", amount: "\(balance.charges)", isSum: false),
            .init(item: "Refunds", amount: "\(balance.refunds)", isSum: false),
            .init(item: "Disputes", amount: "\(balance.disputes)", isSum: false),
            .init(item: "Fees", amount: "\(balance.fees)", isSum: false),
            .init(item: "Other", amount: "\(balance.other)", isSum: false),
            .init(item: "Payouts", amount: "\(balance.payouts)", isSum: false),
            .init(item: "Closing balance", amount: "\(balance.closing)", isSum: true),
        ]
    }
}
