public import TollgateCore

/// How much waits, for those who watch the server.
public struct QueueLengths: Sendable {
    /// Items that wait for the next commit, in this process.
    public var commits: Int = 0
    /// Messages without a place in the feed.
    public var unpublished: Int64 = 0
    /// The newest place in the feed.
    public var published: Int64 = 0
    /// Up to when lapses were announced, by the stores' time.
    public var swept: Instant?
    /// Questions to the stores: how many of each kind, and the clock of the oldest.
    public var wanted: [(kind: String, count: Int64, oldest: Instant)] = []
    /// When the oldest parked message came, by real time.
    public var oldestParked: Instant?
    /// When each piece of long work was last carried on, by real time.
    public var cursors: [(name: String, updated: Instant)] = []
    /// The newest row of the journal.
    public var journal: Int64 = 0
}

extension RecordStore {
    /// Counts what waits; every count is bounded by an index of what waits, not by what is there.
    public func queueLengths() async throws -> QueueLengths {
        let commits = writer.waiting
        return try await driver.read { connection in
            func number(_ sql: String) throws -> Int64? {
                try connection.query(sql).first?.optionalInt64(0)
            }
            var lengths = QueueLengths()
            lengths.commits = commits
            lengths.unpublished =
                try number("SELECT count(*) FROM message WHERE number IS NULL") ?? 0
            lengths.published = try number("SELECT max(number) FROM message") ?? 0
            lengths.journal = try number("SELECT max(id) FROM journal") ?? 0
            lengths.swept = try FeedStore.swept(connection)
            lengths.wanted = try connection.query(
                "SELECT kind, count(*), min(created) FROM wanted GROUP BY kind ORDER BY kind"
            ).map {
                (try $0.text(0), try $0.int64(1), Instant(milliseconds: try $0.int64(2)))
            }
            lengths.oldestParked = try number("SELECT min(received) FROM parked").map {
                Instant(milliseconds: $0)
            }
            lengths.cursors = try connection.query(
                "SELECT name, updated FROM cursor ORDER BY name"
            ).map { (try $0.text(0), Instant(milliseconds: try $0.int64(1))) }
            return lengths
        }
    }
}
