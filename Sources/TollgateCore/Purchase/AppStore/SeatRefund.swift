/// Seats of a multiseat purchase that were refunded: what was said of a day must not change because
/// more of them are refunded later (RULES §16).
public struct SeatRefund: Hashable, Sendable {
    /// How many in all, by then.
    public var seats: Int64
    /// The first clock that stated so many, since fewer were stated.
    public var stated: Instant

    public init(seats: Int64, stated: Instant) {
        self.seats = seats
        self.stated = stated
    }
}

/// A number of refunded seats, and when it was stated.
public struct SeatStatement: Hashable, Codable, Sendable {
    /// How many in all; 0 where refunds were taken back, or nothing was refunded yet.
    public let seats: Int64
    /// The first clock that stated so many.
    public private(set) var first: Instant
    /// The last one.
    public private(set) var last: Instant

    /// As it was kept.
    public init(seats: Int64, first: Instant, last: Instant) {
        self.seats = seats
        self.first = first
        self.last = last
    }

    init(seats: Int64, at instant: Instant) {
        self.init(seats: seats, first: instant, last: instant)
    }

    mutating func join(_ other: SeatStatement) {
        first = min(first, other.first)
        last = max(last, other.last)
    }
}

extension PeriodRecord {
    /// The refunds of seats that stand, each from the first clock that stated so many since fewer were
    /// stated, in the order of time.
    ///
    /// Where so many had been stated before, too, the last statement of fewer is that clock.
    var seatRefunds: [SeatRefund] {
        let stated = seatStatements ?? []
        var refunds: [SeatRefund] = []
        for one in stated where 0 < one.seats && one.seats <= refundedSeats {
            let fewer = stated.filter { $0.seats < one.seats }.map(\.last).max()
            let standing = stated.filter { other in
                other.seats >= one.seats && fewer.map { $0 <= other.first } ?? true
            }
            guard let instant = standing.map(\.first).min() ?? fewer else { continue }
            // Of several numbers of one clock the largest.
            refunds.removeAll { $0.stated >= instant }
            refunds.append(SeatRefund(seats: one.seats, stated: instant))
        }
        return refunds
    }
}

extension Period {
    /// How many seats are refunded by a signed statement; `nil`: it says nothing of seats.
    ///
    /// What is not sold by the seat has one.
    var statedSeats: Int64? {
        if let revokedSeats, revokedSeats > 0 { return revokedSeats }
        return kind == .autoRenewable && quantity > 1 && revoked == nil ? 0 : nil
    }
}
