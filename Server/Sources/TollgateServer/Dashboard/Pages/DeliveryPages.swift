internal import Foundation
internal import Hummingbird
internal import Storage
internal import Stores
internal import TollgateCore
internal import TollgateService

/// Messages: received ones, parked ones, and the feed.
struct DeliveryPages: DashboardPages {
    let request: DashboardRequest

    func deliveries() async throws -> Response {
        let kind = ask.query("kind").flatMap { Int64($0) }.flatMap {
            JournalItem.Kind(rawValue: $0)
        }
        let store = ask.query("store").flatMap { Store(rawValue: $0) }
        let (rows, next) = try await journal(kind, store)
        let table = Table(
            caption: words["nav_deliveries"],
            columns: [
                words["message"], words["when"], words["kind"], words["from"], words["fact"],
            ],
            rows: rows.map { row in
                [
                    Cell.link("#\(row.id)", "/dashboard/deliveries/\(row.id)"),
                    Cell.time(row.stated, formats), Cell(words["kind_\(row.kind.rawValue)"]),
                    Cell(source(of: row)), fact(of: row),
                ]
            },
            empty: words[kind == nil && store == nil ? "no_deliveries" : "no_such_rows"],
            next: older(next)
        )
        return list(
            words["nav_deliveries"],
            section: "deliveries",
            table,
            file: "journal",
            filters: [
                chooser(
                    "kind",
                    words["kind"],
                    [choice("", words["all"], kind == nil)]
                        + JournalItem.Kind.allCases.map {
                            choice(
                                "\($0.rawValue)",
                                words["kind_\($0.rawValue)"],
                                $0 == kind
                            )
                        }
                ), storeFilter(store),
            ],
            ["lead": words["deliveries_lead"]]
        )
    }

    /// The newest rows of the journal that are of a kind and about purchases in a store.
    ///
    /// Rows are found by their number alone, so of a filter that few pass a page may be short.
    ///
    /// - Returns: `next` is the key from which the page after goes on.
    private func journal(
        _ kind: JournalItem.Kind?,
        _ store: Store?
    ) async throws -> (rows: [JournalRow], next: Int64?) {
        var found: [JournalRow] = []
        var from = before
        for _ in 0..<20 {
            let rows = try await tollgate.store.journal.rows(before: from, limit: 51)
            for row in rows.prefix(50) where kind == nil || row.kind == kind {
                if let store, sellingStore(of: row) != store { continue }
                found.append(row)
            }
            guard rows.count > 50 else { return (found, nil) }
            from = rows[49].id
            if found.count >= 50 || (kind == nil && store == nil) { break }
        }
        return (found, from)
    }

    /// The store whose purchases a row is about.
    private func sellingStore(of row: JournalRow) -> Store? {
        guard case .facts(let facts) = row.content else { return nil }
        return facts.first?.purchase.store
    }

    func delivery(_ id: String) async throws -> Response {
        guard let number = Int64(id),
            let evidence = try await tollgate.store.journal.evidence(number)
        else { throw Refusal.nothingHere }
        let row = evidence.row
        var link: Model = ["url": false, "name": ""]
        if let record = try await tollgate.store.record(row: row.subject) {
            link = ["url": "/dashboard/purchases/\(row.subject.hex)", "name": record.key.canonical]
        } else if let profile = try await tollgate.store.profile(row: row.subject) {
            link = [
                "url":
                    "/dashboard/customers/\(Ask.escaped(profile.customer.rawValue))",
                "name": profile.body.isEmpty
                    ? words["erased"] : try tollgate.customerFiles.shownName(of: profile),
            ]
        }
        var facts: [Fact] = []
        if case .facts(let stated) = row.content { facts = stated }
        let table = Table(
            caption: words["facts"],
            columns: [words["when"], words["kind"], words["fact"], words["source"]],
            rows: facts.map { fact in
                [
                    Cell.time(fact.stated.instant, formats),
                    Cell(words.of("statement", fact.kind)).with(id: fact.kind),
                    Cell(said(fact)).noting(words.said(fact.sentence, formats)), Cell(fact.source),
                ]
            },
            empty: words["fact_none"]
        )
        // The bodies hold what a store says of people.
        let maySee = visit.member.role >= .support
        let body = maySee ? evidence.body.map { Evidence.readable($0) } : nil
        return page(
            "dash_delivery",
            words("delivery_title", ["id": id]),
            section: "deliveries",
            [
                "time": formats.time(row.stated), "kindText": words["kind_\(row.kind.rawValue)"],
                "summary": facts.isEmpty ? fact(of: row).text : false, "subject": link,
                "digest": evidence.digest.hex, "table": table.model,
                "hasFacts": !facts.isEmpty, "body": body ?? false,
                "isHidden": !maySee && evidence.body != nil, "isGone": evidence.body == nil,
            ]
        )
    }

    // MARK: - Parked

    func parked() async throws -> Response {
        let messages = try await tollgate.store.parked.page(limit: 100)
        let table = Table(
            caption: words["nav_parked"],
            columns: [words["received"], words["from"], words["message"], words["reason"]],
            rows: messages.map { message in
                [
                    Cell.time(message.received, formats), Cell(storeName(message.store)),
                    Cell(message.source), readCell(message.reason),
                ]
            },
            empty: words["no_parked"]
        )
        return list(
            words["nav_parked"],
            section: "parked",
            table,
            file: "parked",
            [
                "lead": words["parked_lead"],
                "action": messages.isEmpty || visit.member.role < .support
                    ? false : "/dashboard/parked/retry",
                "actionLabel": words["retry_all"],
            ]
        )
    }

    func retryParked(_ form: [String: String]) async throws -> Response {
        try visit.require(.support)
        let result = try await audited(
            Deed("parked.retry", "parked:all"),
            state: {
                try await tollgate.store.parked.counts().map { "\($0.store): \($0.count)" }
                    .joined(separator: ", ")
            }
        ) { try await tollgate.parked.retryAll() }
        return done(result.stillParked == 0 ? "retried" : "retried_some", "/dashboard/parked")
    }

    // MARK: - Out

    func events() async throws -> Response {
        let messages = try await tollgate.store.feed.latest(before: before, limit: 51)
        let shown = Array(messages.prefix(50))
        let names = try await customerNames(shown.map(\.customer))
        let table = Table(
            caption: words["nav_events"],
            columns: [
                words["place"], words["when"], words["kind"], words["customer"],
                words["active_now"], words["coins"],
            ],
            numbers: [0, 5],
            rows: shown.map { message in
                [
                    Cell.count(message.number, formats), Cell.time(message.created, formats),
                    Cell.noted(
                        words.of("event", message.kind.rawValue),
                        words.of("event_meaning", message.kind.rawValue)
                    ).with(id: message.kind.rawValue),
                    Cell.link(
                        names[message.customer] ?? words["erased"],
                        "/dashboard/customers/\(Ask.escaped(message.customer.rawValue))"
                            + "?environment=\(message.environment.rawValue)"
                    ).with(id: message.customer.rawValue),
                    Cell(
                        message.entitlements.isEmpty
                            ? "–" : self.names(of: message.entitlements.map(\.lookupKey))
                    ), Cell.count(message.balance, formats),
                ]
            },
            empty: words["no_events"],
            next: older(messages.count > 50 ? messages[49].number : nil)
        )
        return list(
            words["nav_events"],
            section: "events",
            table,
            file: "feed",
            ["lead": words["events_lead"]]
        )
    }
}
