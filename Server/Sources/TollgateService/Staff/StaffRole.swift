internal import Stores
internal import TollgateAPI
public import TollgateCore

/// What somebody who works here may do in the dashboard; each role may what the ones before it may.
public enum StaffRole: String, CaseIterable, Codable, Comparable, Sendable {
    /// Looks at everything but personal data.
    case viewer
    /// Helps customers: grants, assigns purchases, ends sessions, retries messages.
    case support
    /// Corrects coins, erases customers, and says who works here.
    case admin

    public static func < (left: StaffRole, right: StaffRole) -> Bool {
        left.rank < right.rank
    }

    private var rank: Int {
        switch self {
        case .viewer: 0
        case .support: 1
        case .admin: 2
        }
    }
}

/// Somebody who may sign in.
public struct StaffMember: Hashable, Sendable {
    /// In lower case.
    public var name: String
    public var role: StaffRole
    /// Whether they have chosen a password.
    public var hasPassword: Bool
    /// By real time.
    public var created: Instant
}

/// A signed-in browser.
public struct StaffVisit: Hashable, Sendable {
    public var member: StaffMember
    /// What the cookie holds.
    public var secret: String
    /// When it ends, by real time.
    public var expires: Instant
    /// Goes with every form, so that another site's form is told from ours.
    public var formToken: String
    /// Whether a second factor is demanded and not set up yet: then nothing else may be seen.
    public var lacksSecondFactor: Bool

    /// - Throws: a refusal 403 `role_required`.
    public func require(_ role: StaffRole) throws {
        guard member.role >= role else {
            throw Refusal.forbidden(
                "role_required",
                "This takes the role '\(role.rawValue)'; yours is '\(member.role.rawValue)'."
            )
        }
    }
}
