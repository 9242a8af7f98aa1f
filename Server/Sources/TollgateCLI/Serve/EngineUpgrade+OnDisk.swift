import Foundation
import Logging
import Storage
import StorageSQLite
import TollgateCore

extension EngineUpgrade.Means {
    /// Derives again in a file of the temporary folder, and logs what came of it.
    static func onDisk(
        now: @escaping @Sendable () async -> Instant,
        logger: Logger
    ) -> EngineUpgrade.Means {
        // Not by the process's number: in a container it is the same after a crash, and what that
        // left half done is no empty database.
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tollgate-engine-\(UUID().uuidString)")
        return EngineUpgrade.Means(
            openScratch: {
                logger.notice("the engine is new: everything derived is derived again")
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
