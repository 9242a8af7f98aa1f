internal import Storage
internal import TollgateCore

extension DashboardPages {
    /// What happened, in words: by when it was stated, newest first, and nothing twice.
    ///
    /// Stores repeat themselves with each message; what only repeats what was said of the same
    /// purchase before is left out. The journal has it all.
    ///
    /// - Parameter purchases: names of the purchases, where rows are about several.
    func timeline(
        _ rows: [JournalRow],
        purchases: [Purchase.Key: String] = [:],
        next: String?
    ) -> Table {
        var said: [String: String] = [:]
        var lines: [[Cell]] = []
        for row in rows.sorted(by: { ($0.stated, $0.id) < ($1.stated, $1.id) }) {
            guard let text = news(in: row, said: &said) else { continue }
            var what = Cell(text)
            if case .facts(let facts) = row.content, let key = facts.first?.purchase,
                let name = purchases[key], !text.contains(name)
            {
                what.note = name
            }
            lines.append([
                Cell.time(row.stated, formats), what, Cell(source(of: row)),
                Cell.link("#\(row.id)", "/dashboard/deliveries/\(row.id)"),
            ])
        }
        return Table(
            caption: words["timeline"],
            columns: [words["when"], words["fact"], words["from"], words["message"]],
            rows: lines.reversed(),
            empty: words["no_facts"],
            next: next
        )
    }

    /// What a row says that was not said before; `nil`: nothing.
    ///
    /// - Parameter said: the last sentence of each kind about each purchase.
    private func news(in row: JournalRow, said: inout [String: String]) -> String? {
        guard case .facts(let facts) = row.content else { return fact(of: row).text }
        var sentences: [String] = []
        for fact in facts {
            let text = self.said(fact)
            let about = "\(fact.purchase.canonical) \(fact.kind)"
            guard !text.isEmpty, said[about] != text else { continue }
            said[about] = text
            sentences.append(text)
        }
        return sentences.isEmpty ? nil : sentences.joined(separator: " · ")
    }

    func source(of row: JournalRow) -> String {
        guard case .facts(let facts) = row.content, let store = facts.first?.purchase.store else {
            // A hint states nothing, so it does not say whose it is.
            return row.kind == .command ? storeName(.tollgate) : "–"
        }
        let name = storeName(store)
        return row.kind == .command ? storeName(.tollgate) : name
    }

    func fact(of row: JournalRow) -> Cell {
        switch row.content {
        case .facts(let facts):
            guard !facts.isEmpty else { return Cell(words["fact_none"]) }
            var cell = Cell(facts.prefix(4).map { said($0) }.joined(separator: " · "))
            cell.note = Set(facts.map(\.kind)).sorted()
                .map { words.of("statement", $0) }.joined(separator: ", ")
            return cell
        case .registered: return Cell(words["fact_registered"])
        case .spent(let amount, let isAccepted, let balance):
            return Cell(
                words(
                    isAccepted ? "fact_spent" : "fact_spend_refused",
                    ["amount": formats.number(amount), "balance": formats.number(balance)]
                )
            )
        case .adopted: return Cell(words["fact_adopted"])
        case .erased: return Cell(words["fact_erased"])
        }
    }

    func auditTable(_ entries: [AuditEntry], next: String?) -> Table {
        Table(
            caption: words["nav_audit"],
            columns: [
                words["when"], words["who"], words["deed"], words["what"], words["change"],
                words["outcome"], words["request"],
            ],
            rows: entries.map { entry in
                var change = Cell("–")
                if entry.before != entry.after, entry.outcome == AuditEntry.done {
                    change = Cell("\(entry.before ?? "–") → \(entry.after ?? "–")")
                }
                return [
                    Cell.time(entry.at, formats),
                    Cell.link(
                        entry.actor,
                        "/dashboard/audit?actor=\(Ask.escaped(entry.actor))",
                        note: words.of("role", entry.role)
                    ), Cell(words.of("deed", entry.action)),
                    Cell.link(
                        entry.subject,
                        "/dashboard/audit?subject=\(Ask.escaped(entry.subject))"
                    ).noting(entry.detail.isEmpty ? nil : read(entry.detail)), change,
                    Cell.badge(
                        entry.outcome == AuditEntry.done
                            ? words["outcome_done"]
                            : entry.outcome == AuditEntry.begun
                                ? words["outcome_begun"] : words["outcome_refused"],
                        entry.outcome == AuditEntry.done ? "on" : "warn"
                    ), Cell.short(entry.request),
                ]
            },
            empty: words["no_audit"],
            next: next
        )
    }
}
