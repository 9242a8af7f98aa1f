public import TollgateCore

/// Customers' sessions, each under the hash of its secret.
///
/// Sessions are operational: dropping them costs a signed-in app one more request.
public struct SessionStore: Sendable {
    let driver: any StorageDriver

    /// Keeps a session under a hash of its secret; none of a customer who was erased meanwhile.
    ///
    /// - Parameter expires: UNIX seconds.
    /// - Returns: whether it is kept.
    public func keep(
        _ secret: String,
        customer: Customer.ID,
        body: [UInt8],
        expires: Int64
    ) async throws -> Bool {
        try await driver.write { connection in
            guard try !connection.isErased(customer) else { return false }
            try connection.execute(
                """
                INSERT INTO session (token_hash, customer, body, expires) VALUES ($1, $2, $3, $4)
                """,
                [
                    RowKey("session", secret).value, RowKey(Holder.customer(customer)).value,
                    .blob(body), .integer(expires),
                ]
            )
            return true
        }
    }

    /// The hash under which the session of `secret` is kept.
    public static func key(_ secret: String) -> RowKey { RowKey("session", secret) }

    /// Whether a session is kept under this hash, in hexadecimal digits.
    public func hasSession(keptUnder hash: String) async throws -> Bool {
        guard let key = RowKey(hex: hash) else { return false }
        return try await !driver.readNow(
            "SELECT expires FROM session WHERE token_hash = $1",
            [key.value]
        ).isEmpty
    }

    /// What was kept under this secret.
    public func session(_ secret: String) async throws -> [UInt8]? {
        try await session(keptUnder: Self.key(secret))
    }

    /// The session that was kept under the secret with this hash.
    public func session(keptUnder key: RowKey) async throws -> [UInt8]? {
        try await driver.readNow(Self.sessionSQL, [key.value]).first?.bytes(0)
    }

    /// The same without suspension; `nil` also where the database cannot do that.
    public func sessionAtOnce(keptUnder key: RowKey) throws -> [UInt8]? {
        try driver.readAtOnce(Self.sessionSQL, [key.value])?.first?.bytes(0)
    }

    private static let sessionSQL = "SELECT body FROM session WHERE token_hash = $1"

    /// What was kept under this secret, which is dropped: it works once.
    public func take(_ secret: String) async throws -> [UInt8]? {
        try await driver.write { connection in
            try connection.query(
                "DELETE FROM session WHERE token_hash = $1 RETURNING body",
                [RowKey("session", secret).value]
            ).first?.bytes(0)
        }
    }

    /// Ends one session.
    ///
    /// - Returns: how many there were: 0 or 1.
    @discardableResult
    public func revoke(_ secret: String) async throws -> Int {
        try await driver.execute(
            "DELETE FROM session WHERE token_hash = $1",
            [RowKey("session", secret).value]
        )
    }

    /// Ends all sessions of `customer`.
    ///
    /// - Returns: how many there were.
    @discardableResult
    public func revokeAll(of customer: Customer.ID) async throws -> Int {
        try await driver.execute(
            "DELETE FROM session WHERE customer = $1",
            [RowKey(Holder.customer(customer)).value]
        )
    }

    /// When the sessions of a customer end, the last first: UNIX seconds.
    public func ends(of customer: Customer.ID, limit: Int64 = 50) async throws -> [Int64] {
        let rows = try await driver.readNow(
            BrowsingSQL.sessions,
            [RowKey(Holder.customer(customer)).value, .integer(limit)]
        )
        return try rows.map { try $0.int64(0) }
    }
}
