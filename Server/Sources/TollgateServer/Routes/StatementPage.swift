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
        /// How many amounts are estimates; `nil` where none is.
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
        var balanceTitle: String
        var lines: [Line]
        /// Where the opening balance comes from, if not from the store.
        var note: String?

        struct Line {
            var item: String
            var amount: String
            var isSum: Bool
        }
    }

    var t: [String: String]
    var lang: String
    var title: String
    var isSandbox: Bool
    var totals: [Total]
    var hasTotals: Bool
    var payouts: [Payout]
    var hasPayouts: Bool
    var balances: [Balance]
    var csvURL: String

    /// - Parameter name: what people call a store.
    init(_ statement: Finance.Statement, _ language: Language, _ name: (Store) -> String) {
        let words = Words.of(language)
        t = words.table
        lang = language.rawValue
        title = words("sheet_title", ["month": statement.month])
        isSandbox = statement.environment == .sandbox
        totals = statement.totals.map { Total($0, name($0.store), words) }
        hasTotals = !totals.isEmpty
        payouts = statement.stores.flatMap(\.payouts).map { Payout($0, name($0.store), words) }
        hasPayouts = !payouts.isEmpty
        balances = statement.stores.flatMap { part in
            (part.balances ?? []).map { Balance($0, name(part.store), words) }
        }
        csvURL =
            "?month=\(statement.month)&environment=\(statement.environment.rawValue)&format=csv"
    }
}

extension StatementPage.Total {
    init(_ total: Finance.Statement.Total, _ store: String, _ words: Words) {
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
            tax: total.tax?.description ?? words["sheet_not_stated"],
            commission: total.commission?.description ?? words["sheet_not_stated"],
            net: total.net.description,
            note: total.estimated == 0
                ? nil
                : words(
                    "sheet_estimates",
                    ["estimated": "\(total.estimated)", "count": "\(count)"]
                )
        )
    }
}

extension StatementPage.Payout {
    init(_ payout: Finance.Payout, _ store: String, _ words: Words) {
        let period = [payout.first, payout.last].compactMap { $0.map { "\($0)" } }
        self.init(
            store: store,
            // What pays for a time is named after it.
            name: payout.first == nil
                ? payout.id : words("sheet_fiscal_month", ["month": payout.id]),
            period: period.joined(separator: " – "),
            arrival: "\(payout.arrival)",
            status: words.of("payout", payout.status),
            amount: payout.amount.description
        )
    }
}

extension StatementPage.Balance {
    init(_ balance: Finance.Statement.Balance, _ store: String, _ words: Words) {
        balanceTitle = words("sheet_balance", ["store": store, "currency": balance.currency])
        note =
            balance.basis == .reported ? nil : words("sheet_unknown_balance", ["store": store])
        lines = [
            .init(item: words["balance_opening"], amount: "\(balance.opening)", isSum: true),
            .init(item: words["balance_charges"], amount: "\(balance.charges)", isSum: false),
            .init(item: words["balance_refunds"], amount: "\(balance.refunds)", isSum: false),
            .init(item: words["balance_disputes"], amount: "\(balance.disputes)", isSum: false),
            .init(item: words["balance_fees"], amount: "\(balance.fees)", isSum: false),
            .init(item: words["balance_other"], amount: "\(balance.other)", isSum: false),
            .init(item: words["balance_payouts"], amount: "\(balance.payouts)", isSum: false),
            .init(item: words["balance_closing"], amount: "\(balance.closing)", isSum: true),
        ]
    }
}
