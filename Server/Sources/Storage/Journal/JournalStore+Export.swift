internal import Foundation
public import TollgateCore

/// A row of the journal as it is given out, without the body as it was signed.
public struct ExportedMessage: Sendable {
    public var id: Int64
    /// Hashes what it is about: a purchase's or a customer's key.
    public var subject: RowKey
    /// Hashes the store's id of the message.
    public var dedupeKey: RowKey
    public var kind: JournalItem.Kind
    /// When it was said, by the clock of whoever said it.
    public var stated: Instant
    /// What it states, as JSON with sorted keys.
    public var facts: String
    /// The body of a command, such as a customer's statement; `nil` where the command had none, and once it
    /// is erased.
    public var said: [UInt8]?
}

extension JournalStore {
    /// The journal in its order, for a warehouse.
    ///
    /// - Parameters:
    ///   - id: of the last row before.
    ///   - horizon: the last row that may be given out; whoever goes on after what was given takes
    ///     ``journalHorizon(after:)``, or rows that are committed later would lie behind them.
    public func exported(
        after id: Int64,
        upTo horizon: Int64,
        from first: Instant,
        to last: Instant,
        limit: Int64
    ) async throws -> [ExportedMessage] {
        try await driver.read { connection in
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return try connection.query(
                """
                SELECT id, subject, dedupe_key, kind, stated, facts,
                    CASE WHEN kind = 3 THEN body END
                FROM journal
                WHERE id > $1 AND id <= $2 AND stated >= $3 AND stated <= $4
                ORDER BY id LIMIT $5
                """,
                [
                    .integer(id), .integer(horizon), .integer(first.milliseconds),
                    .integer(last.milliseconds), .integer(limit),
                ]
            ).map { row in
                guard let kind = JournalItem.Kind(rawValue: try row.int64(3)) else {
                    throw StorageError(.corrupt, "a journal row of unknown kind")
                }
                let content = try JournalContent(kept: row.bytes(5))
                return ExportedMessage(
                    id: try row.int64(0),
                    subject: try RowKey(bytes: row.bytes(1)),
                    dedupeKey: try RowKey(bytes: row.bytes(2)),
                    kind: kind,
                    stated: Instant(milliseconds: try row.int64(4)),
                    facts: String(decoding: try encoder.encode(content), as: UTF8.self),
                    said: try row.optionalBytes(6).flatMap { body in
                        // Reasons of spends were once kept without the form of a body.
                        try? SignedBody.expand(body, segment: { _ in nil })
                    }
                )
            }
        }
    }
}
