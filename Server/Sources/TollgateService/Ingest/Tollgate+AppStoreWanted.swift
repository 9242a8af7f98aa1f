internal import AppStoreAPI
internal import Foundation
internal import Logging
internal import Storage
internal import TollgateAPI
internal import TollgateCore

extension Tollgate {
    /// Asks the App Store what its messages did not carry.
    ///
    /// Call it again and again; it returns when nothing is left that can be answered now.
    func fetchWantedFromAppStore() async {
        let environments = appStoreEnvironments
        guard !environments.isEmpty, appStorePace.isDue(at: clocks.wall()) else { return }
        do {
            var rows: [(WantedRow, Wanted.Kind)] = []
            for kind in [Wanted.Kind.subscriptionStatus, .transactionHistory, .appAccountToken] {
                rows += try await questions(kind) { row in
                    row.purchase.map { environments.contains($0.environment) } ?? true
                }.map { ($0, kind) }
            }
            let asked = rows
            guard !asked.isEmpty else { return }
            _ = try await leased("wanted/app_store") { prolong in
                for (number, (wanted, kind)) in asked.enumerated() {
                    if number % 20 == 19 { try await prolong() }
                    try await ask(wanted, kind)
                }
            }
            appStorePace.succeeded()
        } catch {
            appStorePace.failed(at: clocks.wall())
            logger.warning(
                "asking the App Store for what is missing will be tried again",
                metadata: ["error": "\(error)"]
            )
        }
    }

    /// Asks one question.
    ///
    /// One that the App Store refuses for good is dropped and logged, so that it does not hold up
    /// those behind it; an error that may pass ends this round.
    private func ask(_ wanted: WantedRow, _ kind: Wanted.Kind) async throws {
        do {
            if let purchase = wanted.purchase, kind == .appAccountToken {
                try await setAppAccountToken(wanted.object, about: purchase)
            } else if let environment = wanted.purchase?.environment {
                if kind == .transactionHistory {
                    _ = try await readWhatLasts(
                        of: wanted.object,
                        in: environment,
                        named: [wanted.object]
                    )
                    // It may have been a consumable that was refunded.
                    var refunds = AppStore.TransactionHistoryRequest()
                    refunds.revoked = true
                    _ = try await readHistory(of: wanted.object, in: environment, refunds)
                }
                _ = try await readStatuses(of: wanted.object, in: environment, confirms: false)
            }
        } catch let error as AppStore.ServerAPIError {
            guard !error.isRetryable, !error.isForbidden else { throw error }
            if case .unreadable = error.cause {
                // Half an answer is no refusal: the question stays and waits a while, and those behind
                // it are asked.
                questionRetries.failed(wanted.key, raised: wanted.raised, at: clocks.wall())
                logger.warning(
                    "the App Store's answer cannot be read; it will be asked again",
                    metadata: ["object": "\(wanted.object)", "error": "\(error)"]
                )
                return
            }
            logger.error(
                "the App Store does not answer a question and will not be asked again",
                metadata: ["object": "\(wanted.object)", "error": "\(error)"]
            )
        }
        try await settle(wanted)
    }

    /// Has the App Store name who restored a purchase from the coming period on.
    ///
    /// That is whose it is now: of several who restored it, each raised a question, and the questions
    /// may come in another order. The token in the question only keeps theirs apart.
    ///
    /// - Parameter object: as ``Wanted/Kind/appAccountToken`` has it.
    private func setAppAccountToken(_ object: String, about key: Purchase.Key) async throws {
        let now = await clocks.now()
        guard let original = object.split(separator: " ").first,
            let owner = try await store.record(of: key)?.ownerToName(at: now),
            // Whoever was erased since has no name any more.
            let stored = try await store.profile(owner.rawValue), !stored.body.isEmpty,
            let token = UUID(uuidString: try read(stored).customer.appAccountToken)
        else { return }
        try await appStoreServer(key.environment).setAppAccountToken(
            token,
            originalTransactionID: String(original)
        )
    }
}
