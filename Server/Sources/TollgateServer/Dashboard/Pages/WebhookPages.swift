internal import Foundation
internal import Hummingbird
internal import TollgateAPI
internal import TollgateCore
internal import TollgateService

/// Endpoints of the app's backend and what was sent to each.
struct WebhookPages: DashboardPages {
    let request: DashboardRequest

    func webhooks() async throws -> Response {
        let endpoints = try await tollgate.deliveryLog.endpoints().data
        let table = Table(
            caption: words["nav_webhooks"],
            columns: [words["address"], words["state"], words["events"], words["since"]],
            rows: endpoints.map { endpoint in
                [
                    Cell.link(
                        endpoint.url,
                        "/dashboard/webhooks/\(Ask.escaped(endpoint.id))",
                        note: endpoint.description
                    ),
                    Cell.badge(
                        words[endpoint.status == "enabled" ? "on" : "off"],
                        endpoint.status == "enabled" ? "on" : "bad"
                    ).noting(endpoint.disabledReason.map { read($0) }),
                    Cell(
                        endpoint.enabledEvents == ["*"]
                            ? words["all"] : endpoint.enabledEvents.joined(separator: ", ")
                    ),
                    Cell.time(Instant(milliseconds: endpoint.created), formats),
                ]
            },
            empty: words["no_webhooks"]
        )
        return page(
            "dash_list",
            words["nav_webhooks"],
            section: "webhooks",
            ["table": table.model, "lead": words["webhooks_lead"], "action": false]
        )
    }

    func webhook(_ id: String) async throws -> Response {
        let endpoint = try await tollgate.deliveryLog.endpoint(id)
        let status = ask.query("status").flatMap {
            ["waiting", "delivered", "dead"].contains($0) ? $0 : nil
        }
        let found = try await tollgate.deliveryLog.deliveries(
            of: id,
            status: status,
            startingAfter: ask.query("after"),
            limit: 50
        )
        let here = "/dashboard/webhooks/\(Ask.escaped(id))"
        let table = Table(
            caption: words["deliveries"],
            columns: [
                words["event"], words["state"], words["attempts"], words["tried"],
                words["outcome"],
            ],
            numbers: [2],
            rows: found.data.map { delivery in
                [
                    Cell(delivery.event),
                    Cell.badge(
                        words.of("delivery", delivery.status),
                        delivery.status == "delivered"
                            ? "on" : delivery.status == "dead" ? "bad" : "warn"
                    ), Cell(formats.number(delivery.attempts)),
                    delivery.tried.map {
                        Cell.time(Instant(milliseconds: $0), formats)
                    } ?? Cell("–"), outcome(of: delivery),
                ]
            },
            empty: words["no_attempts"],
            next: found.hasMore
                ? found.data.last.map { last in
                    "\(here)?after=\(Ask.escaped(last.event))"
                        + (status.map { "&status=\($0)" } ?? "")
                } ?? nil : nil
        )
        return page(
            "dash_webhook",
            endpoint.url,
            section: "webhooks",
            [
                "table": table.model, "here": here,
                "stateText": words[endpoint.status == "enabled" ? "on" : "off"],
                "why": endpoint.disabledReason.map { read($0).models } ?? [],
                "isOn": endpoint.status == "enabled",
                "choices": [nil, "waiting", "delivered", "dead"].map { choice -> Model in
                    [
                        "choiceURL": choice.map { "\(here)?status=\($0)" } ?? here,
                        "choiceName": choice.map { words["delivery_\($0)"] } ?? words["all"],
                        "isHere": choice == status,
                    ]
                },
            ]
        )
    }

    private func outcome(of delivery: API.WebhookDelivery) -> Cell {
        guard delivery.status != "delivered" else { return Cell(words["delivery_delivered"]) }
        return delivery.outcome.map { readCell($0) } ?? Cell("–")
    }

    /// Sends again what was given up, or one event.
    func replay(_ id: String, _ form: [String: String]) async throws -> Response {
        try visit.require(.support)
        let event = (form["event"] ?? "").trimmingCharacters(in: .whitespaces)
        _ = try await audited(
            Deed("webhook.replay", "webhook:\(id)", event.isEmpty ? "dead letters" : event)
        ) {
            try await tollgate.webhookEndpoints.replay(
                id,
                event.isEmpty
                    ? API.WebhookReplayRequest(dead: true) : API.WebhookReplayRequest(event: event)
            )
        }
        return done("replayed", "/dashboard/webhooks/\(Ask.escaped(id))")
    }
}
