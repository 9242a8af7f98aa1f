internal import Stores
internal import Storage
internal import TollgateAPI
internal import TollgateCore

/// The passwords of staff.
public struct Passwords: Sendable {
    let records: StaffStore
    let random: RandomSource
    let staff: Staff
    let limits: SignInLimits
    /// The cost N of scrypt for a new one.
    let rounds: Int

    /// Changes one's own password; every other browser of theirs is signed out.
    ///
    /// - Throws: refusals 400 `password_weak`, 401 `sign_in_failed`, 429 `too_many_attempts`.
    public func change(_ visit: StaffVisit, from old: String, to new: String) async throws {
        try await require(old, of: visit)
        _ = try await records.setPassword(
            try await hash(new),
            of: visit.member.name,
            keeping: visit.secret
        )
    }

    /// Asks for somebody's password again, where they have one.
    ///
    /// - Throws: refusals 401 `sign_in_failed`, 429 `too_many_attempts`.
    func require(_ password: String, of visit: StaffVisit) async throws {
        guard let kept = try await records.member(visit.member.name)?.password else { return }
        let attempts = SignInAttempts(.password, ofSession: visit.secret)
        try await limits.count(attempts)
        guard let hash = PasswordHash(kept: kept), try await hash.matches(password) else {
            throw Refusal(
                401,
                "sign_in_failed",
                "The present password is wrong.",
                param: "password"
            )
        }
        try await limits.forget(attempts)
    }

    /// Sets somebody's password, for the command line; every browser of theirs is signed out.
    ///
    /// - Throws: refusals 400 `password_weak`, 404 `resource_missing`.
    public func set(_ password: String, of name: String) async throws {
        let member = try await staff.require(name)
        _ = try await records.setPassword(try await hash(password), of: member.name)
    }

    /// NIST SP 800-63B: long enough, not the name, no rules about kinds of characters.
    func hash(_ password: String) async throws -> [UInt8] {
        guard (12...1024).contains(password.utf8.count), Set(password).count > 4 else {
            throw Refusal(
                400,
                "password_weak",
                "A password has at least 12 characters, and not the same few again and again.",
                param: "password"
            )
        }
        let hash = try await PasswordHash(of: password, salt: random.bytes(16), rounds: rounds)
        return Array(hash.text.utf8)
    }
}
