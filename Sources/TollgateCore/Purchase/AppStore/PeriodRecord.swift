/// One paid period with what must outlive its newest statement.
public struct PeriodRecord: Hashable, Codable, Sendable {
    /// The newest signed statement; a legacy receipt's where nothing was signed.
    public private(set) var newest: Newest<Period>
    /// The earliest clock that called it upgraded.
    ///
    /// Once stated, it stays (RULES §2.1).
    public private(set) var upgradedBy: Instant?
    /// Where its latest revocation was stated first.
    public private(set) var revocation: StatedRevocation?
    /// Each number of refunded seats that was stated, sorted; `nil`: it was never sold by the seat.
    public private(set) var seatStatements: [SeatStatement]?
    /// The newest statement of a legacy receipt beside a signed one; `nil`: none.
    public private(set) var receipt: Newest<Period>?
    /// The earliest clock that stated it before its start, as of a renewal that was charged ahead.
    public private(set) var chargedAhead: Instant?

    /// As it was kept.
    public init(
        newest: Newest<Period>,
        upgradedBy: Instant?,
        revocation: StatedRevocation?,
        seatStatements: [SeatStatement]?,
        receipt: Newest<Period>?,
        chargedAhead: Instant?
    ) {
        self.newest = newest
        self.upgradedBy = upgradedBy
        self.revocation = revocation
        self.seatStatements = seatStatements
        self.receipt = receipt
        self.chargedAhead = chargedAhead
    }

    init(_ stated: Newest<Period>) {
        newest = stated
        let period = stated.value
        let isOfReceipt = stated.source.isOfReceipt
        if period.isUpgraded {
            // In a receipt the date beside it is the time of the upgrade (RULES §2.8).
            upgradedBy = (isOfReceipt ? period.revoked : nil) ?? stated.stated.instant
        }
        if let date = period.revoked, !(isOfReceipt && period.isUpgraded) {
            revocation = StatedRevocation(date: date, stated: stated.stated, source: stated.source)
        }
        seatStatements = period.statedSeats.map {
            [SeatStatement(seats: $0, at: stated.stated.instant)]
        }
        if stated.stated.instant < period.start { chargedAhead = stated.stated.instant }
    }

    /// The time of its upgrade; `nil`: none is known.
    ///
    /// A refund's own date is none: a receipt may repeat the date of a refund that was taken back since,
    /// beside `is_upgraded` (RULES §2.8).
    var upgraded: Instant? { upgradedBy == revocation?.date ? nil : upgradedBy }

    /// Whether the App Store signed any statement about it.
    var isSigned: Bool { !newest.source.isOfReceipt }

    /// What was signed, with what a receipt adds to it.
    public var period: Period {
        guard let receipt else { return isSigned ? newest.value : newest.value.asReceiptSays }
        var period = newest.value
        let said = receipt.value.asReceiptSays
        if newest.stated < receipt.stated {
            // A refund or an extension of which no notice came.
            period.revoked = period.revoked ?? said.revoked
            period.end = later(period.end, said.end)
        }
        period.end = period.end ?? said.end
        period.token = period.token ?? said.token
        period.offerType = period.offerType ?? said.offerType
        period.discount = period.discount ?? said.discount
        period.offer = period.offer ?? said.offer
        return period
    }

    /// How many seats were refunded; beside a revocation, which is of every seat, a statement is
    /// silent about them.
    var refundedSeats: Int64 {
        guard newest.value.revoked != nil else { return newest.value.revokedSeats ?? 0 }
        return seatStatements?.max { ($0.last, $0.seats) < ($1.last, $1.seats) }?.seats ?? 0
    }

    /// Whether a receipt says something of the present that the older signed statement does not
    /// have: a refund or a later end (RULES §2.10).
    var isContested: Bool {
        guard let receipt, newest.stated < receipt.stated else { return false }
        let period = period
        return period.revoked != newest.value.revoked || period.end != newest.value.end
    }

    mutating func rename(_ renaming: Renaming) throws {
        try newest.amend { try $0.rename(renaming) }
        try receipt?.amend { try $0.rename(renaming) }
    }

    /// Takes in the record of one statement.
    mutating func join(_ other: PeriodRecord) {
        if isSigned == other.isSigned {
            newest.join(other.newest)
        } else if isSigned {
            receipt.join(other.newest)
        } else {
            receipt = newest
            newest = other.newest
        }
        upgradedBy = earlier(upgradedBy, other.upgradedBy)
        chargedAhead = earlier(chargedAhead, other.chargedAhead)
        for theirs in other.seatStatements ?? [] { join(theirs) }
        if let theirs = other.revocation {
            revocation = revocation.map { $0.joined(with: theirs) } ?? theirs
        }
    }

    private mutating func join(_ statement: SeatStatement) {
        var known = seatStatements ?? []
        switch known.position(of: statement.seats, by: { $0.seats }) {
        case .found(let index): known[index].join(statement)
        case .missing(let index): known.insert(statement, at: index)
        }
        seatStatements = known
    }
}

/// The first word of a revocation.
public struct StatedRevocation: Hashable, Codable, Sendable {
    /// `revocationDate`.
    public var date: Instant
    /// The earliest clock that stated this date, and the message.
    public var stated: Stated
    public var source: String

    public init(date: Instant, stated: Stated, source: String) {
        self.date = date
        self.stated = stated
        self.source = source
    }

    /// The later revocation; of one date, where it was stated first.
    func joined(with other: StatedRevocation) -> StatedRevocation {
        if date != other.date { return date < other.date ? other : self }
        if stated != other.stated { return stated < other.stated ? self : other }
        return source <= other.source ? self : other
    }
}

extension Period {
    /// A receipt's words: `cancellation_date` beside `is_upgraded` is no refund (RULES §2.8).
    fileprivate var asReceiptSays: Period {
        guard isUpgraded else { return self }
        var period = self
        period.revoked = nil
        return period
    }

    /// Whether its revocation is a switch to a bundle by which no money went back (RULES §2.12).
    var gaveNothingBack: Bool { isSwitched == true && revokedShare == nil }

    /// Whether this transaction adds seats to the period of `other`, and so does not end it (RULES
    /// §2.11).
    func isAddition(to other: Period) -> Bool {
        guard additionalReason != nil, product == other.product else { return false }
        return other.start < start && other.end.map { start < $0 } ?? true
    }
}
