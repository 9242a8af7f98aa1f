public import TollgateCore

/// Somebody who may sign in to the dashboard, as kept.
public struct StoredStaff: Hashable, Sendable {
    /// In lower case: an email address or any other name.
    public var name: String
    /// `viewer`, `support`, `admin`, or ``removed``.
    public var role: String
    /// A slow hash; `nil` until a password was chosen.
    public var password: [UInt8]?
    /// By real time.
    public var created: Instant

    /// The role of those who work here no more.
    static let removed = "removed"

    public init(name: String, role: String, password: [UInt8]?, created: Instant) {
        self.name = name
        self.role = role
        self.password = password
        self.created = created
    }
}

/// Staff members, their sessions and second factors.
public struct StaffStore: Sendable {
    let driver: any StorageDriver

    /// Keeps somebody new.
    ///
    /// - Returns: whether the name was free.
    public func add(_ staff: StoredStaff) async throws -> Bool {
        try await driver.execute(
            """
            INSERT INTO staff (name, role, password, created) VALUES ($1, $2, $3, $4)
            ON CONFLICT (name) DO UPDATE SET
                role = excluded.role, password = excluded.password, created = excluded.created
            WHERE staff.role = '\(StoredStaff.removed)'
            """,
            [
                .text(staff.name), .text(staff.role), SQLValue(staff.password),
                .integer(staff.created.milliseconds),
            ]
        ) > 0
    }

    /// Whoever has this name.
    public func member(_ name: String) async throws -> StoredStaff? {
        let rows = try await driver.readNow(
            "SELECT name, role, password, created FROM staff WHERE name = $1",
            [.text(name)]
        )
        return try rows.first.map(Self.member)
    }

    /// Everybody, by name.
    public func members() async throws -> [StoredStaff] {
        let rows = try await driver.readNow(
            "SELECT name, role, password, created FROM staff ORDER BY name",
            []
        )
        return try rows.map(Self.member)
    }

    private static func member(_ row: Row) throws -> StoredStaff {
        StoredStaff(
            name: try row.text(0),
            role: try row.text(1),
            password: try row.optionalBytes(2),
            created: Instant(milliseconds: try row.int64(3))
        )
    }

    /// Gives somebody another role.
    ///
    /// Refuses to leave nobody with `last`, so that nobody is locked out by a slip.
    ///
    /// - Returns: whether it was done.
    public func setRole(
        _ role: String,
        of name: String,
        keepingOne last: String
    ) async throws -> Bool {
        try await driver.write { connection in
            guard try role == last || Self.isAnother(last, than: name, connection) else {
                return false
            }
            return try connection.execute(
                "UPDATE staff SET role = $2 WHERE name = $1",
                [.text(name), .text(role)]
            ) > 0
        }
    }

    /// Keeps a new password hash and ends every session and link of theirs but one.
    ///
    /// - Parameter kept: the token whose session goes on.
    public func setPassword(
        _ password: [UInt8],
        of name: String,
        keeping kept: String? = nil
    ) async throws -> Bool {
        try await driver.write { connection in
            try connection.execute(
                "DELETE FROM staff_session WHERE staff = $1 AND token_hash <> $2",
                [.text(name), kept.map { Self.staffKey($0).value } ?? .blob([])]
            )
            return try connection.execute(
                "UPDATE staff SET password = $2 WHERE name = $1",
                [.text(name), .blob(password)]
            ) > 0
        }
    }

    /// Lets somebody in no more; their name is kept, so that an issuer does not bring them back.
    ///
    /// Refuses to remove the last one with the role `last`.
    ///
    /// - Returns: whether it was done.
    public func remove(_ name: String, keepingOne last: String) async throws -> Bool {
        try await driver.write { connection in
            guard try Self.isAnother(last, than: name, connection) else { return false }
            try connection.execute("DELETE FROM staff_session WHERE staff = $1", [.text(name)])
            try connection.execute("DELETE FROM staff_view WHERE staff = $1", [.text(name)])
            try Self.removeTOTP(of: name, connection)
            return try connection.execute(
                "UPDATE staff SET role = $2, password = NULL WHERE name = $1",
                [.text(name), .text(StoredStaff.removed)]
            ) > 0
        }
    }

    /// Whether somebody else has `role`, or `name` does not have it to begin with.
    private static func isAnother(
        _ role: String,
        than name: String,
        _ connection: any StorageConnection
    ) throws -> Bool {
        let rows = try connection.query(
            "SELECT name FROM staff WHERE role = $1 \(connection.dialect.rowLock)",
            [.text(role)]
        )
        let names = try rows.map { try $0.text(0) }
        return !names.contains(name) || names.count > 1
    }
}

// MARK: - Sessions and links

