/// A stretch of a purchase with one owner (RULES §8).
struct Epoch {
    var token: String?
    /// At least one.
    var periods: [PeriodRecord]
    /// Whether nothing came before it.
    var isFirst: Bool

    var start: Instant { periods[0].period.start }

    func contains(_ record: PeriodRecord) -> Bool {
        periods.contains { $0.period.id == record.period.id }
    }
}

extension AppStoreRecord {
    /// The App Store's periods in order, cut where a different `appAccountToken` begins.
    ///
    /// A missing token inherits its predecessor's, also that of the purchase that this one
    /// continues; the first token after periods without any begins an epoch too, or their owner
    /// would depend on what was bought later.
    func epochs(of ordered: [PeriodRecord]? = nil) -> [Epoch] {
        var epochs: [Epoch] = []
        for record in ordered ?? orderedPeriods {
            let token = record.period.token ?? inheritedToken(at: record.period.start)
            if !epochs.isEmpty, token == nil || token == epochs.last?.token {
                epochs[epochs.count - 1].periods.append(record)
            } else {
                epochs.append(
                    Epoch(token: token, periods: [record], isFirst: epochs.isEmpty)
                )
            }
        }
        return epochs
    }

    /// The start of the newest epoch; `nil`: nobody else came before.
    var buyerSince: Instant? { epochs().last.flatMap { $0.isFirst ? nil : $0.start } }

    /// The token of the purchase that this one begins to continue at `start`.
    private func inheritedToken(at start: Instant) -> String? {
        predecessors?.first { $0.since == start }?.token
    }

    /// The token that holds at an instant.
    func token(at instant: Instant) -> String? {
        epochs().last { $0.start <= instant }?.token
    }

    /// The paid end of the period that runs at an instant.
    func paidUntil(at instant: Instant) -> Instant? {
        begunPeriods().last { $0.period.start <= instant }?.period.end
    }

    /// In order, without those that another plan replaced before they began.
    func begunPeriods(among ordered: [PeriodRecord]? = nil) -> [PeriodRecord] {
        let ordered = ordered ?? orderedPeriods
        return ordered.contains(where: neverBegan) ? ordered.filter { !neverBegan($0) } : ordered
    }

    /// By start; of one instant by when it was upgraded, then by id.
    var orderedPeriods: [PeriodRecord] {
        (periods.contains(where: isRepeated) ? periods.filter { !isRepeated($0) } : periods).inOrder
    }
}

extension [PeriodRecord] {
    /// By start and place in its instant: mostly as they are kept, and then nothing is copied.
    fileprivate var inOrder: [PeriodRecord] {
        // What a record says of its period is put together anew at each look.
        let places = map { record in
            let (rank, id) = record.placeInInstant
            return (record.period.start, rank, id)
        }
        guard zip(places, places.dropFirst()).contains(where: { $0 > $1 }) else { return self }
        return indices.sorted { places[$0] < places[$1] }.map { self[$0] }
    }
}
