public import TollgateCore

/// One thing that a person did.
public struct AuditEntry: Hashable, Sendable {
    /// Its place in the log; 0 before it is kept.
    public var id: Int64
    /// When, by real time.
    public var at: Instant
    /// The person: a name of staff, or `cli:` and the name of who ran a command.
    public var actor: String
    /// The role in which they did it.
    public var role: String
    /// What was done: `coins.adjust`, `customer.erase`.
    public var action: String
    /// To whom or what: `customer:cus_tg_…`, `purchase:…`, `staff:…`.
    public var subject: String
    /// What was asked for, in a line.
    public var detail: String
    /// How it was before; `nil` where there was nothing.
    public var before: String?
    /// How it is now; `nil` while it is not done.
    public var after: String?
    /// `done`, `refused: …`, or `begun` where it never came to an end.
    public var outcome: String
    /// Names the request in the server's log.
    public var request: String

    public init(
        id: Int64 = 0,
        at: Instant,
        actor: String,
        role: String,
        action: String,
        subject: String,
        detail: String,
        before: String? = nil,
        after: String? = nil,
        outcome: String = AuditEntry.begun,
        request: String
    ) {
        self.id = id
        self.at = at
        self.actor = actor
        self.role = role
        self.action = action
        self.subject = subject
        self.detail = detail
        self.before = before
        self.after = after
        self.outcome = outcome
        self.request = request
    }

    /// The outcome of what was written down and not yet done.
    public static let begun = "begun"
    /// The outcome of what was done.
    public static let done = "done"
}

/// The log of what staff did.
public struct AuditStore: Sendable {
    let driver: any StorageDriver

    /// Writes an entry down before the thing is done, so that nothing is done unseen.
    ///
    /// Durable when this returns.
    ///
    /// - Returns: its id.
    public func begin(_ entry: AuditEntry) async throws -> Int64 {
        try await driver.write { connection in
            let rows = try connection.query(
                """
                INSERT INTO audit
                (at, actor, role, action, subject, detail, before, after, outcome, request)
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING id
                """,
                [
                    .integer(entry.at.milliseconds), .text(entry.actor), .text(entry.role),
                    .text(entry.action), .text(entry.subject), .text(entry.detail),
                    SQLValue(entry.before), SQLValue(entry.after), .text(entry.outcome),
                    .text(entry.request),
                ]
            )
            return try rows.first?.int64(0) ?? 0
        }
    }

    /// Says what came of it, once.
    public func finish(audit id: Int64, after: String?, outcome: String) async throws {
        try await driver.execute(
            "UPDATE audit SET after = $2, outcome = $3 WHERE id = $1 AND outcome = $4",
            [.integer(id), SQLValue(after), .text(outcome), .text(AuditEntry.begun)]
        )
    }

    /// A page of the log, newest first.
    ///
    /// - Parameters:
    ///   - before: the id of the last entry of the page before.
    ///   - subject: only what was done to it.
    ///   - actor: only what they did; not together with `subject`.
    public func entries(
        before: Int64? = nil,
        subject: String? = nil,
        actor: String? = nil,
        limit: Int64 = 50
    ) async throws -> [AuditEntry] {
        let from = SQLValue.integer(before ?? .max)
        let rows: [Row]
        if let subject {
            rows = try await driver.readNow(
                BrowsingSQL.auditOfSubject,
                [.text(subject), from, .integer(limit)]
            )
        } else if let actor {
            rows = try await driver.readNow(
                BrowsingSQL.auditOfActor,
                [.text(actor), from, .integer(limit)]
            )
        } else {
            rows = try await driver.readNow(BrowsingSQL.audit, [from, .integer(limit)])
        }
        return try rows.map { row in
            AuditEntry(
                id: try row.int64(0),
                at: Instant(milliseconds: try row.int64(1)),
                actor: try row.text(2),
                role: try row.text(3),
                action: try row.text(4),
                subject: try row.text(5),
                detail: try row.text(6),
                before: try row.optionalText(7),
                after: try row.optionalText(8),
                outcome: try row.text(9),
                request: try row.text(10)
            )
        }
    }
}
