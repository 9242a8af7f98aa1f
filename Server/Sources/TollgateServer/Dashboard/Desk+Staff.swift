internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Stores
internal import TollgateAPI
internal import TollgateCore
internal import TollgateService

// Who works here, and one's own account.
extension Desk {
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
        let subject = "staff:\(name.prefix(120))"
        func wantedRole() throws -> StaffRole {
            guard let role = form["role"].flatMap({ StaffRole(rawValue: $0) }) else {
                throw Refusal(
                    400,
                    .invalidRequestError,
                    .parameterInvalid,
                    "role is viewer, support or admin.",
                    param: "role"
                )
            }
            return role
        }
        let tollgate = tollgate
        let state: () async throws -> String? = {
            let member = try await tollgate.staff.member(name)
            return member?.role.rawValue
        }
        switch action {
        case "add":
            let role = try wantedRole()
            try await tollgate.auditLog.audited(
                Deed("staff.add", subject, role.rawValue),
                by: actor,
                state: state
            ) { _ = try await tollgate.staff.add(name, role: role) }
            let link = try await tollgate.signIns.invitation(for: name)
            return try await staff(invitation: (name, link))
        case "invite":
            let link = try await tollgate.auditLog.audited(Deed("staff.invite", subject), by: actor)
            {
                try await tollgate.signIns.invitation(for: name)
            }
            return try await staff(invitation: (name, link))
        case "role":
            let role = try wantedRole()
            try await tollgate.auditLog.audited(
                Deed("staff.role", subject, role.rawValue),
                by: actor,
                state: state
            ) { try await tollgate.staff.setRole(role, of: name) }
        case "sign-out":
            _ = try await tollgate.auditLog.audited(Deed("staff.sign_out", subject), by: actor) {
                try await tollgate.staff.signOut(name)
            }
        case "reset-factor":
            try await tollgate.auditLog.audited(Deed("staff.factor_reset", subject), by: actor) {
                try await tollgate.secondFactors.reset(of: name)
            }
        case "require-factor":
            let isRequired = form["required"] == "true"
            try await tollgate.auditLog.audited(
                Deed("staff.factor_required", "staff", "\(isRequired)"),
                by: actor,
                state: { try await tollgate.secondFactors.isRequired().description }
            ) { try await tollgate.secondFactors.setRequired(isRequired) }
        case "remove":
            try await tollgate.auditLog.audited(
                Deed("staff.remove", subject),
                by: actor,
                state: state
            ) {
                try await tollgate.staff.remove(name)
            }
        default: throw Refusal.nothingHere
        }
        return done("staff_\(action)", "/dashboard/staff")
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
            try await tollgate.auditLog.audited(
                Deed("staff.password", "staff:\(visit.member.name)"),
                by: actor
            ) {
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
