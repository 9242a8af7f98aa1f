internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Stores
internal import TollgateAPI
internal import TollgateCore
internal import TollgateService

/// Members of staff, and one's own account.
struct StaffPages: DashboardPages {
    let request: DashboardRequest

    /// - Parameter invitation: a link that was just made, shown this once.
    func staff(invitation: (name: String, link: String)?) async throws -> Response {
        try visit.require(.admin)
        let withFactor = try await tollgate.secondFactors.owners()
        let members = try await tollgate.staff.all().map { member -> Model in
            [
                "name": member.name, "roleText": words["role_\(member.role.rawValue)"],
                "since": formats.time(member.created), "isMe": member.name == visit.member.name,
                "isInvited": !member.hasPassword,
                "hasFactor": withFactor.contains(member.name),
                "roles": StaffRole.allCases.map { role -> Model in
                    [
                        "value": role.rawValue, "roleName": words["role_\(role.rawValue)"],
                        "isChosen": role == member.role,
                    ]
                },
            ]
        }
        return page(
            "dash_staff",
            words["nav_staff"],
            section: "staff",
            [
                "members": members,
                "isRequired": try await tollgate.secondFactors.isRequired(),
                "invitation": invitation.map { ["name": $0.name, "link": $0.link] as Model }
                    ?? false,
                "newRoles": StaffRole.allCases.map { role -> Model in
                    [
                        "value": role.rawValue, "roleName": words["role_\(role.rawValue)"],
                        "isChosen": role == .viewer,
                    ]
                },
            ]
        )
    }

    func changeStaff(_ action: String, _ form: [String: String]) async throws -> Response {
        try visit.require(.admin)
        let name = (form["name"] ?? "").trimmingCharacters(in: .whitespaces).lowercased()
        switch action {
        case "add":
            let role = try role(in: form)
            try await audited("add", name, role.rawValue, state: { try await self.role(of: name) })
            {
                _ = try await tollgate.staff.add(name, role: role)
            }
            let link = try await tollgate.signIns.invitation(for: name)
            return try await staff(invitation: (name, link))
        case "invite":
            let link = try await audited("invite", name) {
                try await tollgate.signIns.invitation(for: name)
            }
            return try await staff(invitation: (name, link))
        case "role":
            let role = try role(in: form)
            try await audited("role", name, role.rawValue, state: { try await self.role(of: name) })
            {
                try await tollgate.staff.setRole(role, of: name)
            }
        case "sign-out":
            _ = try await audited("sign_out", name) { try await tollgate.staff.signOut(name) }
        case "reset-factor":
            try await audited("factor_reset", name) {
                try await tollgate.secondFactors.reset(of: name)
            }
        case "require-factor": try await requireFactor(form["required"] == "true")
        case "remove":
            try await audited("remove", name, state: { try await role(of: name) }) {
                try await tollgate.staff.remove(name)
            }
        default: throw Refusal.nothingHere
        }
        return done("staff_\(action)", "/dashboard/staff")
    }

    private func requireFactor(_ isRequired: Bool) async throws {
        try await audited(
            Deed("staff.factor_required", "staff", "\(isRequired)"),
            state: { try await tollgate.secondFactors.isRequired().description }
        ) { try await tollgate.secondFactors.setRequired(isRequired) }
    }

    /// Does something to a member, with its entry in the audit log.
    private func audited<Result: Sendable>(
        _ deed: String,
        _ name: String,
        _ detail: String = "",
        state: () async throws -> String? = { nil },
        _ work: () async throws -> Result
    ) async throws -> Result {
        try await audited(
            Deed("staff.\(deed)", "staff:\(name.prefix(120))", detail),
            state: state,
            work
        )
    }

    private func role(of name: String) async throws -> String? {
        try await tollgate.staff.member(name)?.role.rawValue
    }

    private func role(in form: [String: String]) throws -> StaffRole {
        guard let role = form["role"].flatMap({ StaffRole(rawValue: $0) }) else {
            throw Refusal.invalid("role", "role is viewer, support or admin.")
        }
        return role
    }

    // MARK: - One's own

    func account(refusal: String?) -> Response {
        page(
            "dash_account",
            words["nav_account"],
            section: "account",
            [
                "name": visit.member.name,
                "roleText": words["role_\(visit.member.role.rawValue)"],
                "roleMeaning": words["meaning_\(visit.member.role.rawValue)"],
                "hasPassword": visit.member.hasPassword,
                "ends": formats.time(visit.expires), "refusal": refusal ?? false,
            ],
            status: refusal == nil ? .ok : .badRequest
        )
    }

    func changePassword(_ form: [String: String]) async throws -> Response {
        do {
            try await audited(Deed("staff.password", "staff:\(visit.member.name)")) {
                try await tollgate.passwords.change(
                    visit,
                    from: form["old"] ?? "",
                    to: form["new"] ?? ""
                )
            }
        } catch let refusal as Refusal where refusal.status < 500 {
            return account(refusal: words["error_\(refusal.error.code.rawValue)"])
        }
        return done("password", "/dashboard/account")
    }
}
