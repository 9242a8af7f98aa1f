internal import Hummingbird
internal import Reports
internal import Storage
internal import Stores
internal import TollgateAPI
internal import TollgateCore
internal import TollgateService

/// The overview's sentences, each a link: what needs a person, and what yesterday brought.
struct OverviewNews: DashboardPages {
    let request: DashboardRequest

    /// A sentence, and where it leads.
    private func line(_ text: String, _ link: String) -> Model {
        ["newsText": text, "newsLink": link]
    }

    // MARK: - Yesterday

    /// What yesterday brought, beside the day before.
    func sinceYesterday(_ today: Reports.Day, _ currency: String) async throws -> [Model] {
        let yesterday = today.advanced(by: -1)
        let days = "from=\(yesterday)&to=\(yesterday)&by=day"
        var lines: [Model] = []
        let sold = try await figures("revenue", yesterday, yesterday).value("gross", currency)
        let before = yesterday.advanced(by: -1)
        let earlier = try await figures("revenue", before, before).value("gross", currency)
        if !sold.isZero || !earlier.isZero {
            lines.append(
                line(
                    words(
                        "news_sold",
                        ["amount": shown(sold), "before": shown(earlier)]
                    ),
                    "/dashboard/reports/rows-sales?from=\(yesterday)&to=\(yesterday)"
                )
            )
        }
        let moved = try await figures("mrr-movement", yesterday, yesterday)
        for (key, text) in [
            ("new_count", "news_new"), ("returned_count", "news_returned"),
            ("churned_count", "news_churned"),
        ] {
            // One row for each currency: subscriptions of all of them count.
            guard case .count(let count)? = Reports.Table.Value.sum(of: moved.values(key)),
                count != 0
            else { continue }
            lines.append(
                line(
                    words(text, ["count": formats.number(Int64(clamping: count.magnitude))]),
                    "/dashboard/reports/mrr-movement?\(days)"
                )
            )
        }
        let refunds = try await figures("refunds", yesterday, yesterday)
        if case .count(let count)? = Reports.Table.Value.sum(
            of: refunds.values("refunded_by_date")
        ), count > 0 {
            lines.append(
                line(
                    words("news_refunds", ["count": formats.number(count)]),
                    "/dashboard/reports/refunds?\(days)"
                )
            )
        }
        return lines
    }

    // MARK: - What needs a person

    func needs(_ today: Reports.Day) async throws -> [Model] {
        try await messages() + webhooks() + money(today) + access()
    }

    private func messages() async throws -> [Model] {
        let parked = try await tollgate.store.parked.counts().reduce(0) { $0 + $1.count }
        guard parked > 0 else { return [] }
        return [
            line(
                words("need_parked", ["count": formats.number(parked)]),
                "/dashboard/parked"
            )
        ]
    }

    private func webhooks() async throws -> [Model] {
        var lines: [Model] = []
        for endpoint in try await tollgate.deliveryLog.endpoints().data.prefix(20) {
            let link = "/dashboard/webhooks/\(Ask.escaped(endpoint.id))"
            if endpoint.status != "enabled" {
                lines.append(line(words("need_webhook_off", ["address": endpoint.url]), link))
                continue
            }
            let dead = try await tollgate.deliveryLog.deliveries(
                of: endpoint.id,
                status: "dead",
                limit: 1
            )
            guard !dead.data.isEmpty else { continue }
            lines.append(
                line(words("need_webhook", ["address": endpoint.url]), "\(link)?status=dead")
            )
        }
        return lines
    }

    private func money(_ today: Reports.Day) async throws -> [Model] {
        var lines: [Model] = []
        let subscriptions = try await figures("subscriptions", today, today)
        let atRisk = ["grace", "retry"].compactMap { key -> Int64? in
            if case .count(let count)? = Reports.Table.Value.sum(of: subscriptions.values(key)) {
                count
            } else {
                nil
            }
        }.reduce(0, +)
        if atRisk > 0 {
            lines.append(
                line(
                    words("need_renewals", ["count": formats.number(atRisk)]),
                    "/dashboard/purchases?state=failing"
                )
            )
        }
        // The newest are looked at: of all sales this would take as long as there are many.
        let from = Finance.Day(utc: today.advanced(by: -30).start)
        let until = Finance.Day(utc: today.start)
        let disputes = try await tollgate.accounts.newestPayments(
            500,
            from: from,
            to: until,
            in: environment
        ).count { $0.kind == .dispute }
        if disputes > 0 {
            lines.append(
                line(
                    words("need_disputes", ["count": formats.number(Int64(disputes))]),
                    "/dashboard/payments?from=\(from)&to=\(until)&kind=dispute"
                )
            )
        }
        let kept = try await tollgate.accounts.keptReconciliation(in: environment)
        let open =
            kept?.reconciliation.summaries.filter { !$0.isExplained }
            .reduce(0) { $0 + $1.count } ?? 0
        if open > 0 {
            lines.append(
                line(
                    words("need_differences", ["count": formats.number(Int64(open))]),
                    "/dashboard/reconciliation"
                )
            )
        }
        return lines
    }

    private func access() async throws -> [Model] {
        // What only a device saw is a no that the stores' words give, too.
        let findings = try await tollgate.store.evidence.findings(
            of: [.lockedOut, .letIn],
            limit: 200
        )
        let customers = Set(findings.map(\.finding.customer))
        guard !customers.isEmpty else { return [] }
        return [
            line(
                words("need_access", ["count": formats.number(Int64(customers.count))]),
                "/dashboard/access"
            )
        ]
    }
}
