public import TollgateCore

/// The outbox of emails to customers.
///
/// The feed is the source: letters are taken in from it up to a place, in one transaction with that
/// place, so a crash neither skips a cause nor doubles it.
public struct LetterStore: Sendable {
    let driver: any StorageDriver

    private static let cursor = "letters"

    private static let insertSQL = """
        INSERT INTO letter (key, customer, kind, purchase, reference, caused, due, queued,
            status, attempts, retry)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0, 0, 0)
        ON CONFLICT (key) DO UPDATE SET customer = excluded.customer, caused = excluded.caused,
            due = excluded.due, queued = excluded.queued, status = 0, attempts = 0, retry = 0,
            tried = NULL, first_tried = NULL, outcome = NULL
        WHERE letter.status = 3 OR (letter.status = 0 AND letter.customer <> excluded.customer)
        """

    /// The place in the feed up to which letters were taken in, in the words of the caller.
    public func progress() async throws -> [UInt8]? {
        try await CursorStore(driver: driver).read(Self.cursor)?.body
    }

    /// Adds letters, each once, and moves the place in the feed.
    ///
    /// A letter that was dropped waits again: its cause has come back. Letters to customers who were
    /// erased meanwhile are left out.
    ///
    /// - Parameters:
    ///   - from: the place as it was read; if another server has moved it, nothing happens.
    ///   - to: the new place.
    ///   - kinds: those that begin now; letters of them that wait from before are dropped.
    ///   - now: real time.
    /// - Returns: `false` where another server was faster.
    @discardableResult
    public func take(
        _ letters: [LetterRow],
        from: [UInt8]?,
        to: [UInt8],
        beginning kinds: [String] = [],
        now: Instant
    ) async throws -> Bool {
        try await driver.write { connection in
            let lock = connection.dialect.rowLock
            let known = try connection.query(
                "SELECT body FROM cursor WHERE name = $1 \(lock)",
                [.text(Self.cursor)]
            ).first?.bytes(0)
            guard known == from else { return false }
            // An erasure locks the profile too, so it comes before this or finds these rows.
            let customers = Set(letters.map(\.customer)).sorted()
            let profiles = try connection.queryMany(
                "SELECT body FROM profile WHERE customer = $1 \(lock)",
                customers.map { [$0.value] }
            )
            var present: Set<RowKey> = []
            for (customer, rows) in zip(customers, profiles)
            where try rows.first?.bytes(0).isEmpty == false {
                present.insert(customer)
            }
            let outcome = "Emails of this kind were off in the meantime."
            try connection.executeMany(
                """
                UPDATE letter SET status = 3, tried = $2,
                    outcome = $3
                WHERE status = 0 AND kind = $1
                """,
                kinds.map { [.text($0), .integer(now.milliseconds), .text(outcome)] }
            )
            // Two events may cause the same letter; a statement that rows share takes each key once.
            var written: Set<RowKey> = []
            try connection.executeMany(
                Self.insertSQL,
                letters.filter {
                    present.contains($0.customer) && written.insert($0.key).inserted
                }.map(\.values)
            )
            try connection.execute(
                """
                INSERT INTO cursor (name, body, updated) VALUES ($1, $2, $3)
                ON CONFLICT (name) DO UPDATE SET body = excluded.body, updated = excluded.updated
                """,
                [.text(Self.cursor), .blob(to), .integer(now.milliseconds)]
            )
            return true
        }
    }

    /// The letters that may be sent now, the oldest first.
    ///
    /// - Parameters:
    ///   - kinds: those that are wanted.
    ///   - old: letters whose cause is older are wanted whatever their kind.
    ///   - now: by the stores' time.
    ///   - wall: real time.
    public func due(
        _ kinds: [String],
        orCausedBefore old: Instant,
        at now: Instant,
        wall: Instant,
        limit: Int64
    ) async throws -> [LetterRow] {
        let wanted = kinds.indices.map { " OR kind = $\(5 + $0)" }.joined()
        return try await driver.readNow(
            """
            SELECT \(LetterRow.columns) FROM letter
            WHERE status = 0 AND due <= $1 AND retry <= $2 AND (caused < $4\(wanted))
            ORDER BY due, key LIMIT $3
            """,
            [
                .integer(now.milliseconds), .integer(wall.milliseconds), .integer(limit),
                .integer(old.milliseconds),
            ] + kinds.map { .text($0) }
        ).map { try LetterRow($0) }
    }

