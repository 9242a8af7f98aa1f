// Periods that another purchase replaced, and that run all the same (RULES §8).
extension AppStoreRecord {
    /// When a purchase that continues this one took a period's place, unless a newer word says that the
    /// period runs (RULES §8).
    func replacement(of record: PeriodRecord) -> Instant? {
        replacements(of: record).first { reinstatement(of: record, after: $0) == nil }
    }

    /// When purchases that continue this one took its place during or after a period, in the order of
    /// time.
    private func replacements(of record: PeriodRecord) -> [Instant] {
        (successors ?? []).flatMap { successor in
            successor.starts.enumerated().filter { index, start in
                guard record.period.start < start else { return false }
                guard index > 0 else { return true }
                // A renewal may name what was replaced before. It replaces again what had come back.
                let before = successor.starts[index - 1]
                return predecessors?.first { $0.id == successor.id }?.starts
                    .contains { before < $0 && $0 <= start } ?? false
            }.map(\.element)
        }.sorted()
    }

    /// Whether a period was replaced, and newer words say that it runs, of which no status knows.
    func isContinuedInSpite(of record: PeriodRecord) -> Bool {
        guard let replaced = replacements(of: record).first,
            case .period(let stated) = reinstatement(of: record, after: replaced),
            record.period.end.map({ stated < $0 }) ?? true
        else { return false }
        guard let status, isRunning(record, at: status.stated.instant) else { return true }
        return status.stated.instant.advanced(by: 60_000) < stated
    }

    /// What says, in another message after a period was replaced, that the period runs (RULES §8).
    private func reinstatement(
        of record: PeriodRecord,
        after replaced: Instant
    ) -> Reinstatement? {
        // The parts of one message are signed within a minute.
        let heard = replaced.advanced(by: 60_000)
        let isRevoked = revocation(of: record) != nil
        if let reversal = reversal(of: record)?.stated.instant, heard < reversal, !isRevoked {
            return .period(reversal)
        }
        if let status, heard < status.stated.instant, isRunning(record, at: status.stated.instant) {
            if status.value.isEntitling { return .status }
            guard isStatedValid(record, since: status.stated, by: status.source) else { return nil }
        }
        let stated = record.newest.stated.instant
        guard record.isSigned, !isRevoked, record.newest.value.revoked == nil, heard < stated,
            isRunning(record, at: stated), record.period.end.map({ stated < $0 }) ?? true
        else { return nil }
        return .period(stated)
    }

    /// Whether no later period had begun by an instant.
    private func isRunning(_ record: PeriodRecord, at instant: Instant) -> Bool {
        record.period.start <= instant
            && !periods.contains {
                record.period.start < $0.period.start && $0.period.start <= instant
                    && !$0.period.isAddition(to: record.period) && !neverBegan($0)
            }
    }

    /// Whether another plan took a period's place before its start: its renewal had been charged ahead
    /// (RULES §2.14).
    func neverBegan(_ record: PeriodRecord) -> Bool {
        let period = record.period
        guard period.kind == .autoRenewable else { return false }
        if let upgraded = record.upgradedBy, upgraded < period.start { return true }
        guard let charged = record.chargedAhead else { return false }
        return periods.contains {
            let other = $0.period
            return other.kind == .autoRenewable && other.product != period.product
                && other.additionalReason == nil && charged < other.start
                && other.start < period.start
        }
    }

    /// Whether another plan took a period's place in the instant in which it began (RULES §2.1).
    func isReplacedAtOnce(_ record: PeriodRecord) -> Bool {
        let period = record.period
        guard record.upgradedBy != nil else { return false }
        return periods.contains { other in
            let next = other.period
            return next.kind == .autoRenewable && next.start == period.start
                && next.product != period.product && next.additionalReason == nil
                && record.placeInInstant < other.placeInInstant
        }
    }
}

extension PeriodRecord {
    /// Orders periods that begin in one instant: what was upgraded first comes first.
    var placeInInstant: (Int64, String) { (upgradedBy?.milliseconds ?? .max, period.id) }
}

/// What says that a period runs although another purchase took its place.
private enum Reinstatement {
    /// Its transaction or a reversal of its refund, with the clock of that.
    case period(Instant)
    /// A status of the subscription.
    case status
}