/// A signed-in browser of staff, or a link that works once.
public struct StoredStaffSession: Hashable, Sendable {
    public enum Kind: String, Sendable {
        /// A signed-in browser.
        case session
        /// Signs in once.
        case link
        /// Lets a person choose a password, once.
        case invitation
        /// Somebody who still has to show their second factor.
        case factor
        /// A sign-in at an issuer that has begun; nobody's yet.
        case openID = "openid"
    }

    public var staff: String
    public var kind: Kind
    /// By real time, as is `expires`.
    public var created: Instant
    public var expires: Instant

    public init(staff: String, kind: Kind, created: Instant, expires: Instant) {
        self.staff = staff
        self.kind = kind
        self.created = created
        self.expires = expires
    }
}

extension StaffStore {
    static func staffKey(_ token: String) -> RowKey { RowKey("staff", token) }

    /// Keeps a session or link under a hash of its token, and drops those that have ended.
    public func keep(_ session: StoredStaffSession, token: String) async throws {
        try await driver.write { connection in
            try connection.execute(
                "DELETE FROM staff_session WHERE expires < $1",
                [.integer(session.created.milliseconds)]
            )
            try connection.execute(
                """
                INSERT INTO staff_session (token_hash, staff, kind, created, expires)
                VALUES ($1, $2, $3, $4, $5)
                """,
                [
                    Self.staffKey(token).value, .text(session.staff), .text(session.kind.rawValue),
                    .integer(session.created.milliseconds),
                    .integer(session.expires.milliseconds),
                ]
            )
        }
    }

    /// What is kept under `token`, of whatever kind.
    public func session(_ token: String) async throws -> StoredStaffSession? {
        let rows = try await driver.readNow(
            "SELECT staff, kind, created, expires FROM staff_session WHERE token_hash = $1",
            [Self.staffKey(token).value]
        )
        return try rows.first.flatMap(Self.session)
    }

    /// The same, dropped as it is read: it works once.
    public func takeSession(_ token: String) async throws -> StoredStaffSession? {
        try await driver.write { connection in
            try connection.query(
                """
                DELETE FROM staff_session WHERE token_hash = $1
                RETURNING staff, kind, created, expires
                """,
                [Self.staffKey(token).value]
            ).first.flatMap(Self.session)
        }
    }

    private static func session(_ row: Row) throws -> StoredStaffSession? {
        guard let kind = StoredStaffSession.Kind(rawValue: try row.text(1)) else { return nil }
        return StoredStaffSession(
            staff: try row.text(0),
            kind: kind,
            created: Instant(milliseconds: try row.int64(2)),
            expires: Instant(milliseconds: try row.int64(3))
        )
    }

    /// Ends every session and link of somebody.
    ///
    /// - Returns: how many there were.
    @discardableResult
    public func endSessions(of name: String) async throws -> Int {
        try await driver.execute("DELETE FROM staff_session WHERE staff = $1", [.text(name)])
    }

    // MARK: Failed attempts

    /// Counts an attempt of a key (a name, an address); one after a quiet time is the first again.
    ///
    /// An attempt beyond the patience does not make the quiet time begin anew. What others tried
    /// longer ago is dropped.
    ///
    /// - Parameter quiet: milliseconds.
    /// - Returns: how many there were, with this one.
    public func countAttempt(
        _ key: RowKey,
        at now: Instant,
        quiet: Int64,
        patience: Int64
    ) async throws -> Int64 {
        let old = SQLValue.integer(now.advanced(by: -quiet).milliseconds)
        return try await driver.write { connection in
            try connection.execute("DELETE FROM staff_attempt WHERE last < $1", [old])
            let rows = try connection.query(
                """
                INSERT INTO staff_attempt (key, failures, last) VALUES ($1, 1, $2)
                ON CONFLICT (key) DO UPDATE SET failures = staff_attempt.failures + 1,
                last = CASE WHEN staff_attempt.failures >= $3 THEN staff_attempt.last
                ELSE excluded.last END
                RETURNING failures
                """,
                [key.value, .integer(now.milliseconds), .integer(patience)]
            )
            return try rows.first?.int64(0) ?? 1
        }
    }

    /// After a success: forgets the attempts of some keys, and takes back one of each of others.
    public func forgetAttempts(_ keys: [RowKey], takingBack others: [RowKey]) async throws {
        try await driver.write { connection in
            for key in keys {
                try connection.execute("DELETE FROM staff_attempt WHERE key = $1", [key.value])
            }
            for key in others {
                try connection.execute(
                    """
                    UPDATE staff_attempt SET failures = failures - 1
                    WHERE key = $1 AND failures > 0
                    """,
                    [key.value]
                )
            }
        }
    }
}
