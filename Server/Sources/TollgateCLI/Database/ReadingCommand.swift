import CommandOutput
import Storage
import Stores
import TollgateAPI
import TollgateService

/// What commands have in common that look into the database beside a running server.
enum ReadingCommand {
    /// Opens the database for reading, and closes it whatever happens.
    ///
    /// - Parameter database: as it was given; nil: `TOLLGATE_DATABASE`, or the default.
    /// - Throws: `CheckFailed` with the sentence of a refusal; what `work` throws.
    static func run<Result: Sendable>(
        database: String?,
        _ work: (RecordStore) async throws -> Result
    ) async throws -> Result {
        let location = try DatabaseLocation(option: database)
        let driver = try location.openReadOnly()
        do {
            let result = try await work(RecordStore(reading: driver))
            await driver.close()
            return result
        } catch {
            await driver.close()
            guard let refusal = error as? Refusal else { throw error }
            throw CheckFailed(message: refusal.error.message)
        }
    }
}
