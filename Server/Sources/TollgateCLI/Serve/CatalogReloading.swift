import CommandOutput
import Logging
import ServiceLifecycle
import Storage
import Stores
import TollgateCore
import TollgateService
import UnixSignals

/// Takes in a changed catalog on SIGHUP; one with mistakes is refused, and the present one goes on.
struct CatalogReloading: Service {
    let tollgate: Tollgate
    /// The catalog's file.
    let path: String
    /// The stores' time, as of which a new catalog counts.
    let now: @Sendable () async -> Instant
    /// SIGHUP, trapped before the server says that it listens: until then it ends the process.
    let hangups: UnixSignalsSequence

    func run() async throws {
        await cancelWhenGracefulShutdown {
            for await _ in hangups { await reload() }
        }
    }

    private func reload() async {
        let logger = tollgate.logger
        do {
            let catalog = try CatalogFile.read(path)
            guard catalog.apps == tollgate.store.history.current.apps else {
                return logger.error(
                    "the catalog was not taken in: its apps have changed, which takes a restart"
                )
            }
            // What customers are shown who are about to cancel names products of the catalog.
            _ = try StoreSettings.retentionRules(catalog, canSign: true)
            try await tollgate.store.adopt(catalog, at: await now())
            logger.notice(
                "the catalog was taken in",
                metadata: ["file": "\(path)", "products": "\(catalog.products.count)"]
            )
        } catch {
            logger.error(
                "the catalog was not taken in; the present one goes on",
                metadata: ["error": "\(PlainWords.of(error))"]
            )
        }
    }
}
