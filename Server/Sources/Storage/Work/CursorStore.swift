public import TollgateCore

/// How far a piece of long work has come.
public struct StoredCursor: Hashable, Sendable {
    /// In the words of whoever keeps it.
    public var body: [UInt8]
    /// When it was kept, by real time.
    public var updated: Instant
}

/// Places at which long work goes on after a restart.
///
/// Cursors are operational: dropping one costs doing the work again from its beginning.
public struct CursorStore: Sendable {
    let driver: any StorageDriver

    /// The place that was kept under `name`, if any.
    public func read(_ name: String) async throws -> StoredCursor? {
        let rows = try await driver.readNow(
            "SELECT body, updated FROM cursor WHERE name = $1",
            [.text(name)]
        )
        return try rows.first.map {
            StoredCursor(body: try $0.bytes(0), updated: Instant(milliseconds: try $0.int64(1)))
        }
    }

    /// Keeps a place.
    ///
    /// Durable when this returns.
    ///
    /// - Parameter now: real time.
    public func keep(_ name: String, _ body: [UInt8], now: Instant) async throws {
        try await driver.execute(
            """
            INSERT INTO cursor (name, body, updated) VALUES ($1, $2, $3)
            ON CONFLICT (name) DO UPDATE
            SET body = excluded.body, updated = excluded.updated
            """,
            [.text(name), .blob(body), .integer(now.milliseconds)]
        )
    }

    /// Forgets a place.
    public func drop(_ name: String) async throws {
        try await driver.execute("DELETE FROM cursor WHERE name = $1", [.text(name)])
    }
}
