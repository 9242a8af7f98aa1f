/// The second factor of a member of staff, as kept.
public struct StoredTOTP: Hashable, Sendable {
    /// Sealed.
    public var secret: [UInt8]
    /// True once a first code was entered; until then sign-in asks for none.
    public var isConfirmed: Bool
    /// The step of the newest code that was taken.
    public var step: Int64
}

extension StaffStore {
    /// The second factor of somebody, confirmed or not.
    public func totp(of name: String) async throws -> StoredTOTP? {
        try await driver.readNow(
            "SELECT secret, confirmed, step FROM staff_totp WHERE staff = $1",
            [.text(name)]
        ).first.map { row in
            StoredTOTP(
                secret: try row.bytes(0),
                isConfirmed: try row.int64(1) == 1,
                step: try row.int64(2)
            )
        }
    }

    /// The names of those who have a second factor that is confirmed.
    public func withTOTP() async throws -> Set<String> {
        Set(
            try await driver.readNow("SELECT staff FROM staff_totp WHERE confirmed = 1", [])
                .map { try $0.text(0) }
        )
    }

    /// Keeps a secret that is still to be confirmed, in place of another such.
    ///
    /// - Returns: whether it was kept: a confirmed one stays.
    public func keep(totp secret: [UInt8], of name: String) async throws -> Bool {
        try await driver.execute(
            """
            INSERT INTO staff_totp (staff, secret, confirmed, step) VALUES ($1, $2, 0, 0)
            ON CONFLICT (staff) DO UPDATE SET secret = excluded.secret
            WHERE staff_totp.confirmed = 0
            """,
            [.text(name), .blob(secret)]
        ) > 0
    }

    /// Seals a secret anew, unless it was changed meanwhile.
    public func reseal(totp secret: [UInt8], of name: String, from old: [UInt8]) async throws {
        try await driver.execute(
            "UPDATE staff_totp SET secret = $2 WHERE staff = $1 AND secret = $3",
            [.text(name), .blob(secret), .blob(old)]
        )
    }

    /// Every secret, for sealing it anew.
    public func totpSecrets() async throws -> [(staff: String, secret: [UInt8])] {
        try await driver.readNow("SELECT staff, secret FROM staff_totp ORDER BY staff", []).map {
            (staff: try $0.text(0), secret: try $0.bytes(1))
        }
    }

    /// Confirms a secret by its first code, keeps new recovery codes, and ends every session and
    /// link of theirs but one: nobody has shown a code there.
    ///
    /// - Parameters:
    ///   - secret: as kept; another that came meanwhile is not confirmed.
    ///   - kept: the token whose session goes on.
    public func confirm(
        totp secret: [UInt8],
        of name: String,
        step: Int64,
        recovery codes: [RowKey],
        keeping kept: String
    ) async throws -> Bool {
        try await driver.write { connection in
            let count = try connection.execute(
                """
                UPDATE staff_totp SET confirmed = 1, step = $2
                WHERE staff = $1 AND confirmed = 0 AND secret = $3
                """,
                [.text(name), .integer(step), .blob(secret)]
            )
            guard count > 0 else { return false }
            try connection.execute(
                "DELETE FROM staff_session WHERE staff = $1 AND token_hash <> $2",
                [.text(name), Self.staffKey(kept).value]
            )
            try Self.keep(codes, of: name, connection)
            return true
        }
    }

    /// Takes a code's step, once: it and those before it are worth nothing from then on.
    public func take(totpStep step: Int64, of name: String) async throws -> Bool {
        try await driver.execute(
            "UPDATE staff_totp SET step = $2 WHERE staff = $1 AND confirmed = 1 AND step < $2",
            [.text(name), .integer(step)]
        ) > 0
    }

    /// Takes a recovery code, once.
    public func take(recovery code: RowKey, of name: String) async throws -> Bool {
        try await driver.execute(
            "DELETE FROM staff_recovery WHERE staff = $1 AND code = $2",
            [.text(name), code.value]
        ) > 0
    }

    /// Keeps new recovery codes in place of the old ones.
    public func keep(recovery codes: [RowKey], of name: String) async throws {
        try await driver.write { try Self.keep(codes, of: name, $0) }
    }

    private static func keep(
        _ codes: [RowKey],
        of name: String,
        _ connection: any StorageConnection
    ) throws {
        try connection.execute("DELETE FROM staff_recovery WHERE staff = $1", [.text(name)])
        try connection.executeMany(
            "INSERT INTO staff_recovery (staff, code) VALUES ($1, $2)",
            codes.map { [.text(name), $0.value] }
        )
    }

    /// How many recovery codes are left.
    public func recoveryCodes(of name: String) async throws -> Int64 {
        try await driver.readNow(
            "SELECT count(*) FROM staff_recovery WHERE staff = $1",
            [.text(name)]
        ).first?.int64(0) ?? 0
    }

    /// Takes the second factor away.
    ///
    /// - Returns: whether there was a confirmed one.
    public func removeTOTP(of name: String) async throws -> Bool {
        try await driver.write { try Self.removeTOTP(of: name, $0) }
    }

    @discardableResult
    static func removeTOTP(of name: String, _ connection: any StorageConnection) throws -> Bool {
        try connection.execute("DELETE FROM staff_recovery WHERE staff = $1", [.text(name)])
        return try connection.query(
            "DELETE FROM staff_totp WHERE staff = $1 RETURNING confirmed",
            [.text(name)]
        ).contains { try $0.int64(0) == 1 }
    }

    // MARK: - Demanded of all

    private static let demand = "staff_second_factor"

    /// Whether everybody needs a second factor.
    public func isSecondFactorRequired() async throws -> Bool {
        try await driver.readNow("SELECT value FROM meta WHERE name = $1", [.text(Self.demand)])
            .first?.bytes(0) == [1]
    }

    public func setSecondFactorRequired(_ isRequired: Bool) async throws {
        try await driver.execute(
            """
            INSERT INTO meta (name, value) VALUES ($1, $2)
            ON CONFLICT (name) DO UPDATE SET value = excluded.value
            """,
            [.text(Self.demand), .blob([isRequired ? 1 : 0])]
        )
    }
}
