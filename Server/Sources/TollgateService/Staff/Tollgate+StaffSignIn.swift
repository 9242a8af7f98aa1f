internal import Storage
internal import Stores
internal import TollgateAPI
internal import TollgateCore

extension Tollgate {
    /// How long a browser stays signed in: twelve hours, in milliseconds.
    static let staffSessionLifetime: Int64 = 12 * 3_600_000
    /// How long an invitation waits: three days.
    static let staffInvitationLifetime: Int64 = 3 * 86_400_000
    /// How long a link that signs in waits: a day.
    static let staffLinkLifetime: Int64 = 86_400_000

    /// Signs somebody in by their password.
    ///
    /// Says the same, after the same work, whether the name or the password is wrong.
    ///
    /// - Throws: refusals 401 `sign_in_failed`, 429 `too_many_attempts`.
    public func signInStaff(
        _ name: String,
        password: String,
        from origin: SignInOrigin
    ) async throws -> StaffSignIn {
        let name = String(name.lowercased().prefix(200))
        let attempts = SignInAttempts(.password, of: name, knownBrowser(origin, name), origin)
        try await count(attempts)
        let staff = try await store.staff(name)
        let kept = staff?.password.flatMap { PasswordHash(kept: $0) }
        // Nobody learns from the time it takes that there is no such name.
        let isRight: Bool
        do {
            isRight = try await (kept ?? .nobodys(rounds: configuration.passwordRounds))
                .matches(password)
        } catch {
            try? await takeBack(attempts)
            throw error
        }
        guard isRight, kept != nil, let member = staff.flatMap({ StaffMember($0) }) else {
            throw Refusal(
                401,
                .authenticationError,
                "sign_in_failed",
                "The name or the password is wrong."
            )
        }
        try await forget(attempts)
        return try await proven(member)
    }

    /// A page of this server that signs `name` in once, for a day.
    public func staffLink(for name: String) async throws -> String {
        try await link(for: name, .link, lifetime: Self.staffLinkLifetime)
    }

    /// A page of this server where `name` chooses a password once, for three days.
    public func staffInvitation(for name: String) async throws -> String {
        try await link(for: name, .invitation, lifetime: Self.staffInvitationLifetime)
    }

    private func link(
        for name: String,
        _ kind: StoredStaffSession.Kind,
        lifetime: Int64
    ) async throws -> String {
        let member = try await requireStaff(name)
        let token = newID(kind == .link ? "stlk_" : "stin_", length: 48)
        let now = clocks.wall()
        try await store.keep(
            StoredStaffSession(
                staff: member.name,
                kind: kind,
                created: now,
                expires: now.advanced(by: lifetime)
            ),
            token: token
        )
        let page = kind == .link ? "sign-in" : "invitation"
        return "\(configuration.publicURL)/dashboard/\(page)?token=\(token)"
    }

    /// Signs in whoever holds a link; `nil` where it was used, has ended or never was.
    public func openStaffLink(_ token: String) async throws -> StaffSignIn? {
        guard token.hasPrefix("stlk_"), let kept = try await store.takeStaffSession(token),
            kept.kind == .link, clocks.wall() < kept.expires,
            let member = try await staffMember(kept.staff)
        else { return nil }
        return try await proven(member)
    }

    /// Whom an invitation is for, without using it up.
    public func staffInvitation(_ token: String) async throws -> StaffMember? {
        guard token.hasPrefix("stin_"), let kept = try await store.staffSession(token),
            kept.kind == .invitation, clocks.wall() < kept.expires
        else { return nil }
        return try await staffMember(kept.staff)
    }

    /// Chooses a password by an invitation, and signs in.
    ///
    /// - Throws: refusals 400 `password_weak`, 404 `resource_missing`.
    public func acceptStaffInvitation(
        _ token: String,
        password: String
    ) async throws -> StaffSignIn {
        // Looked at before it is used up: a weak password must not cost the invitation.
        let hash = try await hash(password)
        guard token.hasPrefix("stin_"), let kept = try await store.takeStaffSession(token),
            kept.kind == .invitation, clocks.wall() < kept.expires,
            var member = try await staffMember(kept.staff)
        else { throw Refusal.missing("invitation", "", param: "token") }
        _ = try await store.setPassword(hash, of: member.name)
        member.hasPassword = true
        return try await proven(member)
    }

    /// Changes one's own password; every other browser of theirs is signed out.
    ///
    /// - Throws: refusals 400 `password_weak`, 401 `sign_in_failed`, 429 `too_many_attempts`.
    public func changePassword(
        _ visit: StaffVisit,
        from old: String,
        to new: String
    ) async throws {
        try await requirePassword(old, of: visit)
        _ = try await store.setPassword(
            try await hash(new),
            of: visit.member.name,
            keeping: visit.secret
        )
    }

    /// Asks for somebody's password again, where they have one.
    ///
    /// - Throws: refusals 401 `sign_in_failed`, 429 `too_many_attempts`.
    func requirePassword(_ password: String, of visit: StaffVisit) async throws {
        guard let kept = try await store.staff(visit.member.name)?.password else { return }
        let attempts = SignInAttempts(.password, ofSession: visit.secret)
        try await count(attempts)
        guard let hash = PasswordHash(kept: kept), try await hash.matches(password) else {
            throw Refusal(
                401,
                .authenticationError,
                "sign_in_failed",
                "The present password is wrong.",
                param: "password"
            )
        }
        try await forget(attempts)
    }

    /// Sets somebody's password, for the command line; every browser of theirs is signed out.
    ///
    /// - Throws: refusals 400 `password_weak`, 404 `resource_missing`.
    public func setStaffPassword(_ password: String, of name: String) async throws {
        let member = try await requireStaff(name)
        _ = try await store.setPassword(try await hash(password), of: member.name)
    }

    /// NIST SP 800-63B: long enough, not the name, no rules about kinds of characters.
    private func hash(_ password: String) async throws -> [UInt8] {
        guard (12...1024).contains(password.utf8.count), Set(password).count > 4 else {
            throw Refusal(
                400,
                .invalidRequestError,
                "password_weak",
                "A password has at least 12 characters, and not the same few again and again.",
                param: "password"
            )
        }
        let hash = try await PasswordHash(
            of: password,
            salt: randomBytes(16),
            rounds: configuration.passwordRounds
        )
        return Array(hash.text.utf8)
    }

    // MARK: - Browsers

    func visit(of member: StaffMember) async throws -> StaffVisit {
        let secret = newID("staff_", length: 48)
        let now = clocks.wall()
        let expires = now.advanced(by: Self.staffSessionLifetime)
        try await store.keep(
            StoredStaffSession(
                staff: member.name,
                kind: .session,
                created: now,
                expires: expires
            ),
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
        guard try await isSecondFactorRequired() else { return false }
        return try await store.totp(of: member.name)?.isConfirmed != true
    }

    /// The visit of a browser; `nil` where it has ended or never was.
    ///
    /// The role is read each time, so that a change of it counts at once.
    public func staffVisit(_ secret: String) async throws -> StaffVisit? {
        guard secret.hasPrefix("staff_"), let kept = try await store.staffSession(secret),
            kept.kind == .session, clocks.wall() < kept.expires,
            let member = try await staffMember(kept.staff)
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
    public func endStaffVisit(_ visit: StaffVisit) async throws {
        _ = try await store.takeStaffSession(visit.secret)
    }

    private static func formToken(_ secret: String) -> String {
        RowKey("staff form", secret).hex
    }
}
