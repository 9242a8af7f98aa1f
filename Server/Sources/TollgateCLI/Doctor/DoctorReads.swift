// SPDX-License-Identifier: Apache-2.0
import Storage
import TollgateCore
import TollgateService

/// What the checks ask the database; each throws where it does not answer.
struct DoctorReads: Sendable {
    /// The newest row of the journal.
    var newestJournalRow: @Sendable () async throws -> Int64
    /// When each store's last message came.
    var lastMessages: @Sendable () async throws -> [Store: Instant]

    /// In a server.
    init(_ records: RecordStore) {
        newestJournalRow = { try await records.queueLengths().journal }
        lastMessages = { try await LastMessages.read(records) }
    }

    /// Beside a server.
    init(beside location: DatabaseLocation) {
        newestJournalRow = {
            try await ReadingCommand.run(database: location.text) {
                try await $0.queueLengths().journal
            }
        }
        lastMessages = {
            try await ReadingCommand.run(database: location.text) {
                try await LastMessages.read($0)
            }
        }
    }
}
