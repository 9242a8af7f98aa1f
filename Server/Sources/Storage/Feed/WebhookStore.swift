public import TollgateCore

/// An endpoint of the app's backend that is told what changes.
public struct WebhookEndpointRow: Sendable {
    public var id: String
    /// In the words of whoever keeps them.
    public var settings: [UInt8]
    /// Sealed.
    public var secrets: [UInt8]
    /// Why nothing is sent to it; nil where something is.
    public var disabled: String?
    /// Up to which place in the feed events were taken in for it.
    public var position: Int64
    /// How many sendings failed since the last one that did not.
    public var failures: Int64
    /// When the first of them was, by real time.
    public var failingSince: Instant?
    /// Until when nothing is sent to it.
    public var pausedUntil: Instant
    public var created: Instant

    public init(
        id: String,
        settings: [UInt8],
        secrets: [UInt8],
        position: Int64,
        created: Instant
    ) {
        self.id = id
        self.settings = settings
        self.secrets = secrets
        self.position = position
        self.created = created
        failures = 0
        pausedUntil = created
    }

    static let columns = """
        id, settings, secrets, disabled, position, failures, failing_since, paused_until, created
        """

    init(_ row: Row) throws {
        id = try row.text(0)
        settings = try row.bytes(1)
        secrets = try row.bytes(2)
        disabled = try row.optionalText(3)
        position = try row.int64(4)
        failures = try row.int64(5)
        failingSince = try row.optionalInt64(6).map { Instant(milliseconds: $0) }
        pausedUntil = Instant(milliseconds: try row.int64(7))
        created = Instant(milliseconds: try row.int64(8))
    }
}

/// One event for one endpoint.
public struct DeliveryRow: Hashable, Sendable {
    /// What has become of it.
    public enum Status: Int64, Sendable {
        case waiting = 0
        case delivered = 1
        /// Given up; kept until it is replayed.
        case dead = 2
    }

    /// The event's place in the feed.
    public var number: Int64
    public var status: Status
    /// How often it was sent.
    public var attempts: Int64
    /// When it is sent next, if it waits.
    public var due: Instant
    /// When it was sent last.
    public var tried: Instant?
    /// What came of that.
    public var outcome: String?

    static let columns = "number, status, attempts, due, tried, outcome"

    init(_ row: Row) throws {
        number = try row.int64(0)
        status = Status(rawValue: try row.int64(1)) ?? .dead
        attempts = try row.int64(2)
        due = Instant(milliseconds: try row.int64(3))
        tried = try row.optionalInt64(4).map { Instant(milliseconds: $0) }
        outcome = try row.optionalText(5)
    }
}

/// What came of sending one event once.
public struct DeliveryResult: Sendable {
    public var number: Int64
    /// How often it had been sent before: a server that was too slow changes nothing any more.
    public var attempts: Int64
    public var status: DeliveryRow.Status
    public var due: Instant
    public var outcome: String

    public init(
        number: Int64,
        attempts: Int64,
        status: DeliveryRow.Status,
        due: Instant,
        outcome: String
    ) {
        self.number = number
        self.attempts = attempts
        self.status = status
        self.due = due
        self.outcome = outcome
    }
}

/// Endpoints of the app's backend and what is sent to each.
///
/// The feed is the outbox: messages are written in the transaction of what they tell. What is taken
/// in from it for an endpoint is bounded; the rest stays where it is.
public struct WebhookStore: Sendable {
    let driver: any StorageDriver

    public func add(_ endpoint: WebhookEndpointRow) async throws {
        try await driver.execute(
            """
            INSERT INTO webhook_endpoint (\(WebhookEndpointRow.columns))
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
            """,
            [
                .text(endpoint.id), .blob(endpoint.settings), .blob(endpoint.secrets),
                SQLValue(endpoint.disabled), .integer(endpoint.position),
                .integer(endpoint.failures), SQLValue(endpoint.failingSince?.milliseconds),
                .integer(endpoint.pausedUntil.milliseconds),
                .integer(endpoint.created.milliseconds),
            ]
        )
    }

    /// All endpoints, the oldest first.
    public func endpoints() async throws -> [WebhookEndpointRow] {
        try await driver.readNow(
            "SELECT \(WebhookEndpointRow.columns) FROM webhook_endpoint ORDER BY created, id",
            []
        ).map { try WebhookEndpointRow($0) }
    }

    public func endpoint(_ id: String) async throws -> WebhookEndpointRow? {
        try await driver.readNow(
            "SELECT \(WebhookEndpointRow.columns) FROM webhook_endpoint WHERE id = $1",
            [.text(id)]
        ).first.map { try WebhookEndpointRow($0) }
    }

