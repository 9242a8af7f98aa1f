public import TollgateCore

/// An email to a customer, as it waits in the outbox or was dealt with.
///
/// It holds neither the address nor the text: both are made when it is sent.
public struct LetterRow: Hashable, Sendable {
    /// The state of a letter.
    public enum Status: Int64, Sendable {
        case waiting = 0
        case sent = 1
        /// Refused by the mail server for good, or tried until it was too old.
        case failed = 2
        /// Not needed any more, or not wanted.
        case dropped = 3
        /// Refused for good because of the recipient's mailbox, which is no fault of this server.
        case refused = 4
    }

    /// Hashes the cause.
    public var key: RowKey
    /// The customer's name without an environment.
    public var customer: RowKey
    public var kind: String
    public var purchase: Purchase.Key
    /// The part of the purchase that caused it, such as an invoice's id.
    public var reference: String
    /// The time of the cause, by the stores' clock.
    public var caused: Instant
    /// The earliest time of sending, by the stores' clock.
    public var due: Instant
    /// The time at which the cause was seen, by real time.
    public var queued: Instant
    public private(set) var status = Status.waiting
    public private(set) var attempts: Int64 = 0
    /// The last attempt, by real time.
    public private(set) var tried: Instant?
    /// The result of the last attempt, in English.
    public private(set) var outcome: String?

    /// A letter that nobody has tried to send.
    public init(
        key: RowKey,
        customer: RowKey,
        kind: String,
        purchase: Purchase.Key,
        reference: String,
        caused: Instant,
        due: Instant,
        queued: Instant
    ) {
        self.key = key
        self.customer = customer
        self.kind = kind
        self.purchase = purchase
        self.reference = reference
        self.caused = caused
        self.due = due
        self.queued = queued
    }

    static let columns = """
        key, customer, kind, purchase, reference, caused, due, queued, status, attempts, tried, outcome
        """

    init(_ row: Row) throws {
        guard let purchase = Purchase.Key(canonical: try row.text(3)) else {
            throw StorageError(.corrupt, "a letter about no purchase")
        }
        self.init(
            key: try RowKey(bytes: row.bytes(0)),
            customer: try RowKey(bytes: row.bytes(1)),
            kind: try row.text(2),
            purchase: purchase,
            reference: try row.text(4),
            caused: Instant(milliseconds: try row.int64(5)),
            due: Instant(milliseconds: try row.int64(6)),
            queued: Instant(milliseconds: try row.int64(7))
        )
        status = Status(rawValue: try row.int64(8)) ?? .failed
        attempts = try row.int64(9)
        tried = try row.optionalInt64(10).map { Instant(milliseconds: $0) }
        outcome = try row.optionalText(11)
    }

    /// The values of a new row, in the order of `LetterStore.insertSQL`.
    var values: [SQLValue] {
        [
            key.value, customer.value, .text(kind), .text(purchase.canonical), .text(reference),
            .integer(caused.milliseconds), .integer(due.milliseconds),
            .integer(queued.milliseconds),
        ]
    }
}

/// The result of one attempt to send a letter.
public struct LetterResult: Hashable, Sendable {
    public var status: LetterRow.Status
    /// The next attempt of a letter that waits, by real time.
    public var retry: Instant
    /// A sentence for staff, without the address.
    public var outcome: String

    /// - Parameter outcome: a sentence for staff, without the address.
    public init(_ status: LetterRow.Status, retry: Instant, outcome: String) {
        (self.status, self.retry, self.outcome) = (status, retry, outcome)
    }
}

/// The numbers of an outbox.
public struct LetterCounts: Hashable, Sendable {
    /// Letters that are due and wait.
    public var waiting: Int64
    /// The first attempt at a letter that waits, among those first tried after the mail server last
    /// accepted one; `nil`: there is none.
    public var firstTried: Instant?
    /// The last attempt at a letter that waits.
    public var lastTry: Instant?
    /// Letters that failed since an instant, but for refusals because of a mailbox.
    public var failed: Int64
}
