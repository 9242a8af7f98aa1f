// SPDX-License-Identifier: Apache-2.0
import Storage
import TollgateService

/// The database as the checks ask it.
enum DoctorDatabase: Sendable {
    /// Within a server.
    case ofServer(RecordStore)
    /// Beside a server.
    case beside(DatabaseLocation)

    /// - Throws: what keeps the database from answering; what `work` throws.
    func read<Result: Sendable>(
        _ work: (RecordStore) async throws -> Result
    ) async throws -> Result {
        switch self {
        case .ofServer(let records): try await work(records)
        case .beside(let location): try await ReadingCommand.run(database: location.text, work)
        }
    }
}
