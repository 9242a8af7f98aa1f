internal import Foundation
internal import Logging
internal import Storage
internal import Stores
internal import TollgateAPI
internal import TollgateCore

/// A second factor that is being set up: shown to its owner, and to nobody else.
public struct NewSecondFactor: Sendable {
    /// In groups of four, as people type it.
    public var secret: String
    /// `otpauth://totp/…`, as authenticator apps read it.
    public var uri: String
}

/// The second factor of staff: codes by time, and recovery codes that work once.
public struct SecondFactors: Sendable {
    let records: StaffStore
    let clocks: Clocks
    let random: RandomSource
    let sealing: SealingKeys
    let staff: Staff
    let limits: SignInLimits
    let passwords: Passwords
    let publicURL: String
    let logger: Logger

    private static let recoveryCodeCount = 10

    /// Takes a code, once.
    func takeCode(_ text: String, of name: String) async throws -> Bool {
        let code = Self.plain(text)
        guard code.utf8.count == 6 else {
            return try await records.take(recovery: Self.recoveryKey(code, of: name), of: name)
        }
        guard let kept = try await records.totp(of: name), kept.isConfirmed else {
            return false
        }
        let totp = TOTP(secret: try opened(kept, of: name))
        guard let step = totp.step(of: code, at: clocks.wall(), after: kept.step) else {
            return false
        }
        return try await records.take(totpStep: step, of: name)
    }

    // MARK: - One's own

    /// Whether somebody has a second factor, and how many recovery codes are left.
    public func state(of name: String) async throws -> (isOn: Bool, recoveryCodes: Int64) {
        let isOn = try await records.totp(of: name)?.isConfirmed == true
        return try await (isOn, isOn ? records.recoveryCodes(of: name) : 0)
    }

    /// Begins to set up a second factor; it counts once ``confirm(_:code:)`` has taken a
    /// code of it.
    ///
    /// - Throws: refusals 401 `sign_in_failed` where the password is wrong, 409 `factor_exists`.
    public func begin(_ visit: StaffVisit, password: String) async throws -> NewSecondFactor {
        try await passwords.require(password, of: visit)
        let totp = TOTP(secret: random.bytes(TOTP.secretLength))
        let sealed = try sealing.seal(totp.secret, as: Self.purpose(visit.member.name))
        guard try await records.keep(totp: sealed, of: visit.member.name) else {
            throw Refusal.conflict(
                "factor_exists",
                "You already have a second factor; remove it first."
            )
        }
        return shown(totp, to: visit.member.name)
    }

    /// The second factor that is being set up; `nil` where there is none.
    public func pending(_ visit: StaffVisit) async throws -> NewSecondFactor? {
        guard let kept = try await records.totp(of: visit.member.name), !kept.isConfirmed
        else {
            return nil
        }
        return shown(TOTP(secret: try opened(kept, of: visit.member.name)), to: visit.member.name)
    }

    /// Takes the first code of a second factor: from then on it is asked for.
    ///
    /// - Returns: ten recovery codes, which are kept as hashes only.
    /// - Throws: a refusal 401 `code_wrong`.
    public func confirm(_ visit: StaffVisit, code: String) async throws -> [String] {
        let name = visit.member.name
        guard let kept = try await records.totp(of: name), !kept.isConfirmed,
            let step = TOTP(secret: try opened(kept, of: name))
                .step(of: Self.plain(code), at: clocks.wall(), after: 0)
        else { throw Refusal.codeWrong }
        let codes = newRecoveryCodes()
        guard
            try await records.confirm(
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
        try await records.keep(
            recovery: codes.map { Self.recoveryKey(Self.plain($0), of: visit.member.name) },
            of: visit.member.name
        )
        return codes
    }

    /// Takes one's own second factor away.
    ///
    /// - Throws: refusals 401 `code_wrong`, 429 `too_many_attempts`.
    public func remove(_ visit: StaffVisit, code: String) async throws {
        try await requireCode(code, of: visit)
        _ = try await records.removeTOTP(of: visit.member.name)
    }

    private func requireCode(_ code: String, of visit: StaffVisit) async throws {
        let attempts = SignInAttempts(.factor, ofSession: visit.secret)
        try await limits.count(attempts)
        guard try await takeCode(code, of: visit.member.name) else { throw Refusal.codeWrong }
        try await limits.forget(attempts)
    }

    // MARK: - Others'

    /// Takes somebody's second factor away, and signs them out everywhere.
    ///
    /// - Throws: refusals 404 `resource_missing`.
    public func reset(of name: String) async throws {
        let member = try await staff.require(name)
        _ = try await records.removeTOTP(of: member.name)
        try await records.endSessions(of: member.name)
    }

    /// Who has a second factor.
    public func owners() async throws -> Set<String> {
        try await records.withTOTP()
    }

    public func isRequired() async throws -> Bool {
        try await records.isSecondFactorRequired()
    }

    /// Demands a second factor of everybody: who has none sees nothing but the page that sets it up.
    public func setRequired(_ isRequired: Bool) async throws {
        try await records.setSecondFactorRequired(isRequired)
    }

    // MARK: - Secrets

    private static func purpose(_ name: String) -> String { "staff totp \(name)" }

    private func opened(_ kept: StoredTOTP, of name: String) throws -> [UInt8] {
        try sealing.open(kept.secret, as: Self.purpose(name)).bytes
    }

    /// Seals again, with the key of today, what a former one sealed.
    public func reseal() async throws {
        for (name, secret) in try await records.totpSecrets() {
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
            try await records.reseal(totp: resealed, of: name, from: secret)
        }
    }

    private func shown(_ totp: TOTP, to name: String) -> NewSecondFactor {
        let host = URL(string: publicURL)?.host() ?? "tollgate"
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
            Self.grouped(TOTP.base32(random.bytes(10)).lowercased(), by: "-")
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
        "code_wrong",
        "This code is wrong, or it was used already. Wait for the next one and try again.",
        param: "code"
    )
}
