import Storage

/// What commands have in common that look into the database beside a running server.
enum ReadingCommand {
    /// Opens the database for reading, and closes it whatever happens.
    ///
    /// - Parameter database: as it was given; nil: `TOLLGATE_DATABASE`, or the default.
    static func run<Result: Sendable>(
        database: String?,
        _ work: (RecordStore) async throws -> Result
    ) async throws -> Result {
        let driver = try DatabaseLocation(option: database).openReadOnly()
        return try await driver.closing { try await work(RecordStore(reading: driver)) }
    }
}
