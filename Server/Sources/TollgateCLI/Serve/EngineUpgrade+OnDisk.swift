import Logging
import Storage
import TollgateCore

extension EngineUpgrade.Means {
    /// Derives again in a file beside the database, and logs what came of it.
    ///
    /// Beside PostgreSQL the scratch folder is used.
    static func onDisk(
        beside database: DatabaseLocation,
        now: @escaping @Sendable () async -> Instant,
        logger: Logger
    ) -> EngineUpgrade.Means {
        let folder = UpgradeFolder(of: database)
        return EngineUpgrade.Means(
            openScratch: {
                logger.notice("the engine is new: everything derived is derived again")
                return try folder.open()
            },
            discardScratch: { folder.discard() },
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
