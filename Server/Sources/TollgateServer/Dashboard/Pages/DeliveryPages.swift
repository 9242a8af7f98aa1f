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
        let rows = try await tollgate.store.journal.rows(before: before, limit: 51)
        let table = Table(
            caption: words["nav_deliveries"],
            columns: [
                words["message"], words["when"], words["kind"], words["from"], words["fact"],
            ],
            rows: rows.prefix(50).map { row in
                [
                    Cell.link("#\(row.id)", "/dashboard/deliveries/\(row.id)"),
                    Cell.time(row.stated, formats), Cell(words["kind_\(row.kind.rawValue)"]),
                    Cell(source(of: row)), fact(of: row),
                ]
            },
            empty: words["no_deliveries"],
            next: rows.count > 50 ? "/dashboard/deliveries?before=\(rows[49].id)" : nil
        )
        return page(
            "dash_list",
            words["nav_deliveries"],
            section: "deliveries",
            ["table": table.model, "lead": words["deliveries_lead"]]
        )
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
                "name": profile.customer.rawValue,
            ]
        }
        var facts: [Fact] = []
        if case .facts(let stated) = row.content { facts = stated }
        let table = Table(
            caption: words["facts"],
            columns: [words["when"], words["kind"], words["fact"], words["source"]],
            rows: facts.map { fact in
                [
                    Cell.time(fact.stated.instant, formats), Cell(fact.kind),
                    Cell.english(fact.summary), Cell(fact.source),
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
                "digest": evidence.digest.map { byte in
                    let text = String(byte, radix: 16)
                    return byte < 16 ? "0\(text)" : text
                }.joined(), "table": table.model, "hasFacts": !facts.isEmpty,
                "body": body ?? false, "isHidden": !maySee && evidence.body != nil,
                "isGone": evidence.body == nil,
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
                    Cell(message.source), Cell.english(message.reason),
                ]
            },
            empty: words["no_parked"]
        )
        return page(
            "dash_list",
            words["nav_parked"],
            section: "parked",
            [
                "table": table.model, "lead": words["parked_lead"],
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
        let table = Table(
            caption: words["nav_events"],
            columns: [
                words["place"], words["when"], words["kind"], words["customer"],
                words["active_now"], words["coins"],
            ],
            numbers: [0, 5],
            rows: messages.prefix(50).map { message in
                [
                    Cell.number("\(message.number)"), Cell.time(message.created, formats),
                    Cell(words.of("event", message.kind.rawValue)),
                    Cell.link(
                        message.customer.rawValue,
                        "/dashboard/customers/\(Ask.escaped(message.customer.rawValue))"
                            + "?environment=\(message.environment.rawValue)"
                    ),
                    Cell(
                        message.entitlements.isEmpty
                            ? "–" : names(of: message.entitlements.map(\.lookupKey))
                    ), Cell.number(formats.number(message.balance)),
                ]
            },
            empty: words["no_events"],
            next: messages.count > 50 ? "/dashboard/events?before=\(messages[49].number)" : nil
        )
        return page(
            "dash_list",
            words["nav_events"],
            section: "events",
            ["table": table.model, "lead": words["events_lead"]]
        )
    }
}
