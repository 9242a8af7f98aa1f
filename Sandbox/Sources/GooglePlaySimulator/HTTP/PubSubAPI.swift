import SandboxClock

/// Pub/Sub by REST: a subscription is looked at, pulled from and acknowledged.
struct PubSubAPI: Sendable {
    static let scope = "https://www.googleapis.com/auth/pubsub"

    let play: SimulatedGooglePlay

    func answer(_ exchange: Exchange) async -> Answer {
        do {
            guard
                await play.tokens.accepts(
                    exchange.authorization,
                    of: await play.account,
                    scopes: [Self.scope],
                    seconds: exchange.seconds
                )
            else { throw APIError.unauthenticated }
            return .json(try await result(exchange))
        } catch let error as APIError {
            return .error(error)
        } catch {
            Trouble.tell(error, during: exchange)
            return .error(.internalError)
        }
    }

    private func result(_ exchange: Exchange) async throws -> JSON {
        let project = await play.pubSub.project
        guard exchange.path.count == 5, exchange.path[1] == "projects",
            exchange.path[2] == project, exchange.path[3] == "subscriptions"
        else { throw notFound(exchange.path.last ?? "") }
        let parts = exchange.path[4].split(
            separator: ":",
            maxSplits: 1,
            omittingEmptySubsequences: false
        ).map(String.init)
        let name = parts[0]
        guard await play.pubSub.queues[name] != nil else { throw notFound(name) }
        let body = exchange.body.isEmpty ? [:] : JSON(bytes: exchange.body)
        guard let body else { throw APIError.invalid("Invalid JSON payload received.") }
        switch (exchange.method, parts.count > 1 ? parts[1] : "") {
        case ("GET", ""): return await describe(name)
        case ("POST", "pull"): return try await pull(name, body)
        case ("POST", "acknowledge"):
            let ids = (body["ackIds"]?.list ?? []).compactMap(\.text)
            guard !ids.isEmpty else { throw APIError.invalid("No ack ids specified.") }
            return await play.acknowledge(ids, in: name)
        case ("POST", "modifyAckDeadline"):
            let ids = (body["ackIds"]?.list ?? []).compactMap(\.text)
            let seconds = body["ackDeadlineSeconds"]?.whole ?? 0
            guard !ids.isEmpty, (0...600).contains(seconds) else {
                throw APIError.invalid("The ack deadline is 0 to 600 seconds.")
            }
            return await play.modify(ids, deadline: seconds, in: name)
        case ("POST", "modifyPushConfig"):
            return try await modifyPush(name, body["pushConfig"] ?? [:])
        default: throw APIError.notFound("Method not found.")
        }
    }

    private func notFound(_ name: String) -> APIError {
        var error = APIError.notFound("Resource not found (resource=\(name)).")
        error.domain = "global"
        return error
    }

    private func pull(_ name: String, _ body: JSON) async throws -> JSON {
        guard let limit = body["maxMessages"]?.whole, limit > 0 else {
            throw APIError.invalid("maxMessages must be positive.")
        }
        return await play.pull(Int(min(1000, limit)), from: name)
    }

    private func modifyPush(_ name: String, _ config: JSON) async throws -> JSON {
        try await play.setUp { setUp in
            guard var settings = setUp.pubSub.queues[name]?.settings else {
                throw APIError.notFound("Resource not found (resource=\(name)).")
            }
            settings.pushEndpoint = config["pushEndpoint"]?.text
            settings.audience = config["oidcToken"]?["audience"]?.text
            settings.serviceAccountEmail = config["oidcToken"]?["serviceAccountEmail"]?.text
            settings.noWrapper = config["noWrapper"] == nil ? nil : true
            setUp.pubSub.subscribe(name, settings, at: setUp.now)
        }
        return [:]
    }

    private func describe(_ name: String) async -> JSON {
        let pubSub = await play.pubSub
        let settings = pubSub.queues[name]?.settings ?? .init()
        let oidc: JSON? = settings.serviceAccountEmail.map { email in
            ["serviceAccountEmail": .string(email), "audience": .text(settings.audience)]
        }
        return [
            "name": .string("projects/\(pubSub.project)/subscriptions/\(name)"),
            "topic": .string("projects/\(pubSub.project)/topics/\(pubSub.topic)"),
            "state": "ACTIVE",
            "ackDeadlineSeconds": .integer(settings.ackDeadline / 1000),
            "messageRetentionDuration": .string("\(settings.retention / 1000)s"),
            "pushConfig": settings.pushEndpoint.map { url in
                ["pushEndpoint": .string(url), "oidcToken": oidc]
            } ?? [:],
            "retryPolicy": [
                "minimumBackoff": .string("\(settings.minimumBackoff / 1000)s"),
                "maximumBackoff": .string("\(settings.maximumBackoff / 1000)s"),
            ],
            "deadLetterPolicy": settings.maxDeliveryAttempts.map { limit in
                [
                    "deadLetterTopic": .string("projects/\(pubSub.project)/topics/dead-letters"),
                    "maxDeliveryAttempts": .whole(limit == 0 ? 5 : limit),
                ]
            },
            "expirationPolicy": settings.expiresAfterDays.map { days in
                ["ttl": .string("\(days * 86_400)s")]
            } ?? [:],
        ]
    }
}

extension SimulatedGooglePlay {
    /// Hands out messages that were not acknowledged yet.
    func pull(_ limit: Int, from name: String) async -> JSON {
        let now = await clock.now
        let isOut = faults.isOutage(at: now)
        let entries = isOut ? [] : changeQueue(name) { $0.pull(limit, at: now) } ?? []
        let behaviour = store.behaviour
        let counts = pubSub.queues[name]?.settings.maxDeliveryAttempts != nil
        return [
            "receivedMessages": .items(
                entries.map { entry in
                    [
                        "ackId": .text(entry.ackID),
                        "message": entry.message.wire(behaviour, isPushed: false),
                        "deliveryAttempt": counts ? .whole(entry.attempts) : nil,
                    ]
                }
            )
        ]
    }

    func acknowledge(_ ids: [String], in name: String) async -> JSON {
        let now = await clock.now
        changeQueue(name) { queue in
            for id in ids { queue.acknowledge(id, at: now) }
        }
        return [:]
    }

    func modify(_ ids: [String], deadline: Int64, in name: String) async -> JSON {
        let now = await clock.now
        changeQueue(name) { queue in
            for id in ids { queue.modify(id, deadline: deadline, at: now) }
        }
        return [:]
    }
}