    /// Changes the settings of an endpoint, and whether anything is sent to it.
    ///
    /// - Parameters:
    ///   - old: the settings that were read before.
    ///   - disabled: why nothing is sent to it any more, or nil for sending again; not given: as it
    ///     is.
    ///   - isRestarted: forgets the failures so far.
    /// - Returns: false, and nothing was changed, where somebody else has changed or removed it.
    public func change(
        _ id: String,
        settings: [UInt8],
        from old: [UInt8],
        disabled: String??,
        isRestarted: Bool
    ) async throws -> Bool {
        try await driver.write { connection in
            let isChanged = try connection.execute(
                "UPDATE webhook_endpoint SET settings = $2 WHERE id = $1 AND settings = $3",
                [.text(id), .blob(settings), .blob(old)]
            )
            guard isChanged > 0 else { return false }
            if let disabled {
                try connection.execute(
                    "UPDATE webhook_endpoint SET disabled = $2 WHERE id = $1",
                    [.text(id), SQLValue(disabled)]
                )
            }
            if isRestarted {
                try connection.execute(
                    """
                    UPDATE webhook_endpoint
                    SET failures = 0, failing_since = NULL, paused_until = 0 WHERE id = $1
                    """,
                    [.text(id)]
                )
            }
            return true
        }
    }

    /// Changes the secrets of an endpoint.
    ///
    /// - Parameter old: those that were read before.
    /// - Returns: false, and nothing was changed, where somebody else has changed or removed them.
    public func change(_ id: String, secrets: [UInt8], from old: [UInt8]) async throws -> Bool {
        try await driver.execute(
            "UPDATE webhook_endpoint SET secrets = $2 WHERE id = $1 AND secrets = $3",
            [.text(id), .blob(secrets), .blob(old)]
        ) > 0
    }

    /// Forgets an endpoint and all that waits for it.
    public func remove(_ id: String) async throws -> Bool {
        try await driver.write { connection in
            try connection.execute("DELETE FROM delivery WHERE endpoint = $1", [.text(id)])
            return try connection.execute(
                "DELETE FROM webhook_endpoint WHERE id = $1",
                [.text(id)]
            ) > 0
        }
    }

    /// The endpoints for which there is something to do now.
    ///
    /// Only reads, so that a server with nothing to send writes nothing.
    public func endpointsWithWork(at now: Instant) async throws -> [WebhookEndpointRow] {
        try await driver.readNow(
            """
            SELECT \(WebhookEndpointRow.columns) FROM webhook_endpoint e
            WHERE disabled IS NULL AND paused_until <= $1
            AND (position < (SELECT coalesce(max(number), 0) FROM message)
                OR EXISTS (SELECT 1 FROM delivery d
                    WHERE d.endpoint = e.id AND d.status = 0 AND d.due <= $1))
            ORDER BY id
            """,
            [.integer(now.milliseconds)]
        ).map { try WebhookEndpointRow($0) }
    }

    /// The next instant with something to do for an endpoint, by real time; `nil`: none until something
    /// is written.
    public func nextWork() async throws -> Instant? {
        try await driver.readNow(
            """
            SELECT paused_until,
                CASE WHEN position < (SELECT coalesce(max(number), 0) FROM message)
                THEN paused_until
                ELSE (SELECT min(due) FROM delivery d WHERE d.endpoint = e.id AND d.status = 0) END
            FROM webhook_endpoint e WHERE disabled IS NULL
            """,
            []
        ).compactMap { row in
            try row.optionalInt64(1).map { max(try row.int64(0), $0) }
        }.min().map { Instant(milliseconds: $0) }
    }

    /// Takes in events of the feed for an endpoint.
    ///
    /// - Parameters:
    ///   - messages: those that it wants.
    ///   - from: the position so far; if another server was faster, nothing happens.
    ///   - to: the new position.
    public func queue(
        _ messages: [FeedMessage],
        for endpoint: String,
        from: Int64,
        to: Int64,
        now: Instant
    ) async throws {
        try await driver.write { connection in
            let moved = try connection.execute(
                "UPDATE webhook_endpoint SET position = $3 WHERE id = $1 AND position = $2",
                [.text(endpoint), .integer(from), .integer(to)]
            )
            guard moved > 0 else { return }
            try connection.executeMany(
                """
                INSERT INTO delivery (endpoint, number, customer, status, attempts, queued, due)
                VALUES ($1, $2, $3, 0, 0, $4, $4) ON CONFLICT (endpoint, number) DO NOTHING
                """,
                messages.map {
                    [
                        .text(endpoint), .integer($0.number), $0.row.value,
                        .integer(now.milliseconds),
                    ]
                }
            )
        }
    }

    /// How much waits for an endpoint.
    public func waitingDeliveries(of endpoint: String) async throws -> Int64 {
        try await driver.readNow(
            "SELECT count(*) FROM delivery WHERE endpoint = $1 AND status = 0",
            [.text(endpoint)]
        ).first?.int64(0) ?? 0
    }

    /// What may be sent to an endpoint now: of each customer the oldest event that waits, if it is
    /// due.
    public func dueDeliveries(
        of endpoint: String,
        at now: Instant,
        limit: Int64
    ) async throws -> [DeliveryRow] {
        try await driver.readNow(
            """
            SELECT \(DeliveryRow.columns) FROM delivery d
            WHERE endpoint = $1 AND status = 0 AND due <= $2 AND NOT EXISTS (
                SELECT 1 FROM delivery e WHERE e.endpoint = $1 AND e.customer = d.customer
                AND e.status = 0 AND e.number < d.number)
            ORDER BY number LIMIT $3
            """,
            [.text(endpoint), .integer(now.milliseconds), .integer(limit)]
        ).map { try DeliveryRow($0) }
    }

