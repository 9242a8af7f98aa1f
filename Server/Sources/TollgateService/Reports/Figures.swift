internal import Reports
internal import Storage
internal import Stores
internal import TollgateCore

/// The figures of reports, kept in step with the journal.
public struct Figures: Sendable {
    let records: RecordStore
    let clocks: Clocks
    let leases: Leases
    let rows: [any StoreRows]

    /// Takes what little is new into the figures, so that who asks after an event sees it; what is
    /// more is left to the follower, or asking would be slow while much arrives.
    func catchUp() async {
        for _ in 0..<2 {
            guard let lag = try? await FigureDerivation.lag(of: records), (1...250).contains(lag),
                let isDone = try? await followOnce(limit: 250), !isDone
            else { return }
        }
    }

    /// Whether the figures have all that is in the journal.
    public func areComplete() async throws -> Bool {
        try await FigureDerivation.lag(of: records) == 0
    }

    /// One step of the figures behind the journal, if no other server is at it.
    ///
    /// - Returns: whether there is nothing more to do here.
    public func followOnce(limit: Int64 = 250) async throws -> Bool {
        let derivation = FigureDerivation(records, rows: rows)
        guard try await FigureDerivation.lag(of: records) > 0,
            try await !derivation.isLeftToOthers()
        else {
            return true
        }
        let now = clocks.wall()
        return try await leases.holding("figures", seconds: 60) { _ in
            try await derivation.follow(limit: limit, now: now).isDone
        } ?? true
    }
}
