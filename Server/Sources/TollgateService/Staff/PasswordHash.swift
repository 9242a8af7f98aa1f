internal import Crypto
internal import CryptoExtras
internal import Dispatch
internal import Foundation
internal import Storage
internal import Stores
internal import Synchronization
internal import TollgateAPI

/// How a password is kept: scrypt (RFC 7914) with a salt of its own and its cost beside it, so that
/// the cost may grow later.
struct PasswordHash: Sendable {
    /// `scrypt$N$r$p$salt$key`, both in hexadecimal digits.
    let text: String

    private static let blockSize = 8
    private static let parallelism = 1
    /// The work takes some 50 ms and 32 MB: one after the other, or a flood of attempts would take
    /// the machine.
    private static let queue = DispatchQueue(label: "tollgate.password")
    private static let waiting = Mutex(0)
    /// Some seconds of work.
    private static let mostWaiting = 64

    /// Hashes a new password.
    ///
    /// - Parameters:
    ///   - salt: 16 unguessable bytes.
    ///   - rounds: the cost N, a power of two.
    init(of password: String, salt: [UInt8], rounds: Int) async throws {
        let key = try await Self.key(password, salt: salt, rounds, Self.blockSize, Self.parallelism)
        text = "scrypt$\(rounds)$\(Self.blockSize)$\(Self.parallelism)$\(salt.hex)$\(key.hex)"
    }

    /// What was kept; `nil` where it is nothing of ours.
    init?(kept bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard Self.parts(of: text) != nil else { return nil }
        self.text = text
    }

    /// A hash that no password has, which takes as long to be compared as one with this cost.
    static func nobodys(rounds: Int) -> Self {
        let (salt, key) = (String(repeating: "00", count: 16), String(repeating: "00", count: 32))
        return Self(text: "scrypt$\(rounds)$\(blockSize)$\(parallelism)$\(salt)$\(key)")
    }

    private init(text: String) {
        self.text = text
    }

    /// Whether this is the password.
    func matches(_ password: String) async throws -> Bool {
        guard let (rounds, blockSize, parallelism, salt, key) = Self.parts(of: text) else {
            return false
        }
        let tried = try await Self.key(password, salt: salt, rounds, blockSize, parallelism)
        guard tried.count == key.count else { return false }
        var difference: UInt8 = 0
        for (left, right) in zip(tried, key) { difference |= left ^ right }
        return difference == 0
    }

    private static func parts(of text: String) -> (Int, Int, Int, [UInt8], [UInt8])? {
        let parts = text.split(separator: "$")
        guard parts.count == 6, parts[0] == "scrypt", let rounds = Int(parts[1]),
            let blockSize = Int(parts[2]), let parallelism = Int(parts[3]),
            let salt = bytes(parts[4]), let key = bytes(parts[5])
        else { return nil }
        return (rounds, blockSize, parallelism, salt, key)
    }

    private static func key(
        _ password: String,
        salt: [UInt8],
        _ rounds: Int,
        _ blockSize: Int,
        _ parallelism: Int
    ) async throws -> [UInt8] {
        let isBusy = waiting.withLock { waiting in
            guard waiting < mostWaiting else { return true }
            waiting += 1
            return false
        }
        guard !isBusy else {
            throw Refusal(
                429,
                .authenticationError,
                "too_many_attempts",
                "Too many people are signing in now; try again in a minute."
            )
        }
        defer { waiting.withLock { $0 -= 1 } }
        return try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(
                    with: Result {
                        let key = try KDF.Scrypt.deriveKey(
                            from: Array(password.utf8),
                            salt: salt,
                            outputByteCount: 32,
                            rounds: rounds,
                            blockSize: blockSize,
                            parallelism: parallelism
                        )
                        return key.withUnsafeBytes { Array($0) }
                    }
                )
            }
        }
    }

    private static func bytes(_ hex: Substring) -> [UInt8]? {
        guard hex.utf8.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        var rest = hex
        while !rest.isEmpty {
            guard let byte = UInt8(rest.prefix(2), radix: 16) else { return nil }
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        return bytes
    }
}
