// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import Logging
import ServiceLifecycle
import Storage
import Stores
import StripeConnector
import TollgateAssembly
import TollgateCore
import TollgateService
import UnixSignals

/// Reloads the catalog and the settings on SIGHUP.
///
/// With a mistake in either, the reload fails, the log lists every mistake, and the current ones stay
/// in effect. The result is kept in the database, where `tollgate reload` waits for it.
struct Reloading: Service {
    let server: RunningServer
    let options: ServeCommand
    /// The settings in force.
    let settings: Replaceable<ServeSettings>
    /// The stores' time, as of which a new catalog counts.
    let now: @Sendable () async -> Instant
    /// SIGHUP, trapped before the server says that it listens: until then it ends the process.
    let hangups: UnixSignalsSequence

    /// The settings that are reloaded; all others need a restart.
    private static let taken = Settings.names
        .filter { $0.hasPrefix("ALERTS_") || $0.hasPrefix("EMAILS_") }.union([
            "BACKUPS", "CATALOG", "LOG_LEVEL", "STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRETS",
        ])

    func run() async throws {
        let hasReloaded = await cancelWhenGracefulShutdown {
            var hasReloaded = false
            for await _ in hangups {
                await reload()
                hasReloaded = true
            }
            return hasReloaded
        }
        // Another server may have the same process id later. A record that stays does no harm: the
        // command waits until it changes.
        if hasReloaded { try? await server.tollgate.store.cursors.drop(ReloadRecord.name) }
    }

    private func reload() async {
        var record = ReloadRecord(id: server.tollgate.random.id("reload_"))
        do {
            let before = try Settings.readAgain()
            do {
                let next = try ServeSettings(options, listens: false, after: settings.value)
                record.waiting = say(taken: try await takeIn(next), since: before)
            } catch {
                Settings.goBack(to: before)
                throw error
            }
        } catch {
            let refusal = PlainWords.of(error)
            record.refusal = refusal
            server.tollgate.logger.error(
                "reload failed; the current catalog and settings stay in effect",
                metadata: ["error": "\(refusal)"]
            )
        }
        await keep(record)
    }

    private func keep(_ record: ReloadRecord) async {
        let tollgate = server.tollgate
        do {
            try await tollgate.store.cursors.keep(
                ReloadRecord.name,
                value: record,
                now: tollgate.clocks.wall()
            )
        } catch {
            tollgate.logger.warning(
                "the result of the reload could not be kept for 'tollgate reload'",
                metadata: ["error": "\(error)"]
            )
        }
    }

    /// - Returns: the names of settings that need no restart.
    /// - Throws: why nothing was reloaded.
    private func takeIn(_ next: ServeSettings) async throws -> Set<String> {
        let tollgate = server.tollgate
        let level = try Settings.logLevel()
        guard next.catalog.apps == tollgate.store.history.current.apps else {
            throw CheckFailed(message: "The catalog's apps have changed, which needs a restart.")
        }
        try await tollgate.store.adopt(next.catalog, at: await now())
        // From here on nothing fails.
        var taken = Self.taken
        server.logThreshold.replace(with: level)
        let takesStripeKeys = tollgate.stripe.replaceKeys(
            next.stores.stripeSecretKey,
            webhookSecrets: next.configuration.stripeWebhookSecrets
        )
        if !takesStripeKeys { taken.subtract(["STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRETS"]) }
        settings.replace(
            with: settings.value.takingIn(next, takesStripeKeys: takesStripeKeys)
        )
        tollgate.logger.notice(
            "the catalog was reloaded",
            metadata: [
                "file": "\(next.catalogPath)", "products": "\(next.catalog.products.count)",
            ]
        )
        return taken
    }

    /// - Parameters:
    ///   - taken: the names of settings that need no restart.
    ///   - before: the settings of the file as it was read last.
    /// - Returns: the variables that have changed since the start and need a restart.
    private func say(taken: Set<String>, since before: [String: String]) -> [String] {
        let logger = server.tollgate.logger
        let done = Settings.changes(since: before).filter { taken.contains($0) }
            .map { "TOLLGATE_" + $0 }
        let waiting = Settings.changesSinceStart().filter { !taken.contains($0) }
            .map { "TOLLGATE_" + $0 }
        if !done.isEmpty {
            logger.notice(
                "settings were reloaded",
                metadata: ["settings": "\(done.joined(separator: ", "))"]
            )
        }
        if !waiting.isEmpty {
            logger.warning(
                "these changed settings need a restart",
                metadata: ["settings": "\(waiting.joined(separator: ", "))"]
            )
        }
        return waiting
    }
}
