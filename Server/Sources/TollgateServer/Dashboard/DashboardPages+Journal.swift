internal import Storage
internal import TollgateCore

extension DashboardPages {
    /// What was stated, in the words of `explain`.
    func timeline(_ rows: [JournalRow], next: String?) -> Table {
        Table(
            caption: words["timeline"],
            columns: [words["when"], words["from"], words["fact"], words["message"]],
            rows: rows.prefix(25).map { row in
                [
                    Cell.time(row.stated, formats), Cell(source(of: row)), fact(of: row),
                    Cell.link("#\(row.id)", "/dashboard/deliveries/\(row.id)"),
                ]
            },
            empty: words["no_facts"],
            next: next
        )
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
            return Cell.english(
                facts.prefix(4).map { "\($0.kind): \($0.summary)" }.joined(separator: " · ")
            )
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
                        "/dashboard/audit?subject=\(Ask.escaped(entry.subject))",
                        note: entry.detail.isEmpty ? nil : entry.detail
                    ), change,
                    Cell.badge(
                        entry.outcome == AuditEntry.done
                            ? words["outcome_done"]
                            : entry.outcome == AuditEntry.begun
                                ? words["outcome_begun"] : words["outcome_refused"],
                        entry.outcome == AuditEntry.done ? "on" : "warn"
                    ), Cell(entry.request),
                ]
            },
            empty: words["no_audit"],
            next: next
        )
    }
}
