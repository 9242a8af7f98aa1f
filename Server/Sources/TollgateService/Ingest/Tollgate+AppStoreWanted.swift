internal import AppStoreAPI
internal import Logging
internal import Storage
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
            for kind in [Wanted.Kind.subscriptionStatus, .transactionHistory] {
                rows += try await store.wanted(kind, limit: 100).map { ($0, kind) }
            }
            let asked = rows.filter { row, _ in
                row.purchase.map { environments.contains($0.environment) } ?? true
            }
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
            if let environment = wanted.purchase?.environment {
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
            logger.error(
                "the App Store does not answer a question and will not be asked again",
                metadata: ["object": "\(wanted.object)", "error": "\(error)"]
            )
        }
        try await store.settle(wanted)
    }
}
