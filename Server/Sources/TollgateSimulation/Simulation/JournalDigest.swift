import Crypto
import Storage

/// What a journal says, as one hash.
enum JournalDigest {
    /// Adds hash and length of a journal to an outcome.
    ///
    /// Bodies and digests are left out: they hold signatures, which are random by nature.
    static func add(of driver: any StorageDriver, to outcome: inout Simulation.Outcome) async throws
    {
        let (hash, count) = try await driver.read { connection in
            var hash = SHA256()
            let rows = try connection.query(
                "SELECT subject, kind, stated, facts FROM journal ORDER BY id"
            )
            for row in rows {
                hash.update(data: try row.bytes(0))
                hash.update(data: Array("\(try row.int64(1)) \(try row.int64(2)) ".utf8))
                hash.update(data: try row.bytes(3))
            }
            return (hash.finalize().hex, Int64(rows.count))
        }
        outcome.journalHash = hash
        outcome.journalRows = count
    }
}