    /// Keeps what came of sending, and how the endpoint does.
    ///
    /// - Parameter endpoint: with `disabled`, `failures`, `failingSince` and `pausedUntil` as they
    ///   are from now on, if its settings are still those with which it was sent to: another URL
    ///   begins anew.
    public func settle(
        _ results: [DeliveryResult],
        of endpoint: WebhookEndpointRow,
        now: Instant
    ) async throws {
        try await driver.write { connection in
            try connection.executeMany(
                """
                UPDATE delivery SET status = $4, attempts = $3 + 1, due = $5, tried = $6, outcome = $7
                WHERE endpoint = $1 AND number = $2 AND attempts = $3 AND status = 0
                """,
                results.map {
                    [
                        .text(endpoint.id), .integer($0.number), .integer($0.attempts),
                        .integer($0.status.rawValue), .integer($0.due.milliseconds),
                        .integer(now.milliseconds), .text($0.outcome),
                    ]
                }
            )
            try connection.execute(
                """
                UPDATE webhook_endpoint SET disabled = coalesce(disabled, $2), failures = $3,
                    failing_since = $4, paused_until = $5
                WHERE id = $1 AND settings = $6
                """,
                [
                    .text(endpoint.id), SQLValue(endpoint.disabled), .integer(endpoint.failures),
                    SQLValue(endpoint.failingSince?.milliseconds),
                    .integer(endpoint.pausedUntil.milliseconds), .blob(endpoint.settings),
                ]
            )
        }
    }

    /// Drops what was delivered before `instant`.
    public func forgetDeliveries(before instant: Instant) async throws {
        try await driver.execute(
            "DELETE FROM delivery WHERE status = 1 AND tried < $1",
            [.integer(instant.milliseconds)]
        )
    }

    /// What an endpoint was told or is to be told, the newest first.
    ///
    /// - Parameter before: the last one of the page before.
    public func deliveries(
        of endpoint: String,
        status: DeliveryRow.Status? = nil,
        before: Int64 = .max,
        limit: Int64
    ) async throws -> [DeliveryRow] {
        let all = DeliveryRow.Status.self
        let wanted = status.map { [$0, $0, $0] } ?? [all.waiting, .delivered, .dead]
        return try await driver.readNow(
            """
            SELECT \(DeliveryRow.columns) FROM delivery
            WHERE endpoint = $1 AND number < $2 AND status IN ($3, $4, $5)
            ORDER BY number DESC LIMIT $6
            """,
            [.text(endpoint), .integer(before)] + wanted.map { .integer($0.rawValue) }
                + [.integer(limit)]
        ).map { try DeliveryRow($0) }
    }

    /// Sends again what was given up.
    ///
    /// - Returns: how many events that is.
    public func replayDeadDeliveries(of endpoint: String, now: Instant) async throws -> Int {
        try await driver.execute(
            """
            UPDATE delivery SET status = 0, attempts = 0, due = $2
            WHERE endpoint = $1 AND status = 2
            """,
            [.text(endpoint), .integer(now.milliseconds)]
        )
    }

    /// Sends one event again, or for the first time.
    public func replay(_ message: FeedMessage, to endpoint: String, now: Instant) async throws {
        try await driver.execute(
            """
            INSERT INTO delivery (endpoint, number, customer, status, attempts, queued, due)
            VALUES ($1, $2, $3, 0, 0, $4, $4)
            ON CONFLICT (endpoint, number) DO UPDATE SET status = 0, attempts = 0, due = $4
            """,
            [
                .text(endpoint), .integer(message.number), message.row.value,
                .integer(now.milliseconds),
            ]
        )
    }

    /// Sends everything after a place again: the endpoint is put back there.
    public func rewind(_ endpoint: String, to position: Int64) async throws {
        try await driver.write { connection in
            try connection.execute(
                "DELETE FROM delivery WHERE endpoint = $1 AND number > $2",
                [.text(endpoint), .integer(position)]
            )
            _ = try connection.execute(
                "UPDATE webhook_endpoint SET position = $2 WHERE id = $1 AND position > $2",
                [.text(endpoint), .integer(position)]
            )
        }
    }

    /// How each endpoint does, for `/metrics`.
    public func deliveryCounts() async throws
        -> [(endpoint: String, waiting: Int64, dead: Int64, oldest: Instant?)]
    {
        try await driver.readNow(
            """
            SELECT e.id,
                (SELECT count(*) FROM delivery d WHERE d.endpoint = e.id AND d.status = 0),
                (SELECT count(*) FROM delivery d WHERE d.endpoint = e.id AND d.status = 2),
                (SELECT min(queued) FROM delivery d WHERE d.endpoint = e.id AND d.status = 0)
            FROM webhook_endpoint e ORDER BY e.id
            """,
            []
        ).map { row in
            (
                try row.text(0), try row.int64(1), try row.int64(2),
                try row.optionalInt64(3).map { Instant(milliseconds: $0) }
            )
        }
    }
}
