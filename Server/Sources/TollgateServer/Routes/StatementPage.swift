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
        var payoutName: String
        /// `nil` where it pays for no time of its own.
        var period: String?
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
        let formats = Formats(language: language)
        t = words.table
        lang = language.rawValue
        title = words("sheet_title", ["month": formats.month(named: statement.month)])
        isSandbox = statement.environment == .sandbox
        totals = statement.totals.map { Total($0, name($0.store), words, formats) }
        hasTotals = !totals.isEmpty
        payouts = statement.stores.flatMap(\.payouts).map {
            Payout($0, name($0.store), words, formats)
        }
        hasPayouts = !payouts.isEmpty
        balances = statement.stores.flatMap { part in
            (part.balances ?? []).map { Balance($0, name(part.store), words, formats) }
        }
        csvURL =
            "?month=\(statement.month)&environment=\(statement.environment.rawValue)&format=csv"
    }
}

extension StatementPage.Total {
    init(_ total: Finance.Statement.Total, _ store: String, _ words: Words, _ formats: Formats) {
        let count = total.charges + total.refunds + total.disputes
        self.init(
            store: store,
            currency: total.currency,
            charges: total.charges,
            gross: formats.money(total.gross.rounded),
            refunds: total.refunds,
            refunded: formats.money(total.refunded.rounded),
            disputes: total.disputes,
            disputed: formats.money(total.disputed.rounded),
            tax: total.tax.map { formats.money($0.rounded) } ?? words["sheet_not_stated"],
            commission: total.commission.map { formats.money($0.rounded) }
                ?? words["sheet_not_stated"],
            net: formats.money(total.net.rounded),
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
    init(_ payout: Finance.Payout, _ store: String, _ words: Words, _ formats: Formats) {
        let period = [payout.first, payout.last].compactMap { $0.map { formats.day($0.start) } }
        let payoutName =
            payout.store.paysByMonth
            ? words("sheet_fiscal_month", ["month": payout.id]) : formats.month(named: payout.id)
        self.init(
            store: store,
            payoutName: payoutName,
            period: period.isEmpty ? nil : period.joined(separator: " – "),
            arrival: formats.day(payout.arrival.start),
            status: words.of("payout", payout.status),
            amount: formats.money(payout.amount.rounded)
        )
    }
}

extension StatementPage.Balance {
    init(_ balance: Finance.Statement.Balance, _ store: String, _ words: Words, _ formats: Formats)
    {
        func line(_ item: String, _ amount: Finance.Money, isSum: Bool = false) -> Line {
            Line(item: words[item], amount: formats.money(amount.rounded), isSum: isSum)
        }
        balanceTitle = words("sheet_balance", ["store": store, "currency": balance.currency])
        note =
            balance.basis == .reported ? nil : words("sheet_unknown_balance", ["store": store])
        lines = [
            line("balance_opening", balance.opening, isSum: true),
            line("balance_charges", balance.charges), line("balance_refunds", balance.refunds),
            line("balance_disputes", balance.disputes), line("balance_fees", balance.fees),
            line("balance_other", balance.other), line("balance_payouts", balance.payouts),
            line("balance_closing", balance.closing, isSum: true),
        ]
    }
}
