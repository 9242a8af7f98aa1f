internal import Stores
internal import Storage
internal import TollgateAPI
internal import TollgateCore

/// How far a sign-in has come.
public enum StaffSignIn: Sendable {
    case signedIn(StaffVisit)
    /// A second factor is asked for; `token` stands for the first one, for five minutes.
    case secondFactor(token: String)
}

/// How staff sign in, and the browsers that are signed in.
public struct SignIns: Sendable {
    let records: StaffStore
    let clocks: Clocks
    let random: RandomSource
    let staff: Staff
    let limits: SignInLimits
    let passwords: Passwords
    let secondFactors: SecondFactors
    let publicURL: String

    /// How long a browser stays signed in: twelve hours, in milliseconds.
    static let sessionLifetime: Int64 = 12 * 3_600_000
    /// How long an invitation waits: three days.
    static let invitationLifetime: Int64 = 3 * 86_400_000
    /// How long a link that signs in waits: a day.
    static let linkLifetime: Int64 = 86_400_000
    /// How long a sign-in waits for its second factor: five minutes, in milliseconds.
    private static let factorLifetime: Int64 = 300_000

    /// Signs somebody in by their password.
    ///
    /// Says the same, after the same work, whether the name or the password is wrong.
    ///
    /// - Throws: refusals 401 `sign_in_failed`, 429 `too_many_attempts`.
    public func signIn(
        _ name: String,
        password: String,
        from origin: SignInOrigin
    ) async throws -> StaffSignIn {
        let name = String(name.lowercased().prefix(200))
        let attempts = SignInAttempts(
            .password,
            of: name,
            limits.knownBrowser(origin, name),
            origin
        )
        try await limits.count(attempts)
        let staff = try await records.member(name)
        let kept = staff?.password.flatMap { PasswordHash(kept: $0) }
        // Nobody learns from the time it takes that there is no such name.
        let isRight: Bool
        do {
            isRight = try await (kept ?? .nobodys(rounds: passwords.rounds))
                .matches(password)
        } catch {
            try? await limits.takeBack(attempts)
            throw error
        }
        guard isRight, kept != nil, let member = staff.flatMap({ StaffMember($0) }) else {
            throw Refusal.unauthenticated("sign_in_failed", "The name or the password is wrong.")
        }
        try await limits.forget(attempts)
        return try await proven(member)
    }

    /// A page of this server that signs `name` in once, for a day.
    public func link(for name: String) async throws -> String {
        try await link(for: name, .link, lifetime: Self.linkLifetime)
    }

    /// A page of this server where `name` chooses a password once, for three days.
    public func invitation(for name: String) async throws -> String {
        try await link(for: name, .invitation, lifetime: Self.invitationLifetime)
    }

    private func link(
        for name: String,
        _ kind: StoredStaffSession.Kind,
        lifetime: Int64
    ) async throws -> String {
        let member = try await staff.require(name)
        let token = random.id(kind == .link ? "stlk_" : "stin_", length: 48)
        let now = clocks.wall()
        try await records.keep(
            StoredStaffSession(
                staff: member.name,
                kind: kind,
                created: now,
                expires: now.advanced(by: lifetime)
            ),
            token: token
        )
        let page = kind == .link ? "sign-in" : "invitation"
        return "\(publicURL)/dashboard/\(page)?token=\(token)"
    }

    /// Signs in whoever holds a link; `nil` where it was used, has ended or never was.
    public func openLink(_ token: String) async throws -> StaffSignIn? {
        guard token.hasPrefix("stlk_"), let kept = try await records.takeSession(token),
            kept.kind == .link, clocks.wall() < kept.expires,
            let member = try await staff.member(kept.staff)
        else { return nil }
        return try await proven(member)
    }

    /// Whom an invitation is for, without using it up.
    public func invitation(_ token: String) async throws -> StaffMember? {
        guard token.hasPrefix("stin_"), let kept = try await records.session(token),
            kept.kind == .invitation, clocks.wall() < kept.expires
        else { return nil }
        return try await staff.member(kept.staff)
    }

