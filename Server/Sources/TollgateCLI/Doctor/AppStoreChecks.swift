import AppStoreAPI
import AppStoreConnector
import AsyncHTTPClient
import TollgateCore
import TollgateService

/// What can be wrong with the App Store: roots, the key of each app, notifications that do not arrive.
struct AppStoreChecks {
    let settings: ServeSettings

    func all(over client: HTTPClient) async -> [Finding] {
        guard let verifier = settings.verifier else {
            return [.skipped("app_store", "The App Store is not set up.")]
        }
        let now = await settings.clock.now(over: client)()
        var findings = xcode(at: now)
        findings += zip(verifier.rootNames, verifier.rootEnds).map { name, end in
            Self.root(name, until: Instant(milliseconds: end), at: SystemClock.now())
        }
        guard let clients = settings.stores.appStoreClients(over: client) else {
            findings.append(
                .warning(
                    "app_store.key",
                    "There is no key for the App Store Server API: what is not delivered is not asked for.",
                    "Set TOLLGATE_APP_STORE_ISSUER_ID, TOLLGATE_APP_STORE_KEY_ID and TOLLGATE_APP_STORE_KEY_FILE."
                )
            )
            return findings
        }
        for app in clients.apps {
            for environment in settings.stores.servedEnvironments.sorted(by: {
                $0.rawValue < $1.rawValue
            }) {
                let api = environment == .production ? app.production : app.sandbox
                let place = "\(app.bundleID) (\(environment.rawValue))"
                findings += await ask(api, place, now)
            }
        }
        return findings
    }

    /// A trusted root; one that ends needs its successor beside it in time.
    ///
    /// - Parameter wall: real time.
    private static func root(_ name: String, until end: Instant, at wall: Instant) -> Finding {
        let check = "app_store.roots"
        let remedy: Sentence =
            "Add Apple's next root certificate to TOLLGATE_APP_STORE_ROOTS beside it."
        let left = end.milliseconds - wall.milliseconds
        guard left > 0 else {
            return .failed(check, "The trusted root \(name) expired at \(end).", remedy)
        }
        guard left > 30 * 86_400_000 else {
            return .warning(check, "The trusted root \(name) ends at \(end).", remedy)
        }
        return .ok(check, "Trusted until \(end): \(name).")
    }

    /// The certificates of StoreKit testing in Xcode, each with its end.
    private func xcode(at now: Instant) -> [Finding] {
        guard let xcode = settings.stores.xcode else { return [] }
        return zip(xcode.fingerprints, xcode.ends).map { fingerprint, end in
            let end = Instant(milliseconds: end)
            guard now <= end else {
                return .failed(
                    "app_store.xcode",
                    "The certificate of Xcode with SHA-256 \(fingerprint) expired at \(end): transactions that it signs now are refused.",
                    "Save Xcode's present certificate into the file of TOLLGATE_APP_STORE_XCODE_CERTIFICATE_FILE, or unset it."
                )
            }
            return .ok(
                "app_store.xcode",
                "Transactions of Xcode are taken into the sandbox's record, signed by the certificate with SHA-256 \(fingerprint), until \(end)."
            )
        }
    }

    /// Asks for notifications of the last day that did not arrive, which changes nothing.
    private func ask(
        _ api: AppStore.ServerAPIClient,
        _ place: String,
        _ now: Instant
    ) async -> [Finding] {
        let request = AppStore.NotificationHistoryRequest(
            startDate: now.milliseconds - 86_400_000,
            endDate: now.milliseconds,
            onlyFailures: true
        )
        do throws(AppStore.ServerAPIError) {
            var pages = api.notificationHistory(request).makeAsyncIterator()
            let page = try await pages.next()
            return [
                .ok("app_store.key", "The App Store takes the key for \(place)."),
                notifications(page?.notificationHistory ?? [], page?.hasMore ?? false, place),
            ]
        } catch {
            let remedy: Sentence =
                error.isForbidden
                ? "Issuer id, key id and .p8 belong together: App Store Connect, Users and Access, Integrations, In-App Purchase. The key is of the team that owns the app."
                : "Try again later; if it stays so, look at the network of this machine."
            return [.failed("app_store.key", "For \(place): \(error)", remedy)]
        }
    }

    private func notifications(
        _ failed: [AppStore.NotificationHistoryResponse.Item],
        _ hasMore: Bool,
        _ place: String
    ) -> Finding {
        let lost = failed.filter { !$0.wasDelivered }
        guard !lost.isEmpty else {
            return .ok(
                "app_store.notifications",
                "Every notification of the last day for \(place) was delivered."
            )
        }
        let results = Set(lost.flatMap(\.sendAttempts).compactMap(\.sendAttemptResult?.rawValue))
        let reasons = results.sorted().joined(separator: ", ")
        return .failed(
            "app_store.notifications",
            hasMore
                ? "More than \(lost.count) notifications of the last day for \(place) did not arrive: \(reasons)."
                : "\(lost.count) notifications of the last day for \(place) did not arrive: \(reasons).",
            "In App Store Connect, give https://YOUR-SERVER/webhooks/app_store as the server URL, version 2. The server asks for what was missed by itself."
        )
    }
}
