internal import AppStoreAPI
internal import Foundation
internal import Storage
internal import Stores
internal import TollgateAPI
internal import TollgateCore
internal import Traces

/// Asks the App Store what its messages did not carry.
struct AppStoreQuestions: Sendable {
    let context: StoreContext
    let reads: AppStoreReads
    private let questions: Questions

    init(_ context: StoreContext, _ reads: AppStoreReads) {
        self.context = context
        self.reads = reads
        questions = Questions(context)
    }

    /// Asks what may be asked now.
    ///
    /// - Returns: `false` while asking fails.
    func ask() async -> Bool {
        guard !reads.environments.isEmpty else { return true }
        return await questions.ask { again, round in
            var asked: [(kind: Wanted.Kind, rows: [WantedRow])] = []
            for kind in [Wanted.Kind.subscriptionStatus, .transactionHistory, .appAccountToken] {
                let rows = try await questions.due(kind, again: again) { row in
                    row.purchase.map { reads.canAsk(AppStoreScope($0)) } ?? true
                }
                asked.append((kind, rows))
            }
            guard asked.contains(where: { !$0.rows.isEmpty }) else { return }
            _ = try await context.leases.holding("wanted/app_store") { prolong in
                for (kind, rows) in asked {
                    round.beginKind()
                    for wanted in rows where round.goesOn {
                        try await prolong()
                        try await Traces.span("answer a question") {
                            try await ask(wanted, kind, &round)
                        }
                    }
                }
            }
        }
    }

    /// Asks one question.
    ///
    /// - Throws: whatever says that the App Store cannot be asked at all now.
    private func ask(
        _ wanted: WantedRow,
        _ kind: Wanted.Kind,
        _ round: inout QuestionRound
    ) async throws {
        do {
            if let purchase = wanted.purchase, kind == .appAccountToken {
                try await setAppAccountToken(wanted.object, about: purchase)
            } else if let scope = wanted.purchase.map({ AppStoreScope($0) }) {
                if kind == .transactionHistory {
                    _ = try await reads.readWhatLasts(
                        of: wanted.object,
                        in: scope,
                        named: [wanted.object]
                    )
                    // It may have been a consumable that was refunded.
                    var refunds = AppStore.TransactionHistoryRequest()
                    refunds.revoked = true
                    _ = try await reads.readHistory(of: wanted.object, in: scope, refunds)
                }
                _ = try await reads.readStatuses(of: wanted.object, in: scope, confirms: false)
            }
        } catch let error as AppStore.ServerAPIError {
            return try await questions.take(error, error.meaning, of: wanted, kind, &round)
        }
        try await questions.settle(wanted)
        round.answered()
    }

    /// Has the App Store name who restored a purchase from the coming period on.
    ///
    /// That is whose it is now: of several who restored it, each raised a question, and the questions
    /// may come in another order. The token in the question only keeps theirs apart.
    ///
    /// - Parameter object: as ``Wanted/Kind/appAccountToken`` has it.
    private func setAppAccountToken(_ object: String, about key: Purchase.Key) async throws {
        let now = await context.clocks.now()
        guard let original = object.split(separator: " ").first,
            let owner = try await context.records.record(of: key)?.ownerToName(at: now),
            // Whoever was erased since has no name any more.
            let stored = try await context.records.profile(owner), !stored.body.isEmpty,
            let token = UUID(uuidString: try Profile(stored).customer.appAccountToken)
        else { return }
        try await reads.client(AppStoreScope(key)).setAppAccountToken(
            token,
            originalTransactionID: String(original)
        )
    }
}
