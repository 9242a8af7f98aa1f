internal import Foundation
package import TollgateCore

/// A finding as it is kept.
package struct KeptFinding: Sendable {
    package var finding: AccessFinding
    /// The real times of the checks that found it first and last.
    package var firstSeen: Instant
    package var seen: Instant
}

/// What the second opinion reads, and what it found.
///
/// Findings are operational: what is dropped is found again by the next check.
package struct EvidenceStore: Sendable {
    let driver: any StorageDriver

    /// Reads on one snapshot, on a thread where it may take its time.
    ///
    /// - Parameter history: the catalog by which answers are read.
    package func read<Result: Sendable>(
        _ history: CatalogHistory,
        _ body: @escaping @Sendable (EvidenceReader) throws -> Result
    ) async throws -> Result {
        try await driver.read { connection in
            try body(EvidenceReader(connection: connection, history: history))
        }
    }

    /// Keeps what a check of everybody found, in the place of what the check before found.
    ///
    /// - Parameter now: real time.
    package func keep(_ report: AccessReport, most: Int = 1_000, now: Instant) async throws {
        // Rows are locked in order.
        let rows = try report.findings.prefix(most).sorted {
            RowKey(of: $0.customer) < RowKey(of: $1.customer)
        }.map { try Self.row($0, now) }
        let keys = Set(rows.compactMap { row in row.first })
        try await driver.write { connection in
            let old = try connection.query(
                "SELECT key FROM access_finding WHERE kind <> $1",
                [Self.device]
            )
            let gone = old.compactMap(\.values.first).filter { !keys.contains($0) }
            try connection.executeMany(Self.dropSQL, gone.map { [$0] })
            try connection.executeMany(Self.keepSQL(connection), rows)
        }
    }

    /// Keeps what a device saw.
    package func keep(_ finding: AccessFinding, now: Instant) async throws {
        let row = try Self.row(finding, now)
        try await driver.write { _ = try $0.execute(Self.keepSQL($0), row) }
    }

    /// Forgets what devices saw and see no more.
    package func drop(_ findings: [AccessFinding]) async throws {
        let keys = try findings.map { [try Self.row($0, Instant(milliseconds: 0))[0]] }
        try await driver.write { _ = try $0.executeMany(Self.dropSQL, keys) }
    }

    /// The kept findings of some kinds, by when they were first found.
    ///
    /// - Parameters:
    ///   - kinds: each has a limit of its own, so that many of one kind hide none of another.
    ///   - oldestFirst: false: the newest first.
    package func findings(
        of kinds: [AccessFinding.Kind] = AccessFinding.Kind.allCases,
        oldestFirst: Bool = false,
        limit: Int = 1_000
    ) async throws -> [KeptFinding] {
        try await driver.read { connection in
            try kinds.flatMap { kind in
                try connection.query(
                    """
                    SELECT body, first_seen, seen FROM access_finding WHERE kind = $1
                    ORDER BY first_seen \(oldestFirst ? "ASC" : "DESC"), key LIMIT $2
                    """,
                    [.text(kind.rawValue), .integer(Int64(limit))]
                )
            }.map { row in
                KeptFinding(
                    finding: try JSONDecoder().decode(AccessFinding.self, from: Data(row.bytes(0))),
                    firstSeen: Instant(milliseconds: try row.int64(1)),
                    seen: Instant(milliseconds: try row.int64(2))
                )
            }
        }
    }

    private static let device = SQLValue.text(AccessFinding.Kind.device.rawValue)
    private static let dropSQL = "DELETE FROM access_finding WHERE key = $1"

    /// Nothing is kept of who was erased meanwhile: an erasure waits for the lock, or is seen.
    private static func keepSQL(_ connection: any StorageConnection) -> String {
        """
        INSERT INTO access_finding (key, customer, kind, first_seen, seen, body)
        SELECT $1, customer, $3, $4, $4, $5 FROM profile
        WHERE customer = $2 AND length(body) > 0 \(connection.dialect.rowLock)
        ON CONFLICT (key) DO UPDATE SET seen = excluded.seen, body = excluded.body
        """
    }

    private static func row(_ finding: AccessFinding, _ now: Instant) throws -> [SQLValue] {
        let kind = finding.kind.rawValue
        let customer = finding.customer
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return [
            RowKey(kind, customer.rawValue, finding.environment.rawValue, finding.lookupKey).value,
            RowKey(of: customer).value, .text(kind), .integer(now.milliseconds),
            .blob(Array(try encoder.encode(finding))),
        ]
    }
}
