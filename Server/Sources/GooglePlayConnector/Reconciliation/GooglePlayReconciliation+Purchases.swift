internal import GooglePlayAPI
internal import Storage
internal import Stores
internal import TollgateCore

extension GooglePlayReconciliation {
    /// Records that one pass looks at, and purchases that it reads.
    private static let (mostRecords, mostReads) = (5_000, 1_000)

    /// Reads the next purchases of the round that is under way, if there is one: hints about them may
    /// have been lost.
    ///
    /// - Parameter isWhole: goes on to its end.
    func readPurchases(
        _ app: GooglePlaySetUp.App,
        _ name: String,
        isWhole: Bool,
        _ place: inout Place,
        _ found: inout GooglePlayReconciled,
        _ prolong: @Sendable () async throws -> Void
    ) async throws {
        while place.round != nil {
            do {
                try await readPage(app, &place, &found, prolong)
            } catch {
                // What was read is not read again.
                try? await keep(place, name)
                throw error
            }
            try await keep(place, name)
            guard isWhole else { return }
        }
    }

    private func readPage(
        _ app: GooglePlaySetUp.App,
        _ place: inout Place,
        _ found: inout GooglePlayReconciled,
        _ prolong: @Sendable () async throws -> Void
    ) async throws {
        guard var round = place.round else { return }
        defer { place.round = place.round.map { _ in round } }
        var (looked, asked) = (0, 0)
        while looked < Self.mostRecords, asked < Self.mostReads {
            let page = try await context.records.records(after: round.after, limit: 500)
            for (row, record) in page {
                looked += 1
                if record.key.store == .googlePlay, record.key.application == app.packageName,
                    record.canStillChange(since: round.since)
                {
                    asked += 1
                    try await read(record, app, &found)
                    try await prolong()
                }
                round.after = row
            }
            guard !page.isEmpty else {
                if round.since == nil { place.purchasesAsOf = round.began }
                place.round = nil
                return
            }
        }
    }

    private func read(
        _ record: Purchase,
        _ app: GooglePlaySetUp.App,
        _ found: inout GooglePlayReconciled
    ) async throws {
        found.purchases += 1
        progress(WorkProgress(step: "purchases", done: found.purchases))
        do {
            let outcome =
                if record.googlePlay?.subscription != nil {
                    try await reads.read(
                        subscription: record.key.id,
                        of: app,
                        leaving: Self.reserve
                    )
                } else {
                    try await reads.read(product: record.key.id, of: app, leaving: Self.reserve)
                }
            if outcome.isNews { found.purchaseNews += 1 }
        } catch let fault as GooglePlay.APIFault {
            switch fault.meaning {
            case .notAllowed, .tooMany, .unavailable: throw fault
            case .noLongerReadable:
                try await reads.note(unreadable: record.key.id, of: app, fault.reason ?? "410")
            case .notFound, .invalid, .unreadable, .changedMeanwhile: break
            }
            found.unreadable += 1
        }
    }
}

extension Purchase {
    /// Returns `true` if Google can say anything new about the purchase itself.
    ///
    /// A state EXPIRED, or CANCELLED of a one-time purchase, is final (RULES §18.1), and a token that was
    /// answered with 410 stays unreadable.
    ///
    /// - Parameter since: purchases that ended before are left out.
    fileprivate func canStillChange(since: Int64?) -> Bool {
        guard let play = googlePlay, play.unreadable == nil else { return false }
        if let read = play.subscription {
            guard read.value.state != "EXPIRED" else { return false }
            guard let since, let end = read.value.items.compactMap(\.expiry).max() else {
                return true
            }
            // Whoever renewed since then is ACTIVE with the old end.
            return end.milliseconds >= since || read.value.state != "CANCELED"
        }
        return play.purchase.map { $0.value.state != "CANCELLED" } ?? false
    }
}
