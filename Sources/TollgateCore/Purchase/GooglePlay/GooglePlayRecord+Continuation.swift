/// A period that goes on under another purchase token: items that a change of plan keeps, as with
/// KEEP_EXISTING and DEFERRED, keep their order.
public struct GooglePlayKeptPeriod: Hashable, Codable, Sendable {
    public let order: String
    public let product: String
    /// The instant at which it ended there before its time; `nil`: it runs to its end.
    public let until: Instant?
}

// Periods across purchases that replace one another (RULES §18.3).
extension GooglePlayRecord {
    /// What became of a period under the tokens that took this one's place; `nil`: none of them names
    /// its order.
    public func continuation(of order: String, _ product: String) -> GooglePlayKeptPeriod? {
        // Of several, the one that runs longest.
        (successors ?? []).flatMap { $0.kept ?? [] }
            .filter { $0.order == order && $0.product == product }
            .max { left, right in
                guard let until = left.until else { return false }
                return right.until.map { until < $0 } ?? true
            }
    }

    /// The periods of this token that go on under another one; `nil`: none.
    func kept(by other: GooglePlayRecord) -> [GooglePlayKeptPeriod]? {
        let own = Set(charges.map { "\($0.id) \($0.product)" })
        let kept = other.periods.filter { own.contains($0.place) }.map { period in
            GooglePlayKeptPeriod(
                order: period.order,
                product: period.product,
                until: other.ended(period.order, period.product)
            )
        }
        return kept.isEmpty ? nil : kept
    }

    /// The instant at which a period ended before its time; `nil`: it runs to its end.
    private func ended(_ order: String, _ product: String) -> Instant? {
        if let replaced {
            guard let kept = continuation(of: order, product) else { return replaced }
            return kept.until
        }
        guard let read = subscription?.value, read.isOver || read.canceledBy != nil else {
            return nil
        }
        return read.items.first { $0.order == order && $0.product == product }?.expiry
    }
}
