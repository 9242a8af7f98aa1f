public import Stores
public import Storage
internal import TollgateAPI
internal import TollgateCore

/// The members of staff.
///
/// Whoever asks for a change writes it into the audit log.
public struct Staff: Sendable {
    let records: StaffStore
    let clocks: Clocks

    public init(records: StaffStore, clocks: Clocks) {
        self.records = records
        self.clocks = clocks
    }

    /// Everybody, by name.
    public func all() async throws -> [StaffMember] {
        try await records.members().compactMap { StaffMember($0) }
    }

    /// Somebody by name; `nil` where nobody has it.
    public func member(_ name: String) async throws -> StaffMember? {
        try await records.member(name.lowercased()).flatMap { StaffMember($0) }
    }

    /// Lets somebody in from now on, once they have followed a link.
    ///
    /// - Throws: refusals 400 `parameter_invalid`, 409 `staff_exists`.
    @discardableResult
    public func add(_ name: String, role: StaffRole) async throws -> StaffMember {
        let name = try Self.checkedName(name)
        let staff = StoredStaff(
            name: name,
            role: role.rawValue,
            password: nil,
            created: clocks.wall()
        )
        guard try await records.add(staff) else {
            throw Refusal.conflict(
                "staff_exists",
                "A staff member named '\(name)' exists already.",
                param: "name"
            )
        }
        return StaffMember(name: name, role: role, hasPassword: false, created: staff.created)
    }

    /// Gives somebody another role.
    ///
    /// - Throws: refusals 404 `resource_missing`, 409 `last_admin`.
    public func setRole(_ role: StaffRole, of name: String) async throws {
        let member = try await require(name)
        guard
            try await records.setRole(
                role.rawValue,
                of: member.name,
                keepingOne: StaffRole.admin.rawValue
            )
        else { throw Refusal.lastAdmin }
    }

    /// Lets somebody in no more; every browser of theirs is signed out.
    ///
    /// - Throws: refusals 404 `resource_missing`, 409 `last_admin`.
    public func remove(_ name: String) async throws {
        let member = try await require(name)
        guard
            try await records.remove(member.name, keepingOne: StaffRole.admin.rawValue)
        else { throw Refusal.lastAdmin }
    }

    /// Signs somebody out everywhere.
    ///
    /// - Returns: how many sessions and links there were.
    public func signOut(_ name: String) async throws -> Int {
        try await records.endSessions(of: try await require(name).name)
    }

    func require(_ name: String) async throws -> StaffMember {
        guard let member = try await member(name) else {
            throw Refusal.missing("staff", name, param: "name")
        }
        return member
    }

    /// 1 to 120 printing characters without spaces, in lower case.
    private static func checkedName(_ name: String) throws -> String {
        let name = name.lowercased()
        let isFine = name.unicodeScalars.allSatisfy {
            $0.value > 0x20 && $0.value != 0x7F && !$0.properties.isWhitespace
                && $0.properties.generalCategory != .control
                && $0.properties.generalCategory != .format
        }
        guard (1...120).contains(name.utf8.count), isFine, !name.hasPrefix("cli:") else {
            throw Refusal.invalid(
                "name",
                "A name has 1 to 120 characters without spaces: an email address will do."
            )
        }
        return name
    }
}

extension StaffMember {
    init?(_ staff: StoredStaff) {
        guard let role = StaffRole(rawValue: staff.role) else { return nil }
        self.init(
            name: staff.name,
            role: role,
            hasPassword: staff.password != nil,
            created: staff.created
        )
    }
}

extension Refusal {
    /// 409: nobody would be left to let others in.
    static let lastAdmin = Refusal.conflict(
        "last_admin",
        "This is the last admin. Make another person an admin first.",
        param: "name"
    )
}
