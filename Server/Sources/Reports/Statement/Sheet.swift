internal import TollgateCore

extension Finance {
    /// A table of texts for a spreadsheet or a terminal.
    public struct Sheet: Hashable, Sendable {
        public var columns: [String]
        public var rows: [[String]]

        public init(_ columns: [String], _ rows: [[String]] = []) {
            self.columns = columns
            self.rows = rows
        }

        /// Comma-separated values (RFC 4180).
        public var csv: String {
            ([columns] + rows).map { row in
                row.map(CommaSeparated.field).joined(separator: ",") + "\r\n"
            }.joined()
        }

        /// Tab-separated values; what would break a line becomes a space.
        public var tsv: String {
            ([columns] + rows).map { row in
                row.map(TabSeparated.field).joined(separator: "\t") + "\n"
            }.joined()
        }

        /// Aligned columns; numbers to the right.
        public var text: String {
            let all = [columns] + rows
            let widths = columns.indices.map { column in
                all.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
            }
            return all.map { row in
                let cells = row.indices.map { column -> String in
                    let space = String(
                        repeating: " ",
                        count: max(0, widths[min(column, widths.count - 1)] - row[column].count)
                    )
                    return Self.isNumber(row[column])
                        ? space + row[column] : row[column] + space
                }
                let line = cells.joined(separator: "  ")
                return String(line.reversed().drop { $0 == " " }.reversed()) + "\n"
            }.joined()
        }

        private static func isNumber(_ text: String) -> Bool {
            !text.isEmpty && text.utf8.allSatisfy { (45...57).contains($0) && $0 != 47 }
        }
    }
}

extension Finance.Reconciliation {
    /// Every difference, what nobody can explain first.
    public var sheet: Finance.Sheet {
        Finance.Sheet(
            [
                "reason", "explained", "store", "source", "product", "movement", "line", "day",
                "reported_day", "units", "expected", "reported", "currency", "difference",
                "detail",
            ],
            differences.map { difference in
                let amount = difference.amount
                return [
                    difference.reason.rawValue, difference.reason.isExplained ? "yes" : "no",
                    difference.store.rawValue, difference.source, difference.product,
                    difference.movement ?? "", difference.line ?? "",
                    difference.day.map { "\($0)" } ?? "",
                    difference.reportedDay.map { "\($0)" } ?? "", "\(difference.units)",
                    difference.expected?.decimal ?? "", difference.reported?.decimal ?? "",
                    amount?.currency ?? "", amount?.decimal ?? "", difference.detail,
                ]
            }
        )
    }

    /// How many differences of each kind there are and what they come to.
    public var summarySheet: Finance.Sheet {
        Finance.Sheet(
            ["reason", "explained", "store", "source", "count", "difference", "meaning"],
            summaries.map { summary in
                [
                    summary.reason.rawValue, summary.isExplained ? "yes" : "no",
                    summary.store.rawValue, summary.source, "\(summary.count)",
                    summary.amounts.map(\.description).joined(separator: ", "),
                    summary.explanation,
                ]
            }
        )
    }
}

extension Finance.Payment {
    /// Payments with the columns of a spreadsheet.
    ///
    /// - Parameter apps: whether a last column says which app sold it.
    public static func sheet(_ payments: [Finance.Payment], apps: Bool) -> Finance.Sheet {
        Finance.Sheet(
            [
                "at", "store", "kind", "id", "payment", "product", "country", "quantity",
                "currency", "gross", "tax", "commission", "net", "net_currency", "basis",
                "refunded", "disputed", "line", "payout",
            ] + (apps ? ["app"] : []),
            payments.map { payment in
                [
                    "\(payment.at)", payment.store.rawValue, payment.kind.rawValue, payment.id,
                    payment.payment, payment.product, payment.country ?? "",
                    "\(payment.quantity)", payment.gross.currency, payment.gross.decimal,
                    payment.tax?.decimal ?? "", payment.commission?.decimal ?? "",
                    payment.net.decimal, payment.net.currency, payment.basis.rawValue,
                    payment.refunded?.decimal ?? "", payment.disputed?.decimal ?? "",
                    payment.line ?? "", payment.payout ?? "",
                ] + (apps ? [payment.app ?? ""] : [])
            }
        )
    }
}

extension Finance.Payout {
    /// Payouts with the columns of a spreadsheet.
    public static func sheet(_ payouts: [Finance.Payout]) -> Finance.Sheet {
        Finance.Sheet(
            ["store", "id", "from", "to", "arrival", "status", "amount", "currency"],
            payouts.map { payout in
                [
                    payout.store.rawValue, payout.id, payout.first.map { "\($0)" } ?? "",
                    payout.last.map { "\($0)" } ?? "", "\(payout.arrival)", payout.status,
                    payout.amount.decimal, payout.amount.currency,
                ]
            }
        )
    }
}

extension Finance.Statement {
    /// The statement with one figure a line.
    public var sheet: Finance.Sheet {
        var sheet = Finance.Sheet([
            "section", "store", "currency", "item", "period", "count", "amount",
        ])
        func add(
            _ section: String,
            _ store: String,
            _ item: String,
            _ period: String,
            _ count: Int?,
            _ amount: Finance.Money?
        ) {
            sheet.rows.append([
                section, store, amount?.currency ?? "", item, period,
                count.map { "\($0)" } ?? "", amount?.decimal ?? "",
            ])
        }
        for total in totals {
            let store = total.store.rawValue
            add("payments", store, "gross", month, total.charges, total.gross)
            add("payments", store, "refunded", month, total.refunds, total.refunded)
            add("payments", store, "disputed", month, total.disputes, total.disputed)
            if let tax = total.tax { add("payments", store, "tax", month, nil, tax) }
            if let commission = total.commission {
                add("payments", store, "commission", month, nil, commission)
            }
            add("payments", store, "net", month, nil, total.net)
            if total.estimated > 0 {
                add("payments", store, "estimated", month, total.estimated, nil)
            }
        }
        for part in stores {
            let store = part.store.rawValue
            for balance in part.balances ?? [] {
                for (item, amount) in [
                    ("opening", balance.opening), ("charges", balance.charges),
                    ("refunds", balance.refunds), ("disputes", balance.disputes),
                    ("fees", balance.fees), ("other", balance.other),
                    ("payouts", balance.payouts), ("closing", balance.closing),
                ] {
                    add("balance", store, item, month, nil, amount)
                }
            }
            for payout in part.payouts {
                // What pays for a time is told by that time.
                let period = [payout.first, payout.last].compactMap { $0.map { "\($0)" } }
                let item = "\(payout.id) \(payout.status)"
                add(
                    "payouts",
                    store,
                    period.isEmpty ? item : "\(item), payable \(payout.arrival)",
                    period.isEmpty ? "\(payout.arrival)" : period.joined(separator: "/"),
                    nil,
                    payout.amount
                )
            }
        }
        return sheet
    }
}