    /// Keeps the result of an attempt, unless another server has kept one meanwhile.
    ///
    /// - Parameter now: real time.
    public func settle(_ letter: LetterRow, _ result: LetterResult, now: Instant) async throws {
        try await driver.execute(
            """
            UPDATE letter SET status = $3, attempts = $2 + 1, retry = $4, tried = $5,
                first_tried = coalesce(first_tried, $5), outcome = $6
            WHERE key = $1 AND attempts = $2 AND status = 0
            """,
            [
                letter.key.value, .integer(letter.attempts), .integer(result.status.rawValue),
                .integer(result.retry.milliseconds), .integer(now.milliseconds),
                .text(result.outcome),
            ]
        )
    }

    /// Sends letters of a kind again that failed or were refused.
    ///
    /// - Parameter instant: letters with an earlier cause are left as they are.
    /// - Returns: the number of letters.
    @discardableResult
    public func retryFailed(_ kind: String, causedSince instant: Instant) async throws -> Int {
        try await driver.execute(
            """
            UPDATE letter SET status = 0, attempts = 0, retry = 0, first_tried = NULL
            WHERE status IN (2, 4) AND kind = $1 AND caused >= $2
            """,
            [.text(kind), .integer(instant.milliseconds)]
        )
    }

    /// Returns whether any letter of the outbox failed or was refused.
    public func hasFailed() async throws -> Bool {
        try await !driver.readNow("SELECT 1 FROM letter WHERE status IN (2, 4) LIMIT 1", [])
            .isEmpty
    }

    /// Drops what was dealt with before `instant`.
    ///
    /// - Parameter instant: longer ago than the age at which letters are still sent, since the rows keep a
    ///   cause from being taken in again.
    public func forget(before instant: Instant) async throws {
        try await driver.execute(
            "DELETE FROM letter WHERE status IN (1, 2, 3, 4) AND tried < $1",
            [.integer(instant.milliseconds)]
        )
    }

    /// The letters of the outbox, newest first.
    ///
    /// - Parameter last: the last letter of the page before.
    public func page(after last: RowKey? = nil, limit: Int64) async throws -> [LetterRow] {
        guard let last else {
            return try await driver.readNow(
                "SELECT \(LetterRow.columns) FROM letter ORDER BY queued DESC, key DESC LIMIT $1",
                [.integer(limit)]
            ).map { try LetterRow($0) }
        }
        return try await driver.readNow(
            """
            SELECT \(LetterRow.columns) FROM letter
            WHERE (queued, key) < (SELECT queued, key FROM letter WHERE key = $1)
            ORDER BY queued DESC, key DESC LIMIT $2
            """,
            [last.value, .integer(limit)]
        ).map { try LetterRow($0) }
    }

    /// The numbers of the outbox.
    ///
    /// - Parameters:
    ///   - now: by the stores' time.
    ///   - since: the time from which failures are counted, by real time.
    public func counts(at now: Instant, failedSince since: Instant) async throws -> LetterCounts {
        let rows = try await driver.readNow(
            """
            SELECT (SELECT count(*) FROM letter WHERE status = 0 AND due <= $1),
                (SELECT min(first_tried) FROM letter WHERE status = 0 AND attempts > 0
                    AND first_tried > coalesce((SELECT max(tried) FROM letter WHERE status = 1), 0)),
                (SELECT max(tried) FROM letter WHERE status = 0 AND attempts > 0),
                (SELECT count(*) FROM letter WHERE status = 2 AND tried >= $2)
            """,
            [.integer(now.milliseconds), .integer(since.milliseconds)]
        )
        guard let row = rows.first else { return LetterCounts(waiting: 0, failed: 0) }
        return LetterCounts(
            waiting: try row.int64(0),
            firstTried: try row.optionalInt64(1).map { Instant(milliseconds: $0) },
            lastTry: try row.optionalInt64(2).map { Instant(milliseconds: $0) },
            failed: try row.int64(3)
        )
    }
}

// MARK: - Refusals

extension LetterStore {
    /// Keeps that an address wants no letters but those about its payments.
    ///
    /// - Parameter address: a keyed hash of the address.
    public func refuse(_ address: RowKey, at now: Instant) async throws {
        try await driver.execute(
            """
            INSERT INTO letter_refusal (address, refused) VALUES ($1, $2)
            ON CONFLICT (address) DO NOTHING
            """,
            [address.value, .integer(now.milliseconds)]
        )
    }

    /// Returns whether an address has unsubscribed.
    public func isRefused(_ address: RowKey) async throws -> Bool {
        try await !driver.readNow(
            "SELECT 1 FROM letter_refusal WHERE address = $1",
            [address.value]
        ).isEmpty
    }
}
