internal import Storage
internal import Stores
internal import TollgateAPI
internal import TollgateCore

// Who works here. Each change is written into the audit log by whoever asks for it.
extension Tollgate {
    /// Everybody, by name.
    public func staff() async throws -> [StaffMember] {
        try await store.staff().compactMap { StaffMember($0) }
    }

    /// Somebody by name; `nil` where nobody has it.
    public func staffMember(_ name: String) async throws -> StaffMember? {
        try await store.staff(name.lowercased()).flatMap { StaffMember($0) }
    }

    /// Lets somebody in from now on, once they have followed a link.
    ///
    /// - Throws: refusals 400 `parameter_invalid`, 409 `staff_exists`.
    @discardableResult
    public func addStaff(_ name: String, role: StaffRole) async throws -> StaffMember {
        let name = try Self.staffName(name)
        let staff = StoredStaff(
            name: name,
            role: role.rawValue,
            password: nil,
            created: clocks.wall()
        )
        guard try await store.add(staff) else {
            throw Refusal(
                409,
                .invalidRequestError,
                "staff_exists",
                "Somebody named '\(name)' works here already.",
                param: "name"
            )
        }
        return StaffMember(name: name, role: role, hasPassword: false, created: staff.created)
    }

    /// Gives somebody another role.
    ///
    /// - Throws: refusals 404 `resource_missing`, 409 `last_admin`.
    public func setStaffRole(_ role: StaffRole, of name: String) async throws {
        let member = try await requireStaff(name)
        guard
            try await store.setRole(
                role.rawValue,
                of: member.name,
                keepingOne: StaffRole.admin.rawValue
            )
        else { throw Refusal.lastAdmin }
    }

    /// Lets somebody in no more; every browser of theirs is signed out.
    ///
    /// - Throws: refusals 404 `resource_missing`, 409 `last_admin`.
    public func removeStaff(_ name: String) async throws {
        let member = try await requireStaff(name)
        guard
            try await store.removeStaff(member.name, keepingOne: StaffRole.admin.rawValue)
        else { throw Refusal.lastAdmin }
    }

    /// Signs somebody out everywhere.
    ///
    /// - Returns: how many sessions and links there were.
    public func signOutStaff(_ name: String) async throws -> Int {
        try await store.endStaffSessions(of: try await requireStaff(name).name)
    }

    func requireStaff(_ name: String) async throws -> StaffMember {
        guard let member = try await staffMember(name) else {
            throw Refusal.missing("staff", name, param: "name")
        }
        return member
    }

    /// 1 to 120 printing characters without spaces, in lower case.
    private static func staffName(_ name: String) throws -> String {
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
    static let lastAdmin = Refusal(
        409,
        .invalidRequestError,
        "last_admin",
        "This is the last admin; make somebody else one first.",
        param: "name"
    )
}