    /// Chooses a password by an invitation, and signs in.
    ///
    /// - Throws: refusals 400 `password_weak`, 404 `resource_missing`.
    public func acceptInvitation(_ token: String, password: String) async throws -> StaffSignIn {
        // Looked at before it is used up: a weak password must not cost the invitation.
        let hash = try await passwords.hash(password)
        guard token.hasPrefix("stin_"), let kept = try await records.takeSession(token),
            kept.kind == .invitation, clocks.wall() < kept.expires,
            var member = try await staff.member(kept.staff)
        else { throw Refusal.missing("invitation", "", param: "token") }
        _ = try await records.setPassword(hash, of: member.name)
        member.hasPassword = true
        return try await proven(member)
    }

    /// What follows when somebody has proven who they are by a password, a link or an issuer.
    func proven(_ member: StaffMember) async throws -> StaffSignIn {
        guard try await records.totp(of: member.name)?.isConfirmed == true else {
            return .signedIn(try await visit(of: member))
        }
        let token = random.id("stfa_", length: 48)
        let now = clocks.wall()
        try await records.keep(
            StoredStaffSession(
                staff: member.name,
                kind: .factor,
                created: now,
                expires: now.advanced(by: Self.factorLifetime)
            ),
            token: token
        )
        return .secondFactor(token: token)
    }

    /// Ends a sign-in by a code of the second factor, or a recovery code.
    ///
    /// - Throws: refusals 401 `code_wrong`, 404 `resource_missing` where the sign-in has ended,
    ///   429 `too_many_attempts`.
    public func signIn(
        _ token: String,
        code: String,
        from origin: SignInOrigin
    ) async throws -> StaffVisit {
        guard token.hasPrefix("stfa_"), let kept = try await records.session(token),
            kept.kind == .factor, clocks.wall() < kept.expires,
            let member = try await staff.member(kept.staff)
        else { throw Refusal.missing("sign-in", "", param: "token") }
        let attempts = SignInAttempts(
            .factor,
            of: member.name,
            limits.knownBrowser(origin, member.name),
            origin
        )
        try await limits.count(attempts)
        guard try await secondFactors.takeCode(code, of: member.name) else {
            throw Refusal.codeWrong
        }
        try await limits.forget(attempts)
        guard try await records.takeSession(token) != nil else {
            throw Refusal.missing("sign-in", "", param: "token")
        }
        return try await visit(of: member)
    }

    // MARK: - Browsers

    /// What a browser keeps in which `name` has signed in.
    public func knownBrowser(of name: String) -> String { limits.knownBrowser(of: name) }

    func visit(of member: StaffMember) async throws -> StaffVisit {
        let secret = random.id("staff_", length: 48)
        let now = clocks.wall()
        let expires = now.advanced(by: Self.sessionLifetime)
        try await records.keep(
            StoredStaffSession(staff: member.name, kind: .session, created: now, expires: expires),
            token: secret
        )
        return StaffVisit(
            member: member,
            secret: secret,
            expires: expires,
            formToken: Self.formToken(secret),
            lacksSecondFactor: try await lacksSecondFactor(member)
        )
    }

    /// Whether a second factor is demanded that `member` has not set up.
    private func lacksSecondFactor(_ member: StaffMember) async throws -> Bool {
        guard try await secondFactors.isRequired() else { return false }
        return try await records.totp(of: member.name)?.isConfirmed != true
    }

    /// The visit of a browser; `nil` where it has ended or never was.
    ///
    /// The role is read each time, so that a change of it counts at once.
    public func visit(_ secret: String) async throws -> StaffVisit? {
        guard secret.hasPrefix("staff_"), let kept = try await records.session(secret),
            kept.kind == .session, clocks.wall() < kept.expires,
            let member = try await staff.member(kept.staff)
        else { return nil }
        return StaffVisit(
            member: member,
            secret: secret,
            expires: kept.expires,
            formToken: Self.formToken(secret),
            lacksSecondFactor: try await lacksSecondFactor(member)
        )
    }

    /// Signs a browser out.
    public func end(_ visit: StaffVisit) async throws {
        _ = try await records.takeSession(visit.secret)
    }

    private static func formToken(_ secret: String) -> String {
        RowKey("staff form", secret).hex
    }
}
