// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import Logging
import ServiceLifecycle
import Storage
import Stores
import StripeAPI
import StripeConnector
import TollgateCore
import TollgateService
import UnixSignals

/// Takes in a changed catalog and changed settings on SIGHUP.
///
/// A mistake in either is refused with all that is wrong, and the present ones go on.
struct Reloading: Service {
    let server: RunningServer
    let options: ServeCommand
    let settings: Replaceable<ServeSettings>
    /// The stores' time, as of which a new catalog counts.
    let now: @Sendable () async -> Instant
    /// SIGHUP, trapped before the server says that it listens: until then it ends the process.
    let hangups: UnixSignalsSequence

    /// The settings that are taken in; all others are read at the start only.
    private static let taken = AlertSettings.names.union([
        "BACKUPS", "CATALOG", "LOG_LEVEL", "STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRETS",
    ])

    func run() async throws {
        await cancelWhenGracefulShutdown {
            for await _ in hangups { await reload() }
        }
    }

    private func reload() async {
        do {
            let before = try Settings.readAgain()
            do {
                let taken = try await takeIn(try ServeSettings(options, listens: false))
                say(Settings.changes(since: before), taken: taken)
            } catch {
                Settings.goBack(to: before)
                throw error
            }
        } catch {
            server.tollgate.logger.error(
                "the catalog and the settings were not taken in; the present ones go on",
                metadata: ["error": "\(PlainWords.of(error))"]
            )
        }
    }

    /// - Returns: the names of settings that need no restart.
    /// - Throws: why nothing was taken in.
    private func takeIn(_ next: ServeSettings) async throws -> Set<String> {
        let tollgate = server.tollgate
        let level = try Settings.logLevel()
        guard next.catalog.apps == tollgate.store.history.current.apps else {
            throw CheckFailed(message: "The catalog's apps have changed, which takes a restart.")
        }
        try await tollgate.store.adopt(next.catalog, at: await now())
        // From here on nothing fails.
        var taken = Self.taken
        server.logThreshold.replace(with: level)
        tollgate.stripe.replaceWebhookSecrets(with: next.configuration.stripeWebhookSecrets)
        let key = (settings.value.stores.stripeSecretKey, next.stores.stripeSecretKey)
        if let client = tollgate.stripe.client, let new = key.1, isLive(key.0) == isLive(new) {
            client.secretKey.replace(with: new)
        } else {
            taken.remove("STRIPE_SECRET_KEY")
        }
        settings.replace(with: next)
        tollgate.logger.notice(
            "the catalog was taken in",
            metadata: [
                "file": "\(next.catalogPath)", "products": "\(next.catalog.products.count)",
            ]
        )
        return taken
    }

    /// A key of Stripe's other mode is one for other objects.
    private func isLive(_ key: String?) -> Bool { key?.contains("_live_") ?? false }

    private func say(_ changed: [String], taken: Set<String>) {
        let logger = server.tollgate.logger
        let names = { (names: [String]) in
            names.map { "TOLLGATE_" + $0 }.joined(separator: ", ")
        }
        let done = changed.filter { taken.contains($0) }
        let waiting = changed.filter { !taken.contains($0) }
        if !done.isEmpty {
            logger.notice("settings were taken in", metadata: ["settings": "\(names(done))"])
        }
        if !waiting.isEmpty {
            logger.warning(
                "settings have changed that are read at the start only; restart the server",
                metadata: ["settings": "\(names(waiting))"]
            )
        }
    }
}
