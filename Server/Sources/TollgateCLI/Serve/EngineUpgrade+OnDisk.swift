import Foundation
import Logging
import Storage
import StorageSQLite
import TollgateCore

extension EngineUpgrade.Means {
    /// Derives again in a file beside the database, and logs what came of it.
    ///
    /// - Parameter database: the file of a SQLite database; `nil`: the scratch folder is used.
    static func onDisk(
        beside database: String?,
        now: @escaping @Sendable () async -> Instant,
        logger: Logger
    ) -> EngineUpgrade.Means {
        // Beside a file, whose only server this is, always the same name: what a server left that was
        // killed does not pile up. Elsewhere a new one, since it may be another server's.
        let folder =
            database.map { URL(fileURLWithPath: $0 + ".upgrade") }
            ?? ScratchFolder.parent
            .appendingPathComponent("tollgate-engine-\(UUID().uuidString)")
        return EngineUpgrade.Means(
            openScratch: {
                logger.notice("the engine is new: everything derived is derived again")
                if FileManager.default.fileExists(atPath: folder.path) {
                    try FileManager.default.removeItem(at: folder)
                }
                return try StorageSQLite(path: folder.appendingPathComponent("next.sqlite").path)
            },
            discardScratch: { try? FileManager.default.removeItem(at: folder) },
            now: now,
            randomBytes: RunningServer.randomBytes,
            progress: { done, all in
                guard done % 100_000 < 1000 else { return }
                logger.notice(
                    "deriving everything again",
                    metadata: ["replayed": "\(done)", "of": "\(all)"]
                )
            },
            report: { report in
                logger.notice(
                    "everything derived was derived again",
                    metadata: [
                        "from_engine": "\(report.from)", "to_engine": "\(report.to)",
                        "journal_rows": "\(report.replayed)",
                        "customers_changed": "\(report.changed)", "coins": "\(report.coins)",
                    ]
                )
            }
        )
    }
}
