internal import Hummingbird
internal import Storage
internal import TollgateCore
internal import TollgateService

/// Findings of the second opinion: customers whom it would answer otherwise.
struct AccessPages: DashboardPages {
    let request: DashboardRequest

    func access() async throws -> Response {
        let summary = try await tollgate.accessChecks.summary()
        let findings = try await tollgate.store.evidence.findings(limit: 200)
        let names = try await customerNames(findings.map(\.finding.customer))
        let table = Table(
            caption: words["nav_access"],
            columns: [
                words["kind"], words["customer"], words["entitlement"], words["access_since"],
                words["second_opinion"], words["message_ids"],
            ],
            rows: findings.map { row($0, names) },
            empty: words[summary == nil ? "access_never" : "no_access_findings"]
        )
        let lead = summary.map { summary in
            words(
                "access_lead",
                [
                    "time": formats.moment(summary.ended),
                    "purchases": formats.number(Int64(summary.purchases)),
                    "unjudged": formats.number(Int64(summary.unjudged)),
                ]
            )
        }
        return page(
            "dash_list",
            words["nav_access"],
            section: "access",
            ["table": table.model, "lead": lead ?? words["access_never"]]
        )
    }

    private func row(_ kept: KeptFinding, _ names: [Customer.ID: String]) -> [Cell] {
        let finding = kept.finding
        let customer = finding.customer.rawValue
        var since = Cell.time(finding.since, formats)
        since.note = "\(words["first_seen"]): \(formats.moment(kept.firstSeen))"
        let answer = Said([Said("\(words["server_says"]): "), read(finding.answer)])
        return [
            Cell.badge(
                words["access_\(finding.kind.rawValue)"],
                finding.kind == .device ? "warn" : "bad"
            ),
            Cell.link(
                names[finding.customer] ?? customer,
                "/dashboard/customers/\(Ask.escaped(customer))"
                    + "?environment=\(finding.environment.rawValue)",
                note: finding.environment == .sandbox ? words["environment_sandbox"] : nil
            ).with(id: customer), Cell(finding.lookupKey), since,
            readCell(finding.opinion).noting(answer), evidence(finding),
        ]
    }

    private func evidence(_ finding: AccessFinding) -> Cell {
        guard let last = finding.evidence.last else { return Cell("–") }
        let messages = finding.evidence.map { $0.message ?? "\($0.journal)" }
        return Cell.link(
            "\(last.journal)",
            "/dashboard/deliveries/\(last.journal)",
            note: messages.joined(separator: ", ")
        )
    }
}
