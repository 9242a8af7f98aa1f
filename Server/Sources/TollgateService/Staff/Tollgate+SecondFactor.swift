internal import Foundation
internal import Logging
internal import Storage
internal import Stores
internal import TollgateAPI
internal import TollgateCore

/// How far a sign-in has come.
public enum StaffSignIn: Sendable {
    case signedIn(StaffVisit)
    /// A second factor is asked for; `token` stands for the first one, for five minutes.
    case secondFactor(token: String)
}

/// A second factor that is being set up: shown to its owner, and to nobody else.
public struct NewSecondFactor: Sendable {
    /// In groups of four, as people type it.
    public var secret: String
    /// `otpauth://totp/…`, as authenticator apps read it.
    public var uri: String
}

// The second factor of staff: codes by time, and recovery codes that work once.
extension Tollgate {
    /// How long a sign-in waits for its second factor: five minutes, in milliseconds.
    private static let factorLifetime: Int64 = 300_000
    private static let recoveryCodeCount = 10

    // MARK: - Signing in

    /// What follows when somebody has proven who they are by a password, a link or an issuer.
    func proven(_ member: StaffMember) async throws -> StaffSignIn {
        guard try await store.totp(of: member.name)?.isConfirmed == true else {
            return .signedIn(try await visit(of: member))
        }
        let token = newID("stfa_", length: 48)
        let now = clocks.wall()
        try await store.keep(
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
    public func signInStaff(
        _ token: String,
        code: String,
        from origin: SignInOrigin
    ) async throws -> StaffVisit {
        guard token.hasPrefix("stfa_"), let kept = try await store.staffSession(token),
            kept.kind == .factor, clocks.wall() < kept.expires,
            let member = try await staffMember(kept.staff)
        else { throw Refusal.missing("sign-in", "", param: "token") }
        let attempts = SignInAttempts(
            .factor,
            of: member.name,
            knownBrowser(origin, member.name),
            origin
        )
        try await count(attempts)
        guard try await takeCode(code, of: member.name) else { throw Refusal.codeWrong }
        try await forget(attempts)
        guard try await store.takeStaffSession(token) != nil else {
            throw Refusal.missing("sign-in", "", param: "token")
        }
        return try await visit(of: member)
    }

    /// Takes a code, once.
    private func takeCode(_ text: String, of name: String) async throws -> Bool {
        let code = Self.plain(text)
        guard code.utf8.count == 6 else {
            return try await store.take(recovery: Self.recoveryKey(code, of: name), of: name)
        }
        guard let kept = try await store.totp(of: name), kept.isConfirmed else { return false }
        let totp = TOTP(secret: try opened(kept, of: name))
        guard let step = totp.step(of: code, at: clocks.wall(), after: kept.step) else {
            return false
        }
        return try await store.take(totpStep: step, of: name)
    }

    // MARK: - One's own

    /// Whether somebody has a second factor, and how many recovery codes are left.
    public func secondFactor(
        of name: String
    ) async throws -> (isOn: Bool, recoveryCodes: Int64) {
        let isOn = try await store.totp(of: name)?.isConfirmed == true
        return try await (isOn, isOn ? store.recoveryCodes(of: name) : 0)
    }

    /// Begins to set up a second factor; it counts once ``confirmSecondFactor(_:code:)`` has taken a
    /// code of it.
    ///
    /// - Throws: refusals 401 `sign_in_failed` where the password is wrong, 409 `factor_exists`.
    public func beginSecondFactor(
        _ visit: StaffVisit,
        password: String
    ) async throws -> NewSecondFactor {
        try await requirePassword(password, of: visit)
        let totp = TOTP(secret: randomBytes(TOTP.secretLength))
        let sealed = try sealing.seal(totp.secret, as: Self.purpose(visit.member.name))
        guard try await store.keep(totp: sealed, of: visit.member.name) else {
            throw Refusal(
                409,
                .invalidRequestError,
                "factor_exists",
                "There is a second factor already; remove it first."
            )
        }
        return shown(totp, to: visit.member.name)
    }

    /// The second factor that is being set up; `nil` where there is none.
    public func newSecondFactor(_ visit: StaffVisit) async throws -> NewSecondFactor? {
        guard let kept = try await store.totp(of: visit.member.name), !kept.isConfirmed else {
            return nil
        }
        return shown(
            TOTP(secret: try opened(kept, of: visit.member.name)),
            to: visit.member.name
        )
    }

    /// Takes the first code of a second factor: from then on it is asked for.
    ///
    /// - Returns: ten recovery codes, which are kept as hashes only.
    /// - Throws: a refusal 401 `code_wrong`.
    public func confirmSecondFactor(
        _ visit: StaffVisit,
        code: String
    ) async throws -> [String] {
        let name = visit.member.name
        guard let kept = try await store.totp(of: name), !kept.isConfirmed,
            let step = TOTP(secret: try opened(kept, of: name))
                .step(of: Self.plain(code), at: clocks.wall(), after: 0)
        else { throw Refusal.codeWrong }
        let codes = newRecoveryCodes()
        guard
            try await store.confirm(
                totp: kept.secret,
                of: name,
                step: step,
                recovery: codes.map { Self.recoveryKey(Self.plain($0), of: name) },
                keeping: visit.secret
            )
        else { throw Refusal.codeWrong }
        return codes
    }

    /// New recovery codes in place of the old ones.
    ///
    /// - Throws: refusals 401 `code_wrong`, 429 `too_many_attempts`.
    public func renewRecoveryCodes(_ visit: StaffVisit, code: String) async throws -> [String] {
        try await requireCode(code, of: visit)
        let codes = newRecoveryCodes()
        try await store.keep(
            recovery: codes.map { Self.recoveryKey(Self.plain($0), of: visit.member.name) },
            of: visit.member.name
        )
        return codes
    }

    /// Takes one's own second factor away.
    ///
    /// - Throws: refusals 401 `code_wrong`, 429 `too_many_attempts`.
    public func removeSecondFactor(_ visit: StaffVisit, code: String) async throws {
        try await requireCode(code, of: visit)
        _ = try await store.removeTOTP(of: visit.member.name)
    }

    private func requireCode(_ code: String, of visit: StaffVisit) async throws {
        let attempts = SignInAttempts(.factor, ofSession: visit.secret)
        try await count(attempts)
        guard try await takeCode(code, of: visit.member.name) else { throw Refusal.codeWrong }
        try await forget(attempts)
    }

    // MARK: - Others'

    /// Takes somebody's second factor away, and signs them out everywhere.
    ///
    /// - Throws: refusals 404 `resource_missing`.
    public func resetSecondFactor(of name: String) async throws {
        let member = try await requireStaff(name)
        _ = try await store.removeTOTP(of: member.name)
        try await store.endStaffSessions(of: member.name)
    }

    /// Who has a second factor.
    public func staffWithSecondFactor() async throws -> Set<String> {
        try await store.staffWithTOTP()
    }

    public func isSecondFactorRequired() async throws -> Bool {
        try await store.isSecondFactorRequired()
    }

    /// Demands a second factor of everybody: who has none sees nothing but the page that sets it up.
    public func requireSecondFactor(_ isRequired: Bool) async throws {
        try await store.setSecondFactorRequired(isRequired)
    }

    // MARK: - Secrets

    private static func purpose(_ name: String) -> String { "staff totp \(name)" }

    private func opened(_ kept: StoredTOTP, of name: String) throws -> [UInt8] {
        try sealing.open(kept.secret, as: Self.purpose(name)).bytes
    }

    /// Seals again, with the key of today, what a former one sealed.
    func resealFactors() async throws {
        for (name, secret) in try await store.totpSecrets() {
            // The server starts all the same: recovery codes go on to work.
            guard let opened = try? sealing.open(secret, as: Self.purpose(name)) else {
                logger.error(
                    "the second factor of a member of staff is sealed with a secret key that is not configured; set the former key too, or run: tollgate staff reset-second-factor NAME",
                    metadata: ["name": "\(name)"]
                )
                continue
            }
            guard !opened.isCurrent else { continue }
            let resealed = try sealing.seal(opened.bytes, as: Self.purpose(name))
            try await store.reseal(totp: resealed, of: name, from: secret)
        }
    }

    private func shown(_ totp: TOTP, to name: String) -> NewSecondFactor {
        let host = URL(string: configuration.publicURL)?.host() ?? "tollgate"
        func escaped(_ text: String) -> String {
            text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        }
        let secret = totp.base32
        return NewSecondFactor(
            secret: Self.grouped(secret, by: " "),
            uri: "otpauth://totp/\(escaped(host)):\(escaped(name))?secret=\(secret)"
                + "&issuer=\(escaped(host))&algorithm=SHA1&digits=6&period=30"
        )
    }

    /// 80 random bits each: a copy of the database cannot be searched for them.
    private func newRecoveryCodes() -> [String] {
        (0..<Self.recoveryCodeCount).map { _ in
            Self.grouped(TOTP.base32(randomBytes(10)).lowercased(), by: "-")
        }
    }

    private static func recoveryKey(_ code: String, of name: String) -> RowKey {
        RowKey("staff recovery", name, code)
    }

    private static func grouped(_ text: String, by separator: String) -> String {
        let letters = Array(text)
        return stride(from: 0, to: letters.count, by: 4).map {
            String(letters[$0..<min($0 + 4, letters.count)])
        }.joined(separator: separator)
    }

    /// As it was typed, without spaces and hyphens, in lower case.
    private static func plain(_ code: String) -> String {
        code.lowercased().filter { $0 != "-" && !$0.isWhitespace }
    }
}

extension Refusal {
    static let codeWrong = Refusal(
        401,
        .authenticationError,
        "code_wrong",
        "This code is wrong, or it was used already. Wait for the next one and try again.",
        param: "code"
    )
}
