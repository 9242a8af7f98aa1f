public import TollgateCore

/// The right to do alone what must happen once, however many servers there are.
///
/// It ends by itself, so that a server that dies holds nobody up. Clocks of servers differ a
/// little; what is leased must therefore do no harm when it is done twice, only waste.
public struct Lease: Hashable, Sendable {
    /// What is leased: `reconcile/app_store/production`.
    public var name: String
    /// Who holds it: unique to one process.
    public var holder: String
    /// When it ends unless it is taken again, by real time.
    public var until: Instant

    public init(name: String, holder: String, until: Instant) {
        self.name = name
        self.holder = holder
        self.until = until
    }
}

/// Work that one server at a time may do.
public struct LeaseStore: Sendable {
    let driver: any StorageDriver

    /// Takes a lease that nobody holds, or prolongs one's own.
    ///
    /// - Parameter now: real time.
    /// - Returns: whether it is now the holder's.
    public func take(_ lease: Lease, now: Instant) async throws -> Bool {
        try await driver.execute(
            """
            INSERT INTO lease (name, holder, until) VALUES ($1, $2, $3)
            ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
            WHERE lease.until <= $4 OR lease.holder = excluded.holder
            """,
            [
                .text(lease.name), .text(lease.holder), .integer(lease.until.milliseconds),
                .integer(now.milliseconds),
            ]
        ) > 0
    }

    /// Gives a lease back, if it is still the holder's.
    public func release(_ lease: Lease) async throws {
        try await driver.execute(
            "DELETE FROM lease WHERE name = $1 AND holder = $2",
            [.text(lease.name), .text(lease.holder)]
        )
    }
}
