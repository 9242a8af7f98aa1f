internal import Storage
internal import Stores
internal import TollgateCore

extension Questions {
    /// Asks the questions of a kind whose turn it is, unless another server is asking them.
    ///
    /// Each question spends Google's quota once, however many servers there are.
    ///
    /// - Parameters:
    ///   - most: how many at once.
    ///   - mayAsk: whether a question can be asked at all.
    ///   - ask: asks them; it prolongs the lease as often as it likes.
    func askOnce(
        _ kind: Wanted.Kind,
        again: Bool,
        most: Int = 100,
        in context: StoreContext,
        where mayAsk: (WantedRow) -> Bool,
        _ ask: (
            _ rows: [WantedRow],
            _ prolong: @escaping @Sendable () async throws -> Void
        ) async throws -> Void
    ) async throws {
        // A lease costs commits, and mostly nothing is wanted.
        guard try await !due(kind, again: again, most: most, where: mayAsk).isEmpty else { return }
        _ = try await context.leases.holding("questions/\(kind.rawValue)", seconds: 30) { prolong in
            // Another server may have had the answers before.
            let rows = try await due(kind, again: again, most: most, where: mayAsk)
            try await ask(rows, prolong)
        }
    }
}
